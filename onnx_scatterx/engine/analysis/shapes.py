"""The outputs of a new node, and the types and shapes of an operator without transfer function.

For an operator without a transfer function, ONNX's own shape inference runs on the one node: each
symbolic dim has a name of its own in the input, and appears in the output if the operator passes
it on. Declared shapes are not used.

ONNX Runtime's result may have another shape if extents are 0 or 1. So a shape is trusted only for
operators whose random nodes were compared with it (``tests/helpers/one_node``).

    a reduction of a negative axis       ONNX Runtime may keep the axis if there are no elements
    a Squeeze of all ones                removes every dim that is 1
    a Reshape to ``[n, ...]``            copies a dim if n is 0
    a Reshape to ``[n, -1]``             ignores zeros, if it does not copy

Often the model cannot run at such a size. The interpreter tests this for the sizes that a model's
inputs declare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

import onnx
import onnx.checker
import onnx.shape_inference
import onnx_ir as ir
from onnx import numpy_helper

from onnx_scatterx.engine.analysis.domain.call import (
    Call,
    NotKnownError,
)
from onnx_scatterx.engine.analysis.domain.flags import are_meaningless
from onnx_scatterx.engine.analysis.domain.tensor import Shape, TensorValue
from onnx_scatterx.engine.analysis.domain.widening import widened
from onnx_scatterx.engine.analysis.operators.movement import beyond, is_never_one
from onnx_scatterx.engine.analysis.operators.reduction import REDUCTIONS
from onnx_scatterx.engine.analysis.operators.reshaping import sizes_at_stake
from onnx_scatterx.engine.analysis.transfers import transferred
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.terms import Term, term
from onnx_scatterx.operators import Trust, described


def infer(call: Call) -> list[TensorValue]:
    """Return the outputs' types, and their shapes as far as ONNX's inference gives them."""
    types = _inferred(call)
    ranks = described(call.node).ranks
    return [
        known if known.shape is not None else TensorValue(known.dtype, _of_rank(call, i, rank))
        for i, (known, rank) in enumerate(zip(types, (*ranks, *[_NONE] * len(types)), strict=False))
    ]


def outputs_of(call: Call) -> list[TensorValue]:
    """Return what is known of a new node's outputs; it has no bodies, and calls no function.

    For the nodes of a model, the interpreter does the same (``Interpreter._results``).
    """
    results = transferred(call) or infer(call)
    pairs = zip(call.node.outputs, results, strict=False)
    return [widened(value, result, call.scope, call.facts) for value, result in pairs]


def _of_rank(call: Call, output: int, rank: int | None) -> Shape | None:
    """Return an unknown shape of a rank, or of the rank of the first input."""
    first = call.input(0)
    if rank is None:
        rank = None if first is None else first.rank
    return None if rank is None or rank == _NONE else call.unknown_shape(rank, output)


def _inferred(call: Call) -> list[TensorValue]:
    node = call.node
    unknown = [TensorValue(v.dtype, None) for v in node.outputs]
    if not onnx.defs.has(node.op_type, max_inclusive_version=call.version, domain=node.domain):
        return unknown
    if any(a.is_ref() or a.type in _GRAPHS for a in node.attributes.values()):
        return unknown
    if are_meaningless(node):
        return unknown
    schema = onnx.defs.get_schema(node.op_type, call.version, node.domain)
    names: dict[str, Term] = {}
    types: dict[str, onnx.TypeProto] = {}
    data: dict[str, onnx.TensorProto] = {}
    proto = onnx.NodeProto(op_type=node.op_type, domain=node.domain)
    proto.attribute.extend(ir.serde.serialize_attribute(a) for a in node.attributes.values())
    for i, x in enumerate(call.inputs):
        name = "" if x is None else f"i{i}"
        proto.input.append(name)
        if x is None:
            continue
        if x.dtype is None:
            return unknown
        types[name] = _type(x, names)
        known = x.constant
        if (
            known is not None
            and known.size <= LIMITS.inferred_elements
            and known.dtype.kind in "iufb"
        ):
            data[name] = numpy_helper.from_array(known)
    proto.output.extend(f"o{i}" for i in range(len(node.outputs)))
    try:
        inferred = onnx.shape_inference.infer_node_outputs(
            schema,
            proto,
            types,
            data,
            opset_imports=[onnx.helper.make_opsetid(node.domain, call.version)],
        )
    except (
        onnx.shape_inference.InferenceError,
        onnx.checker.ValidationError,
        RuntimeError,
        ValueError,
    ):
        return unknown  # the node is invalid, and ONNX Runtime will say so
    return [
        _abstract(call, i, inferred.get(f"o{i}"), names) or unknown[i]
        for i in range(len(node.outputs))
    ]


_NONE = -1  # no rank
_GRAPHS = (ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS)


def _type(x: TensorValue, names: dict[str, Term]) -> onnx.TypeProto:
    assert x.dtype is not None
    if x.shape is None:
        return onnx.helper.make_tensor_type_proto(x.dtype.value, None)
    dims: list[int | str] = []
    for d in x.shape:
        constant = d.constant
        if constant is not None and constant >= 1 << 63:
            constant = None  # no tensor has it, and a TypeProto cannot hold it
        name = f"d{len(names)}"
        for known, t in names.items():
            if t is d:
                name = known
        if constant is None:
            names[name] = d
        dims.append(name if constant is None else constant)
    return onnx.helper.make_tensor_type_proto(x.dtype.value, dims)


def _abstract(
    call: Call, output: int, inferred: onnx.TypeProto | None, names: dict[str, Term]
) -> TensorValue | None:
    if inferred is None or not inferred.HasField("tensor_type"):
        return None
    tensor, trust = inferred.tensor_type, _trust(call)
    dtype = ir.DataType(tensor.elem_type) if tensor.elem_type else None
    if not tensor.HasField("shape") or trust < Trust.RANK:
        return TensorValue(dtype, None)
    fresh = call.unknown_shape(len(tensor.shape.dim), output)
    if trust < Trust.PASSED:
        return TensorValue(dtype, fresh)
    shape = []
    for d, unknown in zip(tensor.shape.dim, fresh, strict=True):
        if d.HasField("dim_value") and trust == Trust.ALL:
            shape.append(term(d.dim_value))
        else:
            shape.append(names.get(d.dim_param, unknown) if d.dim_param else unknown)
    return TensorValue(dtype, tuple(shape))


def _trust(call: Call) -> Trust:
    op = call.node.op_type
    trust = described(call.node).trust
    if trust < Trust.PASSED:
        return trust
    padded = call.string("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    if op == "ConvTranspose":
        if call.attribute("output_shape") is not None:
            return Trust.TYPE
        return Trust.PASSED if padded else Trust.ALL
    dilated = any(d != 1 for d in call.integers("dilations") or ())
    if op.endswith("Pool") and (call.integer("ceil_mode", 0) or (padded and dilated)):
        return Trust.PASSED
    return trust


Exclusion: TypeAlias = "tuple[Term, int]"
"""A size, and a value, 0 or 1, that it cannot have."""

SUSPICIOUS = frozenset({"Reshape", "Squeeze", *REDUCTIONS})
"""The operators whose shapes depend on such sizes."""


def suspected_sizes(call: Call, results: Sequence[TensorValue]) -> Iterator[Exclusion]:
    """Yield the sizes that must be excluded to know more of a node's first result."""
    x = call.input(0)
    if x is None or not x.shape or not results or call.node.domain != "":
        return
    if call.node.op_type == "Reshape":
        try:
            yield from ((t, 0) for t in sizes_at_stake(call))
        except NotKnownError:
            return
    if results[0].shape is not None:
        return
    if call.node.op_type in REDUCTIONS:
        facts = call.older_facts
        sizes = (d for d in x.shape if not facts.is_nonnegative(d - 1))
        yield from ((term(leaf), 0) for d in sizes for leaf in d.leaves())
    elif call.node.op_type == "Squeeze":
        yield from ((d, 1) for d in x.shape if not is_never_one(d, call.facts))


def is_reduction(node: ir.Node) -> bool:
    """Return whether a node is a reduction, which is uncertain only in older ONNX Runtimes."""
    return node.op_type in REDUCTIONS


def fact_of(exclusion: Exclusion) -> Term:
    """Return the term that is >= 0 because a size is not 0, or not 1."""
    size, number = exclusion
    return beyond(size) if number else size - 1
