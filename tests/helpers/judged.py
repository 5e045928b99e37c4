"""Compare the interpreter's abstract values of a model with the results of ONNX Runtime.

All intermediate tensors become outputs; the sizes and opaque elements in the terms are bound to
what the run gave, and every shape, every content and every fact must then hold.
"""

import contextlib
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.call import Knowledge
from onnx_scatterx.engine.analysis.domain.tensor import (
    DeclaredDim,
    DimOf,
    ElementOf,
    TensorValue,
)
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.terms import Symbol, Term
from onnx_scatterx.engine.terms.constraints import Elements
from tests.helpers.defined import are_defined, doubtful
from tests.helpers.pair import open_session, rejections


class UnboundError(Exception):
    """A term speaks of something that is not seen from outside: a value within a function."""


class Judged:
    """A model with its abstract values, ready to be compared with runs.

    `opened` loads a model, by default without ONNX Runtime's own optimizations. `followed` counts
    the tensors of which the content was known, over all runs.
    """

    def __init__(
        self, model: onnx.ModelProto, opened: Callable[[onnx.ModelProto], Any] = open_session
    ) -> None:
        self.model = model
        self.ir_model = ir.from_proto(model)
        self.knowledge: Knowledge = interpret(self.ir_model)
        self.values = {
            v.name: v for n in self.ir_model.graph for v in n.outputs if v.name is not None
        }
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        declared = {o.name for o in model.graph.output}
        for name in self.values:
            if name and name not in declared:
                shown.graph.output.add(name=name)
        self.names = [o.name for o in shown.graph.output]
        self.session: Any = None
        with contextlib.suppress(*rejections()):
            self.session = opened(shown)
        self.followed = 0

    def accepts(self, feed: Mapping[str, np.ndarray]) -> bool:
        """Run a feed; return False if the model rejects it, and check all that is known if not."""
        if self.session is None:
            return False
        try:
            found = self.session.run(None, dict(feed))
        except rejections():
            return False
        env = {i.name: onnx.numpy_helper.to_array(i) for i in self.model.graph.initializer}
        env |= dict(feed) | dict(zip(self.names, found, strict=True))
        if not are_defined(doubtful(self.model.graph.node), env):
            return False
        values = list(self.values.values())
        values += [v for v in self.ir_model.graph.inputs if v in self.knowledge.values]
        for value in values:
            if value in self.knowledge.values and isinstance(env.get(value.name or ""), np.ndarray):
                self._check(value.name or "", self.knowledge.values[value], env)
        scope = self.knowledge.scopes[self.ir_model.graph]
        for fact in scope.facts.known():
            assert self.number(fact, env) >= 0, f"not true: {fact} >= 0"
        for layer in reversed(scope.facts.layers):
            for source, known in layer.elements.items():
                if isinstance(source, ElementOf) and (source.value.name or "") in env:
                    _check_elements(known, env[source.value.name or ""])
        return True

    def _check(self, name: str, known: TensorValue, env: Mapping[str, np.ndarray]) -> None:
        actual = env[name]
        if known.dtype is not None:
            assert known.dtype.numpy() == actual.dtype, f"{name}: {known.dtype}, not {actual.dtype}"
        if known.shape is None:
            return
        assert len(known.shape) == actual.ndim, f"{name}: rank {len(known.shape)}, {actual.shape}"
        for d, (dim, extent) in enumerate(zip(known.shape, actual.shape, strict=True)):
            with contextlib.suppress(UnboundError):
                said = self.number(dim, env)
                assert said == extent, f"{name}: dim {d} = {dim} = {said}, not {extent}"
        if known.content is None:
            return
        with contextlib.suppress(UnboundError):
            content = self.content(known.content, actual.shape, env)
            self.followed += 1
            assert content.shape == actual.shape, f"{name}: {known.content} has {content.shape}"
            same = content == actual if actual.dtype.kind in "iub" else _same(content, actual)
            if isinstance(known.content, Term) and not np.all(same):
                content = self._one_by_one(known.content, actual.shape, env)
                same = content == actual
            assert np.all(same), f"{name} = {known.content}: {content.tolist()}, not {actual}"

    def _one_by_one(
        self, content: Term, shape: tuple[int, ...], env: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """Return a content as numbers that do not wrap on the way."""
        found = np.empty(shape, object)
        for index in np.ndindex(shape):
            found[index] = content.evaluate(self.binder(env), index.__getitem__)
        return found

    def content(
        self, content: np.ndarray | Term, shape: tuple[int, ...], env: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        """Return a content as numbers."""
        if isinstance(content, np.ndarray):
            if content.dtype != object:
                return content
            flat = [self.number(t, env) for t in content.ravel()]
            return np.array(flat, dtype=object).reshape(content.shape)
        if 0 in shape:
            return np.zeros(shape, np.int64)
        grid = np.indices(shape, sparse=True)
        try:
            with np.errstate(over="ignore"):
                value = content.evaluate(self.binder(env), lambda d: grid[d])
        except OverflowError:  # a coefficient that NumPy does not take
            return self._one_by_one(content, shape, env)
        return np.broadcast_to(np.asarray(value), shape)

    def number(self, t: Term, env: Mapping[str, np.ndarray]) -> int:
        """Return a size as a number."""
        return int(t.evaluate(self.binder(env), lambda d: math.nan))

    def binder(self, env: Mapping[str, np.ndarray]) -> Callable[[Symbol, list[Any]], Any]:
        """Return what the run gave for a leaf: a dim, an extent of a value, or an element of it."""

        def bound(leaf: Symbol, parts: list[Any]) -> Any:
            origin = leaf.origin
            if isinstance(origin, DeclaredDim):
                return self._dim(origin.name, env)
            if not isinstance(origin, DimOf | ElementOf) or (origin.value.name or "") not in env:
                raise UnboundError(leaf)
            array = env[origin.value.name or ""]
            if isinstance(origin, DimOf):
                return array.shape[origin.axis]
            if not array.size:
                return 0
            inside = (np.clip(p, 0, n - 1) for p, n in zip(parts, array.shape, strict=True))
            if not parts:
                return int(array)
            found = array[tuple(np.asarray(i).astype(int) for i in inside)]
            return int(found) if found.ndim == 0 else found.astype(object)  # these do not wrap

        return bound

    def _dim(self, name: str, env: Mapping[str, np.ndarray]) -> int:
        for value in self.ir_model.graph.inputs:
            for axis, d in enumerate(value.shape or ()):
                if not isinstance(d, int) and d.value == name:
                    return int(env[value.name or ""].shape[axis])
        raise UnboundError(name)


def _check_elements(known: Elements, array: np.ndarray) -> None:
    """Check whether a tensor's elements differ, if that is known."""
    assert not known.distinct or len(np.unique(array)) == array.size, f"not distinct: {array}"


def _same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray((a == b) & (np.signbit(a) == np.signbit(b)) | (np.isnan(a) & np.isnan(b)))


def judge(model: onnx.ModelProto, feeds: Iterable[Mapping[str, np.ndarray]]) -> int:
    """Check a model on feeds; return how many it accepts."""
    judged = Judged(model)
    return sum(judged.accepts(feed) for feed in feeds)
