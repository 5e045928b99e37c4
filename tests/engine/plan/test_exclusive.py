"""The nodes that only some nodes need, compared with a search in rounds through all nodes."""

import random

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.plan.exclusive import read_only_by
from onnx_scatterx.graphs.traversal import makers


def drawn(rng: random.Random) -> ir.Graph:
    """Return a graph of nodes with up to three inputs, some read twice, and some outputs."""
    x = ir.Value(name="x")
    values, nodes = [x], []
    for i in range(rng.randint(1, 30)):
        inputs = [rng.choice(values[-8:]) for _ in range(rng.randint(1, 3))]
        node = ir.Node("", "Sum", inputs, num_outputs=rng.randint(1, 2), name=f"n{i}")
        nodes.append(node)
        values += node.outputs
    return ir.Graph([x], rng.sample(values[1:], 1), nodes=nodes, name="g")


def in_rounds(of: list[ir.Node], starts: set[ir.Node], graph: ir.Graph) -> set[ir.Node]:
    found: set[ir.Node] = set()
    while True:
        near = starts.union(makers(v for n in found for v in n.inputs))
        new = {
            n
            for n in graph
            if n in near
            and n not in found
            and set(n.successors()) <= {*of, *found}
            and not any(v.is_graph_output() for v in n.outputs)
        }
        if not new:
            return found
        found |= new


@pytest.mark.parametrize("seed", range(60))
def test_read_only_by(seed: int) -> None:
    rng = random.Random(seed)
    graph = drawn(rng)
    of = rng.sample(list(graph), rng.randint(1, min(3, len(graph))))
    read = [v for n in of for v in n.inputs]
    assert read_only_by(read, of, graph) == in_rounds(of, set(makers(read)), graph)
