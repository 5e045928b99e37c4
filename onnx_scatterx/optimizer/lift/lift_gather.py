"""From a node that reads to its gathering: the source of every element of the output.

The dual of ``lift_scatter``: the three operators become one form, ``output[I] = data[T(I)]``. The
components of T are the same terms, so the same code judges them and finds their boxes.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.call import Call
from onnx_scatterx.optimizer.analysis.domain.scope import Scope
from onnx_scatterx.optimizer.analysis.operators.gathers import READS, reading
from onnx_scatterx.optimizer.lift.access import (
    Access,
    formula_of,
    input_of,
    lifted,
    simplified_targets,
    value_of,
)
from onnx_scatterx.optimizer.symbolic.terms import Term
from onnx_scatterx.text.reasons import Reason, Refusal, RefusedError

_SINCE = {"Gather": 9, "GatherElements": 11, "GatherND": 11}


@dataclass(frozen=True, eq=False, kw_only=True)
class Gather(Access):
    """A node that reads, in canonical form: ``output[I] = data[T(I)]``.

    ONNX Runtime reads no index if one of the ``checked_dims`` of the output is empty. ``given`` is
    T as the index tensor has it: a negative number counts from the end.
    """

    may_repeat: ClassVar[bool] = True
    tensor_role: ClassVar[str] = "output"

    checked_dims: tuple[int, ...]
    given: tuple[Term, ...]

    def is_given_from_start(self, axis: int) -> bool:
        """Return whether it is proven that no number of the index tensor counts from the end."""
        return self.facts.is_nonnegative(self.given[axis])


def is_gather(node: ir.Node, among: Collection[str] = READS) -> bool:
    """Return whether a node is one of the three operators that read by indices, or of some."""
    return node.op_type in among and node.domain == ""


def is_arithmetic(node: ir.Node, scope: Scope) -> bool:
    """Return whether a node reads known places of a vector of known numbers, such as a shape.

    Such numbers are indices and sizes, not data.
    """
    data, indices = (None if v is None else scope.values.get(v) for v in node.inputs[:2])
    if data is None or indices is None or indices.constant is None:
        return False
    return isinstance(data.content, np.ndarray) and data.is_integer and data.rank == 1


def lift_gather(node: ir.Node, scope: Scope) -> Gather | Refusal:
    """Return a node that reads in canonical form, or why it has none.

    >>> from onnx_scatterx.optimizer.analysis.convergence import interpret
    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     every_third (float[b, 9] x) => (float[b, 3] y)
    ...     <int64[3] i = {1, 4, 7}> { y = Gather <axis = 1> (x, i) }''')
    >>> lift_gather(model.graph[0], interpret(model).scopes[model.graph]).index_exprs
    (x0, 3*x1 + 1)
    """
    return lifted(lambda: _lift_read(scope.call(node)))


def _lift_read(call: Call) -> Gather:
    op = call.node.op_type
    if call.version < _SINCE[op]:
        raise RefusedError(Reason.OLD_OPERATOR, f"{op} in operator set {call.version}")
    data, indices = input_of(call, 0), input_of(call, 1)
    try:
        read = reading(call, data.dims, indices.dims, formula_of(call, 1, indices))
    except ValueError as error:
        raise RefusedError(Reason.INVALID, str(error)) from error
    except LookupError as error:
        raise RefusedError(Reason.UNKNOWN_RANK, str(error)) from error
    dtype = data.dtype or call.node.outputs[0].dtype
    if dtype is None:
        raise RefusedError(Reason.UNKNOWN_TYPE)
    if op == "Gather" and dtype == ir.DataType.STRING:
        # ONNX Runtime's Gather of strings may return empty ones, so it is not a move.
        raise RefusedError(Reason.NO_KERNEL, "Gather of string")
    targets, signs, facts = simplified_targets(
        call.facts, data.dims, read.shape, read.targets, read.named
    )
    return Gather(
        node=call.node,
        data=value_of(call, 0),
        indices=value_of(call, 1),
        dtype=dtype,
        data_shape=data.dims,
        shape=read.shape,
        index_exprs=targets,
        nonnegative=signs,
        index_dims=tuple(read.index_dims),
        checked_dims=tuple(read.checked_dims),
        given=tuple(read.targets),
        facts=facts,
    )
