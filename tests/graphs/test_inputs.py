"""Nodes with many inputs: one call changes all of them, in linear time."""

import time

import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx import optimize
from onnx_scatterx.graphs.cleanup import remove_dead, replace_uses, set_inputs
from tests.helpers.hostile import repeated


def _model(count: int) -> tuple[ir.Node, ir.Node, ir.Value, ir.Value]:
    a, b = ir.Value(name="a"), ir.Value(name="b")
    inner = ir.Node("", "Neg", [a], name="inner")
    total = ir.Node("", "Sum", [inner.outputs[0], *[a, b] * count, None], name="total")
    graph = ir.Graph([a, b], total.outputs, nodes=[inner, total])
    assert graph[-1] is total
    return inner, total, a, b


@pytest.mark.parametrize("count", [1, 40])
def test_all_uses_are_replaced(count: int) -> None:
    inner, total, a, b = _model(count)
    replace_uses(a, b)
    assert not a.uses()
    assert list(total.inputs) == [inner.outputs[0], *[b, b] * count, None]
    assert {(u.node, u.idx) for u in b.uses()} == {
        (inner, 0),
        *((total, place) for place in range(1, 2 * count + 1)),
    }


@pytest.mark.parametrize("count", [1, 40])
def test_inputs_are_set(count: int) -> None:
    inner, total, a, b = _model(count)
    set_inputs(total, [b, a])
    assert list(total.inputs) == [b, a]
    assert {(u.node, u.idx) for u in b.uses()} == {(total, 0)}
    assert not inner.outputs[0].uses()


@pytest.mark.parametrize("count", [1, 40])
def test_what_nothing_reads_is_removed(count: int) -> None:
    inner, total, a, b = _model(count)
    graph = total.graph
    assert graph is not None
    remove_dead([total])
    assert list(graph) == [inner, total]
    graph.outputs.clear()
    remove_dead([total])
    assert not list(graph)
    assert not a.uses()
    assert not b.uses()


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.parametrize("name", ["_read_often", "_summed_often", "_unread"])
def test_the_time_is_linear_in_the_inputs(name: str) -> None:
    """16 times the inputs take less than 64 times as long; if squared, it would be 256 times."""
    few, many = (_seconds(getattr(repeated, name)(count)) for count in (1_000, 16_000))
    assert many < 64 * max(few, 0.05)


def _seconds(model: onnx.ModelProto) -> float:
    start = time.process_time()
    optimize(model, target="standard")
    return time.process_time() - start
