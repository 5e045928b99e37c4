"""The test cases of ONNX that have scatters, with the outputs that ONNX expects."""

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np
import onnx
import onnx.backend.test.case.node
import onnx.numpy_helper

from tests.helpers.support import SCATTERS, nodes

for module in ("scatter", "scatterelements", "scatternd", "tensorscatter"):
    import_module(f"onnx.backend.test.case.node.{module}")  # which registers its cases


class Case(NamedTuple):
    """A model with pairs of inputs and expected outputs."""

    name: str
    model: onnx.ModelProto
    data: Sequence[tuple[Sequence[np.ndarray], Sequence[np.ndarray]]]


CASES = [
    Case(case.name, case.model, case.data_sets)
    for case in onnx.backend.test.case.node._NodeTestCases
    if case.model and case.data_sets and SCATTERS & {node.op_type for node in nodes(case.model)}
]


def with_constant_indices(case: Case) -> Case:
    """Return a case whose indices are an initializer."""
    ((inputs, expected),) = case.data
    place = 2 if "tensorscatter" in case.name else 1
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    name = model.graph.input.pop(place).name
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(inputs[place]), name))
    fed = [*inputs[:place], *inputs[place + 1 :]]
    return Case(case.name, model, [(fed, expected)])
