"""A fragment is what is committed: nodes that were judged, with inputs that the graph still has."""

import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.device.uses import Use
from onnx_scatterx.engine.plan.commit import Outcome
from onnx_scatterx.engine.write.abstract_values import AbstractValues
from onnx_scatterx.engine.write.fragment import Fragment
from onnx_scatterx.engine.write.ordered import top
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs.cleanup import Names, remove_dead
from onnx_scatterx.targets import STANDARD, OperatorLimits, Target
from onnx_scatterx.text import granted
from onnx_scatterx.text.reasons import Reason, Refusal
from tests.helpers.support import parse, run

F = ir.DataType.FLOAT
TEXT = """g (float[4] x, float[4] u) => (float[4] y, float[4] z, float[4] w) {
    y = Abs (x) z = Exp (u) w = Floor (x) }"""


def writer_of(
    *, constant_nodes: bool = False, version: int = 18, target: Target = STANDARD
) -> tuple[ir.Model, Writer]:
    model = ir.from_proto(parse(TEXT, version))
    scope = interpret(model).scopes[model.graph]
    names = Names(model)
    return model, Writer(model.graph, scope, names, constant_nodes=constant_nodes, target=target)


def negative(w: Writer, x: ir.Value) -> Fragment:
    made = w.fragment_of(lambda: w.node("Neg", [x], F))
    assert isinstance(made, Fragment)
    return made


def test_of_a_node_that_is_not_interpreted_the_type_is_known() -> None:
    """No attribute of ONNX is a complex number."""
    model = ir.from_proto(parse(TEXT))
    known, values = AbstractValues(interpret(model).scopes[model.graph]), model.graph.inputs[:1]
    wrong: Any = {"perm": 1j}
    found = known.results("Transpose", values, [known[v] for v in values], [F], wrong)
    assert [(result.dtype, result.shape) for result in found] == [(F, None)]


