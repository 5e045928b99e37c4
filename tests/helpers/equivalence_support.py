"""The second judge's operators compared with ONNX Runtime, one run at a time.

A model is read with sizes and elements unknown. What a run was fed is then given as facts, and
what it returned must follow from them: each dim, and each element of the output. Where the first
element of an output is claimed to be something else, that must not follow.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from onnx_scatterx.proof.building import Builder, Scope
from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.logic import both, equal, negation
from onnx_scatterx.proof.core.reading import Graph, read
from onnx_scatterx.proof.core.tensor import Tensor
from onnx_scatterx.proof.core.terms import Term, apply, variable, walk
from onnx_scatterx.proof.core.types import constant
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.judge import deep
from onnx_scatterx.proof.proof import Proof
from tests.helpers.pair import agree, rejections, written_where
from tests.helpers.proving import prove
from tests.helpers.support import parse, run


def bound(tensor: Tensor, array: np.ndarray) -> list[Term]:
    """Return that a tensor has the shape and the elements of an array."""
    if tensor.dims is None:
        return []
    facts = [equal(d, integer(n)) for d, n in zip(tensor.shape, array.shape, strict=True)]
    for index in np.ndindex(*array.shape):
        facts.append(equal(tensor.at(tuple(map(integer, index))), element(array, index)))
    return facts


def element(array: np.ndarray, index: tuple[int, ...], other: bool = False) -> Term:
    """Return an element of an array as a term, or a different one."""
    value = array[index]
    if other:
        with np.errstate(over="ignore"):
            other_number = (value + 1).astype(array.dtype)
        value = np.logical_not(value) if array.dtype == bool else other_number
    return constant(value, array.dtype.name)


def no_more(_: World) -> list[Term]:
    return []


def ranks(array: np.ndarray) -> Callable[[World], list[Term]]:
    """Return what says how many elements of the first mask are true, in all and before each."""

    def facts(world: World) -> list[Term]:
        if not world.masks.known:
            return []
        mask = world.masks.known[0]
        own = zip(mask.dims, array.shape, strict=False)
        shape = [d.data if d.op == "integer" else n for d, n in own]
        found = [equal(mask.count, integer(int(array.sum())))]
        before = np.cumsum(array.ravel()) - array.ravel()
        for place, index in enumerate(np.ndindex(*shape)):
            rank = mask.rank(tuple(map(integer, index)))
            found.append(equal(rank, integer(int(before[place]))))
        return found

    return facts


def _built(model: onnx.ModelProto) -> tuple[World, Builder, Graph, dict[str, Tensor], Scope]:
    """Return a model as the second judge reads it: its values, inputs first."""
    world = World()
    builder = Builder(world)
    graph = read(model)
    inputs = {i.name: builder.input(i) for i in graph.inputs}
    scope = builder.scope(graph, inputs)
    for node in graph.nodes:
        builder.run(node, scope)
    return world, builder, graph, inputs, scope


def judged(
    model: onnx.ModelProto,
    feed: Mapping[str, np.ndarray],
    more: Callable[[World], list[Term]] = no_more,
) -> str:
    """Compare what the second judge knows of a model with a run; ``more`` are facts besides.

    Return that all of it follows, that something is unknown, or why a node is not modelled.
    """
    expected = run(model, feed)
    with deep():
        world, builder, graph, inputs, scope = _built(model)
        if reasons := [o.reason for o in builder.opaque if o.reason]:
            return reasons[0]
        given = [fact for name, array in feed.items() for fact in bound(inputs[name], array)]
        given += more(world)
        assert world.solver.satisfiable(given).status == "possible", "the facts exclude this run"
        verdict = "follows"
        for name, array in zip(graph.outputs, expected, strict=True):
            tensor = scope[name]
            assert tensor.dtype == array.dtype.name
            facts = bound(tensor, array)
            if not world.solver.follows(both(*facts), given):
                verdict = f"{name} is {array.tolist()}"
                assert world.solver.satisfiable([*given, *facts]).status != "impossible", verdict
            if array.size:
                first = (0,) * array.ndim
                wrong = equal(tensor.at(tuple(map(integer, first))), element(array, first, True))
                assert not world.solver.follows(wrong, given), f"all follows of {name}"
    return verdict


def assert_follows(
    text: str,
    feed: Mapping[str, np.ndarray],
    opset: int = 18,
    more: Callable[[World], list[Term]] = no_more,
) -> None:
    """Check that all of a run follows from what the second judge knows."""
    assert judged(parse(text, opset), feed, more) == "follows"


def assert_excluded(text: str, feed: Mapping[str, np.ndarray], opset: int = 18) -> None:
    """Check that the facts of a model exclude a run that ONNX Runtime rejects."""
    model = parse(text, opset)
    try:
        run(model, feed)
    except rejections():
        pass
    else:
        raise AssertionError("ONNX Runtime runs it")
    with deep():
        world, _, _, inputs, _ = _built(model)
        given = [fact for name, array in feed.items() for fact in bound(inputs[name], array)]
        assert world.solver.satisfiable(given).status == "impossible"


def assert_possible(
    text: str, feed: Mapping[str, np.ndarray], outputs: Sequence[np.ndarray]
) -> None:
    """Check that a run is possible: what is known of a model excludes none of its elements.

    The last element of each output is read at coordinates that are no numbers, too: there, choices
    are open, and elements that a tensor does not have are in the question.
    """
    with deep():
        world, _, graph, inputs, scope = _built(parse(text))
        held = [fact for name, array in feed.items() for fact in bound(inputs[name], array)]
        for name, array in zip(graph.outputs, outputs, strict=True):
            if scope[name].dims is not None:
                held += bound(scope[name], array)
                held += _anywhere(scope[name], array)
        literals = sorted({t for t in walk(held) if t.op == "literal"}, key=lambda t: t.number)
        held += [negation(equal(a, b)) for a, b in itertools.combinations(literals, 2)]
        shown = f"{text}\n{feed}\n{outputs}"
        assert world.solver.satisfiable(held).status != "impossible", shown


def _anywhere(tensor: Tensor, array: np.ndarray) -> list[Term]:
    """Return that coordinates are those of the last element of an array, and what is there."""
    if not array.size:
        return []
    points, last = tensor.points("at "), tuple(n - 1 for n in array.shape)
    there = [equal(p, integer(k)) for p, k in zip(points, last, strict=True)]
    return [*there, equal(tensor.at(points), element(array, last))]


def assert_possible_anywhere(text: str, feed: Mapping[str, np.ndarray]) -> None:
    """Check that what is known of elements inside and outside of the outputs is possible in a run.

    Elements outside have no meaning, and are read where one choice of a condition is not taken. If
    what is known of them were a contradiction, everything there would follow. Each is read twice,
    at numbers and at unknowns that have these values.
    """
    model = parse(text)
    ran = run(model, feed)
    with deep():
        world, _, graph, inputs, scope = _built(model)
        given = [fact for name, array in feed.items() for fact in bound(inputs[name], array)]
        for name, array in zip(graph.outputs, ran, strict=True):
            tensor = scope[name]
            given += [equal(d, integer(n)) for d, n in zip(tensor.shape, array.shape, strict=True)]
        for name, array in zip(graph.outputs, ran, strict=True):
            held, tensor = list(given), scope[name]
            for index in itertools.product(*(range(-1, n + 1) for n in array.shape)):
                unknown = [variable(("place", k, index), -9, 99) for k in range(array.ndim)]
                known = list(map(integer, index))
                held += map(equal, unknown, known)
                for number, at in enumerate((unknown, known)):
                    one = tensor.at(at)
                    asked = apply(("asked", number, index), (), one.sort, one.low, one.high)
                    held.append(equal(asked, one))
            shown = f"{name} of {text}\n{feed}"
            assert world.solver.satisfiable(held).status == "possible", shown


def replayed(before: onnx.ModelProto, after: onnx.ModelProto) -> Any:
    """Return a function that runs both models and says how they differ: not in zeros of a Where."""
    forgiven = written_where(before, after)

    def replay(sizes: dict[str, int], feeds: Mapping[str, np.ndarray]) -> str | None:
        try:
            expected = run(before, feeds)
        except rejections():
            return None
        try:
            actual = run(after, feeds)
        except rejections() as error:
            return f"the second fails: {error}"
        same = all(
            agree(a, b, zeros=i in forgiven)
            for i, (a, b) in enumerate(zip(expected, actual, strict=True))
        )
        return None if same else f"different at {sizes}"

    return replay


def proof_of(before: str | onnx.ModelProto, after: str | onnx.ModelProto, opset: int = 18) -> Proof:
    """Return what the judge finds of two models, with counterexamples run."""
    one = parse(before, opset) if isinstance(before, str) else before
    other = parse(after, opset) if isinstance(after, str) else after
    return prove(one, other, replay=replayed(one, other))
