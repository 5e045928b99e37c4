"""pad: a box on a constant is a Pad."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Refuses, each, row, sizes

ON_ZEROS = """g (float[3,N] u) => (float[8,N] y)
    <int64[3,1] i = {2, 3, 4}, int64[1] eight = {8}> {
        n = Shape <start = 1> (u)
        s = Concat <axis = 0> (eight, n)
        x = ConstantOfShape <value = float[1] {0.0}> (s)
        y = ScatterND (x, i, u) }"""
OLD = """g (%s[1,3] u) => (%s[4,3] y) <int64[2] s = {4, 3}> {
        x = ConstantOfShape <value = %s[1] {%s}> (s)
        y = Scatter (x, [[1, 1, 1]], u) }"""


GOLDEN = {
    "rows of zeros": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "a box in ones": row(by=["view"]),
    "what is in the box is written by any rule": row(*sizes(N=(0, 1, 5)), by=["concat", "view"]),
    "amounts that the run computes": row(
        *sizes(N=(1, 2), M=(1, 3), A=(2, 5), B=(3, 7)), by=["view"]
    ),
    "boxes at two corners are padded one by one": row(by=["concat", "view"]),
    "a box that is added": row(*sizes(N=(0, 1, 5)), by=["combine", "view"]),
    "boxes in an order that is not known are written in turn": row(
        *sizes(A=(3, 4, 8, 12, 13)), by=["concat", "view"]
    ),
    "operator set 11": row(by=["view"], opset=11),
    "fills that are attributes before operator set 11": row(by=["view"], opset=10),
}
test_golden = each(GOLDEN, "golden")


def test_a_full_cover_has_nothing_outside(refuses: Refuses) -> None:
    rows = ", ".join(map(str, range(8)))
    text = ON_ZEROS.replace("[3,N] u", "[8,N] u")
    refuses(text.replace("[3,1] i = {2, 3, 4}", f"[8,1] i = {{{rows}}}"), Reason.NO_RULE)


TWO_CONSTANTS = """g (float[1,N] u) => (float[3,N] y)
    <int64[1,1] i = {1}, int64[1,1] j = {2}, int64[1] three = {3}, int64[1] one = {1}> {
        n = Shape <start = 1> (u)
        s = Concat <axis = 0> (three, n)
        t = Concat <axis = 0> (one, n)
        x = ConstantOfShape <value = float[1] {-1.5}> (s)
        v = ConstantOfShape <value = float[1] {2.0}> (t)
        z = ScatterND (x, j, v)
        %s }"""


@pytest.mark.parametrize(
    ("kind", "number"), [("double", "0.1"), ("double", "1e300"), ("int64", "7")]
)
def test_a_fill_that_is_no_float_needs_operator_set_11(
    kind: str, number: str, refuses: Refuses
) -> None:
    refuses(OLD % (kind, kind, kind, number), Reason.OPSET, beside=["view"], opset=10)


KEPT = {
    "a box on a tensor": Case(
        """g (float[8,N] x, float[3,N] u) => (float[8,N] y) <int64[3,1] i = {2, 3, 4}>
        { y = ScatterND (x, i, u) }""",
        Reason.NO_RULE,
        beside=["view"],
    ),
    "constants of two numbers": Case(
        TWO_CONSTANTS % "y = ScatterND (z, i, u)", Reason.NO_RULE, beside=["view"]
    ),
    "a constant in a constant": Case(
        TWO_CONSTANTS % "y = Identity (z)", Reason.NO_RULE, beside=["view"]
    ),
    "a constant over what was written to the same": Case(
        TWO_CONSTANTS.replace("2.0", "-1.5").replace("z = ScatterND (x, j, v)", "")
        % "z = ScatterND (x, i, u) y = ScatterND (z, i, v)",
        Reason.NO_RULE,
        beside=["view"],
    ),
    "element types without kernels": Case(
        ON_ZEROS.replace("float[1] {0.0}", "int16[1] {0}").replace("float", "int16"),
        Reason.NO_KERNEL,
        beside=["view"],
    ),
    "computed amounts need operator set 11": Case(
        """g (float[1,3] u, float[N,3] like) => (float[N,3] y) <int64[1,3] i = {1, 1, 1}> {
            s = Shape (like)
            x = ConstantOfShape (s)
            y = Scatter (x, i, u) }""",
        Reason.OPSET,
        beside=["view"],
        opset=10,
    ),
}
test_kept = each(KEPT, "refuses")
