"""Examines a wheel: the properties of its library, and whether they are as promised."""

from __future__ import annotations

import fnmatch
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import lief

from wheels.platforms import ENTRY, Platform
from wheels.signature import is_signed

lief.logging.disable()  # faults() says what is wrong

# What zig's linker for macOS exports beside the one function: it takes no list of symbols. These
# are operator new and delete in the library's own C++ runtime, and two marks of any library.
_NEW_AND_DELETE = ("__Zn[aw]*", "__Zd[al]*")
_MARKS = ("___dso_handle", "__mh_dylib_header")


@dataclass(frozen=True)
class Slice:
    """A library for one processor, as its file tells it.

    ``oldest`` is the system that it runs on at least, empty where the file does not say;
    ``install_name`` and ``signed`` are for macOS.
    """

    machine: str
    exports: frozenset[str]
    needs: frozenset[str]
    oldest: str = ""
    install_name: str = ""
    signed: bool = False


def library_of(wheel: Path, platform: Platform) -> bytes:
    """Return the bytes of the library in a wheel; raise KeyError if the wheel lacks it."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(f"onnx_scatterx/{platform.library}")


def slices(library: bytes) -> tuple[Slice, ...]:
    """Return the properties of a library for each of its processors."""
    parsed = lief.parse(library)
    if isinstance(parsed, lief.ELF.Binary):
        return (_elf(parsed),)
    if isinstance(parsed, lief.PE.Binary):
        return (_pe(parsed),)
    universal = lief.MachO.parse(library)
    if universal is None:
        raise ValueError("the library is in no known format")
    return tuple(_mach_o(part, library) for part in universal)


def _elf(library: lief.ELF.Binary) -> Slice:
    asked = {
        tuple(map(int, str(version.name).removeprefix("GLIBC_").split(".")))
        for needed in library.symbols_version_requirement
        for version in needed.get_auxiliary_symbols()
    }
    return Slice(
        library.header.machine_type.name.lower(),
        frozenset(str(symbol.name) for symbol in library.exported_symbols),
        frozenset(map(str, library.libraries)),
        f"glibc {'.'.join(map(str, max(asked)))}",
    )


def _pe(library: lief.PE.Binary) -> Slice:
    exported = library.get_export()
    return Slice(
        library.header.machine.name.lower(),
        frozenset(str(entry.name) for entry in exported.entries) if exported else frozenset(),
        frozenset(str(needed.name).lower() for needed in library.imports),
    )


def _mach_o(library: lief.MachO.Binary, content: bytes) -> Slice:
    names = {command.command: command.name for command in library.libraries}
    needs = [c.name for c in library.libraries if c.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB]
    built_for, info = library.build_version, library.dyld_info
    version = built_for.minos if built_for else [999, 0]  # not known is too new
    start = library.fat_offset
    signature = library.code_signature if library.has_code_signature else None
    return Slice(
        library.header.cpu_type.name.lower(),
        frozenset(str(e.symbol.name) for e in info.exports if e.symbol) if info else frozenset(),
        frozenset(map(str, needs)),
        f"macOS {version[0]}.{version[1]}",
        str(names.get(lief.MachO.LoadCommand.TYPE.ID_DYLIB, "")),
        signature is not None and is_signed(content[start:], signature.data_offset),
    )


def faults(platform: Platform, found: tuple[Slice, ...]) -> Iterator[str]:
    """Yield the broken promises, for each slice of a library."""
    if len(found) != len(platform.targets):
        yield f"is for {len(found)} processors, not {len(platform.targets)}"
    for part in found:
        of = f"{part.machine}: "
        symbol = f"_{ENTRY}" if platform.library.endswith(".dylib") else ENTRY
        spare = (*_NEW_AND_DELETE, *_MARKS) if symbol != ENTRY else ()
        if symbol not in part.exports:
            yield f"{of}does not export {ENTRY}"
        for name in sorted(part.exports - {symbol}):
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in spare):
                yield f"{of}exports {name}"
        for name in sorted(part.needs):
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in platform.needs):
                yield f"{of}needs {name}"
        if part.oldest and _version(part.oldest) > _version(platform.oldest):
            yield f"{of}needs {part.oldest}"
        if symbol != ENTRY and part.install_name != f"@rpath/{platform.library}":
            yield f"{of}is installed as {part.install_name!r}"
        if part.machine == "arm64" and not part.signed:
            yield f"{of}is not signed"


def _version(system: str) -> tuple[int, ...]:
    return tuple(int(number) for number in system.split()[-1].split("."))
