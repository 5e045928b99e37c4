"""Makes inputs that can be run from Z3's counterexample."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np

from onnx_scatterx.proof.building import shown
from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.solver import Model
from onnx_scatterx.proof.core.tensor import Tensor
from onnx_scatterx.proof.core.types import sort_of
from onnx_scatterx.proof.judge import Judgement

_ELEMENTS = 1 << 20  # the most elements of all inputs
_ASKED = 2048  # the most elements of one input that Z3 determines; others are 0
_LITERALS = 6  # the most literals of a float type that are tried alone
_BELOW = 2  # integers are drawn below this, so that positions and conditions are likely to run

Feeds = dict[str, np.ndarray]

Element = tuple[str, tuple[int, ...], int | bool | None]
"""An input, an index, and the value there; None if the solver does not compute it."""

Trials = Iterator[tuple[dict[str, int], Feeds]]
"""Sizes and inputs to run."""


def shapes_of(judgement: Judgement, model: Model) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the inputs whose ranks are known."""
    return {
        name: tuple(int(model.value(d)) for d in tensor.dims)
        for name, tensor in judgement.inputs.items()
        if tensor.dims is not None
    }


def can_run(judgement: Judgement, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Return whether the shapes of all inputs are known, and not too large."""
    known = len(shapes) == len(judgement.inputs)
    return known and sum(map(math.prod, shapes.values())) <= _ELEMENTS


def feeds_of(
    judgement: Judgement,
    model: Model,
    rng: np.random.Generator,
    elements: Sequence[Element] = (),
    literals: Mapping[str, Sequence[float]] | None = None,
) -> Trials:
    """Yield inputs of the sizes of a counterexample: with its elements, and with drawn ones.

    ``literals`` are floats to draw from, too, by element type.
    """
    sizes = {shown(key): int(model.value(d)) for key, d in judgement.sizes.items()}
    shapes = shapes_of(judgement, model)
    if not can_run(judgement, shapes):
        return
    shaped = [(name, judgement.inputs[name], shape) for name, shape in shapes.items()]
    for floats in _flavours(literals or {}):
        feeds = {name: _asked(t, shape, model, rng, floats) for name, t, shape in shaped}
        for name, index, value in elements:
            if value is not None:
                feeds[name][index] = value
        yield sizes, feeds
    yield sizes, {name: _drawn(t, shape, rng) for name, t, shape in shaped}


@dataclass(frozen=True)
class _Floats:
    """How floats are drawn: by a normal distribution with this ``spread``.

    ``instead`` has numbers by element type. A ``share`` of the floats of a type
    are such numbers.
    """

    spread: float = 1.0
    instead: Mapping[str, Sequence[float]] = field(default_factory=dict)
    share: float = 1.0

    def draw(self, rng: np.random.Generator, shape: Sequence[int], dtype: str) -> np.ndarray:
        """Return floats for an element type, as float64."""
        values = rng.standard_normal(shape) * self.spread
        if numbers := self.instead.get(dtype):
            values = np.where(rng.random(shape) < self.share, rng.choice(numbers, shape), values)
        return np.asarray(values)


def _flavours(literals: Mapping[str, Sequence[float]]) -> Iterator[_Floats]:
    """Yield ways to draw floats: small, large, each literal alone, and literals among others."""
    yield from (_Floats(1.0), _Floats(1e3))
    for dtype, numbers in literals.items():
        yield from (_Floats(1.0, {dtype: [number]}) for number in numbers[:_LITERALS])
    if literals:
        yield _Floats(1.0, literals, 0.5)


def _asked(
    tensor: Tensor, shape: Sequence[int], model: Model, rng: np.random.Generator, floats: _Floats
) -> np.ndarray:
    """Return an input: integers and booleans from Z3's model, other elements drawn."""
    if sort_of(tensor.dtype) == "data":
        return _drawn(tensor, shape, rng, floats)
    array = np.zeros(shape, bool if tensor.dtype == "bool" else tensor.dtype)
    for index in itertools.islice(np.ndindex(*shape), _ASKED):
        array[index] = model.value(tensor.at(tuple(map(integer, index))))
    return array


def _drawn(
    tensor: Tensor, shape: Sequence[int], rng: np.random.Generator, floats: _Floats | None = None
) -> np.ndarray:
    if tensor.dtype == "string":
        return rng.integers(0, 9, shape).astype(str).astype(object)
    kind = np.dtype(getattr(ml_dtypes, tensor.dtype, tensor.dtype))
    if kind.kind in "biu":
        return rng.integers(0, _BELOW, shape).astype(kind)
    return (floats or _Floats()).draw(rng, shape, tensor.dtype).astype(kind)
