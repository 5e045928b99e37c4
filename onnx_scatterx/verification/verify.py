"""Deciding by running whether two models agree."""

import contextlib
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx_ir as ir

from onnx_scatterx.errors import VerifyError
from onnx_scatterx.model_io import ModelLike
from onnx_scatterx.verification.assumptions import NOTHING, Assumption, parse_all
from onnx_scatterx.verification.bounds import input_demands, landmarks
from onnx_scatterx.verification.compare import ArrayDifference, compare
from onnx_scatterx.verification.draw import FLAVOURS, Drawer, limit_name, rank_name
from onnx_scatterx.verification.interface import (
    Input,
    Interface,
    differences,
    require_deterministic,
    require_same_names,
)
from onnx_scatterx.verification.runner import Failure, Runner
from onnx_scatterx.verification.sizes import Combination, SizeSearch, Symbol
from onnx_scatterx.verification.sources import analysed, as_file, directory_of, opened
from onnx_scatterx.verification.terms import names
from onnx_scatterx.verification.verification import Difference, Draw, Verification

Feed = Mapping[str, np.ndarray]

SAMPLES = 40
_ELEMENTS = 1 << 20  # in all inputs together, where the declared dims allow it
_OVERRIDE = 0.3  # how often an overridable initializer is overridden
_DIFFERING_DRAWS = 3  # that are collected before giving up
_REASONS = 3


def verify(
    before: ModelLike,
    after: ModelLike,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    assume: Mapping[str, str] | None = None,
    feeds: Iterable[Feed] | None = None,
    library: str | os.PathLike[str] | None = None,
    timeout: float = 120.0,
    distrust_dims: bool = False,
) -> Verification:
    """Run two models on the same inputs and compare their outputs bit for bit.

    Both run in ONNX Runtime on the CPU, with one thread and without graph optimizations, in
    processes of their own. Inputs that `before` rejects, or dies on, do not count.

    Args:
        before: the original: a path, a `ModelProto` or an `onnx_ir.Model`.
        after: what it became, as any of these. External data of a `ModelProto` are looked for
            beside the other model.
        samples: how many draws the original is to accept.
        seed: of the random draws.
        assume: constraints on symbols and integer inputs, such as `{"seq": "<= 4096"}` or
            `{"positions": "contiguous, nonnegative"}`.
        feeds: inputs to run before the random ones, by name.
        library: a library of custom operators to register for both models.
        timeout: seconds after which no new draw is begun, and for which a single run may last.
        distrust_dims: let dims of one name on different inputs differ.

    Raises `ModelError` if a model cannot be read, and `VerifyError` if the two cannot be compared:
    different input names, random operators, inputs that cannot be drawn, an original that ONNX
    Runtime cannot load, an operator that it does not know.

    """
    start = time.monotonic()
    beside = directory_of(before) or directory_of(after)
    first, second = opened(before, beside), opened(after, beside)
    require_deterministic(first, "the first model")
    require_deterministic(second, "the second model")
    face, other_face = Interface.of(first), Interface.of(second)
    require_same_names(face, other_face)
    different = differences(face, other_face)
    if different:
        return Verification(0, 0, interface=different, seed=seed)
    given = [dict(feed) for feed in feeds or ()]
    _check_feeds(given, face)
    source = _Source.of(first, face, seed, assume, distrust_dims) if samples else None
    if library is not None:
        library = _existing(library)
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runners = [
            stack.enter_context(Runner(as_file(model, loaded, directory / name), library))
            for model, loaded, name in (
                (before, first, "before.onnx"),
                (after, second, "after.onnx"),
            )
        ]
        comparison = _Comparison(*runners, timeout=timeout, deadline=start + timeout)
        failure = comparison.load()
        if failure is not None:
            return Verification(0, 0, interface=(failure,), seed=seed)
        for number, feed in enumerate(given):
            comparison.one(Draw(-1 - number, {}, "given", feed))
        if source is not None:
            comparison.many(source, samples)
    return comparison.result(seed, time.monotonic() - start)


