"""Timing models against each other, on inputs that the first of them accepts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.benchmarking.profile import NodeTime, read_profile
from onnx_scatterx.benchmarking.result import Benchmark, Timing
from onnx_scatterx.benchmarking.timing import LEAST_ROUNDS, Call, Progress, interleaved
from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.model.io import ModelLike
from onnx_scatterx.running.feeds import fitted
from onnx_scatterx.running.library import library_path
from onnx_scatterx.running.session import ort_errors, session_options
from onnx_scatterx.verification.compare import compare
from onnx_scatterx.verification.files import as_file, directory_of, opened
from onnx_scatterx.verification.ort_session import STRING, open_file, run_raw, value_of
from onnx_scatterx.verification.protocol import RawTensor
from onnx_scatterx.verification.runner import ModelFile, from_raw, to_raw
from onnx_scatterx.verification.valid import valid_draws

if TYPE_CHECKING:
    import onnxruntime as ort

Models: TypeAlias = "ModelLike | Sequence[ModelLike] | Mapping[str, ModelLike]"
_ONE = (str, os.PathLike, onnx.ModelProto, ir.Model)  # what is one model
Arrays: TypeAlias = Mapping[str, np.ndarray]

ORIGINAL = "original"
_REST = 0.01  # seconds after which threads that wait for work have gone to sleep
_PROFILED = 9  # runs


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
    library: bool = True,
    profile: bool = True,
    progress: Progress | None = None,
) -> Benchmark:
    """Time models in ONNX Runtime, in turns, on the same inputs.

    Args:
        models: one model, several, or several by the names that they go by; each is a path, a
            `ModelProto` or an `onnx_ir.Model`. Times are told against the first.
        targets: with one model, what `optimize` makes of it for these targets is timed too.
        sizes: of the named dims of the inputs that are drawn; the others are all 64 if the first
            model accepts that.
        inputs: the inputs themselves, by name.
        threads: how many ONNX Runtime uses for one node; as many as there are cores where 0.
        rounds: how often each model is timed, 6 at least; by default as often as fits.
        seconds: what all rounds together may last, where they are not given.
        seed: of the inputs that are drawn.
        library: whether the ScatterX library is registered.
        profile: whether to find out where the time goes, in runs of their own.
        progress: is told, after each round, how many are done and how many there will be.

    Inputs and outputs are bound once, so that neither copying nor conversion of them is timed.
    Raises ScatterXError where a model cannot be read, optimized or run on the inputs.

    >>> import onnx.parser
    >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N, 2] x, int64[1, 1] i, float[1, 2] y) => (float[N, 2] z)
    ...     { z = ScatterND(x, i, y) }''')
    >>> found = bench(model, targets=["standard"], sizes={"N": 5}, rounds=6, library=False)
    >>> [(timing.name, timing.difference) for timing in found.timings]
    [('original', None), ('standard', None)]

    """
    import onnxruntime as ort

    if rounds is not None and rounds < LEAST_ROUNDS:
        raise ScatterXError(f"{rounds} rounds say little; ask for {LEAST_ROUNDS} at least")
    named = _named(models)
    if targets:
        named = _under_targets(named, targets)
    first, *_ = named.values()
    with TemporaryDirectory() as directory:
        setting = _Setting(Path(directory), threads, library)
        files = [setting.file(number, model) for number, model in enumerate(named.values())]
        given, drawn_sizes = inputs, {}
        if given is None:
            registered = str(library_path()) if library else None
            draw, *_ = valid_draws(first, sizes=sizes, seed=seed, library=registered)
            given, drawn_sizes = draw.feeds, dict(draw.sizes)
        runs = [setting.open(n, f, given) for n, f in zip(named, files, strict=True)]
        expected = runs[0].outputs()
        differences = [None, *(_difference(expected, run.outputs()) for run in runs[1:])]
        del expected
        times = interleaved(
            [run.call for run in runs],
            rounds=rounds,
            seconds=seconds,
            rest=0.0 if threads == 1 else _REST,
            progress=progress,
        )
        del runs
        profiles: list[tuple[NodeTime, ...]] = [()] * len(files)
        if profile:
            profiles = [
                setting.profile(name, file, given) for name, file in zip(named, files, strict=True)
            ]
    timings = zip(named, times.T, differences, profiles, strict=True)
    return Benchmark(tuple(Timing(*t) for t in timings), drawn_sizes, threads, ort.__version__)


def _named(models: Models) -> dict[str, ModelLike]:
    if isinstance(models, Mapping):
        named = dict(models)
    else:
        several = [models] if isinstance(models, _ONE) else models
        named = {}
        for number, model in enumerate(several, 1):
            name = f"model {number}"
            if isinstance(model, (str, os.PathLike)):
                name = os.fspath(model)
            named[name if name not in named else f"{name} ({number})"] = model
    if not named:
        raise ScatterXError("there is no model to time")
    return named


def _under_targets(named: Mapping[str, ModelLike], targets: Sequence[str]) -> dict[str, ModelLike]:
    from onnx_scatterx.api import optimize

    if len(named) != 1:
        raise ScatterXError(f"targets are compared on one model, and here are {len(named)}")
    (model,) = named.values()
    found: dict[str, ModelLike] = {ORIGINAL: model}
    for target in targets:
        made = optimize(model, target=target).model
        beside = directory_of(model)
        found[target] = made if beside is None else opened(made, beside)
    return found


@dataclass(frozen=True)
class _Setting:
    """How models are opened, and a directory for files that go away."""

    directory: Path
    threads: int
    library: bool

    def file(self, number: int, model: ModelLike) -> ModelFile:
        loaded = opened(model, directory_of(model))
        return as_file(model, loaded, self.directory / f"{number}.onnx")

    def open(
        self, name: str, file: ModelFile, inputs: Arrays, options: ort.SessionOptions | None = None
    ) -> _Run:
        if options is None:
            options = session_options(threads=self.threads, library=self.library)
        data = None if file.data_directory is None else str(file.data_directory.resolve())
        try:
            session = open_file(str(file.path.resolve()), data, options)
        except ort_errors() as error:
            raise ModelError(f"{name}: ONNX Runtime cannot load it: {one_line(error)}") from error
        try:
            feeds = fitted(inputs, session.get_inputs(), session.get_overridable_initializers())
        except ScatterXError as error:
            raise ScatterXError(f"{name}: {error}") from error
        tensors = [to_raw(n, array) for n, array in feeds.items()]
        try:
            return _Run(name, session, tensors)
        except ort_errors() as error:
            raise ScatterXError(_cannot_run(name, error)) from error

    def profile(self, name: str, file: ModelFile, inputs: Arrays) -> tuple[NodeTime, ...]:
        options = session_options(threads=self.threads, library=self.library)
        options.enable_profiling = True
        options.profile_file_prefix = str(self.directory / "profile")
        run = self.open(name, file, inputs, options)
        run.outputs()
        for _ in range(_PROFILED):
            run.call()
        return read_profile(Path(run.session.end_profiling()), _PROFILED)


class _Run:
    """A model that is open, with its inputs bound."""

    def __init__(self, name: str, session: ort.InferenceSession, tensors: list[RawTensor]) -> None:
        self.name = name
        self.session = session
        self.call = self._bound(tensors)
        self._tensors = tensors

    def _bound(self, tensors: list[RawTensor]) -> Call:
        others = (o for o in self.session.get_outputs() if not o.type.startswith("tensor("))
        if any(others) or any(tensor.type == STRING for tensor in tensors):
            return lambda: run_raw(self.session, tensors)  # what cannot be bound
        binding = self.session.io_binding()
        for tensor in tensors:
            binding.bind_ortvalue_input(tensor.name, value_of(tensor))
        for output in self.session.get_outputs():
            binding.bind_output(output.name)
        return lambda: self.session.run_with_iobinding(binding)

    def outputs(self) -> dict[str, np.ndarray]:
        """Run for the outputs, and once as it will be timed."""
        try:
            found = run_raw(self.session, self._tensors)
            self.call()
        except ort_errors() as error:
            raise ScatterXError(_cannot_run(self.name, error)) from error
        return {tensor.name: from_raw(tensor) for tensor in found}


def _cannot_run(name: str, error: Exception) -> str:
    return f"{name}: ONNX Runtime cannot run it on these inputs: {one_line(error)}"


def _difference(expected: Arrays, actual: Arrays) -> str | None:
    """Say in what outputs differ; None if in nothing."""
    if expected.keys() != actual.keys():
        return f"others: {', '.join(sorted(expected.keys() ^ actual.keys()))}"
    found = {name: compare(expected[name], actual[name]) for name in expected}
    kinds = {name: difference.kind for name, difference in found.items() if difference is not None}
    if not kinds:
        return None
    if set(kinds.values()) == {"rounding"}:
        return "differ by rounding"
    return f"differ: {', '.join(name for name, kind in kinds.items() if kind != 'rounding')}"
