"""NonZero, CumSum and ReduceSum of masks and integers, ReduceMax and ReduceMin of integers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable

import numpy as np

from onnx_scatterx.proof.assumed import FEW_ARE_TRUE
from onnx_scatterx.proof.core.arithmetic import (
    ONE,
    ZERO,
    integer,
    maximum,
    minimum,
    number,
)
from onnx_scatterx.proof.core.folds import Fold, Part, neutral, parted
from onnx_scatterx.proof.core.logic import (
    TRUE,
    as_condition,
    at_most,
    below,
    both,
    equal,
    from_condition,
    implies,
    inside,
    some,
    within,
)
from onnx_scatterx.proof.core.masks import View
from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Coordinates, Tensor, tensor_of
from onnx_scatterx.proof.core.terms import (
    LARGEST_SIZE,
    Term,
    UnsupportedError,
    apply,
    variable,
)
from onnx_scatterx.proof.core.types import range_of, sort_of
from onnx_scatterx.proof.core.witnesses import Definition, Universal
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.operators.elementwise import binary
from onnx_scatterx.proof.operators.few_floats import Elements, reduced_floats
from onnx_scatterx.proof.operators.registry import (
    Inputs,
    axes_of,
    numbers,
    operator,
    positive,
    required,
)

_FEW = 16


def _mask(a: Tensor, world: World) -> View:
    """Return a tensor as a mask, which is true where the tensor is not 0."""

    def at(c: Coordinates) -> Term:
        x = a.at(c)
        if x.sort == "condition":
            return x
        return (
            as_condition(x)
            if x.sort == "integer"
            else apply(("Cast", a.dtype, "bool"), (x,), "condition")
        )

    return world.masks.view(a.shape, at)


@operator("NonZero")
def nonzero(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    if a.rank == 0:
        raise UnsupportedError("NonZero of a scalar")
    view = _mask(a, world)

    def define(at: Coordinates) -> Term:
        return tensor_of("int64", view.places(at[1])).at((at[0],))

    return [Tensor("int64", (integer(a.rank), view.count), define)]


def _whole_mask(a: Tensor, left: Iterable[Term], world: World) -> View | None:
    """Return a tensor of 0 and 1 as a mask, if all axes ``left`` after its sum have size 1."""
    x = a.at(a.points("summed"))
    if x.sort != "integer" or x.low < 0 or x.high > 1 or any(d is not ONE for d in left):
        return None
    world.assume(FEW_ARE_TRUE)
    return _mask(a, world)


def _adding(dtype: str, world: World) -> Callable[[Term, Term], Term]:
    return lambda a, b: binary("Add", dtype, a, b, world)


@operator("CumSum")
def running_sum(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axes = numbers(required(inputs, 1), "axes")
    if len(axes) != 1 or node.get("reverse"):
        raise UnsupportedError("CumSum backwards, or not along one axis")
    axis = positive(axes[0], a.rank)
    others = (d for k, d in enumerate(a.shape) if k != axis)
    view = _whole_mask(a, others, world)
    if view is None:
        return [_summed_up(node, a, axis, world)]

    def define(at: Coordinates) -> Term:
        before = view.rank(at)
        return before if node.get("exclusive") else before + from_condition(view.true(at))

    return [Tensor(a.dtype, a.shape, define)]


def _summed_up(node: Node, a: Tensor, axis: int, world: World) -> Tensor:
    """Return a running sum: ``y[0] = x[0]`` and ``y[i] = y[i - 1] + x[i]``."""
    if node.get("exclusive"):
        raise UnsupportedError("an exclusive CumSum of a tensor that is not a mask of one axis")
    nothing, combine = neutral("add", a.dtype), _adding(a.dtype, world)
    length = a.shape[axis]

    def element(others: Coordinates, position: Term) -> Term:
        return a.at((*others[:axis], position, *others[axis:]))

    def after_first(others: Coordinates, points: Coordinates) -> Part:
        return parted(element(others, points[0] + 1), nothing)

    def up_to(at: Coordinates, points: Coordinates) -> Part:
        holds, value = parted(element((*at[:axis], *at[axis + 1 :]), points[0]), nothing)
        return both(at_most(points[0], at[axis]), holds), value

    others = (*a.shape[:axis], *a.shape[axis + 1 :])
    whole = world.folds.function(Fold("add", a.dtype, others, (length - 1,), after_first, combine))
    part = world.folds.function(Fold("add", a.dtype, a.shape, (length,), up_to, combine))

    def define(at: Coordinates) -> Term:
        own = (*at[:axis], *at[axis + 1 :])
        return whole(own, element(own, ZERO)) if at[axis] is length - 1 else part(at, nothing)

    return Tensor(a.dtype, a.shape, define)


@operator("ReduceSum")
def total(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axes = _reduced_axes(node, inputs, a)
    if axes is None:
        return [a]
    left = (d for k, d in enumerate(a.shape) if k not in axes)
    view = _whole_mask(a, left, world)
    dims = _kept(node, a, axes)
    if view is not None:
        return [Tensor(a.dtype, dims, lambda _: view.count)]
    read = _reading(node, a, axes)
    over = sorted(axes)
    if sort_of(a.dtype) != "integer":
        return [reduced_floats(node.op, dims, _few(node, a, axes), world)]
    x, nothing = a.at(a.points("summed")), neutral("add", a.dtype)
    most = max(-x.low, x.high) * math.prod(a.shape[k].high for k in over)
    if most > min(range_of(a.dtype)[1], 2**53):  # ONNX Runtime sums in float64, and clamps
        raise UnsupportedError("ReduceSum of integers that may not fit")

    def part(at: Coordinates, points: Coordinates) -> Part:
        return parted(read(at, dict(zip(over, points, strict=True))), nothing)

    box = tuple(a.shape[k] for k in over)
    fold = Fold("add", a.dtype, dims, box, part, _adding(a.dtype, world))
    value = world.folds.function(fold)
    return [Tensor(a.dtype, dims, lambda at: value(at, ZERO))]


def _reading(
    node: Node, a: Tensor, axes: set[int]
) -> Callable[[Coordinates, dict[int, Term]], Term]:
    """Return the function that reads an element of a tensor before it is reduced.

    Its arguments are a point of the result, and the coordinates on the reduced axes.
    """
    axis_of = _result_axes(node, a, axes)

    def read(at: Coordinates, points: dict[int, Term]) -> Term:
        own = points | {k: at[i] for k, i in axis_of.items()}
        return a.at([own.get(k, ZERO) for k in range(a.rank)])

    return read


def _few(node: Node, a: Tensor, axes: set[int]) -> Elements:
    """Return the function to the few elements that are reduced; UnsupportedError if many are."""
    sizes = [number(a.shape[k]) or 0 for k in sorted(axes)]
    if a.dtype != "float32" or not 0 < math.prod(sizes) <= _FEW:
        raise UnsupportedError(f"{node.op} of floats, in an order that is not known")
    read = _reading(node, a, axes)
    box = [dict(zip(sorted(axes), map(integer, i), strict=True)) for i in np.ndindex(*sizes)]
    return lambda at: [read(at, points) for points in box]


def _result_axes(node: Node, a: Tensor, axes: set[int]) -> dict[int, int]:
    """Return for each axis that is not reduced its axis in the result."""
    left = [k for k in range(a.rank) if k not in axes]
    return {k: k if node.get("keepdims", 1) else i for i, k in enumerate(left)}


def _reduced_axes(node: Node, inputs: Inputs, a: Tensor) -> set[int] | None:
    axes = axes_of(node, inputs, 1)
    if not axes:
        if node.get("noop_with_empty_axes"):
            return None
        return set(range(a.rank))
    return {positive(axis, a.rank) for axis in axes}


def _kept(node: Node, a: Tensor, axes: set[int]) -> tuple[Term, ...]:
    if node.get("keepdims", 1):
        return tuple(ONE if k in axes else d for k, d in enumerate(a.shape))
    return tuple(d for k, d in enumerate(a.shape) if k not in axes)


@operator("ReduceMax", "ReduceMin")
def extreme(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = required(inputs, 0)
    axes = _reduced_axes(node, inputs, a)
    if axes is None:
        return [a]
    reduced = [k for k in sorted(axes) if a.shape[k] is not ONE]
    if sort_of(a.dtype) == "data":
        return [reduced_floats(node.op, _kept(node, a, axes), _few(node, a, axes), world)]
    if sort_of(a.dtype) != "integer" or len(reduced) > 1:
        raise UnsupportedError(f"{node.op} of other than integers along one axis")
    if any(d.low == 0 for d in a.shape):
        world.assume(f"{node.op} of an empty tensor has the shape that ONNX states")
    if world.owing:
        exist = some(d for k, d in enumerate(a.shape) if k not in axes)
        for k in axes:
            world.need(implies(exist, below(ZERO, a.shape[k])), f"{node.op}: of some elements")

    read = _reading(node, a, axes)
    pick = maximum if node.op == "ReduceMax" else minimum
    dims = _kept(node, a, axes)
    if not reduced:
        return [Tensor(a.dtype, dims, lambda at: read(at, {}))]
    (axis,) = reduced
    limit = a.shape[axis]
    length = number(limit)
    if length is not None and 0 < length <= _FEW:

        def several(at: Coordinates) -> Term:
            return functools.reduce(pick, [read(at, {axis: integer(i)}) for i in range(length)])

        return [Tensor(a.dtype, dims, several)]
    # The function's arguments are the other coordinates of the input, so keepdims does not matter.
    name = world.name(a, (*a.shape, integer(axis)))
    value_name, point_name = f"{node.op} {name}", f"where {node.op} {name}"
    real = [k for k, d in enumerate(a.shape) if k != axis and d is not ONE]

    def own(at: Coordinates, point: Term) -> Term:
        coordinates = dict(zip(real, at, strict=True)) | {axis: point}
        return a.at([coordinates.get(k, ZERO) for k in range(a.rank)])

    def there(at: Coordinates) -> Term:
        """Return the condition that these elements exist: facts about others may contradict."""
        return inside(at, [a.shape[k] for k in real])

    def value_at(at: Coordinates) -> Term:
        sample, exist = own(at, variable("any", limit=limit)), limit.low > 0 and there(at) is TRUE
        low, high = (sample.low, sample.high) if exist else range_of(a.dtype)
        return apply(value_name, at, "integer", low, high)

    def facts(term: Term) -> list[Term]:
        at = term.args
        value = value_at(at)
        point = apply(point_name, at, "integer", 0, LARGEST_SIZE)
        is_it = both(within(point, ZERO, limit), equal(value, own(at, point)))
        return [implies(both(there(at), below(ZERO, limit)), is_it)]

    def universals(term: Term) -> list[Universal]:
        at = term.args
        value = value_at(at)

        def instance(point: Term) -> Term:
            element = own(at, point)
            bound = at_most(element, value) if pick is maximum else at_most(value, element)
            return implies(both(there(at), within(point, ZERO, limit)), bound)

        return [Universal(limit, instance)]

    world.witnesses.define(value_name, Definition(facts, universals))
    world.witnesses.define(point_name, Definition(facts, universals, lambda _: limit))

    result = _result_axes(node, a, axes)

    def define(at: Coordinates) -> Term:
        # A question that names the value also gets the facts about the point: they name both.
        return value_at(tuple(at[result[k]] for k in real))

    return [Tensor(a.dtype, dims, define)]