@dataclass
class _Source:
    """Where draws come from."""

    drawers: Sequence[Drawer]
    optional: Sequence[Drawer]
    search: SizeSearch
    seed: int

    @classmethod
    def of(
        cls,
        model: ir.Model,
        face: Interface,
        seed: int,
        assume: Mapping[str, str] | None,
        distrust_dims: bool,
    ) -> "_Source":
        looked_at = analysed(model)
        demands, marks = input_demands(looked_at), landmarks(looked_at)
        inputs = (*face.inputs, *face.overridable)
        declared = {n for i in inputs for dim in i.symbols for n in names(dim)}
        assumptions = parse_all(assume, {i.name for i in inputs} | declared)

        def drawer(source: Input) -> Drawer:
            return Drawer(
                source,
                demands.get(source.name, {}),
                marks,
                assumptions.get(source.name, NOTHING),
                distrust_dims,
            )

        drawers = [drawer(i) for i in face.inputs]
        optional = [drawer(i) for i in face.overridable if i.default is not None]
        rng = np.random.default_rng([seed, 1 << 20])
        symbols = _symbols(drawers, assumptions)
        return cls(drawers, optional, SizeSearch(symbols, _fits(drawers), rng), seed)

    @property
    def varies(self) -> bool:
        """Whether two draws can differ."""
        return bool(self.drawers or self.optional)

    def draw(self, number: int) -> tuple[Draw, Combination, bool]:
        """Return a draw, the combination it has, and whether an initializer is overridden."""
        rng = np.random.default_rng([self.seed, number])
        sizes = self.search.next()
        flavour = FLAVOURS[number % len(FLAVOURS)]
        feeds = {d.source.name: d.draw(rng, sizes, flavour) for d in self.drawers}
        overridden = {
            d.source.name: _override(d, rng, flavour)
            for d in self.optional
            if rng.random() < _OVERRIDE
        }
        shown = {s.name: sizes[s.name] for s in self.search.symbols if not s.limit}
        return Draw(number, shown, flavour, feeds | overridden), sizes, bool(overridden)


def _symbols(drawers: Sequence[Drawer], assumptions: Mapping[str, Assumption]) -> list[Symbol]:
    found: dict[str, Symbol] = {}
    for drawer in drawers:
        name = drawer.source.name
        if drawer.source.dims is None:
            found[rank_name(name)] = Symbol(rank_name(name), most=4)
        dims = drawer.source.dims or (None,) * len(drawer.symbols)
        for dim, symbol in zip(dims, drawer.symbols, strict=True):
            if isinstance(dim, int):
                continue
            for part in names(symbol):
                known = assumptions.get(part.partition("@")[0], NOTHING)
                found.setdefault(part, Symbol(part, known))
        if drawer.is_integer:
            found[limit_name(name)] = Symbol(limit_name(name), limit=True)
    return list(found.values())


@dataclass(frozen=True)
class _fits:  # noqa: N801 - used as a function
    """Whether the inputs of a combination exist and are of a reasonable size."""

    drawers: Sequence[Drawer]

    def __call__(self, sizes: Combination) -> bool:
        shapes = [drawer.shape(sizes) for drawer in self.drawers]
        fixed = sum(
            int(np.prod([dim for dim in d.source.dims or () if isinstance(dim, int)], dtype=object))
            for d in self.drawers
        )
        if any(shape is None for shape in shapes):
            return False
        elements = sum(int(np.prod(shape, dtype=object)) for shape in shapes if shape is not None)
        return elements <= max(_ELEMENTS, 64 * fixed)


def _override(drawer: Drawer, rng: np.random.Generator, flavour: str) -> np.ndarray:
    """Return another value for an initializer: its own elements in another order, or new ones."""
    assert drawer.source.default is not None
    default = drawer.source.default.numpy()
    if default.size > 1 and rng.random() < 0.5:
        return rng.permutation(default.ravel()).reshape(default.shape)
    source = Input(drawer.source.name, drawer.source.dtype, default.shape)
    return Drawer(source, drawer.demands, drawer.landmarks, drawer.assumption).draw(
        rng, {}, flavour
    )


