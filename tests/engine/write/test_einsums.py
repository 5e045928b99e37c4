"""Einsum by moves, in fewer letters, as a product of matrices, and by MatMul."""

import random

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.engine.write.forms.equations import Equation
from tests.helpers.pair import open_session
from tests.helpers.support import parse

LACKS = "standard, avoid = ['Einsum']"
PRODUCTS = "standard, limits.Einsum.equations = ['ij,jk->ik', 'bij,bjk->bik']"


def model_of(equation: str, shapes: list[list[int]], kind: str = "float") -> onnx.ModelProto:
    """Return a model of one Einsum."""
    inputs = ", ".join(f"{kind}{shape or ''} x{i}" for i, shape in enumerate(shapes))
    names = ", ".join(f"x{i}" for i in range(len(shapes)))
    return parse(
        f'g ({inputs}) => ({kind}[] y) {{ y = Einsum <equation = "{equation}"> ({names}) }}'
    )


def with_constant(model: onnx.ModelProto, array: np.ndarray) -> onnx.ModelProto:
    """Make the last input a constant."""
    name = model.graph.input.pop().name
    model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def drawn(rng: random.Random, *, pure: bool) -> tuple[str, list[list[int]]]:
    """Draw an equation of two operands; a pure one has no sums of one operand, and no sizes of 1.

    A letter of both may have the size 1 in one of them.
    """
    sides = ("batch", "row", "column", "sum") + (() if pure else ("own", "own"))
    roles = {letter: rng.choice(sides) for letter in "abcdefgh"[: rng.randint(1, 7)]}
    has = [("batch", "row", "sum"), ("batch", "column", "sum"), ("batch", "row", "column")]
    terms = [[letter for letter, role in roles.items() if role in some] for some in has]
    for letter in (letter for letter, role in roles.items() if role == "own"):
        terms[rng.randrange(2)].append(letter)
    order = rng.sample([*roles], len(roles))
    for term in terms:
        term.sort(key=order.index)
        if rng.random() < 0.3:
            rng.shuffle(term)
    sizes = {letter: rng.choice([2, 3, 5] if pure else [1, 1, 2, 3]) for letter in roles}
    shapes = [[sizes[letter] for letter in term] for term in terms[:2]]
    if not pure and rng.random() < 0.3:
        i = rng.randrange(2)
        shapes[i] = [
            n if t not in terms[1 - i] else 1 for t, n in zip(terms[i], shapes[i], strict=True)
        ]
    first, second, result = ("".join(term) for term in terms)
    return f"{first},{second}->{result}", shapes


