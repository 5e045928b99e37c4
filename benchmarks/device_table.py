"""Many models given to many consumers: unchanged, for `standard`, and for each one's own profile.

A model is compared with ONNX Runtime's outputs of the unchanged model. A consumer's answer about a
file is stored under the file's content, so that an interrupted table continues, and a repeated one
runs only files that changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.compare.accepted_draws import valid_draws
from onnx_scatterx.doors.api import optimize
from onnx_scatterx.errors import ScatterXError, one_line
from onnx_scatterx.files.data import to_proto
from onnx_scatterx.files.io import load
from onnx_scatterx.files.writing import write_text
from onnx_scatterx.fitting.propagation import let_onnx_infer
from onnx_scatterx.lab.devices.checking import Check, asked, truths
from onnx_scatterx.lab.devices.consumer import LIMIT, Consumer, ConsumerProcess
from onnx_scatterx.processes.scratch_folders import scratch

FORMS = ("original", "standard", "own")
"""The original model, and its results for `standard` and for the consumer's own profile."""

Feed = Mapping[str, np.ndarray]

_SIZES = (8, 16, 32)
"""The value of symbolic sizes, if the model accepts it: an emulator takes minutes for more."""


class Subject:
    """A model of the table: its inputs, ONNX Runtime's outputs, and its forms."""

    def __init__(self, path: Path) -> None:
        """Take the file of a model; everything else is computed when it is first needed."""
        self._path = path
        self.name = path.stem
        self._forms: dict[str, tuple[onnx.ModelProto, tuple[str, ...]]] = {}

    @cached_property
    def feeds(self) -> dict[str, np.ndarray]:
        """The inputs beside the model, or drawn ones."""
        return feeds_of(self._path)

    @cached_property
    def truth(self) -> Feed:
        """ONNX Runtime's outputs of the unchanged model."""
        with scratch() as directory:
            file = written(self.form(FORMS[0])[0], directory / "model.onnx")
            return truths(file, [self.feeds])[0]

    def require_accepted(self) -> None:
        """Raise ScatterXError if ONNX Runtime does not run the model on the inputs.

        Inputs that are drawn were accepted.
        """
        if self.feeds and _beside(self._path).exists():
            assert self.truth is not None

    def form(self, target: str) -> tuple[onnx.ModelProto, tuple[str, ...]]:
        """Return the model, unchanged or for a target, and the parts that the target refuses."""
        if target not in self._forms:
            self._forms[target] = self._made(target)
        return self._forms[target]

    def _made(self, target: str) -> tuple[onnx.ModelProto, tuple[str, ...]]:
        if target == FORMS[0]:
            model = ir.external_data.load_to_model(load(self._path))
            return with_sizes(model, self.feeds), ()
        result = optimize(self.form(FORMS[0])[0], target=target)
        return result.model, tuple(str(v) for v in result.report.violations if not v.is_taken)


def feeds_of(path: Path) -> dict[str, np.ndarray]:
    """Return the inputs beside a model, or drawn ones, small where sizes are symbols."""
    beside = _beside(path)
    if beside.exists():
        with np.load(beside) as file:
            return {name: file[name] for name in file.files}
    model = load(path)
    dims = [dim for value in model.graph.inputs for dim in value.shape or ()]
    names = sorted({dim.value for dim in dims if isinstance(dim, ir.SymbolicDim) and dim.value})
    for size in _SIZES if names else ():
        with contextlib.suppress(ScatterXError):
            return dict(valid_draws(path, sizes=dict.fromkeys(names, size))[0].feeds)
    return dict(valid_draws(path)[0].feeds)


def _beside(path: Path) -> Path:
    return path.with_suffix(".in.npz")