@dataclass
class _Comparison:
    """Two running models, and what has been seen of them."""

    before: Runner
    after: Runner
    timeout: float
    deadline: float
    draws: int = 0
    accepted: int = 0
    crashed: int = 0
    found: list[Difference] = field(default_factory=list)
    sizes: dict[str, set[int]] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)

    def load(self) -> str | None:
        """Wait for both models; return how the second fails to load where the first does not."""
        failure = self.before.load(self.timeout)
        if failure is not None:
            raise VerifyError(_cannot_load("the first model", failure.reason))
        failure = self.after.load(self.timeout)
        if failure is None:
            return None
        if _UNKNOWN_OPERATOR.search(failure.reason):
            raise VerifyError(_cannot_load("the second model", failure.reason))
        return f"the second model does not load: {failure.reason}"

    def many(self, source: _Source, samples: int) -> None:
        """Draw until enough draws were accepted, or it is not worth while any more."""
        wanted = self.accepted + (samples if source.varies else 1)
        most = 6 * samples + 60
        for number in range(most):
            differing = len({difference.draw.number for difference in self.found})
            if self.accepted >= wanted or differing >= _DIFFERING_DRAWS:
                return
            if time.monotonic() > self.deadline:
                return
            draw, sizes, overridden = source.draw(number)
            accepted = self.one(draw)
            if accepted or not overridden:
                source.search.tell(sizes, accepted)

    def one(self, draw: Draw) -> bool:
        """Run both models on one draw; return whether the original accepted it."""
        self.draws += 1
        start = time.monotonic()
        expected = self.before.run(draw.feeds, self.timeout)
        if isinstance(expected, Failure):
            self.crashed += expected.kind == "crash"
            if len(self.reasons) < _REASONS:
                self.reasons.append(f"{draw}: {expected.reason}")
            return False
        self.accepted += 1
        for symbol, size in draw.sizes.items():
            self.sizes.setdefault(symbol, set()).add(size)
        # The second model may be slower, but not beyond all bounds.
        patience = max(self.timeout, 50 * (time.monotonic() - start))
        actual = self.after.run(draw.feeds, patience)
        self.found += _differences(draw, expected, actual)
        return True

    def result(self, seed: int, seconds: float) -> Verification:
        """Return what was seen."""
        return Verification(
            draws=self.draws,
            accepted=self.accepted,
            crashed=self.crashed,
            differences=tuple(self.found),
            sizes={symbol: tuple(sorted(sizes)) for symbol, sizes in self.sizes.items()},
            rejections=tuple(self.reasons),
            seed=seed,
            seconds=seconds,
        )


def _differences(
    draw: Draw, expected: Mapping[str, np.ndarray], actual: Mapping[str, np.ndarray] | Failure
) -> Iterator[Difference]:
    if isinstance(actual, Failure):
        yield Difference(draw, "", ArrayDifference("failed", None, actual.reason))
        return
    for name in [*expected, *(name for name in actual if name not in expected)]:
        if name not in actual or name not in expected:
            yield Difference(
                draw, name, ArrayDifference("missing", name in expected, name in actual)
            )
            continue
        found = compare(expected[name], actual[name])
        if found is not None:
            yield Difference(draw, name, found)


_UNKNOWN_OPERATOR = re.compile(r"(\S+?)\(-?\d+\) is not a registered function/op")


def _cannot_load(what: str, reason: str) -> str:
    match = _UNKNOWN_OPERATOR.search(reason)
    if match is None:
        return f"{what} cannot be loaded by ONNX Runtime: {reason}"
    return (
        f"{what} uses the operator {match[1]}, which ONNX Runtime does not know; "
        "give the library that has it with library="
    )


def _check_feeds(feeds: Sequence[Feed], face: Interface) -> None:
    required = {i.name for i in face.inputs}
    known = required | {i.name for i in face.overridable}
    for number, feed in enumerate(feeds, 1):
        if required - set(feed):
            raise VerifyError(f"feed {number} has no input {sorted(required - set(feed))[0]!r}")
        if set(feed) - known:
            raise VerifyError(
                f"feed {number} has {sorted(set(feed) - known)[0]!r}, which is no input of the model"
            )


def _existing(library: str | os.PathLike[str]) -> str:
    path = Path(library).resolve()
    if not path.is_file():
        raise VerifyError(f"the library {path} does not exist")
    return str(path)
