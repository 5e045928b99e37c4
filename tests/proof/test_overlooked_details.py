"""Pairs that differ in a detail that is easily overlooked: none of them may be proven."""

import onnx
import pytest

from tests.helpers.equivalence_support import proof_of
from tests.helpers.proving import prove
from tests.helpers.support import parse

TRAPS = {
    "what holds of elements that are not there": (
        "g (float[D] x, int64[1] i, int64[1] n) => (float[A] y, bool[1] z) "
        "{ e = Expand(i, n) y = Gather(x, e) s = Shape(x) z = Less(i, s) }",
        ("z = Less(i, s)", "z = Equal(s, s)"),
    ),
    "positions that are not looked at, as there is nothing to read": (
        "g (float[D, E] x, int64[1, 1] i) => (float[A, B] y, bool[1, 1] z) <int64[1] a = {0}, "
        "int64[1] b = {1}> { y = GatherND(x, i) s = Shape(x) d = Slice(s, a, b) z = Less(i, d) }",
        ("z = Less(i, d)", "z = Equal(i, i)"),
    ),
    "the greatest of no numbers, which is the least that there is": (
        "g (bool[N] m) => (bool[1] z) <int64[1] one = {1}, int64 nil = {0}> "
        "{ p = NonZero(m) w = ReduceMax(p, one) v = Squeeze(w, one) z = Less(v, nil) }",
        ("z = Less(v, nil)", "t = Less(v, v) z = And(t, t)"),
    ),
    "a sum at positions that collide, of which only the last is added": (
        "g (int64[N] x, int64[3] i, int64[3] u) => (int64[M] y) "
        '{ y = ScatterElements<reduction="add">(x, i, u) }',
        (
            'y = ScatterElements<reduction="add">(x, i, u)',
            "s = Shape(x) w = ConstantOfShape<value = int64[1] {0}>(s) "
            "v = ScatterElements(w, i, u) y = Add(x, v)",
        ),
    ),
    "a value of the same name that differs, and fails a node that nothing reads": (
        "g (float[N] x, int64[K] i) => (float[A] y) { j = Sub(i, i) w = Gather(x, j) y = Neg(x) }",
        ("Sub(i, i)", "Identity(i)"),
    ),
    "a logarithm, whose last bit depends on the place": (
        "g (float[9] x) => (float[4] z) <int64[1] a = {3}, int64[1] b = {7}> "
        "{ w = Log(x) z = Slice(w, a, b) }",
        ("w = Log(x) z = Slice(w, a, b)", "w = Slice(x, a, b) z = Log(w)"),
    ),
    "a power by another tensor, which squares by a product if it has one element": (
        "g (float[3] x, float[3] e) => (float[M] z) <int64[1] a = {0}, int64[1] b = {1}> "
        "{ w = Pow(x, e) z = Slice(w, a, b) }",
        ("w = Pow(x, e) z = Slice(w, a, b)", "w = Slice(x, a, b) f = Slice(e, a, b) z = Pow(w, f)"),
    ),
    "bounds that are no numbers": (
        "g (int64[N] x) => (int64[A] y) { y = Neg(x) }",
        ("y = Neg(x)", "w = Clip(x, x) y = Neg(x)"),
    ),
    "an axis that is sliced twice": (
        "g (float[N] x) => (float[A] y) <int64[2] a = {0, 0}, int64[2] b = {9, 9}> { y = Neg(x) }",
        ("y = Neg(x)", "w = Slice(x, a, b, a) y = Neg(x)"),
    ),
    "small floats that saturate and that do not": (
        "g (float[4] x) => (float[4] z) { w = Cast<to = 17>(x) z = Cast<to = 1>(w) }",
        ("to = 17", "to = 17, saturate = 0"),
    ),
}


@pytest.mark.parametrize("name", TRAPS)
def test_models_that_are_nearly_the_same_are_not_proven(name: str) -> None:
    text, (old, new) = TRAPS[name]
    assert old in text
    found = proof_of(text, text.replace(old, new), opset=19)
    assert found.kind in ("refuted", "unknown"), found


def test_the_least_number_cannot_be_divided_by_minus_1() -> None:
    """The quotient is one too large for the type, and the processor stops: it is not run here."""
    head = "g (int64[N] x) => (int64[A] y) <int64 by = {-1}, int64 low = {-9}> "
    for opens, proven in (("w = Div(x, by)", False), ("v = Max(x, low) w = Div(v, by)", True)):
        before, after = parse(head + "{ y = Neg(x) }"), parse(head + f"{{ {opens} y = Neg(x) }}")
        assert prove(before, after).proven is proven


@pytest.mark.parametrize(
    "text",
    [
        """g (float[2] x, bool c) => (float[2] z) {
            z = If<then_branch = a () => (float[2] t) { r = RandomNormalLike(x) t = Add(x, r) },
                   else_branch = b () => (float[2] e) { e = Abs(x) }>(c) }""",
        """g (float[20] x) => (float[20] z) { z = Dropout(x, float 0.5, bool 1) }""",
    ],
    ids=["within a branch", "dropout"],
)
def test_a_model_that_draws_at_random_does_not_equal_itself(text: str) -> None:
    found = proof_of(text, text)
    assert found.kind == "unknown"
    assert "draws at random" in str(found)


def test_the_outputs_are_the_same_ones() -> None:
    both = parse("g (float[2] x) => (float[2] z, float[2] y) { z = Neg(x) y = Abs(x) }")
    one = parse("g (float[2] x) => (float[2] z) { z = Neg(x) y = Abs(x) }")
    for before, after in ((both, one), (one, both)):
        assert "different outputs" in str(prove(before, after))


def test_defaults_of_inputs_count() -> None:
    text = "g (float[2] x, float[2] w = {1, 2}) => (float[2] z) { z = Add(x, w) }"
    before, after = parse(text), parse(text.replace("{1, 2}", "{1, 3}"))
    assert "different defaults" in str(prove(before, after))
    assert prove(before, before).proven
    for model in (before, after):  # in which initializers that are inputs are constants
        model.ir_version = 3
    assert not prove(before, after).proven


def test_old_models_list_their_constants_as_inputs() -> None:
    text = "g (float[2] x, float[2] w = {1, 1}) => (float[2] z) { z = Mul(x, w) }"
    before = parse(text)
    after = onnx.ModelProto()
    after.CopyFrom(before)
    after.graph.node[0].CopyFrom(onnx.helper.make_node("Identity", ["x"], ["z"]))
    assert not prove(before, after).proven
    before.ir_version = after.ir_version = 3
    assert prove(before, after).proven


@pytest.mark.parametrize("op", ["BiasDropout", "Sampling"])
def test_operators_of_the_runtime_that_draw(op: str) -> None:
    text = "g (float[N] x) => (float[N] y, float[N] z) { y = com.microsoft.%s(x) %s }"
    pair = [
        parse(text % (op, node % op), more=', "com.microsoft" : 1')
        for node in ("z = com.microsoft.%s(x)", "z = Identity(y) w = com.microsoft.%s(x)")
    ]
    assert "draws at random" in str(prove(*pair))
