"""A model is lowered more than once: if a Loop or a quantizer would change, or for wider targets.

Some effects of a write are far from it, and are seen only in the whole model. If ONNX Runtime would
compute something else, the model is restored, and the scatters that are not connected with the
effect are written again (``attempts``). If that does not help, no
scatter of the model is written.

If a target refuses nodes of the result, the passes run again (``least_violating``). A scatter that
the target lacks may become one operator of its replacement. But the nodes that compute its indices
may need more operators that the target lacks. So two more results are made: in one, all operators
are allowed for the scatters that the target refuses; in the other, for all scatters. The result
with the fewest violations is taken. If the target does not take the sizes of the inputs, no other
result is made: the user has to fix the sizes first.

    f, s = Loop(0, ...)             s has the numbers that ONNX Runtime infers of the body, else 0
    f, s = Scan(...)                runs only if ONNX Runtime infers all ranks of the body's outputs

If ONNX Runtime infers less for the new body, as for a Concat in the place of a scatter, the body
declares what was inferred for the original. If it infers more, the scatters that lead to the output
are kept. If it infers more since sizes are constants for a device, or nodes are written in another
form, all nodes that are unrelated to scatters are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping

import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.ir.cleanup import become, cloned
from onnx_scatterx.ir.constants import constant, inferred, overridable
from onnx_scatterx.ir.graphs import (
    all_graphs,
    all_nodes,
    called_function,
    callers_first,
    graphs_of,
    is_operator,
    makers,
    nodes_within,
    reached,
    readers,
)
from onnx_scatterx.optimizer.lift.lift_scatter import is_gather, is_scatter
from onnx_scatterx.optimizer.lowering.neighbours import read_only_by
from onnx_scatterx.optimizer.mosaic.moves import MOVES, connected_moves
from onnx_scatterx.optimizer.symbolic.limits import LIMITS
from onnx_scatterx.optimizer.transforms.fit_target import AttachFallbacks
from onnx_scatterx.optimizer.transforms.job import KEPT, NUMBER, Job
from onnx_scatterx.optimizer.transforms.move_above_quantizers import SoleReaders
from onnx_scatterx.text.reasons import Reason, Refusal

Dims = tuple[int | None, ...] | None
_Inferred = dict[int, set[tuple[Dims, ...]]]
"""For each Loop or Scan, the dims of outputs of its body in each call of its function."""


class EmptyLoops:
    """The Loops that may run no iteration, the Scans, and what is inferred for their bodies.

    ``numbers`` has each of them under the key NUMBER of its ``meta``.
    """

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        open_to_callers = overridable(model)
        nodes = all_nodes(model)
        loops = [n for n in nodes if is_operator(n, ("Scan",)) or _may_be_empty(n, open_to_callers)]
        self._numbers = {node.meta[NUMBER] for node in loops}
        self._inferred = self._infer()

    @property
    def is_idle(self) -> bool:
        """Whether there are no such Loops."""
        return not self._numbers

    def keep_dims(self) -> dict[int, Refusal]:
        """Declare what was inferred; return those for which something else is inferred now."""
        for node in _nodes(self._model, self._numbers):
            called = (self._inferred[0] or {}).get(node.meta[NUMBER], set())
            for value, *dims in zip(_scanned(node), *called, strict=True) if called else ():
                _declare(value, dims)
        pairs = zip(self._infer(), self._inferred, strict=True)
        differing = {n for now, then in pairs for n in self._differing(now, then)}
        return dict.fromkeys(differing, Refusal(Reason.EMPTY_LOOP))

    def _infer(self) -> list[_Inferred | None]:
        """Return the dims of these outputs, without and with constants that are folded.

        ONNX Runtime folds them under its default options. A function has a body for each call.
        """
        folds = (False, True) if self._numbers else ()
        return [_dims_of(self._model, self._numbers, fold) for fold in folds]

    def _differing(self, now: _Inferred | None, then: _Inferred | None) -> set[int]:
        """Return those for which something else is inferred; one that is gone does not count."""
        if now is None or then is None:
            return self._numbers
        return {number for number in now if now[number] != then.get(number)}


def _nodes(model: ir.Model, numbers: Container[int]) -> list[ir.Node]:
    return [n for n in all_nodes(model) if n.meta.get(NUMBER) in numbers]


def _may_be_empty(node: ir.Node, overridable: Collection[ir.Value]) -> bool:
    """Return whether a node is a Loop with scan outputs that may run no iteration."""
    if node.op_type != "Loop" or node.domain != "" or len(node.outputs) < len(node.inputs) - 1:
        return False
    count, condition = (*node.inputs[:2], None, None)[:2]
    return not (_is_set(count, overridable) and _is_set(condition, overridable))


def _is_set(value: ir.Value | None, overridable: Collection[ir.Value]) -> bool:
    """Return whether a count or condition is left out, or is a constant that is positive."""
    if value is None:
        return True
    fixed = constant(value, overridable)
    kinds = ir.DataType.INT64, ir.DataType.BOOL
    return fixed is not None and fixed.dtype in kinds and bool((fixed.numpy() > 0).all())


def _scanned(node: ir.Node) -> list[ir.Value]:
    """Return the outputs of a body that are judged: all of a Scan; those that a Loop stacks."""
    (body,) = graphs_of(node)
    return list(
        body.outputs if is_operator(node, ("Scan",)) else body.outputs[len(node.inputs) - 1 :]
    )


def _dims_of(model: ir.Model, numbers: Container[int], fold: bool) -> _Inferred | None:
    """Return what ONNX infers of these outputs of each body, for each of its copies."""
    copy = cloned(model)
    AttachFallbacks()(copy)
    if _calls(copy) > LIMITS.visits:
        return None
    try:
        copy = inferred(copy, fold=fold)
    except ModelError:
        return None
    by_number: _Inferred = {}
    for node in _nodes(copy, numbers):
        dims = map(_ranks if is_operator(node, ("Scan",)) else _numbers, _scanned(node))
        by_number.setdefault(node.meta[NUMBER], set()).add(tuple(dims))
    return by_number


def _calls(model: ir.Model) -> int:
    """Return how many calls of functions are inlined: nested calls multiply."""
    counts = {f.identifier(): 0 for f in model.functions.values()}
    total = 0
    for function in (None, *callers_first(model)):
        times = 1 if function is None else counts[function.identifier()]
        graph = model.graph if function is None else function.graph
        for node in nodes_within(graph):
            callee = called_function(model, node)
            if callee is not None:
                counts[callee.identifier()] += times
                total += times
    return total


def _numbers(value: ir.Value) -> Dims:
    if value.shape is None:
        return None
    return tuple(dim if isinstance(dim, int) else None for dim in value.shape)


def _ranks(value: ir.Value) -> Dims:
    return None if value.shape is None else (None,) * len(value.shape)


def _declare(value: ir.Value, dims: list[Dims]) -> None:
    """Declare the numbers that are inferred in every call."""
    first = dims[0]
    if first is None or any(d is None or len(d) != len(first) for d in dims):
        return
    if value.producer() is None or (value.shape is not None and len(value.shape) != len(first)):
        return
    old = [None] * len(first) if value.shape is None else list(value.shape)
    same = [d[0] if len(set(d)) == 1 else None for d in zip(*filter(None, dims), strict=True)]
    value.shape = ir.Shape(
        o if s is None or isinstance(o, int) else s for o, s in zip(old, same, strict=True)
    )


def attempts(job: Job, lower: Callable[[Job], None], fit: Callable[[Job], None]) -> Job:
    """Write the scatters of a model by ``lower``, until the result passes; return the last job.

    Then ``fit`` fits the rest to the target. If ONNX Runtime then infers more for a Loop, all is
    done again, and the rest is kept.
    """
    model = job.model
    for number, node in enumerate(all_nodes(model)):
        node.meta[NUMBER] = number
    loops = EmptyLoops(model)
    readers = SoleReaders(job)
    before = None if loops.is_idle and readers.is_idle else cloned(model)
    while True:
        lower(job)
        exposed, other = readers.exposed(job), loops.keep_dims()
        refused = exposed if job.settings.given["fix"] else exposed | other
        if before is None or not refused or job.forbidden is not None:
            fit(job)
            other = loops.keep_dims()
            if job.settings.given["fix"] or job.keeps_rest or not other:
                return job
            assert before is not None
            forbidden, keeps_rest = job.forbidden, True
        else:
            more = _keep(before, exposed, _after) + _keep(before, other, _before)
            forbidden, keeps_rest = None if more else next(iter(refused.values())), False
        become(model, cloned(before))
        job = job.restarted(forbidden, keeps_rest=keeps_rest)
        readers = SoleReaders(job)


def _keep(
    model: ir.Model, refused: Mapping[int, Refusal], near: Callable[[ir.Node], list[ir.Node]]
) -> int:
    """Keep the scatters and gathers that are connected with nodes; return how many are new."""
    nodes = all_nodes(model)
    holders: dict[object, list[ir.Node]] = {body: [n] for n in nodes for body in graphs_of(n)}

    def around(node: ir.Node) -> list[ir.Node]:
        function = called_function(model, node)
        called = [] if function is None else list(nodes_within(function.graph))
        return near(node) + holders.get(node.graph, []) + called

    new = 0
    for start in [n for n in nodes if n.meta[NUMBER] in refused]:
        for node in reached([start], around):
            if (is_scatter(node) or is_gather(node)) and KEPT not in node.meta:
                node.meta[KEPT] = refused[start.meta[NUMBER]]
                new += 1
    return new


def _before(node: ir.Node) -> list[ir.Node]:
    """Return the nodes on which a node depends directly, those in its bodies too."""
    inside = [inner for body in graphs_of(node) for inner in body]
    return inside + makers(node.inputs)


def _after(node: ir.Node) -> list[ir.Node]:
    """Return the nodes that read a node directly."""
    return readers(node.outputs)


_FLOATS = {t for t in ir.DataType if t.is_floating_point()}


def least_violating(job: Job, run: Callable[[Job], Job]) -> Job:
    """Rewrite a model by ``run``, again for wider targets if that may help; return the best job."""
    model, target = job.model, job.settings.target
    if not target.is_limited or not job.has_scatters:
        return run(job)
    before, unrelated = cloned(model), _unrelated(model)
    first = best = run(job)
    if first.refused <= unrelated or any(v.op == "input" for v in first.violations):
        return first
    all_operators = target.with_all_operators()
    kept = any(outcome.kept for outcome in first.outcomes)
    for own, more in ((target, [*first.wider, all_operators]), (all_operators, [])):
        if own is target and not kept:
            continue
        again = job.restarted(None)
        again.model, again.target, again.wider = cloned(before), own, more
        result = run(again)
        if _missing(result) < _missing(best):
            best = result
    if best is not first:
        become(model, best.model)
        best.model = model
        best.violations_if_kept, _ = _missing(first)
    return best


def _unrelated(model: ir.Model) -> set[ir.Node]:
    """Return the nodes of a model that compute nothing for its scatters, nor move what they do."""
    return {n for graph in all_graphs(model) for n in set(graph).difference(_related(graph))}


def _related(graph: ir.Graph) -> set[ir.Node]:
    scatters = [n for n in graph if is_scatter(n)]
    near = connected_moves(graph, MOVES)
    near |= read_only_by([v for n in scatters for v in n.inputs], scatters, graph)

    def integers(values: Iterable[ir.Value | None]) -> list[ir.Node]:
        whole = (v for v in values if v is not None and v.dtype not in _FLOATS)
        return [node for node in makers(whole) if node not in near]

    indices = integers(v for n in scatters for v in n.inputs[1:2])
    return near.union(reached(indices, lambda node: integers(node.inputs)))


def _missing(job: Job) -> tuple[int, int]:
    """Return how many violations a result has: of the target with its host, and of the device."""
    return sum(not violation.on_host for violation in job.violations), len(job.violations)
