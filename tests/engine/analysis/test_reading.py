"""The constants of a model are read once, however often it is interpreted."""

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis import assumed
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.interpreter import Interpreter
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.terms import Term

DOUBTED = """<ir_version: 10, opset_import: ["" : 18]>
    g (float[N, 4] x) => (float[M, K] y) <float[4] w = {1, 2, 3, 4}> {
        two = Constant <value = float {2}> ()
        z = Squeeze (x)
        v = Mul (z, two)
        y = Mul (v, w) }"""


def test_each_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []

    def count(owner: Any, name: str) -> None:
        function = getattr(owner, name)

        def counted(*arguments: Any) -> Any:
            called.append(name)
            return function(*arguments)

        monkeypatch.setattr(owner, name, counted)

    count(Interpreter, "run")
    count(TensorValue, "of_tensor")
    count(assumed, "of_attributes")
    interpret(ir.from_onnx_text(DOUBTED))
    assert called.count("run") > 1
    assert called.count("of_tensor") == 2  # the initializer, and the value of the Constant
    assert called.count("of_attributes") == 1


def test_unknown_elements_get_a_symbol_in_each_visit() -> None:
    model = ir.from_onnx_text("""<ir_version: 10, opset_import: ["" : 21]>
        g () => (int4[2] y) { y = Constant <value = int4[2] {1, 2}> () }""")
    (node,) = model.graph
    assert assumed.ReadConstants().constant(node) is None
    assert isinstance(interpret(model).values[node.outputs[0]].content, Term)


def test_attributes_of_a_function_are_its_callers() -> None:
    model = ir.from_onnx_text("""<ir_version: 10, opset_import: ["" : 18, "f" : 1]>
        g () => (int64 a, int64 b) { a = f.five <k = 5> ()  b = f.five <k = 6> () }
        <domain: "f", opset_import: ["" : 18]>
        five <k> () => (y) { y = Constant <value_int: int = @k> () }""")
    found = interpret(model).values
    assert [found[v].constant for v in model.graph.outputs] == [np.int64(5), np.int64(6)]
