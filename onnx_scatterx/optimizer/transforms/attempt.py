"""Scatters are written; if ONNX Runtime would compute something else, the model is restored.

Some effects of a write are far from it, and are seen only in the whole model. If there is such an
effect, the model is restored, and the scatters that are not connected with the effect are written
again. If that does not help, the model is not changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx_ir as ir

from onnx_scatterx.ir.clone import become, cloned
from onnx_scatterx.ir.graphs import all_graphs, called_function, graphs_of, nodes_within
from onnx_scatterx.optimizer.lift.lift_gather import is_gather
from onnx_scatterx.optimizer.lift.lift_scatter import is_scatter
from onnx_scatterx.optimizer.transforms.empty_loops import EmptyLoops
from onnx_scatterx.optimizer.transforms.job import KEPT, NUMBER, Job
from onnx_scatterx.optimizer.transforms.sole_readers import SoleReaders
from onnx_scatterx.text.reasons import Refusal


def attempts(job: Job, lower: Callable[[Job], None]) -> Job:
    """Write the scatters of a model by ``lower``, until the result passes; return the last job."""
    model = job.model
    for number, node in enumerate(n for graph in all_graphs(model) for n in graph):
        node.meta[NUMBER] = number
    loops = EmptyLoops(model)
    readers = SoleReaders(job)
    before = None if loops.is_idle and readers.is_idle else cloned(model)
    while True:
        lower(job)
        exposed, other = readers.exposed(job), loops.keep_dims()
        found = exposed if job.settings.given["fix"] else exposed | other
        if before is None or not found or job.forbidden is not None:
            return job
        more = _keep(before, exposed, _after) + _keep(before, other, _before)
        become(model, cloned(before))
        job = job.again(None if more else next(iter(found.values())))
        readers = SoleReaders(job)


def _keep(
    model: ir.Model, found: Mapping[int, Refusal], near: Callable[[ir.Node], list[ir.Node]]
) -> int:
    """Keep the scatters and gathers that are connected with nodes; return how many are new."""
    nodes = [n for graph in all_graphs(model) for n in graph]
    holders: dict[ir.Graph | None, list[ir.Node]] = {
        body: [n] for n in nodes for body in graphs_of(n)
    }
    new = 0
    for start in [n for n in nodes if n.meta[NUMBER] in found]:
        seen, stack = {start}, [start]
        while stack:
            node = stack.pop()
            if (is_scatter(node) or is_gather(node)) and KEPT not in node.meta:
                node.meta[KEPT] = found[start.meta[NUMBER]]
                new += 1
            function = called_function(model, node)
            others = near(node) + holders.get(_graph(node), [])
            others += [] if function is None else nodes_within(function.graph)
            stack += [n for n in dict.fromkeys(others) if n not in seen]
            seen.update(others)
    return new


def _graph(node: ir.Node) -> ir.Graph | None:
    return node.graph if isinstance(node.graph, ir.Graph) else None


def _before(node: ir.Node) -> list[ir.Node]:
    """Return the nodes on which a node depends directly, those in its bodies too."""
    inside = [inner for body in graphs_of(node) for inner in body]
    return inside + [made for v in node.inputs if v is not None and (made := v.producer())]


def _after(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read a node directly."""
    return [use.node for v in node.outputs for use in v.uses()]
