"""Writes behind operators of newer sets, of which ONNX's own inference says the rank."""

from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from tests.helpers.judged import Judged, judge
from tests.helpers.one_node.newer import by_definition
from tests.helpers.pair import Feed, open_session
from tests.helpers.support import assert_sound, parse, run

WRITES = {
    "SwiGLU": (28, "float[N,4] x, float[N,4] w", "SwiGLU <alpha = 1.5> (x, w)", {"N": 3}),
    "CausalConvWithState": (
        27,
        "float[N,2,T] x, float[2,1,3] w",
        "CausalConvWithState (x, w)",
        {"N": 3, "T": 5},
    ),
    "LinearAttention": (
        27,
        "float[N,T,8] x, float[N,T,8] w",
        'LinearAttention <q_num_heads = 2, kv_num_heads = 2, update_rule = "linear"> (x, w, x)',
        {"N": 3, "T": 5},
    ),
    "BitCast": (26, "int32[N,4] x", "BitCast <to = 1> (x)", {"N": 2}),
    "TfIdfVectorizer": (
        24,
        "int64[N,4] x",
        'TfIdfVectorizer <mode = "TF", min_gram_length = 1, max_gram_length = 1, '
        "max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0, 1], pool_int64s = [1, 2]> (x)",
        {"N": 2},
    ),
}


def _run(model: onnx.ModelProto, feed: Feed) -> list[Any]:
    return run(by_definition(model), feed)


@pytest.mark.parametrize("op", WRITES)
def test_rows_that_are_written_into_a_result(op: str) -> None:
    opset, inputs, node, sizes = WRITES[op]
    results = "z, s" if op in ("CausalConvWithState", "LinearAttention") else "z"
    model = parse(
        f"""g ({inputs}) => (y) {{
            {results} = {node}
            y = ScatterND (z, [[0]], Gather (z, [1])) }}""",
        opset,
        11,
    )
    assert_sound(model, sizes, judge=_run if op == "SwiGLU" else run, left=0)


@pytest.mark.parametrize("op", ["PRelu", "SwiGLU"])
def test_an_operator_that_broadcasts_its_first_input(op: str) -> None:
    """Inference takes the shape of the first input, and the second may have more dims."""
    text = (
        f"""g (float[3] x, float w, int64[K] dims) => (y) {{ y = {op} (x, Reshape (w, dims)) }}"""
    )
    model = parse(text, 28 if op == "SwiGLU" else 22, 11)
    feed = {"x": np.ones(3, np.float32), "w": np.ones((), np.float32), "dims": np.array([1, 1])}
    judged = Judged(model, lambda m: open_session(by_definition(m)))
    assert judged.accepts(feed) == (op == "PRelu")


ELEMENTS = "Optional (x)", "x", "Identity (Optional (x))"


@pytest.mark.parametrize("made", ELEMENTS)
def test_the_element_of_an_optional_value(made: str) -> None:
    text = f"""g (float[N,4] x, float[1,4] u) => (y) {{
        z = OptionalGetElement ({made})
        y = ScatterND (z, [[0]], u) }}"""
    assert_sound(parse(text, 18), {"N": 3}, {"N": 1}, left=made.startswith("Identity"))


@pytest.mark.parametrize("made", ["Optional (at)", "at"])
def test_the_element_of_an_optional_value_is_known(made: str) -> None:
    text = f"""g (float[N,4] x, float[1,4] u) => (y) {{
        at = Shape <start = 1> (u)
        i = OptionalGetElement ({made})
        y = ScatterND (x, Sub (Unsqueeze (i, [0]), [[4]]), u) }}"""
    model = parse(text, 18)
    assert_sound(model, {"N": 3}, {"N": 1}, left=0)
    (entry,) = onnx_scatterx.inspect(model).scatters
    assert entry.done.startswith("removed by")


def test_an_empty_optional_value_has_no_element() -> None:
    model = parse(
        """g (float[N,4] x, bool c) => (y, z) {
            o = If (c) <then_branch = t () => (p) { p = Optional (x) },
                        else_branch = e () => (q) { q = Optional <type = float[3]> () }>
            y = OptionalHasElement (o)
            z = Shape (x) }""",
        18,
    )
    feeds = [{"x": np.ones((2, 4), np.float32), "c": np.array(c)} for c in (True, False)]
    assert judge(model, feeds) == 2


MAPPED = {
    "SequenceConstruct (x, x)": 0,
    "SplitToSequence <axis = 1, keepdims = 0> (Expand (x, [2, 4, 4]))": 0,
    "SplitToSequence <axis = 0> (x, n)": 0,
}


@pytest.mark.parametrize("made", MAPPED)
def test_tensors_that_a_body_makes(made: str) -> None:
    types = "float[A,B]"
    text = f"""g (float[4,4] x, float[1,4] u, int64 n) => (y) {{
        s = {made}
        t = SequenceMap <body = b ({types} p, float[1,4] q) => ({types} r) {{
            r = ScatterND (p, [[0]], q) }}> (s, u)
        z = SequenceAt (t, 0)
        y = ScatterND (z, [[-1]], u) }}"""
    assert_sound(parse(text, 18), {"n": np.array(2)}, {"n": np.array(4)}, left=MAPPED[made])


@pytest.mark.parametrize("diagonal", ["", ", 1", ", -1"])
@pytest.mark.parametrize("upper", [0, 1])
def test_elements_of_a_triangle(upper: int, diagonal: str) -> None:
    model = parse(f"""g (int64[N, 3] x) => (int64[N, 3] y) {{
        y = Trilu <upper = {upper}> (x{diagonal}) }}""")
    feeds = [{"x": np.arange(1, 3 * n + 1).reshape(n, 3)} for n in (0, 1, 2, 4)]
    assert judge(model, feeds) == 4
