"""The equations of Einsums: which letters their operands and their result have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from onnx_scatterx.engine.analysis import require, required
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.operators import named_equation


class Equation(NamedTuple):
    """An equation with a letter for each dim, and the shapes of its operands.

    A letter may have the size 1 in one operand, and another size in the other.
    """

    operands: tuple[str, ...]
    result: str
    shapes: tuple[tuple[int, ...], ...]

    @property
    def text(self) -> str:
        """The equation as a node has it."""
        return f"{','.join(self.operands)}->{self.result}"

    @property
    def letters(self) -> str:
        """All letters, in the order in which they are named first."""
        return "".join(dict.fromkeys("".join(self.operands)))

    def extent(self, i: int, letters: str) -> int:
        """Return how many elements some letters have in an operand; a letter that it lacks, one."""
        own = zip(self.operands[i], self.shapes[i], strict=True)
        return math.prod(n for letter, n in own if letter in letters)

    def size(self, letters: str) -> int:
        """Return how many elements some letters have."""
        places = range(len(self.operands))
        return math.prod(max(self.extent(i, letter) for i in places) for letter in letters)

    @property
    def sizes(self) -> list[int]:
        """The shape of the result."""
        return [self.size(letter) for letter in self.result]

    @property
    def is_broadcast(self) -> bool:
        """Whether a letter has two sizes."""
        return any(
            n != self.size(letter)
            for operand, shape in zip(self.operands, self.shapes, strict=True)
            for letter, n in zip(operand, shape, strict=True)
        )

    def alone(self, i: int) -> str:
        """Return the letters that only one operand has, and not the result."""
        others = self.result.join(self.operands[:i] + self.operands[i + 1 :]) + self.result
        return "".join(letter for letter in self.operands[i] if letter not in others)

    def squeezed(self) -> Equation:
        """Return it without letters of size 1 that are alone, or have another size elsewhere."""
        alone = [self.alone(i) for i in range(len(self.operands))]
        kept = [
            [c for c in own if self.extent(i, c) > 1 or (self.size(c) == 1 and c not in left)]
            for i, (own, left) in enumerate(zip(self.operands, alone, strict=True))
        ]
        operands = tuple(map("".join, kept))
        shapes = (tuple(self.extent(i, letter) for letter in own) for i, own in enumerate(operands))
        return Equation(operands, self.result, tuple(shapes))

    def without_ones(self) -> Equation:
        """Return it without letters of size 1 where the other operand has another size."""
        kept = [
            [c for c in own if self.extent(i, c) == self.size(c)]
            for i, own in enumerate(self.operands)
        ]
        operands = tuple(map("".join, kept))
        shapes = (tuple(self.extent(i, letter) for letter in own) for i, own in enumerate(operands))
        return Equation(operands, self.result, tuple(shapes))

    def joints(self) -> list[str]:
        """Return pairs of letters that are neighbours wherever one of them stands."""
        places = [*self.operands, self.result]
        near = dict.fromkeys(a + b for operand in self.operands for a, b in pairwise(operand))
        return [
            pair
            for pair in near
            if all(pair in place or not {*pair} & {*place} for place in places)
            and all(
                self.extent(i, letter) == self.size(letter)
                for i, operand in enumerate(self.operands)
                if pair in operand
                for letter in pair
            )
        ]

    def joined(self, pairs: Sequence[str]) -> Equation:
        """Return the equation in which the letters of each of these joints are one letter.

        >>> given = Equation(("byhwc", "hkc"), "byhwk", ((1, 2, 3, 4, 5), (3, 6, 5)))
        >>> given.joined(given.joints())
        Equation(operands=('bhwc', 'hkc'), result='bhwk', shapes=((2, 3, 4, 5), (3, 6, 5)))
        """
        runs = {letter: letter for letter in self.letters}
        for pair in reversed(pairs):
            runs[pair[0]] += runs.pop(pair[1])
        kept = [[c for c in place if c in runs] for place in (*self.operands, self.result)]
        *operands, result = map("".join, kept)
        shapes = (
            tuple(self.extent(i, runs[letter]) for letter in operand)
            for i, operand in enumerate(operands)
        )
        return Equation(tuple(operands), result, tuple(shapes))


def equation_of(request: Request) -> Equation:
    """Return the equation of an Einsum, with letters for its dots; a diagonal is not read."""
    shapes = [request.shape(i) for i in range(len(request.inputs))]
    text = required(named_equation(text_of(request), [*map(len, shapes)]))
    left, _, result = text.partition("->")
    operands = left.split(",")
    require(not any(0 in shape for shape in shapes), {*result} <= {*"".join(operands)})
    require(all(len({*letters}) == len(letters) for letters in (*operands, result)))
    found = Equation(tuple(operands), result, tuple(shapes))
    dims = (pair for own in zip(operands, shapes, strict=True) for pair in zip(*own, strict=True))
    require(all(n in (1, found.size(letter)) for letter, n in dims))
    return found


def text_of(request: Request) -> str:
    """Return the equation of an Einsum, as the node has it, without spaces."""
    return "".join(str(request.attributes.get("equation", "")).split())
