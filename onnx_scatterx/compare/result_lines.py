"""How the answer of `verify` is told: a line with the answer, and below it what it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from onnx_scatterx.compare.draws import GIVEN, MOST_DRAWS
from onnx_scatterx.runtime import EVALUATOR

if TYPE_CHECKING:
    from onnx_scatterx.compare.result import Verification

_SHOWN = 5  # differences


def result_lines(result: Verification, *, brief: bool = False) -> list[str]:
    """Return an answer in lines.

    ``brief`` leaves out how much was compared if no output differs, and keeps what limits the
    answer.
    """
    brief = brief and result.agrees
    if result.interface:
        missing = [result.missing] * bool(result.missing)
        reasons = (*result.interface, *_named_reasons(result), *missing)
        return [f"different{_where(result)}:", *(f"  {line}" for line in reasons)]
    lines = [*_answer(result, brief), *_limits(result, brief), *_drawn(result, brief)]
    return lines if result.proof is None else _with_proof(result, lines)


def _answer(result: Verification, brief: bool) -> Iterator[str]:
    """Yield the answer, and what of the user's inputs does not count."""
    where, is_compared = _where(result), _is_compared(result)
    only = ", under ONNX Runtime's default options" * _all_fused(result)
    if not result.draws and is_compared:
        yield "no inputs were run"
    elif not is_compared and result.unkept:
        yield f"not compared{where}: no drawn input keeps the promise {quoted(result.unkept)}"
    elif not is_compared:
        yield f"not compared{where}: the first model ran on none of {_counts(result)}"
        yield from (f"  {reason}" for reason in result.rejections)
    elif result.agrees:
        zeros = f" but for the sign of {result.zero_signs} zero{'s' * (result.zero_signs > 1)}"
        within = f"{where}, within {result.tolerance}"
        how = (where or ", bit for bit") if result.tolerance is None else within
        how += zeros * bool(result.zero_signs)
        yield f"the same{how}{only}, on {_counts(result, brief)}{_keeping(result)}"
    else:
        word = "only the last bits differ" if result.only_rounding else "different"
        how = "" if result.tolerance is None else f" with {result.tolerance}"
        counts = f"{_counts(result)}{_keeping(result)}"
        yield f"{word}{where}, compared{how}{only.removeprefix(',')} on {counts}"
        yield from (f"  {difference}" for difference in result.differences[:_SHOWN])
        if len(result.differences) > _SHOWN:
            yield f"  and {len(result.differences) - _SHOWN} more differences"
    for number, broken in result.broken_by.items():
        many = "s" * (len(broken) > 1)
        yield f"  {GIVEN} {number} break the promise{many} {quoted(broken, ' and ')}"
    if result.missing:
        yield f"  {result.missing}"
    if is_compared:  # say which of the user's inputs were not compared
        rejected = (text for text in result.rejections if text.startswith(f"{GIVEN} "))
        yield from (f"  rejected: {text}" for text in rejected)


def _limits(result: Verification, brief: bool) -> Iterator[str]:
    """Yield what limits the answer: options of ONNX Runtime, rounding, promises."""
    if result.differences:
        yield from (f"  {line}" for line in _named_reasons(result))
    yield from (f"  {line}" for line in _options(result, brief))
    if result.rounded:
        line = "  under ONNX Runtime's default options floats differ by rounding on "
        line += f"{result.rounded}: it fuses or packs other nodes of the two models"
        if result.proof is not None and result.proof.kind.startswith("proven"):
            line += ". The proof is about the models without graph optimizations"
        yield line
    if result.empty_scans:
        line = f"  on {result.empty_scans}, empty scan outputs have other dims: a Loop ran no "
        yield line + "iteration, and ONNX Runtime infers these dims from its body"
    assumed = [each for each in result.assumed if each not in result.stated]
    if assumed and not (_keeping(result) and _is_compared(result)):  # the first line names these
        yield "  assumed: " + "; ".join(assumed)
    if result.stated:
        said = f"  assumed in runs, since the second model states it: {'; '.join(result.stated)}"
        options = " ".join(f"--assume '{each}'" for each in result.stated)
        unused = f"; the proof does not use it. If it holds for all of your inputs: {options}"
        yield said + unused * (result.proof is not None)


