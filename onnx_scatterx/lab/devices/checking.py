"""`check`: whether a consumer takes a model, and computes what ONNX Runtime computes."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.compare import Tolerance, compare, valid_draws
from onnx_scatterx.errors import ModelError, VerifyError
from onnx_scatterx.files import AnyModel, ModelSource, load, save
from onnx_scatterx.graphs import all_nodes
from onnx_scatterx.lab.devices.adapter import Answer, Outputs
from onnx_scatterx.lab.devices.consumer import LIMIT, Consumer, ConsumerProcess, consumer_of
from onnx_scatterx.processes import NoReply, scratch
from onnx_scatterx.runtime import ModelFile, Runner

_FLOAT16 = 1e-3  # the least tolerance of a float16, which has 11 bits


@dataclass(frozen=True)
class Deviation:
    """The error of an output."""

    output: str
    what: str
    """The wrong shape, or how many elements differ, in words."""
    relative: float = math.inf
    """The largest distance of two elements, divided by the largest finite magnitude expected."""


def deviation(
    expected: Mapping[str, np.ndarray], outputs: Outputs, tolerance: float
) -> Deviation | None:
    """Return the error of the first output that exceeds a tolerance; None if no output does.

    Finite floats may be off by `tolerance` times the largest finite magnitude of the output.
    Integers, booleans, NaN and infinities must be equal. The element type may differ, and dims of
    size 1 may be missing or added, because many devices know only float and 4 dims.

    >>> truth = {"y": np.array([1.0, 2.0])}
    >>> deviation(truth, [np.array([[1.0, 2.00001]], np.float32)], 1e-4)
    >>> deviation(truth, {"y": np.array([1.0, 3.0])}, 1e-4)
    Deviation(output='y', what='1 of 2 elements: 3.0 for 2.0 at (1,)', relative=0.5)
    """
    if not isinstance(outputs, Mapping):
        if len(outputs) != len(expected):
            return Deviation("", f"{len(outputs)} outputs for {len(expected)}")
        outputs = dict(zip(expected, outputs, strict=True))
    for name, truth in expected.items():
        if name not in outputs:
            return Deviation(name, f"missing; the outputs are: {', '.join(outputs) or 'none'}")
        off = _off(name, truth, np.asarray(outputs[name]), tolerance)
        if off is not None:
            return off
    return None


def _off(name: str, truth: np.ndarray, output: np.ndarray, tolerance: float) -> Deviation | None:
    if _squeezed(truth) != _squeezed(output):
        return Deviation(name, f"shape {list(output.shape)} for {list(truth.shape)}")
    output = output.reshape(truth.shape)
    kinds = {truth.dtype.kind, output.dtype.kind}
    if kinds & {*"OUS"}:
        one, other = truth.astype(str).astype(object), output.astype(str).astype(object)
    elif kinds <= {*"iub"}:
        one, other = truth.astype(object), output.astype(object)
    else:
        one, other = truth.astype(np.float64), output.astype(np.float64)
    scale = 1.0 if one.dtype == object else _scale(truth)
    near = 0.0 if truth.dtype.kind in "iub" else tolerance
    near = max(tolerance, _FLOAT16) if truth.dtype == np.float16 else near
    off = compare(one, other, zeros=True, tolerance=Tolerance(atol=near * scale))
    if off is None or off.index is None:
        return None
    there = f"{output[off.index]} for {truth[off.index]} at {off.index}"
    relative = math.inf if off.max_absolute is None else off.max_absolute / scale
    return Deviation(name, f"{off.count} of {off.size} elements: {there}", relative)


def _scale(truth: np.ndarray) -> float:
    """Return the largest finite magnitude, or 1 without a finite element."""
    magnitudes = np.abs(truth.astype(np.float64))
    finite = magnitudes[np.isfinite(magnitudes)]
    return float(finite.max(initial=0.0)) or 1.0


def _squeezed(array: np.ndarray) -> list[int]:
    return [extent for extent in array.shape if extent != 1]


Verdict = Literal["right", "wrong", "refused"]
Feed = Mapping[str, np.ndarray]

_BINARY = (".onnx", ".ort", ".pb", "")


@dataclass(frozen=True)
class Check:
    """One consumer's answer about a model. It is true if the model is taken and computed right."""

    consumer: str
    version: str
    verdict: Verdict
    message: str = ""
    """The consumer's words if it refuses the model, or the error of an output."""
    nodes: tuple[str, ...] = ()
    """The nodes that the refusal names; if it names no node, the operators that it names."""
    on_host: tuple[str, ...] = ()
    """The nodes that the compiler leaves to the host."""
    relative: float | None = None
    """`Deviation.relative` of the first wrong output; None if all outputs are right."""

    def __bool__(self) -> bool:
        return self.verdict == "right"

    def __str__(self) -> str:
        head = f"{self.consumer} {self.version}: "
        if self.verdict == "refused":
            where = f" at {', '.join(self.nodes)}" if self.nodes else ""
            return f"{head}refused{where}: {self.message}"
        answer = "taken and right" if self else f"taken, but wrong: {self.message}"
        if self.on_host:
            answer += f"; on the host: {', '.join(self.on_host)}"
        return head + answer