def values(shapes: list[list[int]], kind: str, seed: int) -> dict[str, np.ndarray]:
    """Draw operands from the whole type."""
    rng = np.random.default_rng(seed)
    if kind == "float":
        arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]
        if seed % 4 == 0 and arrays[0].size:
            arrays[0].reshape(-1)[0] = (np.nan, np.inf, -0.0)[seed // 4 % 3]
    else:
        ends = np.iinfo(kind)
        arrays = [rng.integers(ends.min, ends.max, shape, kind, endpoint=True) for shape in shapes]
    return {f"x{i}": array for i, array in enumerate(arrays)}


def compared(
    one: onnx.ModelProto, other: onnx.ModelProto, feed: dict[str, np.ndarray], *, exact: bool
) -> None:
    for fused in (False, True):
        sessions = [open_session(model, fused=fused) for model in (one, other)]
        taken = {v.name: feed[v.name] for v in one.graph.input}
        (x,), (y,) = (session.run(None, taken) for session in sessions)
        assert x.shape == y.shape
        if exact:
            assert x.tobytes() == y.tobytes() or np.array_equal(x, y, equal_nan=True)
            continue
        assert np.array_equal(np.isfinite(x), np.isfinite(y))
        kept = np.isfinite(x)
        np.testing.assert_allclose(x[kept], y[kept], rtol=1e-4, atol=1e-5)


def of(equation: str, shapes: list[list[int]]) -> Equation:
    operands, _, result = equation.partition("->")
    return Equation(tuple(operands.split(",")), result, tuple(map(tuple, shapes)))


def operators(model: onnx.ModelProto) -> set[str]:
    return {node.op_type for node in model.graph.node}


@pytest.mark.parametrize("seed", range(15))
def test_drawn_equations(seed: int) -> None:
    rng = random.Random(seed)
    pure, kind = seed % 3 == 0, ("float", "int32", "int64")[seed % 2 * (1 + seed // 2 % 2)]
    equation, shapes = drawn(rng, pure=pure)
    feed = values(shapes, kind, seed)
    model = model_of(equation, shapes, kind)
    if seed % 5 == 0:
        model = with_constant(model, feed["x1"])
    kept = onnx_scatterx.optimize(model, target=LACKS)
    given = of(equation, shapes)
    sums = any(one.alone(i) for one in (given, given.squeezed()) for i in (0, 1))
    assert ("Einsum" in operators(kept.model)) == (kind == "float" or sums)
    if sums and kind != "float":
        return
    result = onnx_scatterx.optimize(model, target=LACKS, last_bits=True)
    others = {"Mul"} if kind != "float" else set()
    assert operators(result.model) <= {"MatMul", "ReduceSum", "Reshape", "Transpose", *others}
    assert result.report.violations == ()
    assert result.report.defined == (("y",) if kind == "float" else ())
    compared(model, result.model, feed, exact=kind != "float")
    if pure:
        exact = onnx_scatterx.optimize(model, target=PRODUCTS)
        assert (exact.report.violations, exact.report.defined) == ((), ())
        compared(model, exact.model, feed, exact=True)


TURNED = "standard, limits.Einsum.refused = [{turned = true}, {dots = true}]"


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...nd,...ng->...gd", [[2, 25, 16], [2, 25, 8]]),
        ("...nd,...ng->...gd", [[3, 2, 5, 17], [3, 2, 5, 9]]),
        ("...d,dk->...k", [[2, 4, 5], [5, 6]]),
        ("dk,...d->k...", [[5, 6], [2, 4, 5]]),
        ("bij,bjk->bki", [[2, 40, 33], [2, 33, 50]]),
        ("bij,bkj->bki", [[1, 4, 33], [1, 70, 33]]),
        ("...qhd,...khd->...khq", [[1, 3, 7, 2, 8], [1, 3, 9, 2, 8]]),
        ("i...,j...->j...i", [[4, 2, 3], [5, 2, 3]]),
        ("...ij,...jk->...ki", [[1, 1], [1, 1]]),
    ],
)
def test_dots_and_columns_before_rows(equation: str, shapes: list[list[int]]) -> None:
    """They become letters, and columns behind rows, by the same sums."""
    model = model_of(equation, shapes)
    result = onnx_scatterx.optimize(model, target=TURNED)
    assert (result.report.violations, result.report.defined) == ((), ())
    (node,) = [node for node in result.model.graph.node if node.op_type == "Einsum"]
    assert "." not in node.attribute[0].s.decode()
    for seed in range(4):
        compared(model, result.model, values(shapes, "float", seed), exact=True)


LETTERS = "standard, limits.Einsum.refused = [{letters = ['implied']}, {letters = ['stretched']}]"


def stretched(rng: random.Random) -> tuple[str, list[list[int]]]:
    """Draw an equation. A letter of the result may have the size 1 in one operand."""
    roles = {letter: rng.choice(["batch", "row", "column", "sum"]) for letter in "abcdef"}
    has = [("batch", "row", "sum"), ("batch", "column", "sum"), ("batch", "row", "column")]
    terms = [[letter for letter, role in roles.items() if role in some] for some in has]
    for term in terms:
        if rng.random() < 0.5:
            rng.shuffle(term)
    shapes = [
        [1 if roles[c] == "batch" and rng.random() < 0.4 else 2 + ord(c) % 5 for c in term]
        for term in terms[:2]
    ]
    first, second, result = ("".join(term) for term in terms)
    dots = "..." if rng.random() < 0.3 else ""
    if dots:
        shapes = [[1, 3, *shapes[0]], [2, 1, *shapes[1]]]
    return f"{dots}{first},{dots}{second}->{dots}{result}", shapes


@pytest.mark.parametrize("seed", range(40))
def test_drawn_letters_of_size_1(seed: int) -> None:
    equation, shapes = stretched(random.Random(seed))
    model = model_of(equation, shapes, ("float", "int64")[seed % 2])
    result = onnx_scatterx.optimize(model, target=LETTERS)
    compared(model, result.model, values(shapes, ("float", "int64")[seed % 2], seed), exact=True)


@pytest.mark.parametrize(
    ("equation", "shapes", "written"),
    [
        ("bij,bjk->bik", [[2, 3, 4], [1, 4, 5]], "bij,jk->bik"),
        ("bij,bjk->bik", [[1, 3, 4], [2, 4, 5]], ""),  # its letters would have another order
        ("...ij,...jk->...ik", [[2, 3, 4], [1, 4, 5]], "aij,jk->aik"),
        ("ij,jk->ik", [[3, 4], [1, 5]], ""),  # its sums would have another order
        ("i,i->i", [[4], [1]], ""),
        ("jk,ij", [[4, 5], [3, 4]], "jk,ij->ik"),
        ("...ij,...jk", [[2, 3, 4], [2, 4, 5]], "aij,ajk->aik"),
    ],
)
def test_letters_of_size_1(equation: str, shapes: list[list[int]], written: str) -> None:
    model = model_of(equation, shapes)
    result = onnx_scatterx.optimize(model, target=LETTERS)
    (node,) = [node for node in result.model.graph.node if node.op_type == "Einsum"]
    assert node.attribute[0].s.decode() == (written or equation)
    assert bool(result.report.violations) == (not written)
    for seed in range(4):
        compared(model, result.model, values(shapes, "float", seed), exact=True)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("blq,blk->blqk", [[2, 3, 4], [2, 3, 5]]),
        ("blq,bhlk->bhlqk", [[2, 3, 4], [1, 2, 3, 5]]),
        ("qi,bj->jibq", [[3, 1], [2, 5]]),
        ("...i,...j->j...i", [[3, 4], [1, 5]]),
        ("i,i->i", [[7], [1]]),
    ],
)
@pytest.mark.parametrize("kind", ["int32", "int64", "float"])
def test_products_that_are_not_summed(equation: str, shapes: list[list[int]], kind: str) -> None:
    """The product of floats could be a zero of another sign."""
    model = model_of(equation, shapes, kind)
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['Einsum', 'MatMul']")
    assert ("Mul" in operators(result.model)) == (kind != "float")
    for seed in range(1, 3):
        compared(model, result.model, values(shapes, kind, seed), exact=True)


