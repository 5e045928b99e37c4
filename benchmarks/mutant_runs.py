"""Runs of a model beside its original: on which inputs do the outputs differ.

Both run in ONNX Runtime with graph optimizations off and on. With them on, floats may differ by
rounding, since ONNX Runtime fuses other nodes. The runs of the original are kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper

Feed = dict[str, np.ndarray]
Given = Mapping[str, np.ndarray]
_MOST = (2, 3, 5, 8, 12, 1, 4, 6, 16, 9)


def session(
    model: onnx.ModelProto, optimized: bool = False, library: str | None = None
) -> ort.InferenceSession:
    """Load a model on one thread, without graph optimizations unless they are wanted."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if library is not None:
        options.register_custom_ops_library(library)
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options)


def stored(path: Path) -> Iterator[Feed]:
    """Yield the inputs that are stored beside a model."""
    for suffix in (".in.npz", ".in2.npz"):
        place = path.with_suffix(suffix)
        if place.exists():
            with np.load(place) as archive:
                yield {name: archive[name] for name in archive.files}


def feeds(model: onnx.ModelProto, path: Path, seed: int) -> Iterator[Feed]:
    """Yield inputs: those that are stored beside a model, then drawn ones of several sizes."""
    yield from stored(path)
    rng = np.random.default_rng(seed)
    for trial, most in enumerate(_MOST):
        low = trial < 6

        def drawn(trial: int = trial, most: int = most, low: bool = low) -> int:
            return most if trial % 2 else int(rng.integers(low, most + 1))

        feed = one_feed(model, drawn, {}, rng, (2, 3, 4, 1, 6)[trial % 5])
        if feed is None:
            return
        yield feed


def one_feed(
    model: onnx.ModelProto,
    drawn: Callable[[], int],
    sizes: dict[str, int],
    rng: np.random.Generator,
    below: int,
) -> Feed | None:
    """Return drawn inputs; ``sizes`` are those of names, ``drawn`` gives others."""
    feed: Feed = {}
    known = {i.name for i in model.graph.initializer}
    for value in model.graph.input:
        if value.name in known:
            continue
        tensor = value.type.tensor_type
        shape = []
        for k, dim in enumerate(tensor.shape.dim):
            name = dim.dim_param or f"{value.name}[{k}]"
            fixed = dim.HasField("dim_value")
            if not fixed and name not in sizes:
                sizes[name] = drawn()
            shape.append(dim.dim_value if fixed else sizes[name])
        kind = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if kind.kind == "b":
            feed[value.name] = rng.random(shape) < 0.5
        elif kind.kind in "iu":
            feed[value.name] = rng.integers(0, below, shape).astype(kind)
        elif kind.kind == "f":
            feed[value.name] = rng.standard_normal(shape).astype(kind)
        else:
            return None
    return feed


def _loaded(
    model: onnx.ModelProto, optimized: bool = False, library: str | None = None
) -> ort.InferenceSession | None:
    try:
        return session(model, optimized, library)
    except Exception:
        return None


def _ran(
    loaded: ort.InferenceSession | None, names: list[str], feed: Given
) -> list[np.ndarray] | None:
    if loaded is None:
        return None
    try:
        return list(loaded.run(names, dict(feed)))
    except Exception:
        return None


def _different(
    names: list[str], one: list[np.ndarray], other: list[np.ndarray], rounded: bool
) -> str:
    for name, a, b in zip(names, one, other, strict=True):
        if a.dtype != b.dtype or a.shape != b.shape:
            return f"{name} has another shape or type"
        if rounded and a.dtype.kind == "f":
            if not np.allclose(a, b, rtol=1e-2, atol=1e-3, equal_nan=True):
                return f"{name} differs"
        elif not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
            return f"{name} differs"
    return ""


@dataclass
class Original:
    """A model, and what its runs gave on its inputs."""

    model: onnx.ModelProto
    path: Path
    seed: int = 0
    library: str | None = None
    _loaded: dict[bool, ort.InferenceSession | None] = field(default_factory=dict)
    _inputs: list[Feed] | None = None
    _results: dict[tuple[bool, int], list[np.ndarray] | None] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the outputs."""
        return [o.name for o in self.model.graph.output]

    def _session(self, optimized: bool) -> ort.InferenceSession | None:
        if optimized not in self._loaded:
            self._loaded[optimized] = _loaded(self.model, optimized)
        return self._loaded[optimized]

    def differs(self, other: onnx.ModelProto, kernel: bool = False) -> str:
        """Return how a model is seen to differ on the inputs; "" if it is not, or does not load.

        With ``kernel``, ScatterX runs in the library, else in its function.
        """
        if self._inputs is None:
            self._inputs = list(feeds(self.model, self.path, self.seed))
        for optimized in (False, True):
            loaded: ort.InferenceSession | None = None
            for k, feed in enumerate(self._inputs):
                if (optimized, k) not in self._results:
                    made = _ran(self._session(optimized), self.names, feed)
                    self._results[optimized, k] = made
                expected = self._results[optimized, k]
                if expected is None:
                    continue
                loaded = loaded or _loaded(other, optimized, self.library if kernel else None)
                if loaded is None:
                    return ""  # a proof assumes that both models load
                actual = _ran(loaded, self.names, feed)
                if actual is None:
                    return "fails"
                found = _different(self.names, expected, actual, optimized)
                if found:
                    return found
        return ""

    def differs_on(self, other: onnx.ModelProto, given: Iterable[Given]) -> str:
        """Return how a model differs on some inputs, without graph optimizations."""
        loaded: ort.InferenceSession | None = None
        for feed in given:
            expected = _ran(self._session(False), self.names, feed)
            if expected is None:
                continue
            loaded = loaded or _loaded(other) or _loaded(other, library=self.library)
            if loaded is None:
                return ""
            actual = _ran(loaded, self.names, feed)
            found = "fails" if actual is None else _different(self.names, expected, actual, False)
            if found:
                return found
        return ""

    def differs_at(
        self, other: onnx.ModelProto, sizes: Mapping[str, int], least: int = 1, draws: int = 12
    ) -> str:
        """Return how a model differs on inputs of some sizes; others are at least a number."""
        rng = np.random.default_rng(self.seed)
        own = random.Random(self.seed)
        drawn = (
            one_feed(
                self.model, lambda: own.randint(least, least + 3), dict(sizes), rng, 1 + trial % 5
            )
            for trial in range(draws)
        )
        return self.differs_on(other, (feed for feed in drawn if feed is not None))
