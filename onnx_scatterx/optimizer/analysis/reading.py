"""The constants of a model, which all its interpretations share.

A model is interpreted several times, with different assumptions on trial. The contents of its
constants do not depend on these assumptions. So the constants, and all values that are derived from
them alone, are read once.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.analysis.operators.generators import of_attributes, of_tensor


class Reading:
    """The constants of one model, which does not change meanwhile.

    >>> value, tensor = ir.Value(name="w"), ir.tensor([1, 2])
    >>> reading = Reading()
    >>> reading.initializer(value, tensor).content
    array([1, 2])
    """

    def __init__(self) -> None:
        self._initializers: dict[ir.Value, TensorValue] = {}
        self._nodes: dict[ir.Node, TensorValue | None] = {}

    def initializer(self, value: ir.Value, tensor: ir.TensorProtocol) -> TensorValue:
        """Return the abstract value of an initializer."""
        found = self._initializers.get(value)
        if found is None:
            found = self._initializers[value] = of_tensor(tensor)
        return found

    def constant(self, node: ir.Node) -> TensorValue | None:
        """Return the abstract value of a Constant node, or None if it depends on the visit."""
        if node not in self._nodes:
            self._nodes[node] = _whole(node)
        return self._nodes[node]


def _whole(node: ir.Node) -> TensorValue | None:
    attributes = node.attributes.data
    if any(attribute.is_ref() for attribute in attributes.values()):
        return None
    found = of_attributes(attributes)
    # Other integers get a name in each visit.
    named = found is not None and found.is_integer and not isinstance(found.content, np.ndarray)
    return None if named else found
