"""The targets by name: those of the package, and those that a text or a profile describes."""

from __future__ import annotations

import functools
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from onnx_scatterx.errors import ScatterXError, did_you_mean
from onnx_scatterx.files import note_read, parse_toml, recorded
from onnx_scatterx.targets.profile import Find, read_profile, target_from
from onnx_scatterx.targets.target import SCATTERX, STANDARD, Target

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
BASES = {t.name: replace(t, given_as=t.name) for t in (_SCATTERX, STANDARD, _ORT_CPU)}
_VENDORS = {
    "coreml": "apple",
    "nnapi": "android",
    "openvino": "intel",
    "ortweb": "onnxruntime-web",
    "qnn": "hexagon qualcomm snapdragon",
    "rknn": "rk3588 rockchip",
    "sophgo": "bitmain sophon",
    "tensorrt": "jetson nvidia trt",
    "tflite": "litert tensorflow-lite",
}
VENDORS = {name: target for target, names in _VENDORS.items() for name in names.split()}
"""Other names of targets: those of vendors and of their chips."""
_PROFILES = Path(__file__).parent / "profiles"
_MOST_EXTENDED = 8  # profiles
_MOST_OF_PACKAGE = 1 << 14  # bytes of a profile of the package


def profile_names() -> list[str]:
    """Return the names of the profiles of devices and runtimes in the package.

    >>> "qnn" in profile_names()
    True
    """
    return list(_profiles())


@functools.cache
def _profiles() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in _PROFILES.glob("*.toml")))


def target_of(target: AnyTarget) -> Target:
    """Return a target by its name, that of its vendor, or the path of its profile.

    Raises ScatterXError if there is none.

    Keys of a profile may follow, after commas: they change it, and it keeps its name. Capitals do
    not matter in a name.

    >>> target_of("Qualcomm").name, target_of("RKNN").name
    ('qnn', 'rknn')
    >>> target_of("standard").has_scatterx, target_of("rknn").has("NonZero")
    (False, False)
    >>> target_of('rknn, add = ["NonZero"], max_rank = 4').has("NonZero")
    True
    """
    if isinstance(target, Target):
        return target
    text = os.fspath(target)
    keys = "" if os.path.exists(text) else text.partition(",")[2].strip()
    found = _named(text, (), Path())
    if (found.given_as, found.keys) == (text, keys):
        return found
    return replace(found, given_as=text, keys=keys)


def _named(name: str, extending: tuple[str, ...], folder: Path) -> Target:
    """Return a target by its name, or by the path of its profile from a folder.

    ``extending`` are the profiles that are being read; each extends the next.
    """
    if _is_known(name):
        name = VENDORS.get(name.lower(), name.lower())
    if name in BASES:
        return BASES[name]
    if "," in name and not os.path.exists(folder / name):  # of any length
        if all(_is_known(word.strip()) or word.endswith(".toml") for word in name.split(",")):
            raise ScatterXError(f"target {name!r}: these are several; one run takes one target")
        return _changed(name, lambda other: _named(other, extending, folder))
    if name.endswith(".toml"):
        path = folder / name
    elif name in profile_names():
        target, files = _of_package(name)
        for path in files:
            note_read(path, "the profile")
        return target
    elif os.path.exists(folder / f"{name}.toml"):
        raise ScatterXError(f"no target is called {name!r}; did you mean {name}.toml?")
    else:
        names = (*BASES, *profile_names())
        near = did_you_mean(name, (*names, *VENDORS)) or f"; there is {', '.join(names)};"
        new = name if re.fullmatch(r"\w[\w.-]*", name) else "NAME"
        raise ScatterXError(
            f"no target is called {name!r}{near} if a chip is not listed (with --fixed-sizes "
            f"if it takes only numbers as sizes): onnx-scatterx target new {new} "
            "--operators 'Add, Concat, ...'"
        )
    shown = os.fspath(path)
    if shown in extending:
        raise ScatterXError(f"{shown}: it extends itself")
    if len(extending) == _MOST_EXTENDED:
        raise ScatterXError(f"{shown}: more than {_MOST_EXTENDED} profiles extend each other")
    chain = (*extending, shown)
    try:
        return read_profile(shown, BASES, lambda other: _named(other, chain, path.parent))
    except ScatterXError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise
        near = did_you_mean(path.name, sorted(p.name for p in path.parent.glob("*.toml")))
        raise ScatterXError(f"{error}{near}") from error


def _is_known(name: str) -> bool:
    """Return whether a name is that of a target of the package, or of its vendor."""
    return name.lower() in (*BASES, *profile_names(), *VENDORS)


@functools.cache
def _of_package(name: str) -> tuple[Target, tuple[Path, ...]]:
    """Return the target of a profile in the package, and the files that describe it."""
    with recorded() as read:
        path = os.fspath(_PROFILES / f"{name}.toml")
        target = read_profile(
            path, BASES, lambda other: _named(other, (path,), _PROFILES), most=_MOST_OF_PACKAGE
        )
    return target, tuple(read)


def _changed(text: str, find: Find) -> Target:
    """Return a target that is written as ``NAME, key = value, ...``."""
    name, _, keys = text.partition(",")
    try:
        content = parse_toml(f"keys = {{{keys}}}")["keys"]
        if not isinstance(content, dict):
            raise ScatterXError("these are not keys of a profile")
        base = find(name.strip())
        changed = {"name": base.name, "extends": name.strip(), **content}
        return target_from(changed, BASES, lambda _: base)
    except ScatterXError as error:
        is_quoted = not isinstance(error.__cause__, ValueError)
        remedy = "" if is_quoted else "; write keys as in 'qnn, add = [\"Pad\"], dense = true'"
        raise ScatterXError(f"target {text!r}: {error}{remedy}") from error


def all_targets() -> list[Target]:
    """Return every target that has a name."""
    return [*BASES.values(), *(target_of(name) for name in profile_names())]
