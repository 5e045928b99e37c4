"""Terms that are written as nodes have their value, and take as many nodes as were counted."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.terms import Term, maximum, minimum, step, term
from onnx_scatterx.engine.terms.cases import pos
from onnx_scatterx.engine.write.available import AvailableValues
from onnx_scatterx.engine.write.terms import TermEmitter
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs.cleanup import Names
from onnx_scatterx.text.reasons import Reason, Refusal
from tests.helpers.pair import open_session, rejections
from tests.helpers.support import i64, parse, run

MODEL = "g (float[N] x, float[M] u) => (float[N] y) { y = Identity (x) }"
SIZES = [(n, m) for n in (0, 1, 2, 5, 9) for m in (0, 1, 3, 8)]


@contextmanager
def numbers(
    opset: int = 18, text: str = MODEL
) -> Iterator[tuple[ir.Model, TermEmitter, Term, Term]]:
    model = ir.from_proto(parse(text, opset=opset))
    knowledge = interpret(model)
    graph = model.graph
    scope = knowledge.scopes[graph]
    writer = Writer(graph, scope, Names(model), constant_nodes=False)
    shapes = [scope.values[v].shape for v in graph.inputs[:2]]
    n, m = (shape[0] for shape in shapes if shape is not None)
    with writer.graph.at(graph[-1]):
        yield model, TermEmitter(writer, scope, AvailableValues(graph, scope, ())), n, m


def drawn(rng: random.Random, n: Term, m: Term, depth: int) -> Term:
    if depth == 0:
        return rng.choice([n, m, n - 2, m - n, term(rng.randint(-3, 3))])
    a, b = (drawn(rng, n, m, depth - 1) for _ in range(2))
    difference = a - 3 * pos(a - b)
    return rng.choice([a + b, a - 2 * b, pos(a) - b, difference, maximum(a, b), minimum(a, b)])


def written(t: Term, model: ir.Model, made: TermEmitter) -> onnx.ModelProto:
    value = made.writer.write(lambda: made.vector(t))
    value.dtype, value.shape = ir.DataType.INT64, ir.Shape([1])
    model.graph.outputs.append(value)
    return ir.to_proto(model)


@pytest.mark.parametrize("opset", [11, 18])
def test_the_written_nodes_compute_the_value_of_the_term(opset: int) -> None:
    rng = random.Random(3)
    turned = 0
    for _ in range(40):
        with numbers(opset) as (model, made, n, m):
            t = drawn(rng, n, m, 2)
            if t.constant is not None or not t.piecewise:
                continue
            turned += made.turned(t) is not None
            proto = written(t, model, made)
        for a, b in SIZES:
            feed = {"x": np.zeros(a, np.float32), "u": np.zeros(b, np.float32)}
            sizes = {n: a, m: b}
            expected = t.evaluate(lambda leaf, _, s=sizes: _size(leaf, s), lambda _: 0)
            assert run(proto, feed)[1].tolist() == [expected], f"{t} at {a}, {b}"
    assert turned > 1


def _size(leaf: object, sizes: dict[Term, int]) -> int:
    return next(number for t, number in sizes.items() if leaf in t.atoms)


def test_a_maximum_is_written_as_is_shorter() -> None:
    for sign in (1, -1):  # terms hold one of max(u, 0) and max(-u, 0) + u
        with numbers() as (model, made, n, m):
            t = 5 - pos(sign * (n - 2 * m))
            before = len(model.graph)
            assert made.cost(t) == 6  # two shapes, Mul, Sub, Max, Sub
            made.writer.write(partial(made.vector, t))
            assert len(model.graph) - before == 6


@pytest.mark.parametrize("build", [pos, step])
def test_a_difference_that_would_wrap_is_compared(build: Callable[[Term], Term]) -> None:
    text = "g (float[N] x, float[M] u, int64 a) => (float[N] y) { y = Identity (x) }"
    with numbers(text=text) as (model, made, n, _):
        a = made.scope.values[model.graph.inputs[2]].scalar
        assert a is not None
        proto = written(build(a - n), model, made)
    for given, count in product((-(2**63), -1, 0, 3, 4, 2**63 - 1), (0, 3, 4)):
        feed = {"x": np.zeros(count, np.float32), "u": np.zeros(1, np.float32), "a": i64(given)}
        expected = max(given - count, 0) if build is pos else int(given >= count)
        assert run(proto, feed)[1].tolist() == [expected]


@pytest.mark.parametrize("number", [1 << 63, 1 << 64, 10**38, -(1 << 63) - 1])
def test_a_number_beyond_int64_is_refused(number: int) -> None:
    with numbers() as (_, made, _, _):
        w = made.writer
        writes = (
            lambda: w.constant([number]),
            lambda: w.constant(np.array(number)),
            lambda: w.constant(np.array([number]), ir.DataType.INT64),
            lambda: made.vector(term(number)),
        )
        for write in writes:
            refused = w.fragment_of(write)
            assert isinstance(refused, Refusal)
            assert refused.reason is Reason.UNKNOWN_SIZE


@pytest.mark.parametrize("step", ["float s = {1e-38}", "double s = {1e-19}", "float s = {1e-19}"])
def test_a_range_of_more_positions_than_int64_counts(step: str) -> None:
    kind = step.split()[0]
    model = parse(f"""g (float[4] x) => (float[4] y, int64[?] z)
        <{step}, {kind} a = {{0.0}}, {kind} b = {{1.0}}, int64[1] last = {{-1}}> {{
            r = Range (a, b, s)
            i = Cast <to = 7> (r)
            j = Unsqueeze (i, last)
            z = Shape (r)
            w = Gather (x, i)
            y = ScatterND (x, j, w) }}""")
    for target in ("standard", "qnn"):
        assert onnx_scatterx.advise(model, target=target) is not None


def test_a_shape_is_not_made_by_a_reshape() -> None:
    """ONNX Runtime fuses two Reshapes, even if the first one makes the shape of the second."""
    text = """g (float[N] x, float[M] u) => (float[K] y)
        <int64 first = {0}, int64[1] one = {1}, int64[1] all = {-1}> {
        s = Shape (x)  t = Shape (u)  n = Gather (s, first)  m = Gather (t, first)
        k = Add (n, m)  f = Reshape (k, one)  REST }"""
    with numbers(text=text.replace("REST", "y = Identity (x)")) as (_, made, n, m):
        node = made.writer.write(lambda: made.shape([n + m])).producer()
        assert node is not None
        assert (node.op_type, [v and v.name for v in node.inputs]) == ("Abs", ["f"])
    fused = text.replace("REST", "e = Concat <axis = 0> (x, u)  y = Reshape (e, f)")
    model = parse(fused.replace("float[K]", "float[4]"))
    feed = {"x": np.ones(1, np.float32), "u": np.ones(3, np.float32)}
    run(model, feed)
    with pytest.raises(rejections()):
        open_session(model, fused=True).run(None, feed)
