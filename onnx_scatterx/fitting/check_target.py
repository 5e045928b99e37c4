"""Notes the parts of a model that its target does not take. It changes nothing.

Promises do not change what a compiler sees, so what is known is known without them. But a promise
that an input is not negative holds when the compiled model runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from onnx_scatterx.engine.analysis import Knowledge, interpret
from onnx_scatterx.engine.device import Violation, judged_nodes, violating_nodes
from onnx_scatterx.engine.passes import Job, Kind, Pass
from onnx_scatterx.fitting.known_values import Analysed
from onnx_scatterx.fitting.opset import newer_opset, obstacles
from onnx_scatterx.targets import Target


def check_target(job: Job) -> bool:
    """Note the nodes, types, sizes and operator sets of a model that the target does not take.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[4] x) => (float[4] y) { y = Erf (x) }''')
    >>> from onnx_scatterx.engine.passes.settings import Settings
    >>> job = Job(model, Settings.of(target="standard, avoid = ['Erf']"))
    >>> check_target(job), [violation.op for violation in job.violations]
    (False, ['Erf'])
    """
    knowledge, target = job.analyses.without_promises.current(), job.settings.target
    promised = job.analyses.promised.current() if job.assumed else None
    pairs, at_load = judged_nodes(job.model, target, knowledge, promised)
    found = [*_of_opset(job.model, target, job.proven), *(violation for _, violation in pairs)]
    job.violations = tuple(dict.fromkeys(found))
    job.at_load = at_load
    job.refused = {n for n, violation in pairs if n is not None and not violation.is_taken}
    return False


CheckTarget = Pass(check_target, Kind.GUARD, lambda s: s.target.has_profile)


def violations(
    model: ir.Model, target: Target, knowledge: Knowledge | None = None
) -> tuple[Violation, ...]:
    r"""Return the parts of a model that a target does not take, in the order of the graphs.

    ``knowledge`` is what is known of its values; without it, the model is interpreted.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (bool[N] x) => (int64[1, M] y) { y = NonZero(x) }''')
    >>> npu = Target("npu", avoid=frozenset({"NonZero"}), static_only=True)
    >>> print(*violations(model, npu), sep="\n")
    x (input): the size N is not a number
    y (NonZero): npu takes no NonZero
    y (NonZero): a size is known only when the model runs
    """
    refused = violating_nodes(model, target, knowledge or interpret(model))
    return tuple(dict.fromkeys([*_of_opset(model, target), *(v for _, v in refused)]))


def _of_opset(
    model: ir.Model, target: Target, analysed: Analysed | None = None
) -> Iterator[Violation]:
    """Yield the nodes that prevent lowering a model whose operator set is too new."""
    most, main = target.max_opset, model.graph.name or "main"
    version = newer_opset(model, most)
    if most is None or version is None:
        return
    why = f"operator set {version}, and {target.name} takes {most}"
    blocking = obstacles(model, most, analysed)
    if not blocking:  # it could be lowered
        yield Violation(main, "model", main, why)
    for node in blocking:
        yield Violation(node.name, node.node.op_type, node.graph, f"{why}: {node.why}")
