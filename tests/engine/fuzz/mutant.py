"""A copy of a model that is being changed."""

import random
from collections.abc import Callable, Iterator
from typing import TypeAlias

import onnx
from onnx import AttributeProto

from tests.helpers.support import nodes

LARGE = 1 << 16  # elements of a tensor that is changed


class Mutant:
    """A copy of a model that is being changed."""

    def __init__(self, model: onnx.ModelProto, rng: random.Random) -> None:
        self.rng = rng
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self.types: dict[str, tuple[int, int | None]] = {}
        """The element type of every value of the main graph, and its rank where that is known."""
        try:
            inferred = onnx.shape_inference.infer_shapes(model).graph
        except (onnx.shape_inference.InferenceError, RuntimeError):
            inferred = model.graph
        for info in (*inferred.input, *inferred.output, *inferred.value_info):
            tensor = info.type.tensor_type
            rank = len(tensor.shape.dim) if tensor.HasField("shape") else None
            self.types[info.name] = tensor.elem_type, rank
        for constant in model.graph.initializer:
            self.types[constant.name] = constant.data_type, len(constant.dims)

    def nodes(self) -> list[onnx.NodeProto]:
        """List the nodes of the main graph, of its subgraphs and of functions."""
        return nodes(self.model)

    def tensors(self) -> Iterator[onnx.TensorProto]:
        """Yield the constants, those in nodes too."""
        yield from self.graph.initializer
        for node in self.nodes():
            yield from (a.t for a in node.attribute if a.type == AttributeProto.TENSOR)

    def readable(self, before: int) -> list[str]:
        """List the values that the node at a place of the main graph may read."""
        names = [i.name for i in self.graph.input] + [i.name for i in self.graph.initializer]
        return names + [o for n in self.graph.node[:before] for o in n.output if o]

    def node(self, *kinds: str) -> onnx.NodeProto | None:
        """Choose a node, of some operators of the default domain if any are named."""
        found = [n for n in self.nodes() if not kinds or (n.op_type in kinds and not n.domain)]
        return self.rng.choice(found) if found else None


Mutation: TypeAlias = Callable[[Mutant], bool]
"""A change; it returns whether it changed anything."""
