"""The table of operators, helpers that read their arguments, and operators that make tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np
import onnx

from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    divide,
    integer,
    maximum,
    number,
)
from onnx_scatterx.proof.core.logic import (
    FALSE,
    at_most,
    choose,
    either,
    equal,
    negation,
)
from onnx_scatterx.proof.core.lookups import contents
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor, tensor_of
from onnx_scatterx.proof.core.terms import Term, UnsupportedError
from onnx_scatterx.proof.core.types import COMPUTED, constant, sort_of
from onnx_scatterx.proof.core.world import World

Inputs = Sequence[Tensor | None]
Operator = Callable[[Node, Inputs, World], list[Tensor]]

OPERATORS: dict[str, Operator] = {}
MOVING: set[str] = set()
"""The operators that only move elements of any type, such as a scatter without a reduction."""

_OLDEST = 13  # the oldest operator set that is modelled
_QUANTIZED = {"QuantizeLinear": {"int16", "uint16"}, "DequantizeLinear": {"int16", "uint16"}}


def operator(*names: str, moves: bool = False) -> Callable[[Operator], Operator]:
    """Register a function for these operators; ``moves`` says that they only move elements."""

    def enter(function: Operator) -> Operator:
        OPERATORS.update(dict.fromkeys(names, function))
        MOVING.update(names if moves else ())
        return function

    return enter


def refused(node: Node, inputs: Inputs) -> str | None:
    """Return why a node of ``OPERATORS`` is not modelled; None if it is modelled."""
    if node.version < _OLDEST:
        return f"{node.op} of an operator set before {_OLDEST}"
    wrong = _fault(node, inputs)
    if wrong or node.op in MOVING:
        return wrong
    types = COMPUTED | _QUANTIZED.get(node.op, set())
    others = {t.dtype for t in inputs if t is not None} - types
    return f"{node.op} of {min(others)}" if others else None


_OWN_NAMES = {"float32": "float", "float64": "double", "float4_e2m1fn": "float4e2m1"}


_Input = tuple[frozenset[str], str]
"""The types that an input may have, and the name of its type variable."""


@functools.cache
def _schema(op: str, version: int) -> tuple[dict[str, int], list[_Input], range, range] | None:
    """Return the types of the attributes, the inputs, and how many inputs and outputs may be."""
    try:
        schema = onnx.defs.get_schema(op, version, "")
    except onnx.defs.SchemaError:
        return None
    attributes = {name: int(getattr(a.type, "value", 0)) for name, a in schema.attributes.items()}
    inputs = [(frozenset(i.types), i.type_str) for i in schema.inputs]
    outputs = range(schema.min_output, schema.max_output + 1)
    return attributes, inputs, range(schema.min_input, schema.max_input + 1), outputs


def _fault(node: Node, inputs: Inputs) -> str | None:
    """Return in which way a node contradicts the schema of its operator; None if it does not.

    ONNX Runtime refuses such a node, or reads it otherwise. Examples: an attribute of a newer
    operator set, an output without a name, integers for conditions.
    """
    schema = _schema(node.op, node.version)
    if schema is None:
        return f"{node.op}, which its operator set does not have"
    attributes, declared, reads, makes = schema
    if len(inputs) not in reads or len(node.outputs) not in makes or "" in node.outputs:
        return f"{node.op} with inputs or outputs that are missing, or too many"
    if any(attributes.get(a.name) != a.type for a in node.proto.attribute):
        return f"{node.op} with an attribute that its operator set does not have"
    bound: dict[str, str] = {}
    for index, tensor in enumerate(inputs):
        if tensor is None or tensor.dtype == "unknown":
            continue
        types, name = declared[min(index, len(declared) - 1)]
        own = _OWN_NAMES.get(tensor.dtype, tensor.dtype.replace("_", ""))
        if f"tensor({own})" not in types or bound.setdefault(name, own) != own:
            return f"{node.op} of types that its operator set does not have"
    return None


def optional(inputs: Inputs, position: int) -> Tensor | None:
    """Return an input; None if it is absent."""
    return inputs[position] if position < len(inputs) else None


def required(inputs: Inputs, position: int) -> Tensor:
    """Return a required input; UnsupportedError if it is absent."""
    tensor = optional(inputs, position)
    if tensor is None:
        raise UnsupportedError("an input is missing")
    return tensor


def scalar(tensor: Tensor, world: World, what: str) -> Term:
    """Return the element of a tensor, and require that it has only one."""
    if tensor.rank > 1:
        raise UnsupportedError(f"{what}, which has rank {tensor.rank}")
    for d in tensor.shape:
        world.need(equal(d, ONE), what)
    return tensor.at(tuple(ZERO for _ in tensor.shape))


def numbers(tensor: Tensor, what: str) -> list[int]:
    """Return the elements of a constant vector or scalar; UnsupportedError if not constant."""
    elements = [number(t) for t in ([tensor.at(())] if tensor.rank == 0 else tensor.elements())]
    if any(n is None for n in elements):
        raise UnsupportedError(f"{what} that are not constant")
    return [n for n in elements if n is not None]


def optional_numbers(
    inputs: Inputs, position: int, what: str, *, scalar: bool = False
) -> list[int] | None:
    """Return the elements of a constant vector; None if the input is absent."""
    tensor = optional(inputs, position)
    if tensor is not None and tensor.rank == 0 and not scalar:
        raise UnsupportedError(f"{what} that are a scalar, which ONNX Runtime refuses")
    return None if tensor is None else numbers(tensor, what)


def never(world: World, what: str) -> NoReturn:
    """Require FALSE for a node that never runs, and raise UnsupportedError."""
    world.need(FALSE, what)
    raise UnsupportedError(what)


def axes_of(node: Node, inputs: Inputs, position: int) -> list[int] | None:
    """Return axes, which are an attribute or, in newer operator sets, an input."""
    if "axes" in node.attributes:
        return [int(a) for a in node.get("axes")]
    return optional_numbers(inputs, position, "axes", scalar=node.op == "Unsqueeze")


def positive(axis: int, rank: int) -> int:
    """Return an axis counted from the front."""
    if not -rank <= axis < rank:
        raise UnsupportedError(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank


def join(a: Term, b: Term, world: World, what: str) -> Term:
    """Return the dim to which two dims are broadcast, and require that they fit."""
    if a is b or b is ONE:
        return a
    if a is ONE:
        return b
    world.need(either(equal(a, b), equal(a, ONE), equal(b, ONE)), what)
    known, other = number(a), number(b)
    if known is not None and other is None:
        return a
    if other is not None and known is None:
        return b
    if world.same(a, b):
        return a
    if world.known(equal(a, ONE)):
        return b
    if world.known(equal(b, ONE)):
        return a
    return choose(equal(a, ONE), b, a)


def common_shape(shapes: Sequence[Sequence[Term]], world: World, what: str) -> Coordinates:
    """Return the shape to which several shapes are broadcast, and require that they fit."""
    rank = max(map(len, shapes), default=0)
    joined = [ONE] * rank
    for dims in shapes:
        for axis, d in enumerate(dims, rank - len(dims)):
            joined[axis] = join(joined[axis], d, world, what)
    return tuple(joined)


def read(tensor: Tensor, dims: Coordinates, at: Coordinates, world: World) -> Term:
    """Return an element of a tensor that is broadcast to ``dims``."""
    skipped = len(dims) - tensor.rank
    own: list[Term] = []
    for d, whole, c in zip(tensor.shape, dims[skipped:], at[skipped:], strict=True):
        if d is ONE:
            own.append(ZERO)
        elif d is whole or (number(d) or 0) > 1 or world.same(d, whole):
            own.append(c)
        else:
            own.append(choose(equal(d, ONE), ZERO, c))
    return tensor.at(own)


def pointwise(
    dtype: str, tensors: Sequence[Tensor], function: Callable[..., Term], world: World, what: str
) -> list[Tensor]:
    """Return the result of a function on the elements of tensors, which are broadcast."""
    dims = common_shape([t.shape for t in tensors], world, what)

    def define(at: Coordinates) -> Term:
        return function(*(read(t, dims, at, world) for t in tensors))

    return [Tensor(dtype, dims, define)]


@operator("Shape", moves=True)
def shape(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    dims = required(inputs, 0).shape
    start, end = node.get("start", 0), node.get("end", len(dims))
    bounds = [min(max(b + len(dims) if b < 0 else b, 0), len(dims)) for b in (start, end)]
    return [tensor_of("int64", dims[bounds[0] : bounds[1]])]


@operator("Range")
def span(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    tensors = [required(inputs, i) for i in range(3)]
    dtype = tensors[0].dtype
    if sort_of(dtype) != "integer":
        raise UnsupportedError("Range of floats")
    start, end, step = (scalar(t, world, "Range: bounds are numbers") for t in tensors)
    world.need(negation(equal(step, ZERO)), "Range: the step is not 0")
    known = number(step)
    if known is None:
        raise UnsupportedError("Range with a step that is not constant")
    if known > 0:
        length = divide(end - start + (known - 1), integer(known))
    else:
        length = divide(start - end + (-known - 1), integer(-known))
    dims = (maximum(length, ZERO),)
    return [Tensor(dtype, dims, lambda at: start + at[0] * known)]


def sizes_of(tensor: Tensor, world: World, what: str) -> list[Term]:
    """Return the elements of a vector of sizes, and require that none is negative."""
    dims = tensor.elements()
    for d in dims:
        world.need(at_most(ZERO, d), what)
    return dims


@operator("ConstantOfShape")
def filled(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    dims = sizes_of(required(inputs, 0), world, "ConstantOfShape: no size is negative")
    proto = node.get("value")
    stated = None if proto is None else contents(proto)
    array = np.zeros(1, np.float32) if stated is None else stated.array
    dtype = "float32" if stated is None else stated.dtype
    if array is None or array.size != 1:
        raise UnsupportedError("ConstantOfShape of another number of values than 1")
    value = constant(array.reshape(-1)[0], dtype)
    return [Tensor(dtype, tuple(dims), lambda _: value)]
