"""The answers of many consumers about many models, as counts and model by model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field

from onnx_scatterx.devices.checking import Check
from onnx_scatterx.devices.subject import FORMS


@dataclass(frozen=True)
class Cell:
    """A consumer's answer about one form of a model."""

    check: Check
    scatters: int
    """How many scatters the model contains."""
    violations: tuple[str, ...] = ()
    """The parts that it does not take, by the consumer's profile."""


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

    def to_markdown(self) -> str:
        """Return the counts, the models one by one, and the lost models."""
        notes = [*self._lost(), *(f"- left out: {m}: {why}" for m, why in self.left_out.items())]
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
        n = len(self.models)
        yield f"| consumer | right of {n} before | after `standard` | after its own profile |"
        yield "|---|---|---|---|"
        for consumer, version in self.versions.items():
            cells = [f"{consumer} {version}"]
            before = self.right(consumer, FORMS[0])
            for form in FORMS:
                right = self.right(consumer, form)
                count = f"{len(right)}"
                if form != FORMS[0]:
                    count += f" (+{len(right - before)}, -{len(before - right)})"
                wrong = self.counts(consumer, form, "wrong")
                cells.append(count + (f", {wrong} wrong" if wrong else ""))
            yield f"| {' | '.join(cells)} |"

    def _models(self) -> Iterable[str]:
        yield "| model | " + " | ".join(self.versions) + " |"
        yield "|---|" + "---|" * len(self.versions)
        for model in self.models:
            signs = (
                " ".join(_SIGNS[self.cells[model, consumer, form].check.verdict] for form in FORMS)
                for consumer in self.versions
            )
            yield f"| {model} | {' | '.join(signs)} |"

    def _lost(self) -> Iterable[str]:
        for (model, consumer, form), cell in self.cells.items():
            if form != FORMS[0] and not cell.check and self.cells[model, consumer, FORMS[0]].check:
                yield f"- lost: {model}, {form}: {cell.check}"


_SIGNS = {"right": "yes", "wrong": "wrong", "refused": "-"}
