"""Draws random inputs that a model is likely to accept and that show differences.

In some draws, floats are ordinary numbers. In other draws, they are mixed with NaN, infinities,
both zeros and denormals. Not all draws have NaN, because NaN hides other differences.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import NOTHING, Assumption, evaluate
from onnx_scatterx.compare.draws.index_bounds import IndexConstraints
from onnx_scatterx.compare.draws.integer_sampler import FEW_ELEMENTS, IntegerSampler
from onnx_scatterx.compare.draws.landmarks import Aims, floats_near, moderate
from onnx_scatterx.compare.draws.sizes import FREE, Combination
from onnx_scatterx.compare.interface import Input
from onnx_scatterx.errors import VerifyError

MOST_ELEMENTS = 1 << 28
"""The most elements that all inputs have together, for any declared dims."""

MOST_DIMS = 32 if np.lib.NumpyVersion(np.__version__) < "2.0.0" else 64
"""The most dims of an array of NumPy."""

FLAVOURS = ("plain", "special", "counting", "constants", "ties", "special", "unit", "tiny")
"""The kinds of floats that are drawn, in turn: "constants" are mixed with numbers of the models."""

MOST_BYTES = 10**9
"""The most bytes of one drawn input."""

_MOST_SPAN = 1 << 58  # the most elements that NumPy can address, with 16 bytes each
_UNDRAWN = (ir.DataType.UNDEFINED, ir.DataType.COMPLEX64, ir.DataType.COMPLEX128)
_WORDS = ("", "a", "b", "scatter", "Größe", "0")


def limit_name(input_name: str) -> str:
    """Return the name of the symbol for the limit of an integer input's elements."""
    return f"limit({input_name})"


def rank_name(input_name: str) -> str:
    """Return the name of the symbol for the rank of an input without a declared rank."""
    return f"rank({input_name})"


def _is_array(shape: Iterable[int]) -> bool:
    """Return whether NumPy can make an array of this shape: it counts a dim 0 as 1."""
    return math.prod(max(extent, 1) for extent in shape) <= _MOST_SPAN


@dataclass(frozen=True)
class InputSampler:
    """Draws one input at given sizes."""

    input: Input
    constraints: IndexConstraints
    aims: Aims | None = None
    """What is hit on purpose; None: nothing."""
    assumption: Assumption = NOTHING
    independent: bool = False
    """Whether dims of the same name on different inputs may differ."""

    def __post_init__(self) -> None:
        name, dims = f"input {self.input.name!r}", self.input.dims or ()
        if self.input.dtype in (None, *_UNDRAWN):
            why = "unsupported type (a sequence, an optional, a map or complex)"
            raise VerifyError(f"cannot draw {name}: {why}; give inputs with feeds=")
        if len(dims) > MOST_DIMS:
            raise VerifyError(f"{name} has {len(dims)} dims; NumPy can draw at most {MOST_DIMS}")
        least = self.least_elements
        if least > MOST_ELEMENTS or self._bytes(least) > MOST_BYTES:
            size = f"{least} elements, {self._bytes(least) / 1e9:.2f} GB, or more"
            raise VerifyError(
                f"{name} of shape {list(dims)} has {size}; at most {MOST_ELEMENTS} elements and "
                f"{MOST_BYTES / 1e9:g} GB are drawn; give inputs"
            )
        if not _is_array(dim for dim in dims if isinstance(dim, int)):
            raise VerifyError(f"{name} of shape {list(dims)} is too large for NumPy")

    @property
    def least_elements(self) -> int:
        """How many elements the input has if each dim that is not a number is 1."""
        return math.prod(dim for dim in self.input.dims or () if isinstance(dim, int))

    def fits(self, shape: Iterable[int]) -> bool:
        """Return whether an array of this shape is small enough to be drawn."""
        return self._bytes(math.prod(shape)) <= MOST_BYTES

    def _bytes(self, elements: int) -> int:
        dtype = self.input.dtype
        assert dtype is not None
        return math.ceil(elements * (8 if dtype == ir.DataType.STRING else dtype.itemsize))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of the input's dims; for unknown rank, of 4 dims."""
        if self.input.dims is None:
            return tuple(f"{self.input.name}[{axis}]" for axis in range(4))
        names = self.input.symbols
        if not self.independent:
            return names
        mine = self.input.name
        return tuple(
            f"{name}@{mine}" if isinstance(dim, str) else name
            for name, dim in zip(names, self.input.dims, strict=True)
        )

    def own(self, sizes: Combination) -> Combination:
        """Return sizes by the names in the model; if inputs differ, those of this input."""
        if not self.independent:
            return sizes
        plain = {name.partition("@")[0]: n for name, n in sizes.items()}
        mine = {n: sizes[n] for n in self.symbols if n in sizes}
        return plain | {name.partition("@")[0]: n for name, n in mine.items()}

    @property
    def is_integer(self) -> bool:
        """Whether the input holds integers that may be used as indices."""
        dtype = self.input.dtype
        return dtype is not None and dtype.is_integer()

    def shape(self, sizes: Combination) -> tuple[int, ...] | None:
        """Return the input's shape; None if a dim is negative or too large at these sizes."""
        if self.input.dims is None:
            return tuple(sizes[name] for name in self.symbols[: sizes[rank_name(self.input.name)]])
        shape = [
            dim if isinstance(dim, int) else evaluate(name, sizes)
            for dim, name in zip(self.input.dims, self.symbols, strict=True)
        ]
        if any(extent is None or extent < 0 for extent in shape):
            return None
        extents = tuple(extent or 0 for extent in shape)
        return extents if _is_array(extents) else None

    def draw(
        self,
        rng: np.random.Generator,
        sizes: Combination,
        flavour: str,
        number: int | None = None,
        every: bool = False,
    ) -> np.ndarray:
        """Return an array for the input in the draw of a number; without one, nothing is aimed.

        If ``every``, integers are hit on purpose in this draw in any case.
        """
        shape = self.shape(sizes)
        assert shape is not None
        dtype = self.input.dtype
        assert dtype is not None
        aims = None if number is None else self.aims
        if dtype == ir.DataType.STRING:
            words = _WORDS if aims is None else (*_WORDS, *_like(aims.words, rng))
            return np.asarray(rng.choice(np.array(words, dtype=object), size=shape), dtype=object)
        if dtype == ir.DataType.BOOL:
            return np.asarray(mask(rng, shape))
        if dtype.is_integer():
            own, limit = self.own(sizes), sizes.get(limit_name(self.input.name), FREE)
            known = self.constraints, self.assumption, own | sizes, own, limit
            values = IntegerSampler(rng, dtype, *known, aims, number or 0, every).draw(shape)
            return np.asarray(values).astype(dtype.numpy())
        with np.errstate(all="ignore"):
            values = np.asarray(floats(rng, shape, flavour)).astype(dtype.numpy())
            if aims is not None and flavour in ("constants", "special") and values.size:
                _aim_floats(values, rng, aims, flavour == "special")
            return values

    def is_hit_alone(self, sizes: Combination) -> bool:
        """Return whether a draw has one index or few, so that each end needs a draw of its own."""
        bounds = (bound for each in self.constraints.values() for bound in each)
        shape = self.shape(sizes)
        few = shape is not None and 0 < math.prod(shape) < FEW_ELEMENTS
        return self.is_integer and few and any(bound.size is not None for bound in bounds)


