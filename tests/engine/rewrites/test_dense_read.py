"""dense_read: every position is compared with every index, if the target lacks the gather."""

from typing import Any

import hypothesis.strategies as st
import numpy as np
import onnx
import pytest
from hypothesis import given

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.pair import Pair
from tests.helpers.rules import Case, each, row
from tests.helpers.support import nodes, parse, sample

READS = ("Gather", "GatherElements", "GatherND")
LACKS = Target("lacks", avoid=frozenset(READS), dense_limit=1 << 20)
SMALL = Target("small", avoid=frozenset(READS), dense_limit=100)

ROWS = "g (float[5,3] x, int64[N] i) => (float[N,3] y) { y = Gather (x, i) }"
COLUMNS = "g (float[2,P,3] x, int64[N,2] i) => (float[2,N,2,3] y) { y = Gather <axis = 1> (x, i) }"
PER_ROW = (
    "g (float[B,6] x, int64[B,N] i) => (float[B,N] y) { y = GatherElements <axis = 1> (x, i) }"
)
BY_PAIRS = "g (float[4,5,2] x, int64[N,2] i) => (float[N,2] y) { y = GatherND (x, i) }"
LIMITS = {"assume": ["N <= 20", "P <= 20", "B <= 20"]}


def positions(size: int, *shape: int) -> np.ndarray:
    """Draw positions from both ends of an axis."""
    return np.random.default_rng(0).integers(-size, size, shape)


def bounded(text: str) -> dict[str, Any]:
    """Return the promises about the sizes that a model has."""
    return {"assume": [a for a in LIMITS["assume"] if f"[{a[0]}" in text or f",{a[0]}" in text]}


GOLDEN = {
    "rows": row(*[{"i": positions(5, n)} for n in (0, 1, 9)], target=LACKS, **bounded(ROWS)),
    "an axis in the middle": row(
        *[{"i": positions(p, n, 2), "P": p} for p, n in ((1, 0), (1, 3), (7, 4))],
        target=LACKS,
        **bounded(COLUMNS),
    ),
    "positions for each row": row(
        *[{"i": positions(6, b, n)} for b, n in ((0, 2), (1, 0), (3, 9))],
        target=LACKS,
        **bounded(PER_ROW),
    ),
    # Features are selected by the places of the best scores; these count from the start.
    "the largest scores": row(target=LACKS),
    "positions on two axes": row(
        *[{"i": np.stack([positions(4, n), positions(5, n)[::-1]], -1)} for n in (0, 1, 9)],
        target=LACKS,
        **bounded(BY_PAIRS),
    ),
}
test_golden = each(GOLDEN, "golden")


def test_what_the_target_has_stays() -> None:
    model = parse(ROWS)
    assert onnx_scatterx.optimize(model, target="standard", gathers=True).report.entries[0].refusal
    has = Target("has", avoid=frozenset({"GatherND"}), dense_limit=1 << 20)
    assert onnx_scatterx.optimize(model, target=has).model is model


KEPT = {
    "too large": Case(ROWS.replace("N", "7"), Reason.TOO_LARGE, target=SMALL),
    "no bound": Case(ROWS, Reason.TOO_LARGE, target=LACKS),
    "operators that are missing": Case(
        ROWS.replace("N", "2"),
        Reason.NOT_IN_TARGET,
        target=Target("npu", avoid=frozenset({*READS, "Where"}), dense_limit=1 << 20),
    ),
    # A GatherElements may leave rows out: then the data have more rows.
    "rows of other sizes": Case(
        "g (float[4,6] x, int64[3,2] i) => (float[3,2] y) { y = GatherElements <axis = 1> (x, i) }",
        Reason.UNKNOWN_INDICES,
        target=LACKS,
    ),
    "batches of a gather nd": Case(
        "g (float[4,6] x, int64[4,2,1] i) => (float[4,2] y) { y = GatherND <batch_dims = 1> (x, i) }",
        Reason.UNKNOWN_INDICES,
        target=LACKS,
    ),
}
test_kept = each(KEPT, "refuses")


SPECIAL = (np.nan, np.inf, -np.inf, 0.0, 1e38, -3.5)
KINDS = {
    "float": "float32", "double": "float64", "float16": "float16", "int64": "int64",
    "int32": "int32", "uint8": "uint8", "int8": "int8", "bool": "bool",
}  # fmt: skip