def with_sizes(model: ir.Model, feeds: Feed) -> onnx.ModelProto:
    """Return a model whose inputs have the sizes of these arrays.

    Shapes that were declared of other values are removed, unless they are numbers.
    """
    proto = to_proto(model)
    dynamic = False
    for value in proto.graph.input:
        if value.name in feeds:
            dims = value.type.tensor_type.shape.dim
            declared = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
            if declared != list(feeds[value.name].shape):
                dynamic = True
                del dims[:]
                for extent in feeds[value.name].shape:
                    dims.add().dim_value = extent
    if dynamic:
        del proto.graph.value_info[:]
        for value in proto.graph.output:
            value.type.tensor_type.ClearField("shape")
        shaped = ir.from_proto(proto)
        let_onnx_infer(shaped, follow=True)
        proto = ir.to_proto(shaped)
    return proto


def written(model: onnx.ModelProto, place: Path) -> Path:
    place.write_bytes(model.SerializeToString(deterministic=True))
    return place


def device_table(
    models: Sequence[Path],
    consumers: Sequence[tuple[Consumer, str | None]],
    *,
    record: Path | None = None,
    timeout: float = LIMIT,
    tell: Callable[[str], object] = lambda _: None,
) -> DeviceTable:
    """Give models to consumers, each with the interpreter that it is run by, in all forms.

    The inputs of a model `m.onnx` are those in `m.in.npz` beside it, if there is that file, else
    random ones. Symbolic sizes become those of the inputs. `record` is a file that keeps the
    answers, from which an interrupted run continues.
    """
    known = Record(record)
    table, subjects = DeviceTable(), []
    for path in models:
        subject = Subject(path)
        try:
            subject.require_accepted()
        except ScatterXError as error:
            table.left_out[subject.name] = str(error)
        else:
            table.models.append(subject.name)
            subjects.append(subject)
    for consumer, python in consumers:
        with ConsumerProcess(consumer, python, timeout) as process, scratch() as directory:
            table.versions[consumer.name] = process.version
            for subject in subjects:
                tell(f"{consumer.name}: {subject.name}")
                for form in FORMS:
                    target = consumer.adapter.profile if form == "own" else form
                    try:
                        model, violations = subject.form(target)
                    except ScatterXError as error:  # no operator set is right for the target, say
                        check = Check(consumer.name, process.version, "refused", str(error))
                        cell = Cell(check, _scatters(subject.form(FORMS[0])[0]), (str(error),))
                    else:
                        # tinygrad keeps what it opened, by the path.
                        file = written(model, directory / f"model_{len(table.cells)}.onnx")
                        check = known.answer(process, consumer, file, subject)
                        cell = Cell(check, _scatters(model), violations)
                    table.cells[subject.name, consumer.name, form] = cell
    return table


class Record:
    """The answers that were given, in a file, by consumer, version and content of the model."""

    def __init__(self, place: Path | None) -> None:
        """Read the stored answers."""
        self._place = place
        self._answers: dict[str, dict[str, Any]] = {}
        if place is not None and place.exists():
            self._answers = json.loads(place.read_text(encoding="utf-8"))

    def answer(
        self, process: ConsumerProcess, consumer: Consumer, file: Path, subject: Subject
    ) -> Check:
        """Return the consumer's answer about a file, asking it if the answer is not known."""
        content = hashlib.sha256(file.read_bytes())
        for array in subject.feeds.values():
            content.update(np.ascontiguousarray(array).tobytes())
        key = f"{consumer.name} {process.version} {content.hexdigest()}"
        if key not in self._answers:
            check = asked(process, consumer, file, subject.feeds, subject.truth)
            self._answers[key] = asdict(check)
            if self._place is not None:
                write_text(self._place, json.dumps(self._answers, indent=1))
        found = Check(**self._answers[key])
        nodes, part = tuple(found.nodes), tuple(found.part)
        return replace(found, nodes=nodes, on_host=tuple(found.on_host), part=part)


def _scatters(model: onnx.ModelProto) -> int:
    names = ("ScatterND", "ScatterElements", "Scatter", "TensorScatter")
    return sum(node.op_type in names for node in model.graph.node)


_LETTERS = 250  # of an answer in Markdown


@dataclass(frozen=True)
class Cell:
    """A consumer's answer about one form of a model."""

    check: Check
    scatters: int
    """How many scatters the model contains."""
    violations: tuple[str, ...] = ()
    """The parts that its profile says it does not take: `--strict=taken` counts them."""


