"""The answer of `verify`: whether two models agree, on how many inputs, and how they differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from onnx_scatterx.compare.array_diff import ArrayDifference, Tolerance
from onnx_scatterx.compare.draws import SOLVER, Draw
from onnx_scatterx.compare.result_lines import quoted, result_lines
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.text import as_html, in_lines, plain_fields

if TYPE_CHECKING:
    from onnx_scatterx.proof import Proof

Answer = Literal["same", "not proven", "different", "not compared"]
SCHEMA = 1


@dataclass(frozen=True)
class Difference:
    """An output that differs on a draw. If `fused`, it differs under the default options.

    If `only_fused`, the first model runs on this draw under the default options only.
    """

    draw: Draw
    output: str
    found: ArrayDifference
    fused: bool = False
    only_fused: bool = False

    def __str__(self) -> str:
        found, where = self.found, f"on {self.draw}"
        where += ", under ONNX Runtime's default options" if self.fused else ""
        if found.kind == "failed":
            return f"the second model fails where the first runs, {where}: {found.after}"
        if found.kind == "missing":
            return f"output {self.output!r} is only in one of the two, {where}"
        if found.kind in ("shape", "dtype"):
            return (
                f"output {self.output!r} has {found.kind} {found.before} in the first model "
                f"and {found.after} in the second, {where}"
            )
        what = {"rounding": " only in the last bits", "zero sign": " only in the sign of zero"}
        largest = ""
        if found.max_absolute is not None and found.max_relative is not None:
            largest = f"; at most {found.max_absolute:.3g}, relatively {found.max_relative:.3g}"
        index = ", ".join(map(str, found.index or ()))
        return (
            f"output {self.output!r} differs{what.get(found.kind, '')} at [{index}]: "
            f"{found.before!r} became {found.after!r} "
            f"({found.count} of {found.size} elements{largest}), {where}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the difference for JSON; numbers that are not finite are strings."""
        return {
            "draw": None if self.draw.flavour == SOLVER else self.draw.number,
            **plain_fields(self.draw, "sizes flavour"),
            "output": self.output,
            "kind": self.found.kind,
            "fused": self.fused,
            **plain_fields(self.found, "index before after count size max_absolute max_relative"),
        }