def drawn(data: st.DataObject, kind: str, shape: list[int]) -> np.ndarray:
    """Draw data from the whole element type."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    if kind in ("float", "double", "float16"):
        found = np.where(
            rng.random(shape) < 0.5, rng.choice(SPECIAL, shape), rng.normal(size=shape)
        )
        with np.errstate(over="ignore"):
            return found.astype(KINDS[kind])
    if kind == "bool":
        return rng.random(shape) < 0.5
    limits = np.iinfo(KINDS[kind])
    return rng.integers(limits.min, limits.max, shape, KINDS[kind], endpoint=True)


@given(st.data())
def test_any_read(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(KINDS)))
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    rank = len(shape)
    op = data.draw(st.sampled_from(READS))
    axis = data.draw(st.integers(-rank, rank - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    index_type = data.draw(st.sampled_from(["int64", "int32"] if op != "GatherND" else ["int64"]))
    size, attribute = shape[axis], f"<axis = {axis}>"
    if op == "Gather":
        at = data.draw(st.lists(st.integers(0, 3), max_size=2))
        at = at if size else [*at, 0]  # there is nothing to read
        indices, out = rng.integers(-size, max(size, 1), at), rank + len(at) - 1
    elif op == "GatherElements":
        at = [*shape]
        at[axis] = data.draw(st.integers(0, 4)) if size else 0
        indices, out = rng.integers(-size, max(size, 1), at), rank
    else:
        count = data.draw(st.integers(1, rank))
        at = [*data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=2))]
        at = at if all(shape[:count]) else [*at, 0]
        columns = [rng.integers(-n, max(n, 1), at) for n in shape[:count]]
        indices, attribute = np.stack(columns, -1), ""
        out = len(at) + rank - count
    result = f"{kind}[{','.join('?' * out)}] y" if out else f"{kind} y"
    given_at = f"{index_type}{list(indices.shape)}" if indices.ndim else index_type
    model = parse(
        f"g ({kind}{shape} x, {given_at} i) => ({result}) {{ y = {op} {attribute} (x, i) }}"
    )
    made = onnx_scatterx.optimize(model, target=LACKS).model
    assert 0 in shape or not {node.op_type for node in nodes(made)} & {*READS}
    onnx.checker.check_model(made, full_check=True)
    feed = {"x": drawn(data, kind, shape), "i": indices.astype(index_type)}
    assert Pair(model, made).accepts(feed)


@pytest.mark.parametrize("size", [600, 3])
def test_indices_of_int32(size: int) -> None:
    """Long axes are not listed, and need int64."""
    model = parse(f"g (float[{size}] x, int32[4] i) => (float[4] y) {{ y = Gather (x, i) }}")
    made = onnx_scatterx.optimize(model, target=LACKS).model
    feed = {"x": sample("float32", size), "i": positions(size, 4).astype(np.int32)}
    assert Pair(model, made).accepts(feed)


FROM_THE_END = {
    "Gather": ("[5,3]", "i = Squeeze (p, one)  y = Gather (x, i)"),
    "Gather of columns": ("[3,5]", "i = Squeeze (p, one)  y = Gather <axis = 1> (x, i)"),
    "GatherElements": ("[5,1]", "y = GatherElements (x, p)"),
    "GatherND": ("[5,3]", "y = GatherND (x, p)"),
    "GatherND by two": ("[5,5]", "i = Concat <axis = 1> (p, p)  y = GatherND (x, i)"),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", FROM_THE_END)
@pytest.mark.parametrize("computed", [False, True])
def test_positions_that_are_known_to_count_from_the_end(kind: str, computed: bool) -> None:
    """The canonical form counts them from the start, and the index tensor does not."""
    shape, read = FROM_THE_END[kind]
    made = "k = Cast <to = 7> (b)  p = Sub (last, k)" if computed else "p = Identity (least)"
    model = parse(f"""g (float{shape} x, bool[2,1] b) => (float[] y)
        <int64[1] one = {{1}}, int64[1] last = {{-1}}, int64[2,1] least = {{-5, -2}}> {{
            {made}  {read} }}""")
    result = onnx_scatterx.optimize(model, target=LACKS, gathers=True, rules=["dense_read"])
    assert "ReduceSum" in {node.op_type for node in nodes(result.model)}
    size = tuple(int(n) for n in shape.strip("[]").split(","))
    pair = Pair(model, result.model)
    for drawn in ([[True], [False]], [[False], [False]]):
        assert pair.accepts({"x": sample("float32", *size), "b": np.array(drawn)})
