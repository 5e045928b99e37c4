"""What a refused use may say of the equation of an Einsum."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from onnx_scatterx.operators import named_equation

if TYPE_CHECKING:
    from onnx_scatterx.engine.device.uses import Use


def has_dots(use: Use, wanted: bool) -> bool:
    """Return whether dots stand for any dims."""
    return wanted == ("..." in _text(use))


def has_uneven_dots(use: Use, wanted: bool) -> bool:
    """Return whether dots stand for other dims in one operand than in another, or one has none."""
    equation = _text(use)
    left, _, right = equation.partition("->")
    operands = left.split(",")
    if not ("..." in equation and all("..." in part for part in (*operands, right))):
        return wanted == ("..." in equation)
    hidden = []
    for text, tensor in zip(operands, use.inputs, strict=False):
        before, behind = (len(part) for part in text.split("..."))
        shape = None if tensor is None else tensor.shape
        if shape is None:
            return True
        hidden.append(tuple(shape[before : len(shape) - behind]))
    return wanted == any(dims != hidden[0] for dims in hidden)


def is_turned(use: Use, wanted: bool) -> bool:
    """Return whether the result has a column, of the second operand, before a row."""
    left, _, right = _text(use).partition("->")
    operands = [{*operand} for operand in left.split(",")]
    own = [
        [right.index(c) for c in mine if c.isalpha() and c in right and c not in other]
        for mine, other in zip(operands, reversed(operands), strict=True)
    ]
    return wanted == (len(own) == 2 and all(own) and min(own[1]) < max(own[0]))


def has_letters(use: Use, kinds: frozenset[str]) -> bool:
    """Return whether the equation is of one of these kinds; one that is not known is of all.

    >>> import numpy as np
    >>> from onnx_scatterx.engine.analysis import TensorValue
    >>> from onnx_scatterx.engine.device.uses import Use
    >>> from onnx_scatterx.targets.refused_use import LETTERS
    >>> row, square = TensorValue.of(np.zeros((1, 3))), TensorValue.of(np.zeros((3, 3)))
    >>> use = Use("Einsum", [square, row], [square], {"equation": "ij,jk->ik"})
    >>> [kind for kind in sorted(LETTERS) if has_letters(use, frozenset({kind}))]
    ['lone', 'stretched']
    """
    text = _text(use)
    if "implied" in kinds and "->" not in text:
        return True
    if kinds == {"implied"}:
        return False
    shapes = [None if t is None else t.shape for t in use.inputs]
    named = named_equation(text, [len(s) for s in shapes if s is not None])
    if named is None:
        return True
    left, _, right = named.partition("->")
    operands, sizes = left.split(","), defaultdict(list)
    for operand, shape in zip(operands, shapes, strict=True):
        for letter, size in zip(operand, shape or (), strict=True):
            sizes[letter].append(size)
    stretched = {letter for letter, dims in sizes.items() if any(n != dims[0] for n in dims)}
    found = {
        "twice": any(len({*operand}) < len(operand) for operand in operands),
        "stretched": bool(stretched),
        "lone": len(operands) > 1
        and any(
            letter not in right and (letter in stretched or left.count(letter) == 1)
            for letter in sizes
        ),
    }
    return any(found.get(kind, False) for kind in kinds)


def _text(use: Use) -> str:
    """Return the equation without spaces."""
    return "".join(str(use.attributes.get("equation", "")).split())
