"""combine: a reducing write without collisions is the elementwise operator on the region."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Golden, Refuses, sizes

BOX = """g ({0}[8,N] x, {0}[3,N] u) => ({0}[8,N] y) <int64[3,1] i = {{2, 3, 4}}>
    {{ y = ScatterND <reduction = "{1}"> (x, i, u) }}"""


GOLDEN = {
    "rows that are added": Case(
        BOX.format("float", "add"), *sizes(N=(0, 1, 5)), by=["concat", "view"]
    ),
    "rows that are multiplied": Case(
        BOX.format("int32", "mul"), *sizes(N=(0, 1, 5)), by=["concat", "view"]
    ),
    "a maximum of integers": Case(
        BOX.format("int64", "max"), *sizes(N=(0, 1, 5)), by=["concat", "view"]
    ),
    "a minimum of floats keeps what the scatter keeps": Case(
        BOX.format("float", "min"), *sizes(N=(0, 1, 5)), by=["concat", "view"]
    ),
    "a full cover": Case(
        """g (bool[3,N] x, bool[3,N] u) => (bool[3,N] y) <int64[3,1] i = {2, 1, 0}>
        { y = ScatterND <reduction = "add"> (x, i, u) }""",
        *sizes(N=(0, 1, 5)),
        by=["view"],
    ),
    "what was added is multiplied": Case(
        """g (float[8,N] x, float[3,N] u, float[2,N] v) => (float[8,N] y)
        <int64[3,1] i = {2, 3, 4}, int64[2,1] j = {4, 5}> {
            z = ScatterND <reduction = "add"> (x, i, u)
            y = ScatterND <reduction = "mul"> (z, j, v) }""",
        *sizes(N=(0, 1, 5)),
        by=["concat", "view"],
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Golden) -> None:
    GOLDEN[name].check(golden)


def test_a_write_is_not_combined(refuses: Refuses) -> None:
    refuses(BOX.format("float", "none"), Reason.NO_RULE, beside=["view"])


def test_parts_that_no_rule_writes(refuses: Refuses) -> None:
    text = BOX.format("float", "add").replace("[8,N]", "[3,N]").replace("2, 3, 4", "0, 1, 2")
    refuses(text, Reason.NO_RULE)


@pytest.mark.parametrize(("kind", "reduction"), [("int16", "max"), ("bool", "max")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(BOX.format(kind, reduction), Reason.NO_KERNEL, beside=["concat", "view"])
