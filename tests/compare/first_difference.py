"""Models for verify, and the first difference that it finds."""

import json
from typing import Any

import onnx

from onnx_scatterx.compare.result import Verification

HEAD = '<ir_version: 10, opset_import: ["": 21, "local": 1]>'


def parse(graph: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(HEAD + graph)


def unary(body: str) -> onnx.ModelProto:
    return parse(f"g (float[N, T] x) => (float[A, B] y) {{ {body} }}")


def only(verification: Verification) -> dict[str, Any]:
    """Return the first difference, after checking that all answers are consistent."""
    assert not verification
    assert not verification.same
    assert verification.conclusive
    assert json.loads(json.dumps(verification.to_dict(), allow_nan=False))["differences"]
    return verification.differences[0].to_dict()
