"""What is known of a tensor without a run: its shape, its contents, the origin of its symbols.

The contents of an integer or boolean tensor have one of three forms: an array of numbers,
a small array of terms (a shape vector), or a term over the coordinates ``x0, x1, ...`` of the
element (an index map). Each form converts to the others, if that is possible.

>>> from onnx_scatterx.engine.terms import size
>>> n = size("n")
>>> rows = TensorValue(ir.DataType.INT64, (n,), 2 * coord(0) + 1)
>>> rows.index_map.at({0: 3})
7
>>> TensorValue.of(np.array([[0, 3], [1, 5], [2, 7]])).index_map.at({1: 1})
2*x0 + 3

``visit`` distinguishes the visits of one graph, since a body runs more than once. A graph input has
the same value in all visits, so the input itself stands for the visit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.terms import (
    Number,
    Symbol,
    Term,
    coord,
    equals,
    fitted,
    keeps,
    tabulated,
    term,
)


class DeclaredDim(NamedTuple):
    """A dim that graph inputs declare by a name."""

    name: str


class DimOf(NamedTuple):
    """An unknown dim of a tensor."""

    visit: object
    value: ir.Value
    axis: int


def size_name(leaf: Symbol) -> str | None:
    """Return the name of a size in an ``--assume``, if an input of the model declares this size.

    >>> from onnx_scatterx.engine.terms import size
    >>> n, rows = size("N", DeclaredDim("N")), size("rows")
    >>> [size_name(leaf) for t in (n, rows) for leaf in t.leaves()]
    ['N', None]
    """
    origin = leaf.origin
    if isinstance(origin, DimOf) and origin.visit is origin.value:
        return f"{origin.value.name}[{origin.axis}]"
    return origin.name if isinstance(origin, DeclaredDim) else None


class LongSize(NamedTuple):
    """A size whose term is too long to be followed: equal terms are equal sizes in one visit."""

    visit: object
    term: Term


class ElementOf(NamedTuple):
    """The elements of a tensor; ``parts`` of the symbol are the indices."""

    visit: object
    value: ir.Value

    @staticmethod
    def read_by(symbol: Symbol | None) -> ir.Value | None:
        """Return the tensor that a symbol is an element of, if it is one."""
        origin = None if symbol is None else symbol.origin
        return origin.value if isinstance(origin, ElementOf) else None


class Chosen(NamedTuple):
    """What a user promises of how many elements of a tensor are not 0, and how they lie.

    A ``number`` of them, or at most ``most``; in a run, if no other element lies between two of
    them in row-major order. If they ``are_ones``, their sum is their number.
    """

    number: Term | None = None
    most: Term | None = None
    is_run: bool = False
    are_ones: bool = False


Shape: TypeAlias = "tuple[Term, ...]"
Dims: TypeAlias = "tuple[Term | None, ...]"

_READ = (ir.DataType.FLOAT, ir.DataType.DOUBLE)
_IS_INTEGER = [d.is_integer() or d == ir.DataType.BOOL for d in sorted(ir.DataType)]


def is_integer(dtype: ir.DataType) -> bool:
    """Return whether elements of a type are integers or booleans."""
    return _IS_INTEGER[dtype]


@dataclass(frozen=True, eq=False)
class TensorValue:
    """A tensor's element type, shape (None: unknown rank) and content (None: not followed).

    If it is a sequence of known length, ``parts`` are its tensors. If the length is not known,
    ``each`` are the dims that all of them have (None: unknown rank; a dim that is None may differ).
    ``chosen`` is promised of it.
    """

    dtype: ir.DataType | None
    shape: Shape | None
    content: np.ndarray | Term | None = None
    parts: tuple[TensorValue, ...] | None = None
    each: Dims | None = None
    chosen: Chosen | None = None

    @classmethod
    def of(cls, array: np.ndarray, dtype: ir.DataType | None = None) -> TensorValue:
        """Return the abstract value of a constant; it is exact."""
        dtype = dtype or ir.DataType.from_numpy(array.dtype)
        return cls(dtype, tuple(map(term, array.shape)), array)

    @classmethod
    def of_tensor(cls, tensor: ir.TensorProtocol) -> TensorValue:
        """Return the abstract value of a constant; large floating-point ones are not read."""
        dtype, sizes = tensor.dtype, tensor.shape.numpy()
        shape = tuple(map(term, sizes))
        if is_integer(dtype):
            return cls(dtype, shape, tensor.numpy() if dtype.bitwidth >= 8 else None)
        is_read = dtype in _READ and math.prod(sizes) <= LIMITS.floats
        return cls(dtype, shape, tensor.numpy() if is_read else None)

    @classmethod
    def sequence(
        cls, parts: Sequence[TensorValue], dtype: ir.DataType | None = None
    ) -> TensorValue:
        """Return the abstract value of a sequence of these tensors, of this element type."""
        return cls(parts[0].dtype if parts else dtype, None, parts=tuple(parts))

    @classmethod
    def explicit(cls, elements: Sequence[Number] | np.ndarray, dtype: ir.DataType) -> TensorValue:
        """Return an array of terms, in the shape of the nested sequence."""
        objects: Any = np.asarray(elements, dtype=object)
        terms = [term(t) for t in objects.ravel().tolist()]
        constants = [t.constant for t in terms]
        if None not in constants:
            numbers = np.array(constants, dtype=object).reshape(objects.shape)
            return cls.of(numbers.astype(dtype.numpy()), dtype)
        array: np.ndarray = np.empty(objects.shape, dtype=object)
        array.ravel()[:] = terms
        return cls(dtype, tuple(map(term, array.shape)), array)

    def with_chosen(self, chosen: Chosen) -> TensorValue:
        """Return it with what is promised of its elements."""
        return replace(self, chosen=chosen)

    @property
    def rank(self) -> int | None:
        """The number of dims, or None."""
        return None if self.shape is None else len(self.shape)

    @property
    def dims(self) -> Shape:
        """The shape, where it is known."""
        assert self.shape is not None
        return self.shape

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape as numbers; None for a dim that is not a constant."""
        if self.shape is None:
            return None
        dims = [d.constant for d in self.shape]
        return None if any(d is None for d in dims) else tuple(d for d in dims if d is not None)

    @property
    def is_integer(self) -> bool:
        """Whether the elements are integers or booleans."""
        return self.dtype is not None and _IS_INTEGER[self.dtype]

    @property
    def constant(self) -> np.ndarray | None:
        """The contents as numbers, if all are known."""
        if "_constant" in self.__dict__:
            return cast("np.ndarray | None", self.__dict__["_constant"])
        numbers = self._numbers()
        if numbers is None or keeps(numbers):
            self.__dict__["_constant"] = numbers
        return numbers

    def _numbers(self) -> np.ndarray | None:
        if isinstance(self.content, np.ndarray):
            return None if self.content.dtype == object and self.is_integer else self.content
        shape = self.static_shape
        if self.content is None or shape is None or self.dtype is None or self.content.leaves():
            return None
        if math.prod(shape) > LIMITS.elements:
            return None
        try:
            values = tabulated(self.content, dict(enumerate(shape)))
        except OverflowError:
            return None
        return values.astype(self.dtype.numpy(), copy=False)

    @property
    def element_exprs(self) -> np.ndarray | None:
        """The contents as a small array of terms."""
        if self.content is None or self.shape is None or not self.is_integer:
            return None
        return self._listed

    @cached_property
    def _listed(self) -> np.ndarray | None:
        shape = self.static_shape
        if shape is None or math.prod(shape) > LIMITS.listed_terms:
            return None
        if isinstance(self.content, np.ndarray) and self.content.dtype == object:
            return self.content
        terms, numbers = np.empty(shape, dtype=object), self.constant
        if numbers is not None:
            terms.ravel()[:] = [term(n) for n in numbers.ravel().tolist()]
            return terms
        assert isinstance(self.content, Term)
        for index in itertools.product(*map(range, shape)):
            terms[index] = self.content.at(dict(enumerate(index)))
        return terms

    @property
    def terms(self) -> Sequence[Term] | None:
        """The terms of listed or few elements, or one over the coordinates that all have."""
        is_listed = isinstance(self.content, np.ndarray) and self.content.dtype == object
        each = self.content if is_listed else self.element_exprs
        if isinstance(each, np.ndarray):  # each is simpler than one that tells them apart
            return each.ravel().tolist()
        return None if self.index_map is None else [self.index_map]

    @property
    def index_map(self) -> Term | None:
        """The contents as a term over the coordinates."""
        if self.content is None or isinstance(self.content, Term):
            return self.content
        return self._formula if self.is_integer else None

    @cached_property
    def _formula(self) -> Term | None:
        assert isinstance(self.content, np.ndarray)
        formula = fitted(self.content)
        if formula is not None or self.content.dtype != object:
            return formula
        if self.content.size > LIMITS.spelt_out:
            return None
        coords = [coord(d) for d in range(self.content.ndim)]
        total = term(0)
        for index in np.ndindex(self.content.shape):
            product = self.content[index]
            for x, i, extent in zip(coords, index, self.content.shape, strict=True):
                if extent > 1:
                    product = product * equals(x, i)
            total = total + product
        return total

    def column(self, c: int) -> Term | None:
        """Return element c along the last dim as a term over the coordinates of the others.

        >>> TensorValue.of(np.array([[1, 7], [3, 2], [5, 9]])).column(0)
        2*x0 + 1
        """
        if isinstance(self.content, np.ndarray) and self.is_integer:
            column = self.content[..., c]
            formula = fitted(column)
            if formula is not None or column.dtype != object:
                return formula
        if self.index_map is None or self.rank is None:
            return None
        return self.index_map.at({self.rank - 1: c})

    @property
    def scalar(self) -> Term | None:
        """The only element of a tensor of one element."""
        if self.shape is None or any(d.constant != 1 for d in self.shape):
            return None
        elements = self.element_exprs
        return elements.item() if elements is not None and elements.size == 1 else None

    def says_more_than(self, other: TensorValue) -> bool:
        """Return whether the rank, a dim or the elements are known here, and not in the other.

        >>> from onnx_scatterx.engine.terms import size
        >>> pair = TensorValue.of(np.array([4, 2]))
        >>> shapes = pair.shape, (size("n"),), None
        >>> any_pair, any_row, anything = (TensorValue(pair.dtype, shape) for shape in shapes)
        >>> [pair.says_more_than(v) for v in (pair, any_pair, any_row, anything)]
        [False, True, True, True]
        >>> [v.says_more_than(pair) for v in (any_pair, any_row, anything)]
        [False, False, False]
        >>> any_pair.says_more_than(any_row), any_row.says_more_than(anything)
        (True, True)
        """
        if self.shape is None or other.shape is None:
            return self.shape is not None
        numbers = [d.constant is not None for d in self.shape]
        if any(n and o.constant is None for n, o in zip(numbers, other.shape, strict=False)):
            return True
        if self.is_integer and other._is_opaque and not self._is_opaque:
            return True
        return self.constant is not None and other.constant is None

    @property
    def _is_opaque(self) -> bool:
        """Whether nothing is known of the elements, or only how they are called."""
        if isinstance(self.content, Term):
            return ElementOf.read_by(self.content.symbol) is not None
        return self.content is None

    def vector(self) -> list[Term] | None:
        """Return the elements of a tensor of rank 1 (or 0), or None if they are not known."""
        elements = self.element_exprs
        return None if elements is None else elements.ravel().tolist()
