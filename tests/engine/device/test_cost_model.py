"""The times of nodes, and the values of symbolic sizes: what target `ort-cpu` weighs plans by."""

import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.device.costs import (
    KINDS,
    OTHER,
    Machine,
    NodeCosts,
    Sizes,
    TimeCosts,
    Traffic,
)
from onnx_scatterx.engine.terms import element, size, term
from onnx_scatterx.errors import ScatterXError
from tests.helpers.machines import use_machine
from tests.helpers.pair import assert_same
from tests.helpers.support import parse, sample


def test_sizes() -> None:
    batch, rows = size("batch"), size("rows")
    assert Sizes().value(rows * batch) == OTHER
    assert Sizes({"rows": 3}).product((rows, batch + 1, size("x.height") - 700)) == 0
    for name, usual in ("batch_size", 1), ("image.height", 640), ("max_seq_len", 512):
        assert Sizes().value(size(name)) == usual
    assert Sizes().value(element("table", (rows,), name="table")) == 1
    with pytest.raises(ScatterXError, match="must not be negative"):
        Sizes({"rows": -1})


def test_time_is_nodes_and_bytes_and_runs() -> None:
    machine = Machine(100.0, dict.fromkeys(KINDS, 0.5), dict.fromkeys(KINDS, 2.0))
    costs = TimeCosts(machine, Sizes())
    traffic = [Traffic("Slice", (term(3), term(4)), 1)]
    assert costs.weigh(2, traffic, ir.DataType.FLOAT) == 2 * 100 + 3 * 4 * 4 * 0.5 + 3 * 2
    assert NodeCosts().weigh(2, traffic, ir.DataType.FLOAT) == 2


def test_sizes_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here ScatterX copies slowly: for few rows it still saves a launch."""
    text = """g (float[rows, 64] x, float[1, 64] y) => (float[rows, 64] z)
        { z = ScatterND(x, [[0]], y) }"""
    speed = dict.fromkeys(KINDS, 0.1) | {"ScatterX": 1.0}
    use_machine(Machine(1000.0, speed, dict.fromkeys(KINDS, 0.0)), monkeypatch)
    feed = {"x": sample("float32", 3, 64), "y": sample("float32", 1, 64)}
    for rows, expected in ((2, ["ScatterX"]), (10**6, ["Slice", "Concat"])):
        made = onnx_scatterx.optimize(parse(text), target="ort-cpu", size_hint={"rows": rows}).model
        assert [node.op_type for node in made.graph.node] == expected
        assert_same(parse(text), made, [feed], library=True)


@pytest.mark.parametrize(("slow", "expected"), [("Slice", "ScatterX"), ("ScatterX", "Concat")])
def test_the_bytes_that_a_slice_copies_are_time(
    slow: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    speed = dict.fromkeys(KINDS, 0.1) | {"ScatterX": 0.5} | {slow: 1.0}
    use_machine(Machine(1000.0, speed, dict.fromkeys(KINDS, 0.0)), monkeypatch)
    model = parse("""g (float[rows, 64] x, float[1, 64] y) => (float[rows, 64] z) {
        z = ScatterND (x, [[0]], y) }""")
    made = onnx_scatterx.optimize(model, target="ort-cpu", size_hint={"rows": 10**6}).model
    assert made.graph.node[-1].op_type == expected
