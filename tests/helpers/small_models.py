"""Small models as text, under the header of an operator set and of a domain of functions."""

import onnx
import onnx.parser

HEAD = '<ir_version: 8, opset_import: ["": 17, "local": 1]>'


def parse(graph: str, head: str = HEAD) -> onnx.ModelProto:
    return onnx.parser.parse_model(head + graph)


def negation() -> onnx.ModelProto:
    return parse("g (float[N] x) => (float[N] y) { y = Neg(x) }")
