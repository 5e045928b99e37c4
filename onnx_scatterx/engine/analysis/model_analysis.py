"""What is known of a model: interpreted until no size is left at which it cannot run, and kept.

A shape may be known only if a size is not 0, or not 1. Each such pair is tested by a visit at that
size: if a node must fail there, the pair is ruled out, and the model is interpreted again with it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial

import onnx_ir as ir

from onnx_scatterx.assumptions import Clause
from onnx_scatterx.engine.analysis.assumed import ReadConstants
from onnx_scatterx.engine.analysis.domain.call import Knowledge, Versions
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.interpreter import Interpreter
from onnx_scatterx.engine.analysis.preconditions import InfeasibleError
from onnx_scatterx.engine.analysis.shapes import Exclusion
from onnx_scatterx.engine.budget import budget
from onnx_scatterx.graphs import makers, reached, read_by


def interpret(
    model: ir.Model,
    *,
    distrust_dims: bool = False,
    assumed: Sequence[Clause] = (),
    once: bool = False,
    of: Collection[ir.Value] | None = None,
) -> Knowledge:
    """Return what is known of every value of a model without running it.

    ``distrust_dims`` drops the assumption that graph inputs that declare a dim under one name agree
    in it; runtimes do not check that. ``assumed`` are the user's assumptions on symbols and inputs.

    If a shape depends on a size that is not 0, or not 1, the interpreter tests whether the model
    can run at 0, or 1. With ``once``, such shapes stay unknown, and the model is visited once.
    If it is asked ``of`` values that nodes of the main graph compute, only the nodes that they
    depend on are visited.
    """
    only = None if of is None else _behind(model, of)
    if once:
        return Interpreter(model, distrust_dims, assumed=assumed, only=only).run()
    return converged(model, distrust_dims=distrust_dims, assumed=assumed, only=only)[1]


def _behind(model: ir.Model, values: Collection[ir.Value]) -> frozenset[ir.Node] | None:
    """Return the nodes that values of the main graph depend on; None if one is of another graph."""
    made = makers(values)
    if len(made) < len(values) or any(node.graph is not model.graph for node in made):
        return None
    return frozenset(reached(made, lambda node: makers(read_by(node))))


def converged(
    model: ir.Model,
    *,
    distrust_dims: bool,
    assumed: Sequence[Clause],
    earlier: Interpreter | None = None,
    noted: dict[ir.Value, tuple[float, float]] | None = None,
    only: Collection[ir.Node] | None = None,
) -> tuple[Interpreter, Knowledge]:
    """Interpret until no more sizes are ruled out; return the last interpreter and its result.

    What an ``earlier`` interpreter of the model has ruled out, on as many assumptions, holds.
    ``noted`` are ranges of integers in new values, proven on as many assumptions. ``only`` are the
    nodes of the main graph that are visited (``Interpreter``).
    """
    walk = partial(
        Interpreter,
        model,
        distrust_dims=distrust_dims,
        assumed=assumed,
        reading=ReadConstants(),
        noted={} if noted is None else noted,
        only=only,
    )
    with budget().share(1 / 2):
        result = _without_doubts(walk, earlier)
    if result is None:
        last = walk()
        result = last, last.run()
    return result


def _without_doubts(
    walk: Callable[..., Interpreter], earlier: Interpreter | None
) -> tuple[Interpreter, Knowledge] | None:
    """Interpret until no more sizes are ruled out at which the model cannot run.

    A size that is ruled out in every version of ONNX Runtime is a fact. A size that only the older
    versions rule out limits only what is known of their results: the newer versions follow the
    specification. None if the budget does not suffice.
    """
    older: tuple[Exclusion, ...] = () if earlier is None else (*earlier.older,)
    always: tuple[Exclusion, ...] = () if earlier is None else (*earlier.ruled_out,)
    while True:
        interpreter = walk(ruled_out=always, older=older, speculate=True)
        knowledge = interpreter.run()
        doubted = interpreter.suspected
        if budget().is_spent:
            return None
        if not doubted:
            return interpreter, knowledge
        in_older = partial(walk, versions=Versions.OLDER, ruled_out=older)
        # If the model runs at a size while other pairs are believed, it also runs without that.
        refused = []
        for pair in doubted:
            if pair in older or budget().is_spent:
                continue
            likely = in_older(speculate=True, probe=pair)
            # A failure before anything was believed is also a failure without that belief.
            if _is_refused(likely) and (not likely.believed or _is_refused(in_older(probe=pair))):
                refused.append(pair)
        older = (*older, *refused)
        in_newer = partial(walk, versions=Versions.NEWER, ruled_out=always)
        wanted = [pair for pair, is_fact in doubted.items() if is_fact and pair in older]
        certain = [
            pair for pair in wanted if not budget().is_spent and _is_refused(in_newer(probe=pair))
        ]
        always = (*always, *certain)
        if not refused and not certain:
            last = walk(ruled_out=always, older=older)
            knowledge = last.run()
            return None if budget().is_spent else (last, knowledge)


def _is_refused(interpreter: Interpreter) -> bool:
    try:
        interpreter.run()
    except InfeasibleError:
        return True
    return False


class ModelAnalysis:
    """Interprets a model at the first question, and new nodes when a pass needs them.

    What is known of a value holds as long as the value exists: a pass that replaces values adds
    nodes, and changes no others.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 4] x) => (float[4, N] y) { y = Transpose(x) }''')
    >>> ModelAnalysis(model).knowledge.values[model.graph.outputs[0]].shape
    (4, N)
    """

    def __init__(
        self,
        model: ir.Model,
        *,
        distrust_dims: bool = False,
        assumed: Sequence[Clause] = (),
        learn: Callable[[Knowledge], None] = lambda _: None,
        earlier: ModelAnalysis | None = None,
        noted: dict[ir.Value, tuple[float, float]] | None = None,
    ) -> None:
        self.model = model
        self.distrust_dims = distrust_dims
        self.assumed = tuple(assumed)
        self.learn = learn  # adds facts that nodes prove by having run
        self.noted = {} if noted is None else noted
        """Ranges of the integers in new values, proven on as many assumptions (``Scope``)."""
        # What it has ruled out, on the same assumptions, holds: passes keep what the model does.
        self._earlier = None if earlier is None or earlier._result is None else earlier._result[0]
        self._result: tuple[Interpreter, Knowledge] | None = None
        self._new: list[ir.Node] = []
        self.is_outdated = False
        """Whether nodes were added that give more for a value than what is known of it."""

    def _interpreted(self) -> tuple[Interpreter, Knowledge]:
        if self._result is None:
            self._result = converged(
                self.model,
                distrust_dims=self.distrust_dims,
                assumed=self.assumed,
                earlier=self._earlier,
                noted=self.noted,
            )
            self.learn(self._result[1])
        return self._result

    @property
    def knowledge(self) -> Knowledge:
        """What is known of every value, and the facts of every graph."""
        return self._interpreted()[1]

    def forget(self) -> None:
        """Forget everything: graphs were inlined."""
        self._result, self._new, self.is_outdated = None, [], False

    def add(self, nodes: Iterable[ir.Node]) -> None:
        """Note new nodes, in an order in which each follows those that it reads."""
        self._new += nodes

    def note_constant(self, value: ir.Value, tensor: ir.TensorProtocol) -> None:
        """Note a new constant."""
        if self._result is not None:
            self._result[0].values[value] = TensorValue.of_tensor(tensor)

    def current(self) -> Knowledge:
        """Return what is known of all values, new ones too."""
        self.catch_up()
        return self.knowledge

    def catch_up(self) -> None:
        """Interpret the nodes that are new: a pass that asks about all values needs it."""
        interpreter, _ = self._interpreted()
        new, self._new = self._new, []
        self.is_outdated |= interpreter.add(node for node in new if node.graph is not None)
