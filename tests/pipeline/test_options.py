"""Targets, reads and deterministic in every combination, over operator sets and real exports.

None raises, every result loads in ONNX Runtime without the library, and gives what the original
gives, under both session options.
"""

import itertools
import random
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.helpers.examples import is_full
from tests.helpers.pair import Feed, assert_same
from tests.helpers.support import i64, parse, sample
from tests.helpers.trial import Options, trial

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))
COMBINATIONS = [
    Options(*given)
    for given in itertools.product(
        ("standard", "scatterx", "ort-cpu"), (False, True), (False, True)
    )
]
NEWEST = 26  # that ONNX Runtime 1.31 loads

X, U, V = sample("float32", 6, 4), sample("float32", 2, 4, seed=1), sample("float32", 3, 4, seed=2)
MASK = np.array([1, 0, 1, 1, 0, 0], bool)

# Bodies, by the operator set that has what is in them, and what they are fed.
ALONG = "i = Constant <value = int64[{n},1] {{{rows}}}> () s = Shape (u) j = Expand (i, s)"
BODIES: dict[str, tuple[int, str, Feed]] = {
    "rows": (9, ALONG.format(n=2, rows="1, 2") + " w = Neg (x) y = SCATTER (w, j, u)", {"u": U}),
    "last": (9, ALONG.format(n=2, rows="4, 5") + " y = SCATTER (x, j, u)", {"u": U}),
    "colliding": (9, ALONG.format(n=3, rows="2, 1, 2") + " y = SCATTER (x, j, u)", {"u": V}),
    "negative": (9, ALONG.format(n=2, rows="-1, 0") + " y = SCATTER (x, j, u)", {"u": U}),
    "given": (9, "y = SCATTER (x, k, u)", {"u": U, "k": i64([[0, 3, 1, 1], [5, 2, 0, 4]])}),
    "read": (
        9,
        ALONG.format(n=2, rows="1, 2")
        + """ w = Neg (x) t = SCATTER (w, j, u)
        all = Constant <value = int64[6] {0, 1, 2, 3, 4, 5}> () y = Gather (t, all)""",
        {"u": U},
    ),
    "columns": (
        9,
        """i = Constant <value = int64[1,2] {1, 2}> () z = Constant <value = int64[2] {6, 2}> ()
        j = Expand (i, z) w = Neg (x) y = SCATTER <axis = 1> (w, j, u)""",
        {"u": sample("float32", 6, 2, seed=3)},
    ),
    "written": (
        11,
        "i = Constant <value = int64[2,1] {3, 1}> () w = Neg (x) y = ScatterND (w, i, u)",
        {"u": U},
    ),
    "many": (
        11,
        "i = Constant <value = int64[3,1] {4, 0, 4}> () w = Neg (x) y = ScatterND (w, i, u)",
        {"u": V},
    ),
    "masked": (
        11,
        """n = NonZero (m) i = Transpose <perm = [1, 0]> (n) y = ScatterND (x, i, u)""",
        {"u": V, "m": MASK},
    ),
    "counted": (
        11,
        """zero = Constant <value_int = 0> () one = Constant <value_int = 1> ()
        two = Constant <value_int = 2> () r = Range (zero, two, one) a = Add (r, p)
        b = Constant <value = int64[2] {-1, 1}> () i = Reshape (a, b)
        y = ScatterND (x, i, u)""",
        {"u": U, "p": i64(3)},
    ),
    "added": (
        16,
        """i = Constant <value = int64[3,1] {4, 0, 4}> ()
        y = ScatterND <reduction = "add"> (x, i, u)""",
        {"u": V},
    ),
    "greatest": (
        18,
        """i = Constant <value = int64[2,1] {4, 0}> ()
        y = ScatterND <reduction = "max"> (x, i, u)""",
        {"u": U},
    ),
    "circular": (
        24,
        """a = Constant <value = int64[1] {0}> () c = Unsqueeze (x, a) d = Unsqueeze (u, a)
        t = TensorScatter <axis = 1, mode = "circular"> (c, d, q) y = Squeeze (t, a)""",
        {"u": U, "q": i64([5])},
    ),
}


def body(name: str, opset: int) -> tuple[onnx.ModelProto, Feed]:
    _, lines, feed = BODIES[name]
    if opset < 12:  # Constant has a tensor alone
        lines = lines.replace("value_int = ", "value = int64 {").replace("> ()", "}> ()")
        lines = lines.replace("}}>", "}>")
    lines = lines.replace("SCATTER", "Scatter" if opset < 11 else "ScatterElements")
    dtypes = {np.dtype("float32"): "float", np.dtype("int64"): "int64", np.dtype("bool"): "bool"}
    inputs = ", ".join(
        f"{dtypes[a.dtype]}[{', '.join(map(str, a.shape))}] {n}" if a.shape else f"int64 {n}"
        for n, a in {"x": X, **feed}.items()
    )
    ir_version = 8 if opset < 19 else 10 if opset < 24 else 11
    model = parse(f"g ({inputs}) => (float[6,4] y) {{ {lines} }}", opset, ir_version)
    return model, {"x": X, **feed}


@pytest.mark.sampled(8, each="name")
@pytest.mark.parametrize(
    ("opset", "name"),
    [(n, name) for n in range(9, NEWEST + 1) for name in BODIES if n >= BODIES[name][0]],
)
def test_every_operator_set(opset: int, name: str) -> None:
    model, feed = body(name, opset)
    rng = random.Random(f"{name} {opset}")
    for options in rng.sample(COMBINATIONS, 2 if is_full() else 1):
        assert_same(model, options.optimized(model), [feed])


@pytest.mark.sampled(6)
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_every_export(path: Path) -> None:
    options = random.Random(path.name).choice(COMBINATIONS)
    accepted = trial(onnx.load(path), options, 1)
    assert accepted.off