def _like(words: tuple[str, ...], rng: np.random.Generator) -> list[str]:
    """Return words, others that differ from them in a letter or in case, and a word of letters."""
    letters = "".join(rng.choice(list("abcxyzABC09 _äß"), int(rng.integers(1, 9))))
    more = (c for w in words for c in (w, f"{w}x", w[:-1], w.swapcase()))
    return [*dict.fromkeys(more), letters]


def _aim_floats(values: np.ndarray, rng: np.random.Generator, aims: Aims, special: bool) -> None:
    """Put numbers at, beside and between the constants of the models into an array."""
    near = floats_near(aims.near, aims.others, values.dtype)
    marks = ((("float", n), n) for n in (near if special else moderate(near)))
    chosen = aims.dealer.deal(marks, max(1, values.size // 4))
    places = rng.permutation(values.size)[: len(chosen)]
    values.reshape(-1)[places] = np.array(chosen, np.float64).astype(values.dtype)


def mask(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return booleans: each drawn alone, or true for the first elements of each row."""
    kind = rng.random()
    if kind < 0.2 and shape:  # lengths
        length = rng.integers(shape[-1] + 1)
        if kind < 0.1:
            length = rng.choice([0, 1, shape[-1] - 1, shape[-1]])
        return np.broadcast_to(np.arange(shape[-1]) < length, shape).copy()
    return np.asarray(rng.random(shape) < rng.choice([0.0, 1.0, 0.1, 0.5, 0.5, 0.9]))


def floats(rng: np.random.Generator, shape: tuple[int, ...], flavour: str) -> np.ndarray:
    """Return numbers of a flavour, one of ``FLAVOURS``."""
    if flavour == "counting":  # all elements are different
        values = 1.0 + np.arange(np.prod(shape)).reshape(shape)
    elif flavour == "ties":
        values = rng.integers(-2, 3, shape).astype(np.float64)
    elif flavour == "unit":
        values = rng.random(shape)
    elif flavour == "tiny":
        values = rng.standard_normal(shape) * 1e-40
    else:
        values = rng.standard_normal(shape)
    if flavour in ("special", "tiny"):
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e-42, -1e-42, 1e30])
        chosen = rng.random(shape) < rng.choice([0.05, 0.2, 0.5])
        values = np.where(chosen, rng.choice(special, shape), values)
    return values
