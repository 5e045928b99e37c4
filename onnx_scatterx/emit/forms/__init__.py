"""Other forms of a node that a target does not take, which compute the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import onnx_ir as ir

from onnx_scatterx.emit.forms import arithmetic, casts, constants, logic, movement, padding, rows
from onnx_scatterx.emit.forms.request import Request

Form: TypeAlias = "Callable[[Request], ir.Value | None]"
"""Writes another form of a node, or returns None and writes nothing."""

FORMS: dict[str, tuple[Form, ...]] = {
    "And": (logic.and_,),
    "CumSum": (arithmetic.exclusive_sum, arithmetic.sum_by_product),
    "Equal": (),
    "Expand": (movement.tile,),
    "Gather": (rows.nonnegative_gather, rows.gathered_slices),
    "GatherND": (rows.gathered_rows,),
    "Greater": (logic.swapped,),
    "Identity": (movement.same_shape,),
    "IsNaN": (logic.is_nan,),
    "Less": (logic.swapped,),
    "Mod": (arithmetic.remainder,),
    "Neg": (arithmetic.negative,),
    "Not": (logic.not_,),
    "Or": (logic.or_,),
    "Pad": (padding.concat,),
    "Slice": (movement.strided_slice,),
    "Squeeze": (movement.reshape,),
    "Unsqueeze": (movement.reshape,),
    "Where": (movement.expanded_where,),
}
_FIRST: tuple[Form, ...] = (constants.folded,)
HAVE_FORMS = frozenset(FORMS) | casts.OPERATORS
"""Operators that may have another form."""
_LAST: tuple[Form, ...] = (casts.by_another_type,)


def other_form(request: Request) -> ir.Value | None:
    """Write the first form of a node that the target takes; None if it takes no form."""
    for form in (*_FIRST, *FORMS.get(request.op, ()), *_LAST):
        found = form(request)
        if found is not None:
            return found
    return None
