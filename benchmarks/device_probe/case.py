"""A case: a model of one node, an input, and what ONNX Runtime computes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime as ort

Feeds = dict[str, np.ndarray]

OPSET = 17  # what most exporters write, and most consumers read
_NEWER = {19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 12}  # the IR versions that belong to them


@dataclass(frozen=True)
class Case:
    """A model of one node, an input for it, and what ONNX Runtime computes of it."""

    operator: str
    label: str
    """What is special: words such as "type=int64", "rank=6", "exclusive", "computed"."""
    model: onnx.ModelProto
    feeds: Feeds
    expected: Feeds
    is_ours: bool
    """Whether it is of the table, not of ONNX's tests."""
    inside: Case | None = None
    """The same with Casts around it, so that only floats enter and leave."""

    @property
    def name(self) -> str:
        """Return operator and label."""
        return f"{self.operator} {self.label}".strip()


def run_truth(model: onnx.ModelProto, feeds: Feeds) -> Feeds:
    """Return the outputs in ONNX Runtime, without graph optimizations."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, feeds), strict=True))


def ir_of(opset: int) -> int:
    """Return the IR version of an operator set, 8 at least."""
    return 8 if opset < 19 else _NEWER.get(opset, 13)