def _drawn(result: Verification, brief: bool) -> Iterator[str]:
    """Yield at which sizes the models ran, and how many draws there are."""
    if result.fixed and not brief:
        fixed = ", ".join(f"{name} = {number}" for name, number in result.fixed.items())
        yield f"  at the sizes that the second model has fixed: {fixed}"
    if result.accepted and 0 < result.wanted < MOST_DRAWS and result.agrees and not brief:
        line = f"  a run takes {result.work:.2g} steps, for which {result.wanted} sets are drawn"
        yield f"{line}: --samples draws more"
    if result.unequal:
        line = "  the first model runs on no set in which all dims of one name are equal: they"
        yield f"{line} differ in these sets"
    if result.sizes and result.accepted and not brief:
        yield f"  sizes: {_sizes(result.sizes)}"


def _with_proof(result: Verification, lines: list[str]) -> list[str]:
    """Return the lines of a proof and of the runs; first those of which the answer is."""
    assert result.proof is not None
    proof = [line for line in str(result.proof).split("\n") if line not in lines]
    if _is_compared(result):
        return [*proof, *lines]
    unconfirmed = "no run confirms this: " * result.proof.kind.startswith("proven")
    return [*lines, f"  {unconfirmed}{proof[0]}", *(f"  {line}" for line in proof[1:])]


def quoted(promises: Sequence[str], between: str = " or ") -> str:
    """Return promises as a line names them.

    >>> quoted(["n <= 8", "m <= 4"])
    "'n <= 8' or 'm <= 4'"
    """
    return between.join(f"'{each}'" for each in promises)


def _is_compared(result: Verification) -> bool:
    return result.answer != "not compared"


def _where(result: Verification) -> str:
    return f" in {EVALUATOR}" if result.missing else ""


def _named_reasons(result: Verification) -> list[str]:
    return [f"a reason that the second model names: {why}" for why in result.in_onnxruntime]


def _keeping(result: Verification) -> str:
    """Return the promises that all inputs keep, as the end of a line."""
    if not result.accepted or not result.assumed or result.broken_by:
        return ""
    return f" that keep: {'; '.join(result.assumed)}"


def _all_fused(result: Verification) -> bool:
    return 0 < result.accepted == result.only_fused


def _options(result: Verification, brief: bool) -> Iterator[str]:
    """Yield under which options the models were compared, if not under both on all draws."""
    without, default = result.compared.values()
    if result.only_fused:
        many = "" if _all_fused(result) else f" on {result.only_fused} of them"
        yield f"without graph optimizations, the first model does not run{many}"
    if result.agrees and result.unfused and not result.missing and not brief:
        yield (
            f"compared on {without} without graph optimizations, and on {default} under ONNX "
            "Runtime's default options: on the others, the first model itself gives other bits "
            "there, or fails"
        )


def _counts(result: Verification, brief: bool = False) -> str:
    """Return on how many inputs the first model ran; if it ran on none, how many were drawn."""
    count = result.accepted or result.draws
    rejected = result.draws - count - result.crashed - result.unstable
    notes = []
    if rejected > 0 and not brief:
        notes.append(f"the first model rejected {rejected} more")
    if result.crashed:
        notes.append(f"the first model's process died on {result.crashed}")
    if result.unstable:
        notes.append(f"the first model gave other outputs every time on {result.unstable}")
    more = f" ({'; '.join(notes)})" if notes else ""
    return f"{count} set{'s' * (count != 1)} of inputs{more}"


def _sizes(sizes: Mapping[str, tuple[int, ...]]) -> str:
    return "; ".join(f"{name} = {_numbers(numbers)}" for name, numbers in sizes.items())


def _numbers(numbers: tuple[int, ...]) -> str:
    if len(numbers) <= 12:
        return ", ".join(map(str, numbers))
    return ", ".join([*map(str, numbers[:8]), "...", *map(str, numbers[-3:])])
