"""view: a region of one tensor is that tensor, sliced, transposed and given the right axes."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Refuses, each, row, sizes

ALL_ROWS = """g (float[4,N] x, float[4,N] u) => (float[4,N] y) <int64[4,1] i = {%s}>
    { y = ScatterND (x, i, u) }"""
REVERSED = ALL_ROWS % "3, 2, 1, 0"
ONE_ROW = """g (float[1,N] x, float[N] u) => (float[1,N] y) { y = ScatterND (x, [0], u) }"""
READ = """g (float[4,N] x, float[4,N] u) => (float[N] y) {
        z = ScatterND (x, [[3], [2], [1], [0]], u)
        y = Gather (z, 1) }"""


GOLDEN = {
    "a full cover is the updates": row(*sizes(N=(0, 1, 5))),
    "rows in reverse are a slice backwards": row(*sizes(N=(0, 1, 5))),
    "updates that are cut are a slice of what they were": row(*sizes(N=(0, 1, 5))),
    "what may be empty is cut forwards and then reversed": row(*sizes(N=(0, 1, 2, 5))),
    "steps backwards from where there may be nothing stay apart": row(*sizes(N=(0, 1, 2, 5))),
    "bounds that only the run knows are computed": row(
        *({"N": n, "H": n - n // 2} for n in (1, 2, 5)), by=["concat"]
    ),
    "axes in another order are a transpose": row(*sizes(N=(0, 1, 5))),
    "a row for a matrix of one row gets an axis": row(*sizes(N=(0, 1, 5))),
    "a row that is read loses its axis": row(*sizes(N=(0, 1, 5)), gathers=True),
    "updates that are repeated are an expand": row(*sizes(N=(0, 1, 5))),
    "a transposed tensor that others read is taken instead": row(*sizes(N=(0, 1, 5))),
    "of two tensors that others read the one that needs no node is taken": row(*sizes(N=(0, 1, 5))),
    "an axis that is split between two writes is split first": row(
        *sizes(B=(1, 2), T=(1, 3)), by=["concat"]
    ),
    "a shape with sizes of 0 is left where there is no allowzero": row(
        *sizes(B=(1, 2), T=(1, 3)), by=["concat"], opset=13
    ),
}
test_golden = each(GOLDEN, "golden")


def test_two_sources_are_no_view(refuses: Refuses) -> None:
    refuses(
        """g (float[4,N] x, float[1,N] u) => (float[4,N] y) { y = ScatterND (x, [[0]], u) }""",
        Reason.NO_RULE,
    )


def test_what_is_added_is_no_view(refuses: Refuses) -> None:
    text = ALL_ROWS.replace("ScatterND", 'ScatterND <reduction = "add">')
    refuses(text % "0, 1, 2, 3", Reason.NO_RULE)


def test_steps_need_operator_set_10(refuses: Refuses) -> None:
    text = """g (float[4,1] x, float[4,1] u) => (float[4,1] y)
        { y = Scatter (x, [[3], [2], [1], [0]], u) }"""
    refuses(text, Reason.OPSET, opset=9)


@pytest.mark.parametrize("text", [REVERSED, ONE_ROW, READ])
def test_element_types_without_kernels(text: str, refuses: Refuses) -> None:
    refuses(text.replace("float", "complex64"), Reason.NO_KERNEL)
