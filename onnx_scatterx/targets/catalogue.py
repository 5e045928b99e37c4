"""The targets: the operators that may be written for each, and how they are described."""

from __future__ import annotations

import math
import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files.reading import parse_toml
from onnx_scatterx.targets.limits import OperatorLimits
from onnx_scatterx.targets.profile import Find, read_profile, target_from
from onnx_scatterx.targets.target import SCATTERX, STANDARD
from onnx_scatterx.targets.target import Target as Target

AnyTarget: TypeAlias = "str | os.PathLike[str] | Target"

_SCATTERX = Target(
    "scatterx",
    "ONNX Runtime: what does not slice becomes ScatterX, which runs anywhere",
    extra=frozenset({SCATTERX}),
    prefers_scatter=True,  # ScatterX moves the written elements, in place if it can
)
_ORT_CPU = replace(
    _SCATTERX,
    name="ort-cpu",
    description="ONNX Runtime on a CPU that was measured: whichever form takes less time",
    is_timed=True,
)
BASES = {t.name: t for t in (_SCATTERX, STANDARD, _ORT_CPU)}
_VENDORS = {
    "coreml": "apple",
    "nnapi": "android",
    "openvino": "intel",
    "ortweb": "onnxruntime-web",
    "qnn": "hexagon qualcomm snapdragon",
    "rknn": "rockchip",
    "sophgo": "bitmain sophon",
    "tensorrt": "nvidia trt",
    "tflite": "litert tensorflow-lite",
}
VENDORS = {name: target for target, names in _VENDORS.items() for name in names.split()}
"""Other names of targets: those of vendors and of their chips."""
_PROFILES = Path(__file__).parent / "profiles"
_MOST_EXTENDED = 8  # profiles


def profile_names() -> list[str]:
    """Return the names of the profiles of devices and runtimes in the package.

    >>> "qnn" in profile_names()
    True
    """
    return sorted(path.stem for path in _PROFILES.glob("*.toml"))


def target_of(target: AnyTarget) -> Target:
    """Return a target by its name, that of its vendor, or the path of its profile.

    Raises ScatterXError if there is none.

    Keys of a profile may follow, after commas: they change it.

    >>> target_of("Qualcomm").name
    'qnn'
    >>> target_of("standard").has_scatterx, target_of("rknn").has("NonZero")
    (False, False)
    >>> target_of('rknn, add = ["NonZero"], max_rank = 4').has("NonZero")
    True
    """
    if isinstance(target, Target):
        return target
    text = os.fspath(target)
    return replace(_named(text, (), Path()), given_as=text)


def _named(name: str, extending: tuple[str, ...], folder: Path) -> Target:
    """Return a target by its name, or by the path of its profile from a folder.

    ``extending`` are the profiles that are being read; each extends the next.
    """
    name = VENDORS.get(name.lower(), name)
    if name in BASES:
        return BASES[name]
    if "," in name and not os.path.exists(folder / name):  # of any length
        return _changed(name, lambda other: _named(other, extending, folder))
    if name.endswith(".toml"):
        path = folder / name
    elif name in profile_names():
        path = _PROFILES / f"{name}.toml"
    elif os.path.exists(folder / f"{name}.toml"):
        raise ScatterXError(f"no target is called {name!r}; did you mean {name}.toml?")
    else:
        names = (*BASES, *profile_names())
        near = did_you_mean(name, (*names, *VENDORS)) or f"; there is {', '.join(names)};"
        new = name if re.fullmatch(r"\w[\w.-]*", name) else "NAME"
        raise ScatterXError(
            f"no target is called {name!r}{near} if a chip is not listed: "
            f"onnx-scatterx target new {new} --operators 'Add, Concat, ...'"
        )
    shown = os.fspath(path)
    if shown in extending:
        raise ScatterXError(f"{shown}: it extends itself")
    if len(extending) == _MOST_EXTENDED:
        raise ScatterXError(f"{shown}: more than {_MOST_EXTENDED} profiles extend each other")
    chain = (*extending, shown)
    return read_profile(shown, BASES, lambda other: _named(other, chain, path.parent))


def _changed(text: str, find: Find) -> Target:
    """Return a target that is written as ``NAME, key = value, ...``."""
    name, _, keys = text.partition(",")
    try:
        content = parse_toml(f"keys = {{{keys}}}")["keys"]
        if not isinstance(content, dict):
            raise ScatterXError("these are not keys of a profile")
        return target_from({"name": text, "extends": name.strip(), **content}, BASES, find)
    except ScatterXError as error:
        raise ScatterXError(f"target {text!r}: {error}") from error


def all_targets() -> list[Target]:
    """Return every target that has a name."""
    return [*BASES.values(), *(target_of(name) for name in profile_names())]


_LABEL = 14  # letters before the text
_NOT = {
    "exclusive": "not with exclusive=1",
    "broadcast": "only operands of one shape",
    "steps": "only step 1",
    "computed": "only constant shapes and bounds",
    "negative": "only indices, steps or dividends that are not negative",
    "constant": "only at indices that are not constants",
    "axes_input": "only axes as an attribute",
    "native": "runs on the host, a second choice",
}


def described(target: Target, width: int = 100) -> str:
    """Return a description of a target, in lines of at most ``width`` letters.

    >>> from onnx_scatterx.targets.target import STANDARD
    >>> print(described(STANDARD))
    standard: any ONNX runtime: standard operators only
      operators     all standard operators
      sizes         numbers or symbols
      dense forms   small ones only, as their work is data times indices; dense = true allows more
      the rest      kept scatters are not changed
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
    if target.misread:
        yield "misread", f"not refused, but wrong: {', '.join(sorted(target.misread))}"
    if target.max_rank is not None:
        yield "ranks", f"at most {target.max_rank} dims"
    if target.max_opset is not None:
        yield "operator set", f"at most {target.max_opset}"
    yield "sizes", "numbers only: --fix gives them" if target.static_only else "numbers or symbols"
    yield "dense forms", _dense(target)
    kept = "become ScatterX" if target.has_scatterx else "are not changed"
    yield "the rest", f"kept scatters {kept}"


def _operators(target: Target) -> str:
    if target.operators is not None:
        return f"{len(target.operators)}: {', '.join(sorted(target.operators))}"
    if target.avoid:
        return f"all standard operators but {', '.join(sorted(target.avoid))}"
    return "all standard operators"


def _limits(limits: OperatorLimits) -> Iterable[str]:
    if limits.types is not None:
        yield f"only of {', '.join(sorted(limits.types))}"
    if limits.no_types:
        yield f"not of {', '.join(sorted(limits.no_types))}"
    if limits.max_rank is not None:
        yield f"at most {limits.max_rank} dims"
    if limits.most is not None:
        yield f"at most {limits.most} elements found"
    if limits.written:
        yield f"only if {', '.join(sorted(limits.written))} is written"
    if limits.reductions is not None:
        yield f"only with reduction {', '.join(sorted(limits.reductions))}"
    if isinstance(limits.steps, frozenset):
        yield f"only steps {', '.join(map(str, sorted(limits.steps)))}"
    if isinstance(limits.native, frozenset) and limits.native:
        yield f"runs on the host, a second choice, unless of {', '.join(sorted(limits.native))}"
    for key, words in _NOT.items():
        if not getattr(limits, key):
            yield words


def _dense(target: Target) -> str:
    if target.dense_limit is None:
        return "small ones only, as their work is data times indices; dense = true allows more"
    if math.isinf(target.dense_limit):
        return "of any size"
    return f"up to {target.dense_limit:.0f} elements in one tensor"
