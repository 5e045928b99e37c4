"""The judge itself: it must accept sound rewritings, and find unsound ones."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.pair import agree
from tests.helpers.support import assert_sound, f32, parse, sample, scatters

MODEL = parse("""g (float[4,2] x, float[2,2] u) => (float[4,2] y) {
    y = ScatterND (x, [[1], [2]], u) }""")
FEED = {
    "x": f32([[-0.0, 0.3], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
    "u": sample("float32", 2, 2, seed=1),
}


def replace(monkeypatch: pytest.MonkeyPatch, change: Callable[[onnx.ModelProto], object]) -> None:
    """Let `optimize` make one change to a copy of the model."""

    def optimize(model: onnx.ModelProto, target: str, gathers: bool) -> SimpleNamespace:
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        change(copy)
        return SimpleNamespace(model=copy)

    monkeypatch.setattr(onnx_scatterx, "optimize", optimize, raising=False)


def text(body: str) -> Callable[[onnx.ModelProto], object]:
    graph = parse(f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y)
        <int64[1] one = {{1}}, int64[1] three = {{3}}, int64[1] four = {{4}}, int64[1] zero = {{0}},
         float nothing = {{0}}> {{
            {body} }}""").graph
    return lambda model: model.graph.CopyFrom(graph)


SLICES = """a = Slice (x, zero, one) b = Slice (x, three, four)
    y = Concat <axis = 0> (a, u, b)"""


def test_doing_nothing_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, lambda model: None)
    assert assert_sound(MODEL, FEED) == 1
    with pytest.raises(AssertionError, match="1 scatters are left, not 0"):
        assert_sound(MODEL, FEED, left=0)


def test_slices_are_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, text(SLICES))
    assert assert_sound(MODEL, FEED, left=0) == 0


@pytest.mark.parametrize(
    "body",
    [
        "y = Identity (x)",
        "a = Slice (x, zero, one) b = Slice (x, zero, one) y = Concat <axis = 0> (a, u, b)",
        f"{SLICES.replace('y =', 'c =')} y = Add (c, nothing)",  # the sign of zero
        f"{SLICES.replace('y =', 'c =')} d = Cast <to = 10> (c) y = Cast <to = 1> (d)",
    ],
)
def test_other_values_are_caught(monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    replace(monkeypatch, text(body))
    with pytest.raises(AssertionError, match="became"):
        assert_sound(MODEL, FEED)


def rename_output(model: onnx.ModelProto) -> None:
    model.graph.node[0].output[0] = model.graph.output[0].name = "z"


def fix_input(model: onnx.ModelProto) -> None:
    model.graph.initializer.append(onnx.numpy_helper.from_array(FEED["u"], "u"))


@pytest.mark.parametrize("change", [rename_output, fix_input, lambda m: m.graph.input.pop()])
def test_another_signature_is_caught(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[onnx.ModelProto], object]
) -> None:
    replace(monkeypatch, change)
    with pytest.raises(AssertionError, match="inputs or outputs changed"):
        assert_sound(MODEL, FEED)


def test_an_invalid_model_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, lambda model: model.graph.node.pop())
    with pytest.raises(onnx.checker.ValidationError):
        assert_sound(MODEL, FEED)


def test_a_changed_argument_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def optimize(model: onnx.ModelProto, target: str, gathers: bool) -> SimpleNamespace:
        model.graph.node[0].name = "mine"
        return SimpleNamespace(model=model)

    monkeypatch.setattr(onnx_scatterx, "optimize", optimize, raising=False)
    copy = onnx.load_from_string(MODEL.SerializeToString())
    with pytest.raises(AssertionError, match="changed its argument"):
        assert_sound(copy, FEED)


def test_feeds_that_the_original_rejects_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    replace(monkeypatch, lambda model: None)
    bad = {**FEED, "u": sample("float32", 3, 2)}
    with pytest.raises(AssertionError, match="the original rejects"):
        assert_sound(MODEL, FEED, bad)
    with pytest.raises(AssertionError, match="accepts no feed"):
        assert_sound(MODEL, bad, rejected=1)
    assert assert_sound(MODEL, FEED, bad, rejected=1) == 1


def test_agree_sees_types_shapes_and_signs() -> None:
    zero = f32([0.0])
    assert agree([zero, [zero]], [zero.copy(), [zero.copy()]])
    assert agree(np.array(["a"], object), np.array(["a"], object))
    assert agree(None, None)
    assert not agree(zero, -zero)
    assert not agree(zero, zero.astype(np.float64))
    assert not agree(zero, zero[None])
    assert not agree([zero], [zero, zero])
    assert not agree(f32([np.nan]).astype("float16"), f32([1]).astype("float16"))
    assert not agree(f32([np.nan]), f32([np.inf]))
    assert not agree(None, zero)


def test_scatters_are_counted_everywhere() -> None:
    model = parse("""g (float[4,2] x, float[2,2] u, bool c) => (float[4,2] y) {
            s = local.ScatterND (x, [[1], [2]], u)
            y = If (c) <
                then_branch = a () => (float[4,2] p) { p = ScatterND (s, [[1], [2]], u) },
                else_branch = b () => (float[4,2] q) { q = Neg (s) }> }
        <domain: "local", opset_import: ["" : 18]>
        ScatterND (x, i, u) => (out) { out = ScatterND (x, i, u) }""")
    assert scatters(model) == 2


def test_samples_are_hard_and_repeatable() -> None:
    array = sample("float32", 20, 20)
    assert np.isnan(array).any()
    assert np.isinf(array).any()
    assert np.signbit(array[array == 0]).any()
    assert not np.signbit(array[array == 0]).all()
    assert agree(array, sample("float32", 20, 20))
    assert not agree(array, sample("float32", 20, 20, seed=1))
    assert sample("uint64", 50).max() > 2**63