@pytest.mark.parametrize(
    ("equation", "shape", "written"),
    [
        ("ij->ji", [2, 3], {"Transpose"}),
        ("ji", [2, 3], {"Transpose"}),
        ("ij->ij", [2, 3], {"Identity"}),
        ("ij->i", [2, 3], {"Einsum"}),
        ("ij->i", [2, 1], {"Einsum"}),
        ("ii->i", [3, 3], {"Einsum"}),
        ("...i->i...", [2, 3], {"Transpose"}),
        ("ij->ji", [0, 3], {"Einsum"}),
    ],
)
def test_one_operand(equation: str, shape: list[int], written: set[str]) -> None:
    """A sum of floats, a diagonal and no elements are left as they are."""
    model = model_of(equation, [shape])
    near = onnx_scatterx.optimize(model, target=LACKS, last_bits=True)
    assert ("Einsum" in operators(near.model)) == ("Einsum" in written and equation != "ij->i")
    assert near.report.defined == (("y",) if equation == "ij->i" else ())
    result = onnx_scatterx.optimize(model, target=LACKS)
    assert operators(result.model) == written
    assert (len(result.report.violations) == 1) == ("Einsum" in written)
    if 0 not in shape:
        compared(model, result.model, values([shape], "float", 1), exact=True)


@pytest.mark.parametrize(
    ("keys", "equation", "new"),
    [
        ("limits.Einsum.max_rank = 4", "byhwc,hkc->byhwk", "bhwc,hkc->bhwk"),
        ("limits.Einsum.max_rank = 3", "byhwc,wkc->byhwk", "bwc,wkc->bwk"),
        ("limits.Einsum.equations = ['bhwc,wkc->bhwk']", "byhwc,wkc->byhwk", "bhwc,wkc->bhwk"),
        ("limits.Einsum.equations = ['xij,xkj->xik']", "nchw,ncij->nhwij", "bij,bkj->bik"),
        ("limits.Einsum.equations = ['ij,jk->ik']", "i,j->ij", "ij,jk->ik"),
        ("limits.Einsum.equations = ['ij,jk->ik']", "bij,bjk->bik", "bij,bjk->bik"),
    ],
)
def test_neighbours_are_one_letter(keys: str, equation: str, new: str) -> None:
    """They are as few as the target takes; as a product of matrices, operands are moved before."""
    sizes = dict(zip("bnyhwckij", (1, 2, 2, 3, 4, 5, 6, 2, 3), strict=True))
    shapes = [[sizes[c] for c in term] for term in equation.partition("->")[0].split(",")]
    model = model_of(equation, shapes)
    result = onnx_scatterx.optimize(model, target=f"standard, {keys}")
    (node,) = [node for node in result.model.graph.node if node.op_type == "Einsum"]
    assert node.attribute[0].s.decode() == new
    compared(model, result.model, values(shapes, "float", 3), exact=True)
    why = [violation.why for violation in result.report.violations]
    assert why == (['standard takes no Einsum of "bij,bjk->bik"'] if new == equation else [])


def test_the_option_that_helps_is_named() -> None:
    model = model_of("bid,bjd->bij", [[2, 3, 4], [2, 5, 4]])
    (advice,) = onnx_scatterx.advise(model, target=LACKS)
    assert [way.command.rpartition(" ")[2] for way in advice.ways] == ["--last-bits"]


def test_joints_have_one_size() -> None:
    """Letters of which one is broadcast alone are not one letter."""
    assert of("ab,ab->ab", [[2, 3], [2, 3]]).joints() == ["ab"]
    assert of("ab,ab->ab", [[2, 3], [1, 3]]).joints() == []
