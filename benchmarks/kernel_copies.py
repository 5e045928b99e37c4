"""A model with many copies of its nodes, for what is small beside a run of a session."""

from __future__ import annotations

import onnx

SMALL = 1 << 15  # bytes of data: below, a run is hardly longer than an empty one
COPIES = 32


def copies(model: bytes, count: int) -> bytes:
    """Return a model with so many copies of all nodes, inputs and outputs; constants are shared.

    Copy i of a value is called ``value.i``, so that no two nodes are the same computation.
    """
    proto = onnx.load_model_from_string(model)
    graph = proto.graph
    shared = {constant.name for constant in graph.initializer}
    nodes, inputs, outputs = (list(part) for part in (graph.node, graph.input, graph.output))
    for part in (graph.node, graph.input, graph.output):
        del part[:]
    for i in range(count):
        for node in nodes:
            copy = graph.node.add()
            copy.CopyFrom(node)
            copy.input[:] = [name if name in shared else f"{name}.{i}" for name in node.input]
            copy.output[:] = [f"{name}.{i}" for name in node.output]
        for values, part in ((inputs, graph.input), (outputs, graph.output)):
            for value in values:
                copied = part.add()
                copied.CopyFrom(value)
                copied.name = f"{value.name}.{i}"
    return proto.SerializeToString()
