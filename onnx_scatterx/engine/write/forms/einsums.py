"""Sums of products that an equation names: by moves, in fewer letters, or as a product of matrices.

    Einsum("ij->ji")(a)               =   Transpose(a)
    Einsum("byhwc,hkc->byhwk")(a, b)  =   Reshape(Einsum("bhwc,hkc->bhwk")(Reshape(a), b))
    Einsum("nchw,ncij->nhwij")(a, b)  =   Reshape(Einsum("bij,bjk->bik")(Transpose(a), Reshape(b)))
    Einsum("nchw,ncij->nhwij")(a, b)  =   Reshape(MatMul(Transpose(Reshape(a)), Reshape(b)))
    Einsum("...i,ij->...j")(a, b)     =   Einsum("abi,ij->abj")(a, b)
    Einsum("nij,njk->nik")(a, b)      =   Einsum("nij,jk->nik")(a, Reshape(b))    n is 1 in b
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
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, require, required
from onnx_scatterx.engine.device import Use
from onnx_scatterx.engine.terms import term
from onnx_scatterx.engine.write.forms.equations import Equation, equation_of, text_of
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.operators import named_equation

_MOST_JOINTS = 6  # pairs of neighbours of which all subsets are tried
_LARGEST = 1 << 24  # elements of a constant that is moved here


def lettered(request: Request) -> ir.Value:
    """Write letters for dots, and the result that an equation leaves to its convention."""
    ranks = [required(request.known_of(i).rank) for i in range(len(request.inputs))]
    text = required(named_equation(text_of(request), ranks))
    require(text != text_of(request))
    other = replace(request, attributes={**request.attributes, "equation": text})
    require(not any(other.use.objections(request.writer.target)))
    return request.writer.spelled_node("Einsum", request.inputs, request.dtype, equation=text)


def in_fewer_dims(request: Request) -> ir.Value:
    """Write it without letters of size 1 that have another size in the other operand.

    ONNX Runtime takes such a letter of the result for one of the other operand alone, too. If it is
    summed, the sums are made in another order.
    """
    found = equation_of(request)
    require(len(found.operands) == 2, found.is_broadcast)
    less = found.without_ones()
    others = zip(found.operands, less.operands, strict=True)
    require(all({*own} - {*left} <= {*found.result} for own, left in others))
    require(all(less.operands), less.letters == found.letters, _is_taken(request, less))
    inputs = [
        _arranged(request, less, i, own, less.shapes[i]) for i, own in enumerate(less.operands)
    ]
    return request.writer.spelled_node("Einsum", inputs, request.dtype, equation=less.text)


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
    found, given = equation_of(request), text_of(request)
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
