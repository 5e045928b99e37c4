"""The rewritten examples in a runtime that shares no code with ONNX Runtime: OpenVINO on the CPU.

ONNX Runtime runs the original, OpenVINO the optimized model. Moved elements are the same bit for
bit; what computes with floats rounds otherwise.

Known of OpenVINO 2026.4, and no matter of the rewriting (it does the same to the originals): its
Exp of NaN is infinity. So models with an Exp are fed with numbers.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.compare.draws.sample_source import SampleSource
from onnx_scatterx.files.io import load
from tests.helpers.pair import Feed, agree, rejections
from tests.helpers.support import f32, nodes, parse, run

openvino = pytest.importorskip("openvino", reason="openvino is not installed")

EXAMPLES = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))
WANTED = 4  # draws that the original accepts
COMPUTES = {"Add", "Conv", "Div", "Exp", "MatMul", "Mul", "Sigmoid", "Softmax", "Sub"}


def feeds(path: Path) -> list[tuple[Feed, list[Any]]]:
    """Draw inputs that the original accepts, and what it gives."""
    model = load(path)
    source = SampleSource.of(model)
    proto, found = onnx.load(path), []
    for number in range(60):
        drawn = source.draw(number)
        if drawn is None:
            continue
        draw, sizes, _ = drawn
        try:
            expected = run(proto, draw.feeds)
        except rejections():
            source.tell(sizes, False)
            continue
        source.tell(sizes, True)
        found.append((draw.feeds, expected))
        if len(found) == WANTED:
            break
    return found


def run_openvino(model: onnx.ModelProto, feed: Feed) -> list[Any]:
    core = openvino.Core()
    read = core.read_model(model.SerializeToString())
    compiled = core.compile_model(
        read, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"}
    )
    results = compiled({name: np.asarray(value) for name, value in feed.items()})
    return [results[i] for i in range(len(model.graph.output))]


def keeps_nan() -> bool:
    model = parse("g (float[1] x) => (float[1] y) { y = Exp (x) }")
    return bool(np.isnan(run_openvino(model, {"x": f32([np.nan])})[0]).all())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path) -> None:
    optimized = onnx_scatterx.optimize(path, target="standard").model
    operators = {node.op_type for node in nodes(optimized)}
    accepted = feeds(path)
    assert len(accepted) == WANTED
    if "Exp" in operators and not keeps_nan():
        accepted = [a for a in accepted if all(np.isfinite(v).all() for v in a[0].values())]
        assert accepted
    for feed, expected in accepted:
        for before, after in zip(expected, run_openvino(optimized, feed), strict=True):
            assert before.shape == after.shape
            assert before.dtype == after.dtype
            if operators & COMPUTES:
                np.testing.assert_allclose(after, before, rtol=1e-5, atol=1e-5)
            else:
                assert agree(before, after)
