"""scatterx: a scatter that no other rule removes becomes the native operator."""

import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.rules import Refuses, each, row
from tests.helpers.support import parse

ROWS = """g ({0}[A,B] x, int64[N,1] i, {0}[N,B] u) => ({0}[A,B] y)
    {{ y = ScatterND <reduction = "{1}"> (x, i, u) }}"""
FEEDS = [{"A": 5, "B": 3, "i": i} for i in ([[4], [0], [-2]], [[1], [1]])]


GOLDEN = {
    "rows": row(*FEEDS, target="scatterx"),
    "a sum": row(*FEEDS, target="scatterx"),
    "strings": row(*FEEDS, target="scatterx"),
    "one row collides with no other": row({"A": 5, "B": 3, "i": [[-1]]}, target="scatterx"),
    "elements along an axis": row({"A": 3, "B": 4, "i": [[0, 3], [-1, 1]]}, target="scatterx"),
    "rows from a start in each batch": row(
        {"A": 2, "S": 6, "B": 3, "at": [0, 4]}, target="scatterx", opset=24
    ),
    "a ring": row(
        *[{"A": 2, "S": s, "B": 3, "at": at} for s, at in ((6, [5, 4]), (2, [1, 0]))],
        target="scatterx",
        opset=24,
    ),
    "as many rows as a size says": row(
        *[{"A": 2, "S": 6, "B": 3, "T": t, "at": [0, 2]} for t in (1, 4)],
        target="scatterx",
        opset=24,
    ),
}
test_golden = each(GOLDEN, "golden")


@pytest.mark.parametrize(("kind", "reduction"), [("complex64", "none"), ("string", "add")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(ROWS.format(kind, reduction), Reason.NO_KERNEL, target="scatterx")


def test_more_dims_than_the_operator_takes(refuses: Refuses) -> None:
    text = ROWS.format("float", "none").replace("B]", ",".join(f"B{d}" for d in range(16)) + "]")
    refuses(text, Reason.NO_KERNEL, target="scatterx")


@pytest.mark.parametrize(("rank", "done"), [(16, "becomes"), (17, "kept")])
def test_tensors_of_up_to_16_dims(rank: int, done: str) -> None:
    dims = ", ".join(["4", *["1"] * (rank - 1)])
    model = parse(f"""g (float[{dims}] x, int64[2, 1] i, float[{dims.replace("4", "2")}] u)
        => (float[{dims}] y) {{ y = ScatterND (x, i, u) }}""")
    (entry,) = onnx_scatterx.inspect(model, target="scatterx").scatters
    assert entry.done.startswith(done)