@dataclass
class DeviceTable:
    """The answers, by model, consumer and form."""

    models: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    cells: dict[tuple[str, str, str], Cell] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Models that ONNX Runtime does not run, and why."""

    def right(self, consumer: str, form: str) -> set[str]:
        """Return the models that this consumer computes correctly."""
        return {m for m in self.models if self.cells[m, consumer, form].check}

    def counts(self, consumer: str, form: str, verdict: str) -> int:
        """Return for how many models the consumer gives this answer."""
        return sum(self.cells[m, consumer, form].check.verdict == verdict for m in self.models)

    def unlike_strict(self, consumer: str, right: bool) -> list[str]:
        """Return the models for which `--strict=taken` is wrong, with the consumer's own profile.

        If `right`, the models are right although violations are named (false alarms). Else they are
        not right, although none is named.
        """
        own = {m: self.cells[m, consumer, FORMS[2]] for m in self.models}
        return [m for m, c in own.items() if bool(c.check) == bool(c.violations) == right]

    def to_markdown(self) -> str:
        """Return the counts, the models one by one, and the lost models."""
        left_out = (f"- left out: {m}: {why}" for m, why in self.left_out.items())
        notes = [*self._lost(), *self._strict(), *left_out]
        return "\n".join([*self._counts(), "", *self._models(), "", *notes]).rstrip() + "\n"

    def to_json(self) -> str:
        """Return everything."""
        rows = [
            {"model": model, "consumer": consumer, "form": form, **asdict(cell)}
            for (model, consumer, form), cell in self.cells.items()
        ]
        content = {"versions": self.versions, "answers": rows, "left_out": self.left_out}
        return json.dumps(content, indent=1)

    def _counts(self) -> Iterable[str]:
        head = f"right of {len(self.models)} before | after `standard` | after its own profile"
        yield f"| consumer | {head} | silently wrong | false alarms | not named |"
        yield "|---|---|---|---|---|---|---|"
        for consumer, version in self.versions.items():
            cells = [f"{consumer} {version}"]
            before = self.right(consumer, FORMS[0])
            for form in FORMS:
                right = self.right(consumer, form)
                count = f"{len(right)}"
                if form != FORMS[0]:
                    count += f" (+{len(right - before)}, -{len(before - right)})"
                cells.append(count)
            cells.append(", ".join(str(self.counts(consumer, form, "wrong")) for form in FORMS))
            cells += (str(len(self.unlike_strict(consumer, right))) for right in (True, False))
            yield f"| {' | '.join(cells)} |"

    def _models(self) -> Iterable[str]:
        yield "| model | " + " | ".join(self.versions) + " |"
        yield "|---|" + "---|" * len(self.versions)
        for model in self.models:
            signs = (
                " ".join(_sign(self.cells[model, consumer, form].check) for form in FORMS)
                for consumer in self.versions
            )
            yield f"| {model} | {' | '.join(signs)} |"

    def _lost(self) -> Iterable[str]:
        for (model, consumer, form), cell in self.cells.items():
            if form != FORMS[0] and not cell.check and self.cells[model, consumer, FORMS[0]].check:
                yield f"- lost: {model}, {form}: {one_line(cell.check, _LETTERS)}"

    def _strict(self) -> Iterable[str]:
        for consumer in self.versions:
            for model in self.unlike_strict(consumer, right=True):
                first = self.cells[model, consumer, FORMS[2]].violations[0]
                yield f"- false alarm: {model}: {consumer}: {first}"
            for model in self.unlike_strict(consumer, right=False):
                check = self.cells[model, consumer, FORMS[2]].check
                yield f"- not named: {model}: {one_line(check, _LETTERS)}"


_SIGNS = {"right": "yes", "wrong": "wrong", "refused": "-", "no answer": "?"}


def _sign(check: Check) -> str:
    """Return the word of a cell: `close` and `tied` stand for themselves."""
    return _SIGNS.get(check.verdict, check.verdict)
