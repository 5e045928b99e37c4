"""One mutant: what it gives before and after ``optimize``, under both session options.

With ONNX Runtime's own optimizations off, the outputs must be the same bits. With its default
options integers, booleans and strings must be the same, and floats but for rounding: taking a
scatter away lets ONNX Runtime fuse what stood beside it. There it loses the sign of zeros as well,
so only inputs without zeros, NaN and infinities are compared, and only where the original agrees
with itself.
"""

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.verification.compare import compare
from onnx_scatterx.verification.draws import Source
from onnx_scatterx.verification.interface import Interface, require_deterministic
from tests.defined import are_defined, joins
from tests.support import rejections

Feed = Mapping[str, np.ndarray]

TARGETS = ("standard", "scatterx", "ort-cpu")
_PLAIN = ("plain", "counting", "unit")
_DRAWS = 8
_WANTED = 3  # accepted inputs


class FoundError(AssertionError):
    """A mutant that is another model after ``optimize``."""


@dataclass(frozen=True)
class Options:
    """What ``optimize`` is asked for."""

    target: str = "standard"
    reads: bool = False
    deterministic: bool = False

    @classmethod
    def drawn(cls, rng: random.Random) -> "Options":
        """Draw a target and whether gathers go and the last update wins."""
        return cls(rng.choice(TARGETS), rng.random() < 0.5, rng.random() < 0.3)

    def optimized(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """Return the optimized model."""
        result = onnx_scatterx.optimize(
            model, target=self.target, reads=self.reads, deterministic=self.deterministic
        )
        assert isinstance(result.model, onnx.ModelProto)
        return result.model


def session(model: onnx.ModelProto, *, default: bool, library: bool = False) -> Any:
    """Load a model on one thread: with ONNX Runtime's default options, or no optimizations."""
    options = ort.SessionOptions()
    if not default:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if library:
        return onnx_scatterx.session(model, session_options=options)
    data = model.SerializeToString()
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


SESSIONS = (partial(session, default=False), partial(session, default=True))
"""How models are loaded, in turn."""


def feeds(model: onnx.ModelProto, seed: int, count: int) -> Iterator[tuple[str, Feed]]:
    """Yield inputs with their flavour, as many as can be drawn of so many tries."""
    read = ir.from_proto(model)
    require_deterministic(read, "the mutant")
    source = Source.of(read, Interface.of(read), seed, (), False)
    for place in range(count):
        draw = source.draw(place)
        if draw is not None:
            yield draw[0].flavour, draw[0].feeds


def differs(before: list[Any], after: list[Any], forgiven: frozenset[str]) -> str:
    """Return in what outputs differ, but for what is forgiven; "" if they do not."""
    for place, (a, b) in enumerate(zip(before, after, strict=True)):
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            continue  # sequences: a mutant shows them rarely
        found = compare(a, b)
        if found is not None and found.kind not in forgiven:
            return f"output {place}: {found}"
    return ""


STRICT = frozenset[str]()
ZEROS = frozenset({"zero sign"})
ROUNDED = frozenset({"zero sign", "rounding"})


@dataclass
class Accepted:
    """How many inputs were compared under either session option, and whether anything changed."""

    off: int = 0
    default: int = 0
    rewritten: bool = False


def trial(
    model: onnx.ModelProto,
    options: Options,
    seed: int,
    *,
    forgiven: frozenset[str] = STRICT,
    accepted: Callable[[], None] = lambda: None,
) -> Accepted:
    """Compare a model with what it becomes; raise FoundError if it is another.

    ``forgiven`` are the kinds of differences that are none with optimizations off. ``accepted`` is
    called when all runs of the original are over, and there are some.
    """
    runs = list(_accepted_runs(model, seed))
    if not runs:
        return Accepted()
    same = list(_default_runs(model, runs))
    accepted()
    after = options.optimized(model)
    native = options.target != "standard"
    for library in (False, True) if native else (False,):
        compared = _loaded(after, default=False, library=library)
        for _, feed, expected in runs:
            _must_agree(compared, feed, expected, forgiven, f"library {library}")
    if same:
        compared = _loaded(after, default=True, library=native and seed % 2 == 1)
        for feed, expected in same:
            _must_agree(compared, feed, expected, ROUNDED, "default options")
    before, now = ([n.op_type for n in m.graph.node] for m in (model, after))
    return Accepted(len(runs), len(same), before != now)


def _default_runs(
    model: onnx.ModelProto, runs: list[tuple[str, Feed, list[Any]]]
) -> Iterator[tuple[Feed, list[Any]]]:
    """Yield inputs of plain numbers on which the original agrees with itself, and what it gives."""
    plain = [(feed, expected) for flavour, feed, expected in runs if flavour in _PLAIN]
    try:
        original = session(model, default=True)
        for feed, expected in plain:
            found = original.run(None, dict(feed))
            if not differs(expected, found, ROUNDED):
                yield feed, found
    except rejections():
        return


def _accepted_runs(model: onnx.ModelProto, seed: int) -> Iterator[tuple[str, Feed, list[Any]]]:
    """Yield inputs that the model accepts, and what it gives."""
    refused: tuple[type[Exception], ...] = (*rejections(), ScatterXError)
    try:
        original = session(model, default=False)
        drawn = list(feeds(model, seed, _DRAWS))
    except refused:
        return
    seen = _Joins(model)
    count = 0
    for flavour, feed in drawn:
        try:
            found = original.run(None, dict(feed))
        except rejections():
            continue
        if not seen.are_defined(feed):
            continue
        yield flavour, feed, found
        count += 1
        if count == _WANTED:
            return


class _Joins:
    """The Concats of the main graph, and a session that shows what they join."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.found = joins(model.graph.node)
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        known = {o.name for o in model.graph.output}
        self.names = list(dict.fromkeys(n for _, names in self.found for n in names))
        shown.graph.output.extend(onnx.ValueInfoProto(name=n) for n in self.names if n not in known)
        self.session: Any = None
        if self.found:
            with contextlib.suppress(*rejections()):
                self.session = session(shown, default=False)

    def are_defined(self, feed: Feed) -> bool:
        """Return whether every element is set on inputs that the model accepts."""
        if self.session is None:
            return True
        values = self.session.run(self.names, dict(feed))
        return are_defined(self.found, dict(zip(self.names, values, strict=True)))


def _loaded(model: onnx.ModelProto, *, default: bool, library: bool) -> Any:
    try:
        return session(model, default=default, library=library)
    except rejections() as error:
        raise FoundError(f"does not load (default {default}): {error}") from error


def _must_agree(
    compared: Any, feed: Feed, expected: list[Any], forgiven: frozenset[str], what: str
) -> None:
    shapes = {name: array.shape for name, array in feed.items()}
    try:
        found = compared.run(None, dict(feed))
    except rejections() as error:
        raise FoundError(f"{what}: {shapes} is rejected: {error}") from error
    different = differs(expected, found, forgiven)
    if different:
        raise FoundError(f"{what}: {shapes}: {different}")
