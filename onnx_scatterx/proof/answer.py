"""The answer about two models: the verdicts on the outputs, and what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import z3

from onnx_scatterx.proof.counterexample import Counterexample

Kind = Literal["proven", "proven for the kernel", "proven for sizes", "unknown", "refuted"]

REPORT = "please report this, with both models"
_SHOWN = 4
_BY = "without graph optimizations"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one output, and why it is not "proven"."""

    kind: Kind
    why: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}" if self.why else self.kind


@dataclass(frozen=True)
class Proof:
    """The verdicts on the outputs of two models.

    ``promised`` are the user's statements about the inputs. ``assumed`` are the other assumptions
    of the proof, those that matter most first. ``fixed`` are the sizes that are numbers only in the
    second model. If there is a proof only for all sizes of at least 1 or 2, ``least`` is this
    number. If there are proofs only for some sizes, these are ``sizes``. ``refutation`` says how
    the models differ on ``inputs``, which were run. ``contradicted`` says that this run contradicts
    a proof. ``counterexample`` is the solver's. ``regions`` counts the pairs of values that were
    compared, ``proven_regions`` the pairs that were proven to be the same.
    """

    outputs: Mapping[str, Verdict]
    assumed: tuple[str, ...] = ()
    promised: tuple[str, ...] = ()
    fixed: Mapping[str, int] = field(default_factory=dict)
    least: int = 0
    sizes: tuple[Mapping[str, int], ...] = ()
    refutation: str | None = None
    inputs: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    regions: int = 0
    proven_regions: int = 0
    seconds: float = 0.0
    questions: int = 0
    solver: str = field(default_factory=lambda: f"Z3 {z3.get_version_string()}")
    contradicted: bool = False
    counterexample: Counterexample | None = None

    @property
    def kind(self) -> Kind:
        """The verdict on all outputs together."""
        kinds = {v.kind for v in self.outputs.values()}
        order = get_args(Kind)[::-1]
        return next((k for k in order if k in kinds), "proven")

    @property
    def proven(self) -> bool:
        """Whether all outputs are the same for all sizes and all inputs."""
        return self.kind == "proven"

    def __bool__(self) -> bool:
        return self.proven

    def covers(self, sizes: Mapping[str, int]) -> bool:
        """Return whether the models are proven to be the same at these sizes of the inputs."""
        if self.kind != "proven for sizes":
            return self.proven
        if self.least:
            open_ = [n for name, n in sizes.items() if name not in self.fixed]
            return bool(open_) and min(open_) >= self.least
        return any(one.items() <= sizes.items() for one in self.sizes)

    def __str__(self) -> str:
        lines = [self._headline()]
        if self.refutation is not None:
            lines.append(f"  {self.refutation}")
        alike: dict[str, list[str]] = {}
        for name, verdict in self.outputs.items():
            if verdict.why:
                alike.setdefault(str(verdict), []).append(repr(name))
        for text, names in list(alike.items())[:_SHOWN]:
            shown = ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")
            lines.append(f"  {shown} {text}")
        if self.counterexample is not None and self.kind != "refuted":
            lines.append(f"  {self.counterexample}")
        if self.assumed and self.kind.startswith("proven"):
            lines += ["  assumed:", *(f"    {text}" for text in self.assumed)]
        if self.contradicted:
            lines.append("  a proof was found, and a run contradicts it: " + REPORT)
        return "\n".join(lines)

    def _headline(self) -> str:
        kind, fixed = self.kind, _named(self.fixed)
        if kind == "refuted":
            return "refuted: the models differ"
        if kind == "unknown":
            return f"not proven: {self.solver} decides neither that they are the same nor different"
        if kind == "proven for sizes":
            sizes = f"only for {self._some_sizes}"
        else:
            sizes = f"for {fixed}, which the second model has fixed," if fixed else "for all sizes"
        said = f"proven the same, {sizes} and all inputs on which the first model runs, {_BY}"
        if self.promised:
            said += f", if {', '.join(self.promised)}"
        if kind == "proven for the kernel":
            said += ": for the kernel, not for the fallback"
        return said

    @property
    def _some_sizes(self) -> str:
        if self.least and self.fixed:
            return f"{_named(self.fixed)} and other sizes of at least {self.least}"
        if self.least:
            return f"sizes of at least {self.least}"
        return "; ".join(map(_named, self.sizes))

    @property
    def shortfall(self) -> str:
        """Why this is not a full proof; empty if it is one."""
        if self.kind == "proven for sizes":
            return f"not proven for all sizes, only for {self._some_sizes}"
        if self.kind == "proven for the kernel":
            return "not proven for the fallback of ScatterX, only for the kernel"
        return {"proven": "", "unknown": "not proven"}.get(self.kind, self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the inputs as plain data."""
        return {
            "answer": self.kind,
            "outputs": {n: {"answer": v.kind, "why": v.why} for n, v in self.outputs.items()},
            "assumed": list(self.assumed),
            "promised": list(self.promised),
            "fixed": dict(self.fixed),
            "solver": self.solver,
            "least": self.least,
            "sizes": [dict(one) for one in self.sizes],
            "refutation": self.refutation,
            "counterexample": self.counterexample and self.counterexample.to_dict(),
            "regions": {"all": self.regions, "proven": self.proven_regions},
            "seconds": round(self.seconds, 3),
        }


def _named(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())
