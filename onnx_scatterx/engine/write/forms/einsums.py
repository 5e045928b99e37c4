"""Sums of products that an equation names: by moves, in fewer letters, or as a product of matrices.

    Einsum("ij->ji")(a)               =   Transpose(a)
    Einsum("byhwc,hkc->byhwk")(a, b)  =   Reshape(Einsum("bhwc,hkc->bhwk")(Reshape(a), b))
    Einsum("nchw,ncij->nhwij")(a, b)  =   Reshape(Einsum("bij,bjk->bik")(Transpose(a), Reshape(b)))
    Einsum("nchw,ncij->nhwij")(a, b)  =   Reshape(MatMul(Transpose(Reshape(a)), Reshape(b)))
    Einsum("bi,bj->bij")(a, b)        =   Reshape(a) * Reshape(b)                 of integers

They hold if all sizes are known numbers, none of which is 0, and if no operand has a letter twice.
ONNX Runtime computes an Einsum of two operands as a product of matrices. In its rows and columns
the letters have the order in which the equation names them first, so neighbours that are one letter
change no bit, and neither do operands that are brought into this order before. By its default
options, it joins a MatMul with the Transpose before it, and then adds in another order. So floats
are summed by MatMul and ReduceSum only if the last bits may differ, and integers by MatMul alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, require, required
from onnx_scatterx.engine.device import Use
from onnx_scatterx.engine.terms import term
from onnx_scatterx.engine.write.forms.request import Request

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MOST_JOINTS = 6  # pairs of neighbours of which all subsets are tried
_LARGEST = 1 << 24  # elements of a constant that is moved here


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
    text = _without_dots("".join(str(request.attributes.get("equation", "")).split()), shapes)
    left, arrow, right = text.partition("->")
    operands, result = left.split(","), right
    if not arrow:
        once = [letter for letter in sorted({*left} - {","}) if left.count(letter) == 1]
        require("".join(once).islower() or not once)  # else their order is a convention
        result = "".join(once)
    require(len(operands) == len(shapes), not any(0 in shape for shape in shapes))
    require({*result} <= {*"".join(operands)} <= {*_LETTERS})
    require(all(len({*letters}) == len(letters) for letters in (*operands, result)))
    require([*map(len, operands)] == [*map(len, shapes)])
    found = Equation(tuple(operands), result, tuple(shapes))
    dims = (pair for own in zip(operands, shapes, strict=True) for pair in zip(*own, strict=True))
    require(all(n in (1, found.size(letter)) for letter, n in dims))
    return found


def _without_dots(text: str, shapes: Sequence[tuple[int, ...]]) -> str:
    """Return an equation with letters for the dims that dots stand for, aligned at the last one."""
    if "..." not in text:
        return text
    left, arrow, right = text.partition("->")
    operands = left.split(",")
    require(arrow, len(operands) == len(shapes))
    counts = [
        len(shape) - len(operand.replace("...", "")) if "..." in operand else 0
        for operand, shape in zip(operands, shapes, strict=True)
    ]
    require(min(counts) >= 0, right.count("...") == 1)
    free = [letter for letter in _LETTERS if letter not in text][: max(counts)]
    require(len(free) == max(counts))
    named = [
        operand.replace("...", "".join(free[len(free) - count :]))
        for operand, count in zip(operands, counts, strict=True)
    ]
    return f"{','.join(named)}->{right.replace('...', ''.join(free))}"


def only_moves(equation: str) -> bool:
    """Return whether an equation sums nothing, and multiplies nothing.

    >>> only_moves("ij->ji"), only_moves("ij->i"), only_moves("i,j->ij")
    (True, False, False)
    """
    left, arrow, right = "".join(equation.split()).partition("->")
    return "," not in left and (not arrow or {*left} == {*right})


def moved(request: Request) -> ir.Value:
    """Write an Einsum of one operand as a Transpose, and a ReduceSum if it sums."""
    found = equation_of(request)
    require(len(found.operands) == 1, not found.alone(0) or request.writer.last_bits)
    require(not found.alone(0) or request.kind.is_floating_point())
    found = found.squeezed()
    return _arranged(request, found, 0, found.result, found.sizes)


def in_fewer_letters(request: Request) -> ir.Value:
    """Write it with neighbours as one letter, in as few letters as the target takes."""
    found, given = equation_of(request), str(request.attributes.get("equation", ""))
    choices = (joined for joined in _choices(found) if joined.text != given)
    joined = required(next((one for one in choices if _is_taken(request, one)), None))
    inputs = [
        _arranged(request, joined, i, operand, joined.shapes[i])
        for i, operand in enumerate(joined.operands)
    ]
    y = request.writer.spelled_node("Einsum", inputs, request.dtype, equation=joined.text)
    return _reshaped(request, y, joined.sizes, found.sizes)


def _choices(found: Equation) -> Iterator[Equation]:
    """Yield the equation with neighbours as one letter, those of the fewest letters first."""
    joints = found.joints()
    some, sure = joints[:_MOST_JOINTS], {*joints[_MOST_JOINTS:]}
    for count in range(len(some), -1, -1):
        for chosen in combinations(some, count):
            yield found.joined([pair for pair in joints if pair in sure.union(chosen)])


def as_product(request: Request) -> ir.Value:
    """Write the operands in the order of a product of matrices, which is an Einsum, too."""
    found = equation_of(request)
    require(not found.is_broadcast, not any(map(found.alone, range(len(found.operands)))))
    found = found.joined(found.joints())
    sides = _sides(found)
    orders = product((("i", "j"), ("j", "i")), (("j", "k"), ("k", "j")))
    best: list[tuple[int, Equation, list[str]]] = []
    for places in orders:
        names = [sides["b"] + "".join(sides[side] for side in order) for order in places]
        batch = "b" * bool(sides["b"])
        operands = tuple(batch + "".join(order) for order in places)
        shapes = (tuple(found.size(sides[side]) for side in operand) for operand in operands)
        one = Equation(operands, f"{batch}ik", tuple(shapes))
        moves = sum(name != own for name, own in zip(names, found.operands, strict=True))
        if _is_taken(request, one):
            best.append((moves, one, names))
    require(best)
    _, one, names = min(best, key=lambda choice: choice[0])
    inputs = [_arranged(request, found, i, names[i], one.shapes[i]) for i in range(2)]
    y = request.writer.spelled_node("Einsum", inputs, request.dtype, equation=one.text)
    return _as_result(request, y, found, sides)


def by_mul(request: Request) -> ir.Value:
    """Write the products of integers that are not summed by a Mul."""
    found = equation_of(request)
    require(len(found.operands) == 2, not request.kind.is_floating_point())
    require({*found.letters} == {*found.result})
    inputs = []
    for i, own in enumerate(found.operands):
        order = "".join(letter for letter in found.result if letter in own)
        shape = [found.extent(i, letter) for letter in found.result]
        inputs.append(_arranged(request, found, i, order, shape))
    return request.writer.node("Mul", inputs, request.dtype)


def by_matmul(request: Request) -> ir.Value:
    """Write a MatMul, after sums over what only one operand has, if the last bits may differ."""
    given = equation_of(request)
    found, is_float = given.squeezed(), request.kind.is_floating_point()
    require(len(found.operands) == 2, request.writer.last_bits or not is_float)
    # ONNX Runtime rounds the sum of one operand of large integers, even of one element.
    require(is_float or not any(one.alone(i) for one in (given, found) for i in (0, 1)))
    found = found.joined(found.joints())
    sides = _sides(found)
    batch = [found.size(sides["b"])] if sides["b"] else []
    inputs = []
    for i, order in enumerate(("ij", "jk")):
        names = sides["b"] + "".join(sides[side] for side in order)
        shape = [*batch, *(found.size(sides[side]) for side in order)]
        inputs.append(_arranged(request, found, i, names, shape))
    return _as_result(request, request.writer.node("MatMul", inputs, request.dtype), found, sides)


def _sides(found: Equation) -> dict[str, str]:
    """Return the letters of the batch (b), the rows (i), what is summed (j) and the columns (k)."""
    require(len(found.operands) == 2)
    first, second = found.operands
    both = [letter for letter in found.letters if letter in first and letter in second]
    return {
        "b": "".join(c for c in both if c in found.result),
        "i": "".join(c for c in first if c not in second and c in found.result),
        "j": "".join(c for c in both if c not in found.result),
        "k": "".join(c for c in second if c not in first and c in found.result),
    }


def _as_result(request: Request, y: ir.Value, found: Equation, sides: dict[str, str]) -> ir.Value:
    """Write the result of a product of matrices in the order and the shape of the equation."""
    order = sides["b"] + sides["i"] + sides["k"]
    shape = [found.size(sides[side]) for side in "bik" if side != "b" or sides["b"]]
    perm = [order.index(letter) for letter in found.result]
    if perm != sorted(perm):
        y = _reshaped(request, y, shape, [found.size(letter) for letter in order])
        y, shape = request.writer.transpose(y, request.kind, perm), found.sizes
    return _reshaped(request, y, shape, equation_of(request).sizes)


def _arranged(
    request: Request, found: Equation, i: int, order: str, shape: Sequence[int]
) -> ir.Value:
    """Return an operand with these letters in this order, in a shape; other letters are summed."""
    w, kind, x = request.writer, request.kind, request.input(i)
    own, sizes = found.operands[i], found.shapes[i]
    left = [letter for letter in own if letter in order]
    summed, perm = [own.index(c) for c in own if c not in order], [*map(left.index, order)]
    tensor = request.constant(x)
    if tensor is not None and not summed and math.prod(sizes) <= _LARGEST:
        array = tensor.numpy().reshape(sizes).transpose(perm).reshape(shape)
        same = array.shape == request.shape(i) and perm == sorted(perm)
        return x if same else w.constant(np.ascontiguousarray(array), kind)
    x = _reshaped(request, x, request.shape(i), sizes)
    if summed:
        x = w.node("ReduceSum", [x, w.constant(summed)], kind, keepdims=0)
    x = w.transpose(x, kind, perm)
    return _reshaped(request, x, [found.extent(i, letter) for letter in order], shape)


def _reshaped(request: Request, x: ir.Value, shape: Sequence[int], to: Sequence[int]) -> ir.Value:
    return x if [*shape] == [*to] else request.reshape(x, to)


def _is_taken(request: Request, found: Equation) -> bool:
    """Return whether the target takes an Einsum of an equation on operands of these shapes."""
    target = request.writer.target
    shapes = [*found.shapes, found.sizes]
    *inputs, result = (TensorValue(request.dtype, tuple(map(term, shape))) for shape in shapes)
    use = Use("Einsum", inputs, [result], {"equation": found.text})
    most = math.inf if target.max_rank is None else target.max_rank
    return use.rank <= most and not any(use.objections(target))
