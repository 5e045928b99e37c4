"""Times models against each other, on inputs that the first model accepts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, cast

import numpy as np

from onnx_scatterx.compare import compare, narrowing, valid_draws
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import AnyModel, load
from onnx_scatterx.lab.benchmarking.result import Benchmark, NodeTime, Timing, read_trace
from onnx_scatterx.observer import Observer, Progress
from onnx_scatterx.processes import NoReply, scratch
from onnx_scatterx.runtime import (
    LEAST_ROUNDS,
    ModelFile,
    OpenModel,
    OrtProcess,
    as_file,
    library_for,
    require_runtime,
)
from onnx_scatterx.tell import optimized

Models: TypeAlias = "AnyModel | Sequence[AnyModel] | Mapping[str, AnyModel]"
Arrays: TypeAlias = Mapping[str, np.ndarray]

ORIGINAL = "original"
_REST = 0.01  # seconds after which threads that wait for work have gone to sleep
_PROFILED = 9  # runs in which the nodes are timed


def bench(
    models: Models,
    *,
    targets: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
    inputs: Arrays | None = None,
    threads: int = 1,
    rounds: int | None = None,
    seconds: float = 10.0,
    seed: int = 0,
    library: bool | None = None,
    node_times: bool = True,
    on_progress: Progress | None = None,
) -> Benchmark:
    """Time models in ONNX Runtime, in turns, on the same inputs.

    Args:
        models: one model, several, or several by name. Each is a path, a `ModelProto`, an
            `onnx_ir.Model`, or an object with a model, such as a `Result`. Times are compared with
            those of the first model.
        targets: with one model, the models that are optimized for these targets are timed, too.
        sizes: the sizes of named dims, for drawn inputs. Another dim has the size that a model has
            fixed, or else 64 if the first model accepts this.
        inputs: the inputs by name, instead of drawn inputs.
        threads: how many threads ONNX Runtime uses for one node; 0 for one per core.
        rounds: how often each model is timed, 6 at least; by default as often as fits.
        seconds: how long all rounds together may take, if ``rounds`` is not given.
        seed: the seed of the drawn inputs.
        library: whether the ScatterX library is registered; by default, if this installation has
            it, or a model needs it.
        node_times: whether to time each node, too, in additional runs.
        on_progress: is called after each round: ``("timing", done, total)``.

    Returns:
        The times of each model, and how they compare with those of the first.

    Raises:
        ScatterXError: a model cannot be read, optimized or run on the inputs.
        TypeError: one of ``models`` is not a model.

    Inputs and outputs are bound once, so no copy and no conversion of them is timed.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[N, 2] x, int64[1, 1] i, float[1, 2] y) => (float[N, 2] z)
        ...     { z = ScatterND(x, i, y) }''')
        >>> timed = bench(model, targets=["standard"], sizes={"N": 5}, rounds=6, library=False)
        >>> [(timing.name, timing.difference) for timing in timed.timings]
        [('original', None), ('standard', None)]

    """
    require_runtime()
    import onnxruntime as ort

    if rounds is not None and rounds < LEAST_ROUNDS:
        raise ScatterXError(f"{rounds} rounds are too few; use {LEAST_ROUNDS} at least")
    named = _named(models)
    if targets:
        named = _under_targets(named, targets)
    first, *_ = named.values()
    registered, *_ = [library_for(model, library) for model in named.values()]
    with scratch() as directory:
        setting = _Setting(directory, threads, registered)
        files = [
            as_file(model, load(model), directory / f"{number}.onnx")
            for number, model in enumerate(named.values())
        ]
        feeds, drawn_sizes = inputs, {}
        if feeds is None:
            wanted = _common_sizes(list(named.values()), sizes)
            draw, *_ = valid_draws(first, sizes=wanted, seed=seed, library=registered)
            feeds, drawn_sizes = draw.feeds, dict(draw.sizes)
        differences, times = setting.time(
            dict(zip(named, files, strict=True)), feeds, rounds, seconds, Observer(on_progress)
        )
        traced: list[tuple[NodeTime, ...]] = [()] * len(files)
        if node_times:
            traced = [setting.node_times(*pair, feeds) for pair in zip(named, files, strict=True)]
    timings = zip(named, times.T, differences, traced, strict=True)
    return Benchmark(tuple(Timing(*t) for t in timings), drawn_sizes, threads, ort.__version__)


def _common_sizes(models: Sequence[AnyModel], sizes: Mapping[str, int] | None) -> dict[str, int]:
    """Return the sizes of the inputs: the given sizes, and the sizes that a model has fixed."""
    common = dict(sizes or {})
    first, *others = (load(model) for model in models)
    for other in others:
        for name, number in narrowing(first, other).symbols.items():
            if common.setdefault(name, number) != number:
                raise ScatterXError(
                    f"no inputs fit all models: the size {name!r} is {common[name]} and {number}"
                )
    return common


def _named(models: Models) -> dict[str, AnyModel]:
    named: dict[str, AnyModel] = {}
    if isinstance(models, Mapping):
        named.update(models)
    else:
        many = isinstance(models, Sequence) and not isinstance(models, str | bytes)
        for number, model in enumerate(cast("Sequence[AnyModel]", models if many else [models]), 1):
            name = os.fspath(model) if isinstance(model, str | os.PathLike) else f"model {number}"
            named[name if name not in named else f"{name} ({number})"] = model
    if not named:
        raise ScatterXError("no model was given to time")
    return named


def _under_targets(named: Mapping[str, AnyModel], targets: Sequence[str]) -> dict[str, AnyModel]:
    if len(named) != 1:
        raise ScatterXError(f"targets are compared on one model, and here are {len(named)}")
    (model,) = named.values()
    return {ORIGINAL: model} | {target: optimized(model, target=target) for target in targets}


@dataclass(frozen=True)
class _Setting:
    """The options with which models are opened, and a directory for temporary files."""

    directory: Path
    threads: int
    library: str | None

    def time(
        self,
        files: Mapping[str, ModelFile],
        inputs: Arrays,
        rounds: int | None,
        seconds: float,
        observer: Observer,
    ) -> tuple[list[str | None], np.ndarray]:
        """Return how each model differs from the first, and the seconds of each round."""
        with OrtProcess() as process:
            models = [self._open(process, k, n, f) for k, (n, f) in enumerate(files.items())]
            expected: Arrays | None = None
            differences: list[str | None] = []
            for name, model in zip(files, models, strict=True):
                with _named_errors(name):
                    outputs = model.bind(inputs)
                expected = outputs if expected is None else expected
                differences.append(_difference(expected, outputs))
            del expected, outputs
            rest = 0.0 if self.threads == 1 else _REST
            request = {"do": "time", "rounds": rounds, "seconds": seconds, "rest": rest}
            answer = process.ask(request, progress=observer.counted("timing"))
        if isinstance(answer, NoReply):
            raise ScatterXError(f"while the models were timed: {answer.reason}")
        return differences, np.array(answer.content["times"])

    def node_times(self, name: str, file: ModelFile, inputs: Arrays) -> tuple[NodeTime, ...]:
        with OrtProcess() as process:
            model = self._open(process, 0, name, file, str(self.directory / "trace"))
            with _named_errors(name):
                model.bind(inputs)
            answer = process.ask({"do": "trace", "session": 0, "runs": _PROFILED})
        if isinstance(answer, NoReply):
            raise ScatterXError(f"{name}: while its nodes were timed: {answer.reason}")
        return read_trace(Path(answer.content["file"]), _PROFILED)

    def _open(
        self,
        process: OrtProcess,
        number: int,
        name: str,
        file: ModelFile,
        trace: str | None = None,
    ) -> OpenModel:
        with _named_errors(name):
            return OpenModel.open(
                process, number, file, threads=self.threads, library=self.library, trace=trace
            )


@contextlib.contextmanager
def _named_errors(name: str) -> Iterator[None]:
    try:
        yield
    except ScatterXError as error:
        raise type(error)(f"{name}: {error}") from error


def _difference(expected: Arrays, actual: Arrays) -> str | None:
    """Return how outputs differ, in words; None if they are the same."""
    if expected.keys() != actual.keys():
        return f"others: {', '.join(sorted(expected.keys() ^ actual.keys()))}"
    differences = {name: compare(expected[name], actual[name]) for name in expected}
    kinds = {name: each.kind for name, each in differences.items() if each is not None}
    if not kinds:
        return None
    if set(kinds.values()) == {"rounding"}:
        return "differ by rounding"
    return f"differ: {', '.join(name for name, kind in kinds.items() if kind != 'rounding')}"
