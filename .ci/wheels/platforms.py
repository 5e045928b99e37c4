"""The platforms for which wheels are built, and the requirements of each for its library."""

from __future__ import annotations

from dataclasses import dataclass

ENTRY = "RegisterCustomOps"
"""The one function of the library."""


@dataclass(frozen=True)
class Target:
    """What one compilation is for, as zig and as CMake call it."""

    triple: str
    system: str
    machine: str


@dataclass(frozen=True)
class Platform:
    """A wheel: its name here, its platform tag, the library in it, and the library's requirements.

    ``needs`` are the libraries that it may load, all parts of the system; ``oldest`` is the system
    that it runs on at least.
    """

    name: str
    tag: str
    library: str
    targets: tuple[Target, ...]
    needs: frozenset[str]
    oldest: str


def _linux(machine: str, loader: str) -> Platform:
    return Platform(
        name=f"linux-{machine}",
        tag=f"manylinux_2_17_{machine}.manylinux2014_{machine}",
        library="scatterx_ops.so",
        targets=(Target(f"{machine}-linux-gnu.2.17", "Linux", machine),),
        needs=frozenset({"libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", loader}),
        oldest="glibc 2.17",
    )


PLATFORMS = (
    _linux("x86_64", "ld-linux-x86-64.so.2"),
    _linux("aarch64", "ld-linux-aarch64.so.1"),
    Platform(
        name="macos",
        tag="macosx_11_0_universal2",
        library="scatterx_ops.dylib",
        targets=(
            Target("x86_64-macos.11.0", "Darwin", "x86_64"),
            Target("aarch64-macos.11.0", "Darwin", "arm64"),
        ),
        needs=frozenset({"/usr/lib/libSystem.B.dylib"}),
        oldest="macOS 11.0",
    ),
    Platform(
        name="windows",
        tag="win_amd64",
        library="scatterx_ops.dll",
        targets=(Target("x86_64-windows-gnu", "Windows", "AMD64"),),
        needs=frozenset({"kernel32.dll", "api-ms-win-crt-*.dll"}),
        oldest="Windows 10",
    ),
)
