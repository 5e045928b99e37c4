"""`check`: whether a consumer takes a model, and computes what ONNX Runtime computes."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from onnx_scatterx.compare import valid_draws
from onnx_scatterx.errors import ModelError, VerifyError
from onnx_scatterx.files import AnyModel, ModelSource, load, save
from onnx_scatterx.lab.devices.adapter import Answer
from onnx_scatterx.lab.devices.attribution import attributed, named_in
from onnx_scatterx.lab.devices.causes import WORDS, Cause
from onnx_scatterx.lab.devices.consumer import LIMIT, Consumer, ConsumerProcess, consumer_of
from onnx_scatterx.lab.devices.nearness import Nearness, nearness
from onnx_scatterx.lab.devices.ties import are_tied
from onnx_scatterx.processes import NoReply, scratch
from onnx_scatterx.runtime import ModelFile, Runner

Verdict = Literal["right", "close", "tied", "wrong", "refused", "no answer"]
Feed = Mapping[str, np.ndarray]

_BINARY = (".onnx", ".ort", ".pb", "")
_ANSWERS = {
    "right": "taken and right",
    "close": "taken, and close",
    "tied": "taken, and tied",
    "wrong": "taken, but wrong",
}


@dataclass(frozen=True)
class Check:
    """One consumer's answer about a model. It is true if its outputs are right, close or tied."""

    consumer: str
    version: str
    verdict: Verdict
    message: str = ""
    """The consumer's words if it refuses the model, or the worst output if it is not right."""
    nodes: tuple[str, ...] = ()
    """The nodes that the refusal names; if it names no node, the operators that it names."""
    on_host: tuple[str, ...] = ()
    """The nodes that the compiler leaves to the host."""
    error: float | None = None
    """`Nearness.error` of all outputs; None without outputs."""
    cosine: float | None = None
    """`Nearness.cosine` of all outputs."""
    out_of: Literal["time", "memory"] | None = None
    """What was not enough for an answer; None if there is one."""
    cause: Cause | None = None
    """Why the model is refused; None if it is not."""
    part: tuple[str, ...] = ()
    """The operators of the smallest part that is refused too, if the refusal names no node."""

    def __bool__(self) -> bool:
        return self.verdict in ("right", "close", "tied")

    def __str__(self) -> str:
        head = f"{self.consumer} {self.version}: "
        if self.verdict == "no answer":
            return f"{head}no answer for lack of {self.out_of}: {self.message}"
        if self.verdict == "refused":
            where = f" at {', '.join(self.nodes)}" if self.nodes else ""
            return f"{head}refused{where}: {self.message}{self._why}"
        near = Nearness("right", self.error or 0.0, self.cosine)
        answer = f"{_ANSWERS[self.verdict]}: {near}"
        if self.message:
            answer += f"; {self.message}"
        if self.on_host:
            answer += f"; on the host: {', '.join(self.on_host)}"
        return head + answer

    @property
    def _why(self) -> str:
        """Return the cause of a refusal, and the part, in words."""
        if self.cause in (None, "not attributed"):
            return ""
        part = f" (a part of {', '.join(self.part)} is refused, too)" if self.part else ""
        return f"; cause: {WORDS[self.cause]}{part}"


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

    ONNX Runtime runs the same model without graph optimizations. If a refusal names no node, parts
    of the model are tried, too.

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
        """Return a consumer's worst answer: the first that is false, or of the largest error."""
        checks = []
        with ConsumerProcess(consumer, python, timeout or LIMIT) as process:
            for feed, truth in self.runs:
                checks.append(asked(process, consumer, self.file, feed, truth))
                if not checks[-1]:
                    return checks[-1]
        return max(checks, key=lambda check: (check.verdict != "right", check.error or 0.0))


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


def asked(
    process: ConsumerProcess,
    consumer: Consumer,
    model: Path,
    feed: Feed,
    truth: Feed,
    written: Container[str] = (),
) -> Check:
    """Give a model to a consumer, and return the check of its answer, with the cause of a refusal.

    `written` are the names of nodes that the optimizer wrote.
    """
    answer = process.run(model, feed)
    check = judged(consumer, answer, truth, model)
    if check.verdict == "wrong" and consumer.adapter.float16:
        with scratch() as directory:
            if are_tied(model, feed, truth, answer.outputs or {}, directory):
                return replace(check, verdict="tied")
    if check.verdict != "refused":
        return check
    cause, part = attributed(process, consumer, model, feed, check, written)
    return replace(check, cause=cause, part=part)


def judged(consumer: Consumer, answer: Answer, truth: Feed, model: Path) -> Check:
    """Return the check of a consumer's answer against ONNX Runtime's outputs."""
    name = consumer.name
    if answer.kind == "refused" or answer.outputs is None:
        message = answer.message or "it gave no outputs"
        if answer.out_of:
            return Check(name, answer.version, "no answer", message, out_of=answer.out_of)
        nodes = (answer.node,) if answer.node else named_in(message, model)
        return Check(name, answer.version, "refused", message, nodes, answer.on_host)
    near = nearness(truth, answer.outputs)
    message = f"output {near.output!r}: {near.what}" if near.output and near.what else near.what
    return Check(
        name,
        answer.version,
        near.grade,
        message,
        on_host=answer.on_host,
        error=near.error,
        cosine=near.cosine,
    )
