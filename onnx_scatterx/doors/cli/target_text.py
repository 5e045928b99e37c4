"""A target in words, as `targets NAME` prints it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator

from onnx_scatterx.targets import WORK_LIMIT, OperatorLimits, SlowUse, Target

_LABEL = 14  # letters before the text
_NOT = {
    "exclusive": "not with exclusive=1",
    "broadcast": "only operands of one shape",
    "steps": "only step 1",
    "computed": "only constant shapes and bounds",
    "negative": "only indices, steps, pads or dividends that are not negative",
    "constant": "only at indices that are not constants",
    "axes_input": "only axes as an attribute",
    "inner": "only from an input of the model to an output",
    "computed_data": "only of data that are a constant",
    "native": "runs on the host, so it is avoided",
}


def described(target: Target, width: int = 100) -> str:
    """Return a description of a target, in lines of at most ``width`` letters.

    >>> from onnx_scatterx.targets.target import STANDARD
    >>> print(described(STANDARD))
    standard: any ONNX runtime: standard operators only
      operators     all standard operators
      sizes         numbers or symbols
      dense forms   small ones only, as their work is data times indices; dense = true allows more
      chosen rows   a function of them that multiplies matrices is computed for them only
      kept          scatters are not changed
    """
    head = f"{target.name}: {target.description}" if target.description else target.name
    lines = [head]
    for label, text in _rows(target):
        lead = f"  {label:<{_LABEL}}"
        rest = " " * len(lead)
        lines += textwrap.wrap(
            text,
            width,
            initial_indent=lead,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def _rows(target: Target) -> Iterator[tuple[str, str]]:
    if target.version:
        yield "describes", target.version
    if target.source:
        yield "source", target.source
    if target.date is not None:
        yield "read on", target.date.isoformat()
    if target.checked:
        yield "checked", target.checked
    yield "operators", _operators(target)
    for op_type, limits in sorted(target.limits.items()):
        yield "limit", f"{op_type}: {'; '.join(_limits(limits))}"
    if types := [*_types(target)]:
        yield "types", "; ".join(types)
    if target.misread:
        names = ", ".join(sorted(target.misread))
        yield "misread", f"wrong results, and no error, beyond the limits: {names}"
    for end in target.ends:
        yield "ends", f"no input or output {end}"
    for fault in target.faults:
        yield "fault", f"avoided by {fault}"
    if target.max_rank is not None:
        yield "ranks", f"at most {target.max_rank} dims"
    if target.max_opset is not None:
        yield "operator set", f"at most {target.max_opset}"
    if target.one_file:
        yield "files", "one: weights are written into the model"
    yield "sizes", "numbers only: --fix gives them" if target.static_only else "numbers or symbols"
    yield "dense forms", _dense(target)
    yield "chosen rows", _chosen_rows(target)
    kept = "become ScatterX" if target.has_scatterx else "are not changed"
    yield "kept", f"scatters {kept}"


def _operators(target: Target) -> str:
    if target.operators is not None:
        return f"{len(target.operators)}: {', '.join(sorted(target.operators))}"
    if target.avoid:
        return f"all standard operators but {', '.join(sorted(target.avoid))}"
    return "all standard operators"


def _types(limits: OperatorLimits | Target) -> Iterable[str]:
    if limits.types is not None:
        yield f"only of {', '.join(sorted(limits.types))}"
    if limits.no_types:
        yield f"not of {', '.join(sorted(limits.no_types))}"


def _limits(limits: OperatorLimits) -> Iterable[str]:
    yield from _types(limits)
    if limits.max_rank is not None:
        yield f"at most {limits.max_rank} dims"
    if limits.most is not None:
        yield f"at most {limits.most} elements found"
    if limits.written:
        yield f"only if {', '.join(sorted(limits.written))} is written"
    if limits.unwritten:
        yield f"only if {', '.join(sorted(limits.unwritten))} is not written"
    if limits.within:
        yield f"only as a part of {' or '.join(sorted(limits.within))}"
    if limits.equations is not None:
        yield f"only of {' or '.join(sorted(limits.equations))}"
    if limits.computed == "sizes":
        yield "only shapes and bounds that follow from the sizes of inputs"
    if limits.axes_input == "all":
        yield "only axes as an attribute, or all axes"
    if limits.axes_input == "several":
        yield "only axes as an attribute, or several axes"
    if limits.zeros:
        yield f"only constants that are 0, of {', '.join(sorted(limits.zeros))}"
    if limits.data_rank is not None:
        yield f"only of data of {limits.data_rank} dims"
    if limits.reductions is not None:
        yield f"only with reduction {', '.join(sorted(limits.reductions))}"
    if isinstance(limits.steps, frozenset):
        yield f"only steps {', '.join(map(str, sorted(limits.steps)))}"
    if isinstance(limits.native, frozenset) and limits.native:
        yield f"runs on the host, so it is avoided, unless of {', '.join(sorted(limits.native))}"
    yield from _slow(limits.slow)
    for use in limits.refused:
        yield f"not {use}"
    for key, words in _NOT.items():
        if not getattr(limits, key):
            yield words


def _chosen_rows(target: Target) -> str:
    if target.allows_work(math.inf):
        return "a function of them is computed for all rows"
    if not target.allows_work(1):
        return "a function of them that multiplies matrices is computed for them only"
    limit = WORK_LIMIT if target.work_limit is None else target.work_limit
    return (
        f"a function of them is computed for all rows, if this is at most {limit:g} times the work"
    )


def _slow(slow: bool | SlowUse) -> Iterable[str]:
    if slow is True:
        yield "slow, so it is avoided"
    elif not isinstance(slow, bool):
        of = "" if slow.types is None else f" of {', '.join(sorted(slow.types))}"
        how = "" if slow.reductions is None else f" with {', '.join(sorted(slow.reductions))}"
        yield f"slow{of}{how}, so it is avoided"


def _dense(target: Target) -> str:
    if target.dense_limit is None:
        return "small ones only, as their work is data times indices; dense = true allows more"
    if math.isinf(target.dense_limit):
        return "of any size"
    return f"up to {target.dense_limit:.0f} elements in one tensor"
