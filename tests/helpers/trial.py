"""One model: what it gives before and after ``optimize``, by the judge of all tests."""

import contextlib
import itertools
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.compare.draws.sample_source import SampleSource
from onnx_scatterx.compare.interface import require_deterministic
from onnx_scatterx.errors import ScatterXError
from tests.helpers.defined import are_defined, doubtful
from tests.helpers.pair import Feed, Pair, describe, open_session, rejections

TARGETS = ("standard", "standard", "scatterx", "scatterx", "ort-cpu", "qnn", "rknn", "tflite")
_DRAWS = 8
_WANTED = 3  # accepted inputs


class FoundError(AssertionError):
    """A mutant that is another model after ``optimize``."""


@dataclass(frozen=True)
class Options:
    """What ``optimize`` is asked for."""

    target: str = "standard"
    gathers: bool = False
    deterministic: bool = False
    fix: tuple[tuple[str, int], ...] = ()

    @classmethod
    def drawn(cls, rng: random.Random) -> "Options":
        """Draw a target and whether gathers go and the last update wins."""
        return cls(rng.choice(TARGETS), rng.random() < 0.5, rng.random() < 0.3)

    def optimized(self, model: onnx.ModelProto) -> onnx.ModelProto:
        """Return the optimized model."""
        given = {**asdict(self), "fix": dict(self.fix) or None}
        result = onnx_scatterx.optimize(model, **given)
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "optimized.onnx")
            result.save(path)
            return onnx.load(path)


def feeds(model: onnx.ModelProto, seed: int, count: int) -> Iterator[Feed]:
    """Yield inputs, as many as can be drawn of so many tries."""
    read = ir.from_proto(model)
    require_deterministic(read, "the mutant")
    source = SampleSource.of(read, seed=seed)
    for place in range(count):
        draw = source.draw(place)
        if draw is not None:
            yield draw[0].feeds


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
    accepted: Callable[[], None] = lambda: None,
) -> Accepted:
    """Compare a model with what it becomes on inputs that are drawn, as `compared` does."""
    refused: tuple[type[Exception], ...] = (*rejections(), ScatterXError)
    try:
        drawn = list(feeds(model, seed, _DRAWS))
    except refused:
        return Accepted()
    return compared(model, options, drawn, accepted=accepted)


def compared(
    model: onnx.ModelProto,
    options: Options,
    drawn: Iterable[Feed],
    *,
    wanted: int = _WANTED,
    accepted: Callable[[], None] = lambda: None,
) -> Accepted:
    """Compare a model with what it becomes; raise FoundError if it is another.

    Of the inputs that the original accepts, so many are compared. ``accepted`` is called when it
    is known that there are some.
    """
    runs = list(itertools.islice(_accepted(model, drawn), wanted))
    if not runs:
        return Accepted()
    accepted()
    after = options.optimized(model)
    pair = Pair(model, after, library=options.target != "standard")
    wrong: tuple[type[Exception], ...] = (AssertionError, *rejections())
    for feed in runs:
        try:
            pair.accepts(feed)
        except wrong as error:
            raise FoundError(f"{describe(feed)}: {error}") from error
    before, now = ([n.op_type for n in m.graph.node] for m in (model, after))
    return Accepted(pair.judged["plain"], pair.judged["default"], before != now)


def _accepted(model: onnx.ModelProto, drawn: Iterable[Feed]) -> Iterator[Feed]:
    """Yield the inputs that the model accepts."""
    try:
        original = open_session(model)
    except rejections():
        return
    with contextlib.suppress(*rejections()):
        open_session(model, fused=True)  # ends the process here if it ends ONNX Runtime
    seen = _Doubtful(model)
    for feed in drawn:
        try:
            original.run(None, dict(feed))
        except rejections():
            continue
        if seen.are_defined(feed):
            yield feed


class _Doubtful:
    """The nodes whose results may be undefined, and a session that shows their inputs."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.found = doubtful(model.graph.node)
        shown = onnx.ModelProto()
        shown.CopyFrom(model)
        known = {o.name for o in model.graph.output}
        self.names = list(dict.fromkeys(n for node in self.found for n in node.input))
        shown.graph.output.extend(onnx.ValueInfoProto(name=n) for n in self.names if n not in known)
        self.session: Any = None
        if self.found:
            with contextlib.suppress(*rejections()):
                self.session = open_session(shown)

    def are_defined(self, feed: Feed) -> bool:
        """Return whether every element is defined on inputs that the model accepts."""
        if self.session is None:
            return True
        values = self.session.run(self.names, dict(feed))
        return are_defined(self.found, dict(zip(self.names, values, strict=True)))
