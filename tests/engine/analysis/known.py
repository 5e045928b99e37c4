"""What the interpreter says of a value of a model, and the sizes at which such models run."""

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols


def known(model: onnx.ModelProto, name: str) -> str:
    """Return shape and content of a value as text."""
    ir_model = ir.from_proto(model)
    with fresh_symbols():  # the order of a sum does not depend on other tests
        knowledge = interpret(ir_model)
    for node in ir_model.graph:
        for value in node.outputs:
            if value.name == name:
                found = knowledge.values[value]
                return f"{found.shape} {found.content}"
    raise AssertionError(name)


N_FEEDS = (0, 1, 2, 3, 5, 17)