def test_equal_nodes_are_judged_once_for_each_target(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the host of a target runs, the target itself does not."""
    model, w = writer_of(target=Target("npu", limits={"Sin": OperatorLimits(native=False)}))
    asked, objections = list[Use](), Use.objections

    def counted(use: Use, target: Target) -> Iterator[str]:
        asked.append(use)
        return objections(use, target)

    monkeypatch.setattr(Use, "objections", counted)
    x, u = model.graph.inputs
    taken = []
    for target in (w.target, w.target.with_host(), w.target):
        w.target = target
        made = [w.fragment_of(partial(w.node, "Sin", [v], F)) for v in (x, u, x, u)]
        taken.append([isinstance(fragment, Fragment) for fragment in made])
    assert taken == [[False] * 4, [True] * 4, [False] * 4]
    assert len(asked) == 3 * 2


def operators(model: ir.Model) -> list[str]:
    return [node.op_type for node in model.graph]


def test_what_is_not_committed_leaves_the_graph_as_it_was() -> None:
    model, w = writer_of()
    before, (x, _) = ir.to_proto(model), model.graph.inputs
    uses = list(x.uses())
    with w.graph.at(model.graph[1]):

        def write() -> ir.Value:
            largest, _ = top(w, x, F, w.constant([2]), 0, largest=True)
            w.surcharge(3)
            return w.node("Add", [w.node("Neg", [largest], F), w.node("Neg", [largest], F)], F)

        made = w.fragment_of(write)
    assert isinstance(made, Fragment)
    assert (made.cost, list(made.inputs)) == (3 + 3, [x])
    assert [op for op, _ in made.steps.values()] == ["TopK", "TopK", "Neg", "Add"]
    assert ir.to_proto(model) == before
    assert list(x.uses()) == uses
    assert w.graph.made == []


def test_a_commit_reads_what_replaced_a_value_since() -> None:
    model, w = writer_of()
    x, u = model.graph.inputs
    with w.graph.at(model.graph[1]):
        made = negative(w, x)
        w.replaced[x] = u
        committed = w.graph.commit(made)
    assert [node.inputs[0] for node in committed.nodes] == [u]


@pytest.mark.parametrize("constant_nodes", [False, True])
def test_what_was_removed_between_two_commits_is_not_read(constant_nodes: bool) -> None:
    model, w = writer_of(constant_nodes=constant_nodes)
    x, _ = model.graph.inputs

    def write() -> ir.Value:
        two = w.constant(np.full(4, 2, np.float32), F)
        return w.node("Mul", [w.node("Neg", [x], F), two], F)

    with w.graph.at(model.graph[0]):
        first = w.write(write)
    remove_dead([node for v in [first] if (node := v.producer())])
    for name, value in list(model.graph.initializers.items()):
        if not value.uses():
            del model.graph.initializers[name]
    for node in [n for n in model.graph if n.op_type == "Constant"]:
        model.graph.remove(node, safe=True)
    assert operators(model) == ["Abs", "Exp", "Floor"]
    with w.graph.at(model.graph[1]):
        model.graph[-1].replace_input_with(0, w.write(write))
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    feed = np.array([1, -2, 0.5, 3], np.float32)
    assert run(proto, {"x": feed, "u": feed})[2].tolist() == np.floor(feed * -2).tolist()


@pytest.mark.parametrize("constant_nodes", [False, True])
def test_equal_nodes_are_shared_if_they_stand_before(constant_nodes: bool) -> None:
    model, w = writer_of(constant_nodes=constant_nodes)
    x, _ = model.graph.inputs
    first, second, third = model.graph

    def write() -> ir.Value:
        return w.node("Add", [x, w.constant(np.ones(1, np.float32), F)], F)

    results = []
    for place in (second, first, third):
        with w.graph.at(place):
            results.append(w.write(write))
    assert results[0] is not results[1]
    assert results[2] in results[:2]
    plain = [op for op in operators(model) if op != "Constant"]
    assert plain == ["Add", "Abs", "Add", "Exp", "Floor"]
    assert operators(model).count("Constant") == 2 * constant_nodes
    assert len(model.graph.initializers) == (not constant_nodes)


@pytest.mark.parametrize("version", [12, 13])
def test_opposite_nodes_of_the_same_axes_are_left_out(version: int) -> None:
    """And with them the nodes and constants that only these read."""
    model, w = writer_of(version=version)
    x, _ = model.graph.inputs

    def pair(first: int, second: int) -> ir.Value:
        unsqueezed = w.axes("Unsqueeze", w.node("Neg", [x], F), F, [first])
        return w.axes("Squeeze", unsqueezed, F, [second])

    with w.graph.at(model.graph[0]):
        made = [w.fragment_of(partial(pair, 0, second)) for second in (0, 1)]
        (one, other) = map(granted, made)
        assert [(part.cost, len(part.items)) for part in (one, other)] == [
            (1, 1),
            (3, 3 if version < 13 else 5),
        ]
        w.graph.commit(one)
    assert operators(model) == ["Neg", "Abs", "Exp", "Floor"]
    assert not model.graph.initializers


@pytest.mark.parametrize("dtype", [ir.DataType.INT64, F])
def test_a_where_of_integers_reads_what_a_not_reads(dtype: ir.DataType) -> None:
    """Of floats, ONNX Runtime's Where loses the signs of zeros of its first operand only."""
    model, w = writer_of()
    x, _ = model.graph.inputs

    def write() -> ir.Value:
        same = w.node("Equal", [x, x], ir.DataType.BOOL)
        ones, zeros = (w.constant(np.full(4, n, dtype.numpy()), dtype) for n in (1, 0))
        no = w.node("Not", [same], ir.DataType.BOOL)
        return w.node("Where", [no, ones, zeros], dtype)

    with w.graph.at(model.graph[0]):
        nodes = w.graph.commit(granted(w.fragment_of(write))).nodes
    assert [node.op_type for node in nodes] == ["Equal", *["Not"] * (dtype == F), "Where"]
    first = nodes[-1].inputs[1]
    assert first is not None
    assert first.const_value is not None
    assert first.const_value.numpy()[0] == (dtype == F)


def test_an_output_has_a_node_of_its_own() -> None:
    model, w = writer_of()
    x, _ = model.graph.inputs
    outputs = []
    for node in list(model.graph)[:2]:
        with w.graph.at(node):
            made = w.fragment_of(lambda: x, as_output=True)
            assert isinstance(made, Fragment)
            assert made.cost == 1
            committed = w.graph.commit(made)
            outputs.append(w.graph.take_name(node.outputs[0], committed, F))
    assert [value.name for value in outputs] == ["y", "z"]
    assert operators(model) == ["Identity", "Abs", "Identity", "Exp", "Floor"]
    assert [node.inputs[0] for node in w.graph.made] == [x, x]


def test_a_fragment_belongs_to_its_insertion_point() -> None:
    model, w = writer_of()
    with w.graph.at(model.graph[0]):
        made = negative(w, model.graph.inputs[0])
    with w.graph.at(model.graph[1]), pytest.raises(AssertionError, match="insertion point"):
        w.graph.commit(made)


@pytest.mark.parametrize("constant_nodes", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_commits_in_any_order_are_in_topological_order(seed: int, constant_nodes: bool) -> None:
    rng = random.Random(seed)
    model, w = writer_of(constant_nodes=constant_nodes)
    values, readers = list(model.graph.inputs), [model.graph[2]]
    for _ in range(40):
        place = rng.choice([*model.graph])
        scale = np.array([rng.randint(1, 3)], np.float32)
        op, (a, b) = rng.choice(["Add", "Mul"]), rng.choices(values, k=2)

        def write(
            op: str = op, a: ir.Value = a, b: ir.Value = b, scale: np.ndarray = scale
        ) -> ir.Value:
            return w.node("Add", [w.node(op, [a, b], F), w.constant(scale, F)], F)

        with w.graph.at(place):
            result = w.write(write)
        if rng.random() < 0.3 and not result.uses():
            remove_dead([node for v in [result] if (node := v.producer())])
        elif place is readers[0]:
            place.replace_input_with(0, result)
    proto = ir.to_proto(model)
    onnx.checker.check_model(proto, full_check=True)
    run(proto, dict.fromkeys(("x", "u"), np.ones(4, np.float32)))


def test_what_is_refused_at_the_commit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes that are committed are judged once more: other values were replaced since."""
    model = parse("""g (float[4] x, float[2] u) => (float[4] y, float[4] z) {
        y = ScatterND (x, [[0], [1]], u)  z = ScatterND (x, [[2], [3]], u) }""")
    write, fragment_of = Outcome.write, Writer.fragment_of
    why = Refusal(Reason.NO_KERNEL, "Concat")
    refusals = [why]

    def refused(outcome: Outcome, *args: Any) -> bool:
        def once(w: Writer, *asked: Any, **named: Any) -> Fragment | Refusal:
            return refusals.pop() if refusals else fragment_of(w, *asked, **named)

        monkeypatch.setattr(Writer, "fragment_of", once)
        return write(outcome, *args)

    monkeypatch.setattr(Outcome, "write", refused)
    result = onnx_scatterx.optimize(model, target="standard")
    kept = [node.op_type for node in result.model.graph.node]
    assert kept.count("ScatterND") == 1
    assert [str(s.refusal) for s in result.report.scatters if s.refusal] == [str(why)]
    feed = {"x": np.arange(4, dtype=np.float32), "u": np.array([7, 8], np.float32)}
    for one, other in zip(run(model, feed), run(result.model, feed), strict=True):
        assert one.tolist() == other.tolist()
