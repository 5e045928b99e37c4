"""Boxes, terms and components as a person reads them: I_0 for a coordinate, named tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from string import ascii_letters
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Shape, size_name
from onnx_scatterx.engine.lift import Access, InTheory, Piece, modulus_of
from onnx_scatterx.engine.terms import Atom, Lookup, Symbol, Term, element
from onnx_scatterx.text import Refusal, middle, shortened
from onnx_scatterx.theory.components import (
    Affine,
    AffineModulo,
    Component,
    Constant,
    affine_text,
)
from onnx_scatterx.theory.components import Lookup as LookupComponent

_SHOWN = 24  # numbers of a table
_LEGEND = 12
_BOX, _TERM = 32, 8  # letters of a box that a table shows, and of a term in a longer one
_WHOLE = 2000


def footprint_text(
    in_theory: InTheory, axes: Sequence[int] | None = None, *, whole: bool = False
) -> str:
    """Return in words the elements that a scatter writes, or a gather reads.

    The words are: nothing, everything, box, strided box, boxes, unknown. ``axes`` are those of the
    statement, for each axis of the data. If the text is long, terms in it are letters, unless the
    ``whole`` is asked for.
    """
    if not whole:
        return abbreviated(in_theory, axes)[0]
    return middle(_in_full(in_theory, axes), _WHOLE, " ... ")


def abbreviated(in_theory: InTheory, axes: Sequence[int] | None) -> tuple[str, bool]:
    """Return the text for a table, and whether a term in it is a letter, or the text is cut."""
    text = told = _in_full(in_theory, axes)
    if len(text) > _BOX and "[" in text:
        told = _in_full(in_theory, axes, _Letters(in_theory.access))
    told = shortened(told)
    return told, told != text


def _in_full(
    in_theory: InTheory,
    axes: Sequence[int] | None,
    letters: Callable[[Term | int], str] | None = None,
) -> str:
    """Return the text in full; with ``letters``, terms of a box with long spans have them."""
    boxes = in_theory.boxes
    if isinstance(boxes, Refusal):
        return "unknown"
    if not boxes:
        return "nothing"
    if len(boxes) > 1:
        return f"{len(boxes)} boxes"
    (piece,) = boxes
    spans = box_text(piece, in_theory.access)
    if letters is not None and len(", ".join(spans)) > _BOX:
        spans = box_text(piece, in_theory.access, letters)
    if axes is not None and len(axes) == len(spans):
        spans = [spans[axes.index(axis)] for axis in range(len(spans))]
    if all(span.split()[0] == ":" for span in spans):
        return "everything"
    strided = any(affine.dim is not None and abs(affine.step) > 1 for affine in piece.axes)
    return f"{'strided box' if strided else 'box'} [{', '.join(spans)}]"


class _Letters:
    """A letter for each long term; no size of the access is called so."""

    def __init__(self, access: Access) -> None:
        taken = {str(leaf) for leaf in TermFormatter(access).leaves}
        self._free = iter([letter for letter in ascii_letters if letter not in taken])
        self._letters: dict[str, str] = {}

    def __call__(self, term: Term | int) -> str:
        if len(text := str(term)) > _TERM and text not in self._letters:
            self._letters[text] = next(self._free, "...")
        return self._letters.get(text, text)


def box_text(piece: Piece, access: Access, name: Callable[[Term | int], str] = str) -> list[str]:
    """Return the positions that a piece takes on each axis, as slices: ``2:5``, ``:``, ``0``.

    ``name`` writes a term.
    """
    facts = access.facts
    spans = []
    for affine, size in zip(piece.axes, access.data_shape, strict=True):
        if affine.dim is None:
            spans.append(":" if size.constant == 1 else name(affine.start))
            continue
        count = piece.counts[affine.dim]
        low, end = affine.start, affine.start + affine.step * count
        if affine.step < 0:
            low, end = end - affine.step, low + 1
        elif facts.is_nonnegative(end - size):
            end = size  # past the last element there is nothing to step over
        whole = abs(affine.step) == 1 and facts.equal(low, 0) and facts.equal(end, size)
        step = f":{abs(affine.step)}" if abs(affine.step) != 1 else ""
        back = " backwards" if affine.step < 0 else ""
        spans.append((":" if whole else f"{name(low)}:{name(end)}{step}") + back)
    return spans


class TermFormatter:
    """The words for one scatter or gather: tables have numbers, unknowns an explanation each."""

    def __init__(self, access: Access) -> None:
        terms = (*access.data_shape, *access.shape, *access.index_exprs)
        self.leaves = set[Symbol]().union(*(t.leaves() for t in terms))
        self._arrays: list[np.ndarray] = []

    def text(self, t: Term | int) -> str:
        """Return a term as text."""
        if isinstance(t, int):
            return str(t)
        ring = modulus_of(t)
        if ring is not None:
            return f"({self.text(ring[0])}) mod {_factor(self.text(ring[1]))}"
        spelt: dict[Atom, Term] = {
            atom: element(("text", atom.array.tobytes()), atom.parts, name=self.table(atom.array))
            for atom in t.all_atoms()
            if isinstance(atom, Lookup)
        }
        t = t.replace(spelt) if spelt else t
        return str(t.at({d: element(("text", d), (), name=f"I_{d}", low=0) for d in t.coords}))

    def table(self, array: np.ndarray) -> str:
        """Return the name of a table; ``tables`` lists its elements."""
        for number, known in enumerate(self._arrays):
            if np.array_equal(known, array):
                return f"table{number}"
        self._arrays.append(array)
        return f"table{len(self._arrays) - 1}"

    def tables(self) -> list[str]:
        """Return the contents of the tables that were named."""
        return [f"table{i} = {_numbers(a)}" for i, a in enumerate(self._arrays)]

    def legend(self) -> list[str]:
        """Return the origins of the unknown numbers."""
        leaves = sorted(self.leaves, key=lambda a: (a.name, a.order))
        declared = [leaf.name for leaf in leaves if _is_declared(leaf)]
        origins = [f"{', '.join(declared)}: sizes that graph inputs declare"] if declared else []
        origins += dict.fromkeys(_origin(leaf) for leaf in leaves if not _is_declared(leaf))
        more = [f"and {len(origins) - _LEGEND} more"] if len(origins) > _LEGEND else []
        return origins[:_LEGEND] + more


def component_text(component: Component[Any], wording: TermFormatter) -> str:
    """Return a component as a formula over the coordinates I_0, I_1, ... of an update."""
    match component:
        case Constant(value):
            return wording.text(value)
        case Affine(start, step, dim):
            return affine_text(start, step, dim, wording.text)
        case AffineModulo(start, step, dim, modulus):
            line = affine_text(start, step, dim, wording.text)
            return f"({line}) mod {_factor(wording.text(modulus))}"
        case LookupComponent(dims, values):
            if isinstance(values, np.ndarray):
                index = ", ".join(f"I_{d}" for d in dims)
                return f"{wording.table(values)}[{index}]"
            return wording.text(values)


def shape_text(shape: Shape) -> str:
    """Return a shape as text."""
    return shortened(f"[{', '.join(map(str, shape))}]")


def _factor(text: str) -> str:
    return f"({text})" if " " in text else text


def _numbers(array: np.ndarray) -> str:
    if array.size <= _SHOWN:
        return " ".join(str(array.tolist()).split())
    head = ", ".join(map(str, array.ravel()[: _SHOWN // 2]))
    return f"[{head}, ...] of shape {list(array.shape)}"


def _is_declared(leaf: Symbol) -> bool:
    return size_name(leaf) == leaf.name


def _origin(leaf: Symbol) -> str:
    """Describe a number that is known only at run time."""
    origin: Sequence[object] = leaf.origin if isinstance(leaf.origin, tuple) else (leaf.origin,)
    value = next((s for s in origin if isinstance(s, ir.Value)), None)
    if value is None:
        return f"{leaf.name}: a size that is known only at run time"
    # The leaf has the name of the value, and a number if it is one of its sizes.
    is_size = isinstance(origin[-1], int)
    name = leaf.name.rpartition(".")[0] if is_size else leaf.name
    what = f"graph input {name}" if value.is_graph_input() else name
    producer = value.producer()
    if producer is not None:
        what += f", an output of {producer.op_type}"
    if is_size:
        return f"{leaf.name}: the size of axis {origin[-1]} of {what}"
    return f"{leaf.name}[...]: the elements of {what}"