@dataclass(frozen=True)
class Verification:
    """Whether two models gave the same outputs, bit for bit, on every draw the first accepted.

    `draws` sets of inputs were drawn, and `accepted` of them count. `rejections` are some of the
    reasons why draws do not count: the first model's process died on `crashed` draws, and the first
    model gave different outputs in each run on `unstable` draws. `sizes` are the accepted sizes of
    each symbol. On `only_fused` of the accepted draws, the first model runs only under ONNX
    Runtime's default options, and the models were compared there alone. On `unfused` of them, they
    were not compared under these options, since the first model gives other bits there, or fails.

    Floats may differ by `tolerance`, if there is one. `zero_signs` elements differ only in the sign
    of a zero, because the second model has a Where that the first lacks. On `rounded` draws, floats
    differ by rounding under ONNX Runtime's default options, because these fuse or pack different
    nodes of the two models. On `empty_scans` draws, an empty scan output of a Loop that ran no
    iteration has other dims, which ONNX Runtime infers from the body. `interface` says how the
    declared inputs and outputs differ: then nothing is run.

    `assumed` are the assumptions that all draws satisfied. `stated` are those of them that only the
    second model states: a proof does not use these. `fixed` are the sizes that are numbers only in
    the second model. `in_onnxruntime` are reasons, from the second model's metadata, why ONNX
    Runtime may compute other values. If the models ran in onnx's reference evaluator, `missing`
    says why they did not run in ONNX Runtime.

    `work` are the steps of a run at the sizes that were accepted first, and `wanted` is how many
    draws are enough for so much work; both are 0 if nobody asked. If `given_up`, no more draws were
    made, because the refusals cannot depend on what is drawn. If `unequal`, the first model runs on
    no draw in which all dims of one name are equal, and the draws have other dims. `unkept` are
    promises about values that drawn inputs broke, if no input that keeps all of them was found.
    `broken_by` are the promises of `assumed` that inputs of the user break, by the number of the
    set: the second model may give any result on them.
    """

    draws: int
    accepted: int
    crashed: int = 0
    unstable: int = 0
    only_fused: int = 0
    unfused: int = 0
    rounded: int = 0
    zero_signs: int = 0
    differences: tuple[Difference, ...] = ()
    interface: tuple[str, ...] = ()
    sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    rejections: tuple[str, ...] = ()
    seed: int = 0
    seconds: float = 0.0
    assumed: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    proof: "Proof | None" = None
    fixed: Mapping[str, int] = field(default_factory=dict)
    tolerance: Tolerance | None = None
    in_onnxruntime: tuple[str, ...] = ()
    missing: str = ""
    empty_scans: int = 0
    work: int = 0
    wanted: int = 0
    given_up: bool = False
    unequal: bool = False
    unkept: tuple[str, ...] = ()
    broken_by: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    @property
    def answer(self) -> Answer:
        """The answer in a word; "not proven": the outputs are the same, but a proof is missing."""
        if not self._is_compared:
            return "not compared"
        if not self.agrees:
            return "different"
        return "same" if self.proof is None or self.proof.proven else "not proven"

    @property
    def same(self) -> bool:
        """Whether the answer is "same": no output differs and, if a proof was asked for, proven."""
        return self.answer == "same"

    @property
    def agrees(self) -> bool:
        """Whether the models were compared and no output differs, proven or not."""
        return self._is_compared and not self.differences and not self.interface

    @property
    def conclusive(self) -> bool:
        """Whether the answer is "same" or "different"."""
        return self.answer in ("same", "different")

    @property
    def _is_compared(self) -> bool:
        """Whether some draw counts, the declarations differ, or a proof alone was found."""
        alone = not self.draws and self.proof is not None and self.proof.proven
        return self.accepted > 0 or bool(self.interface) or alone

    @property
    def only_rounding(self) -> bool:
        """Whether there are differences, and all of them are of rounding."""
        kinds = {difference.found.kind for difference in self.differences}
        return kinds == {"rounding"} and not self.interface

    @property
    def shortfall(self) -> str:
        """Why the answer is not "same", in a line; empty if it is."""
        if self.answer == "different":
            return "the models differ"
        if self.proof is not None and self.answer == "not proven":
            return f"{self.proof.shortfall}; no run shows a difference"
        if self.answer == "same":
            return ""
        proven = self.proof is not None and self.proof.proven
        what = "no run confirms the proof" if proven else "could not compare"
        if self.unkept:
            return f"{what}: no drawn input keeps the promise {quoted(self.unkept)}"
        if not self.draws:
            return f"{what}: no input was drawn"
        promise = "give inputs by --input, or promise by --assume what they keep"
        otherwise = f", each for the same reason ({promise})" * self.given_up
        otherwise += ", or gave other outputs every time" * (self.unstable > 0)
        return f"{what}: the first model rejected every input{otherwise}: {self.rejections[0]}"

    def __bool__(self) -> bool:
        return self.answer == "same"

    def __str__(self) -> str:
        return in_lines(self.lines())

    def lines(self, *, brief: bool = False) -> list[str]:
        """Return the answer in lines, and below it what it rests on.

        ``brief`` leaves out how much was compared if no output differs, and keeps what limits the
        answer.
        """
        return result_lines(self, brief=brief)

    def _repr_html_(self) -> str:
        """Return the answer as a notebook shows it."""
        head, *rest = (as_html(line.strip()) for line in str(self).split("\n"))
        kind = "fine" if self.same else "alarm"
        items = "".join(f"<li>{line}</li>" for line in rest)
        below = f"<ul>{items}</ul>" if items else ""
        return f'<div><p class="{kind}"><strong>{head}</strong></p>{below}</div>'

    @property
    def compared(self) -> dict[str, int]:
        """On how many draws outputs were compared under which options of ONNX Runtime.

        >>> Verification(40, 40, unfused=28).compared
        {'without_optimizations': 40, 'default_options': 12}
        """
        return {
            "without_optimizations": self.accepted - self.only_fused,
            "default_options": self.accepted - self.unfused,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the drawn arrays as plain data."""
        names = "answer same conclusive only_rounding draws accepted crashed unstable rounded"
        behind = "zero_signs interface differences sizes fixed rejections in_onnxruntime missing"
        return {
            "schema": SCHEMA,
            **plain_fields(self, f"{names} {behind} assumed stated seed compared empty_scans"),
            **plain_fields(self, "work wanted given_up unequal unkept"),
            "broken_by": {str(number): list(broken) for number, broken in self.broken_by.items()},
            "seconds": round(self.seconds, 3),
            **plain_fields(self, "tolerance" if self.proof is None else "tolerance proof"),
        }


class DifferenceError(ScatterXError):
    """An optimized model gives other outputs than the original model.

    ``verification`` says on which inputs, and how the outputs differ. ``optimize(verify=True)``
    raises this error.
    """

    def __init__(self, message: str, verification: Verification) -> None:
        super().__init__(message)
        self.verification = verification

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.verification)