def check(
    model: AnyModel,
    consumer: str | Consumer,
    *,
    feeds: Sequence[Feed] | None = None,
    samples: int = 1,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    python: str | None = None,
    timeout: float = LIMIT,
) -> Check:
    """Give a model to a consumer, and compare its outputs with those of ONNX Runtime.

    ONNX Runtime runs the same model without graph optimizations.

    Args:
        model: a path, a `ModelProto` or an `onnx_ir.Model`.
        consumer: a name, such as "opencv", the path of an adapter of yours (.py), or a `Consumer`.
        feeds: sets of inputs by name. Without them, inputs are drawn as `verify` draws them.
        samples: how many sets of inputs to draw; the consumer compiles the model for each.
        sizes: the sizes of named dims, for inputs that are drawn.
        seed: the seed of the draws.
        python: the interpreter of the environment that has the consumer; this one by default.
        timeout: seconds that the consumer has for each set of inputs.

    Raises `ModelError` or `VerifyError` if ONNX Runtime does not run the model, `VerifyError` if an
    input is not of a type of NumPy, `ScatterXError` if the consumer is not known, and
    `MissingConsumerError` if the consumer is not installed.

    """
    if isinstance(consumer, str):
        consumer = consumer_of(consumer)
    with reference_runs(model, feeds=feeds, samples=samples, sizes=sizes, seed=seed) as asked:
        return asked.check(consumer, python, timeout)


@dataclass(frozen=True)
class ReferenceRuns:
    """The file of a model, and each set of inputs with ONNX Runtime's outputs."""

    file: Path
    runs: Sequence[tuple[Feed, Feed]]

    def check(
        self, consumer: Consumer, python: str | None = None, timeout: float | None = None
    ) -> Check:
        """Return a consumer's first answer that is not right, or else the last answer."""
        with ConsumerProcess(consumer, python, timeout or LIMIT) as process:
            for feed, truth in self.runs:
                check = judged(consumer, process.run(self.file, feed), truth, self.file)
                if not check:
                    break
        return check


@contextlib.contextmanager
def reference_runs(
    model: AnyModel,
    *,
    feeds: Sequence[Feed] | None = None,
    samples: int = 1,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Iterator[ReferenceRuns]:
    """Run a model once in ONNX Runtime, on the inputs that `check` describes."""
    with scratch() as directory:
        file = model_file(model, directory)
        if feeds is None:
            draws = valid_draws(model, samples, sizes=sizes, seed=seed)
            runs = [(draw.feeds, draw.outputs) for draw in draws]
        else:
            runs = list(zip(feeds, truths(file, feeds), strict=True))
        for name, array in ((n, a) for feed, _ in runs for n, a in feed.items()):
            if array.dtype.kind not in "biuf":
                raise VerifyError(f"input {name!r} of type {array.dtype} cannot be given to others")
        yield ReferenceRuns(file, runs)


def model_file(model: AnyModel, directory: Path) -> Path:
    """Return a binary file of a model: the model's own file, or one written into a directory."""
    path = ModelSource.of(model).path
    if path is not None and path.suffix in _BINARY:
        load(path)  # raise a ModelError for a mistake in the model
        return path
    return save(load(model), directory / "model.onnx")[0]


def truths(model: Path, feeds: Sequence[Feed], timeout: float = 120.0) -> list[Feed]:
    """Return ONNX Runtime's outputs for each feed, without graph optimizations."""
    with Runner(ModelFile(model)) as runner:
        failure = runner.load(timeout)
        if failure is not None:
            raise ModelError(f"ONNX Runtime cannot load the model: {failure.reason}")
        answers: list[Feed] = []
        for feed in feeds:
            outputs = runner.run(feed, timeout)
            if isinstance(outputs, NoReply):
                raise VerifyError(f"ONNX Runtime does not run the model: {outputs.reason}")
            answers.append(outputs)
    return answers


def judged(consumer: Consumer, answer: Answer, truth: Feed, model: Path) -> Check:
    """Return the check of a consumer's answer against ONNX Runtime's outputs."""
    name = consumer.name
    if answer.kind == "refused" or answer.outputs is None:
        message = answer.message or "it gave no outputs"
        nodes = (answer.node,) if answer.node else _named(message, model)
        return Check(name, answer.version, "refused", message, nodes, answer.on_host)
    off = deviation(truth, answer.outputs, consumer.adapter.tolerance)
    if off is None:
        return Check(name, answer.version, "right", on_host=answer.on_host)
    message = f"output {off.output!r}: {off.what}" if off.output else off.what
    return Check(
        name, answer.version, "wrong", message, on_host=answer.on_host, relative=off.relative
    )


def _named(message: str, model: Path) -> tuple[str, ...]:
    """Return the nodes that a message names; if there are none, the operators that it names."""
    words = set(re.findall(r"[\w./:-]+", message))
    words |= {word.strip("./:-") for word in words}
    proto = onnx.load(model, load_external_data=False)
    nodes = all_nodes(ir.from_proto(proto))
    named = dict.fromkeys(n.name for n in nodes if n.name and n.name in words)
    operators = dict.fromkeys(n.op_type for n in nodes if n.op_type in words)
    return tuple(named or operators)
