"""Nodes beside quantizers that lose a reader, because a scatter somewhere else was removed."""

import random

import numpy as np
import onnx
import onnx.parser
import pytest

import onnx_scatterx
from onnx_scatterx.text.reasons import FloatReason, Refusal
from tests.helpers.examples import scaled
from tests.helpers.pair import SESSIONS, agree, rejections

MODEL = """<ir_version: 10, opset_import: ["" : 18]>
g (uint8[N,64] x, uint8[N,64] w, float[N,2] d, float[N,2] e) => (uint8[?,?] y, float[N,2] z)
<float s = {SCALE}, float r = {0.1}, uint8 p = {3}, int64 zero = {0}, int64 one = {1},
 int64[1] last = {-1}> {
    a = DequantizeLinear (x, s, p)
    b = DequantizeLinear (w, s, p)
    COMPUTED
    y = QuantizeLinear (t, OUT, p)
    n = Shape <start = START, end = END> (t)
    m = Squeeze (n)
    i = Range (zero, m, one)
    j = Unsqueeze (i, last)
    z = ScatterND (d, j, e) }"""
ADDED = {"COMPUTED": "t = Add (a, b)", "SCALE": "0.05", "OUT": "r", "START": "0", "END": "1"}
TURNED = {**ADDED, "START": "1", "END": "2"}
CASES = {
    "a sum": (ADDED, FloatReason.INTEGER_KERNEL),
    "a sum that is moved": (
        TURNED | {"COMPUTED": "c = Add (a, b) t = Transpose (c)"},
        FloatReason.INTEGER_KERNEL,
    ),
    "a scale of 0": (
        TURNED | {"COMPUTED": "t = Transpose (a)", "SCALE": "0", "OUT": "s"},
        FloatReason.INEXACT,
    ),
    "exact": (TURNED | {"COMPUTED": "t = Transpose (a)", "OUT": "s"}, None),
    "two other readers": (ADDED | {"COMPUTED": "t = Add (a, b) also = Relu (t)"}, None),
}


def model_of(words: dict[str, str]) -> onnx.ModelProto:
    """Return the model with words replaced."""
    text = MODEL
    for word, replacement in words.items():
        text = text.replace(word, replacement)
    model = onnx.parser.parse_model(text)
    if "also" in text:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info("also"))
    return model


@pytest.mark.parametrize("case", CASES)
def test_the_scatter_whose_indices_read_the_node(case: str) -> None:
    words, why = CASES[case]
    model = model_of(words)
    result = onnx_scatterx.optimize(model, target="standard")
    rng = np.random.default_rng(0)
    for rows in (2, 3):
        x, w = (rng.integers(0, 256, (rows, 64)).astype("uint8") for _ in range(2))
        d, e = (rng.normal(size=(n, 2)).astype("float32") for n in (rows, rows))
        feed = {"x": x, "w": w, "d": d, "e": e}
        for load in SESSIONS:
            assert agree(*(load(m).run(None, feed) for m in (model, result.model)))
    (scatter,) = result.report.scatters
    detail = scatter.refusal.detail if isinstance(scatter.refusal, Refusal) else None
    assert str(detail) == str(None if why is None else why.value)


COMPUTED = (
    *("Add (a, b)", "Mul (a, b)", "Transpose (a)", "Sigmoid (a)", "Relu (a)", "Identity (a)"),
    *("Where (choose, a, b)", "Slice (a, zeros, ones, zeros)", "Reshape (a, flat)", "Max (a, b)"),
    *("Softmax (a)", "Unsqueeze (a, zeros)", "Neg (a)", "Concat <axis = 0> (a, b)"),
)


def drawn(rng: random.Random) -> onnx.ModelProto:
    """Return a model in which indices read the shape of a value between quantizers."""
    steps, last = [], "a"
    for number in range(rng.randint(1, 3)):
        step = rng.choice(COMPUTED).replace("(a", f"({last}").replace(", a", f", {last}")
        last = f"t{number}"
        steps.append(f"{last} = {step}")
    lines = " ".join(steps)
    read = rng.choice([f"t{n}" for n in range(len(steps))] + ["a"])
    kind, zero = rng.choice((("uint8", "3"), ("uint8", "3"), ("int8", "3"), ("int8", "0")))
    words = {
        "COMPUTED": lines, "SCALE": rng.choice(("0.05", "0.05", "0", "0.3")),
        "OUT": rng.choice(("r", "s")), "START": "0", "END": "1", "(t,": f"({last},",
        "> (t)": f"> ({read})", "uint8": kind, "p = {3}": f"p = {{{zero}}}",
        '"" : 18': f'"" : {rng.choice((15, 18, 21))}' if "Softmax" not in lines else '"" : 18',
        "int64[1] last": "int64[1] zeros = {0}, int64[1] ones = {1}, int64[2] flat = {-1, 32},"
        " bool choose = {1}, int64[1] last",
        "x, s, p)": "x, s, p)" if rng.random() < 0.8 or kind == "int8" else "x, s)",
        "float[N,2] d": "float[?,2] d", "float[N,2] e": "float[R,2] e",
    }  # fmt: skip
    if rng.random() < 0.2:
        words["COMPUTED"] += f" also = Relu ({last})"
    return model_of(words)


@pytest.mark.slow
def test_random_neighbourhoods() -> None:
    compared = 0
    for seed in (*range(scaled(134)), 965, 1829):
        model = drawn(random.Random(seed))
        after = onnx_scatterx.optimize(model, target="standard").model
        rng = np.random.default_rng(seed)
        x, w = (rng.integers(0, 120, (2, 64)).astype("uint8") for _ in range(2))
        if model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.INT8:
            x, w = (a.astype("int8") - 60 for a in (x, w))
        for load in SESSIONS:
            for rows in (1, 2, 32, 64):
                d, e = (rng.normal(size=(rows, 2)).astype("float32") for _ in range(2))
                feed = {"x": x, "w": w, "d": d, "e": e}
                try:
                    before = load(model).run(None, feed)
                except rejections():
                    continue
                assert agree(before, load(after).run(None, feed), zeros=True), (seed, rows)
                compared += 1
    assert compared > scaled(100)


def test_other_runtimes_move_no_quantizers() -> None:
    result = onnx_scatterx.optimize(model_of(ADDED), target="standard, onnxruntime = false")
    assert [s.reason for s in result.report.scatters] == [None]
