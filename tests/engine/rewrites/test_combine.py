"""combine: a reducing write without collisions is the elementwise operator on the region."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Refuses, each, row, sizes

BOX = """g ({0}[8,N] x, {0}[3,N] u) => ({0}[8,N] y) <int64[3,1] i = {{2, 3, 4}}>
    {{ y = ScatterND <reduction = "{1}"> (x, i, u) }}"""


GOLDEN = {
    "rows that are added": row(*sizes(N=(0, 1, 5)), by=["concat", "view"]),
    "rows that are multiplied": row(*sizes(N=(0, 1, 5)), by=["concat", "view"]),
    "a maximum of integers": row(*sizes(N=(0, 1, 5)), by=["concat", "view"]),
    "a minimum of floats keeps what the scatter keeps": row(
        *sizes(N=(0, 1, 5)), by=["concat", "view"]
    ),
    "a full cover": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "what was added is multiplied": row(*sizes(N=(0, 1, 5)), by=["concat", "view"]),
}
test_golden = each(GOLDEN, "golden")


def test_a_write_is_not_combined(refuses: Refuses) -> None:
    refuses(BOX.format("float", "none"), Reason.NO_RULE, beside=["view"])


def test_parts_that_no_rule_writes(refuses: Refuses) -> None:
    text = BOX.format("float", "add").replace("[8,N]", "[3,N]").replace("2, 3, 4", "0, 1, 2")
    refuses(text, Reason.NO_RULE)


@pytest.mark.parametrize(("kind", "reduction"), [("int16", "max"), ("bool", "max")])
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    refuses(BOX.format(kind, reduction), Reason.NO_KERNEL, beside=["concat", "view"])
