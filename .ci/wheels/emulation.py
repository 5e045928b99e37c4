"""Programs for other systems on this one: Arm Linux by qemu, Windows by wine, both from Debian."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wheels.debian import unpack

# A processor of the newer boards. ONNX Runtime reads its properties from files, which qemu does not
# provide; without them ONNX Runtime crashes.
_PROCESSOR = "cortex-a76"
_FILES = {
    "proc/cpuinfo": "".join(
        f"processor\t: {i}\nBogoMIPS\t: 48.00\n"
        "Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm"
        " lrcpc dcpop asimddp\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x4\n"
        "CPU part\t: 0xd0b\nCPU revision\t: 0\n\n"
        for i in range(2)
    ),
    "sys/devices/system/cpu/possible": "0-1\n",
    "sys/devices/system/cpu/present": "0-1\n",
}


@dataclass(frozen=True)
class Machine:
    """A system that runs programs: the words before a program's, and the environment variables."""

    name: str
    before: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    root: Path = Path("/")

    def run(self, *words: str | Path, at: Path, **variables: str) -> str:
        """Return the output of a program; if it fails, end this process."""
        command = [*self.before, *map(str, words)]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(at), **self.variables, **variables}
        done = subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(
                f"{self.name}: {' '.join(map(str, words))} ended with {done.returncode}:\n"
                f"{done.stdout[-8000:]}{done.stderr[-8000:]}"
            )
        return done.stdout


def arm(work: Path) -> Machine:
    """Return an Arm Linux with Python in it."""
    qemu = unpack(("qemu-user-static",), work / "qemu") / "usr" / "bin" / "qemu-aarch64-static"
    root = unpack(("python3", "libstdc++6"), work / "arm64", "arm64")
    for name, content in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content, "utf-8")
    version = subprocess.run([qemu, "--version"], capture_output=True, text=True).stdout.split()[2]
    before = (str(qemu), "-cpu", _PROCESSOR, "-L", str(root))
    return Machine(f"qemu {version}, {_PROCESSOR}", before, root=root)


def python_of(machine: Machine, program: Path) -> Path:
    """Write a program that is the Python of an emulated Linux, and return it.

    A process starts another by its ``sys.executable``, so that has to be a program of this machine.
    """
    (python,) = (machine.root / "usr" / "bin").glob("python3.[0-9]*[0-9]")
    words = " ".join(f"'{word}'" for word in machine.before)
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(
        f"#!/bin/sh\nexport PYTHONHOME='{machine.root}/usr'\n"
        f"exec {words} -0 '{program}' '{python}' \"$@\"\n",
        "utf-8",
    )
    program.chmod(0o755)
    return program


def windows(work: Path) -> Machine:
    """Return a Windows, with an empty drive C."""
    root = unpack(("wine64",), work / "wine") / "usr"
    server = root / "lib" / "wine" / "wineserver"
    server.unlink()  # Debian's is a script that looks where nothing is installed
    server.symlink_to("wineserver64")
    prefix = work / "drive"
    shutil.rmtree(prefix, ignore_errors=True)
    system = prefix / "drive_c" / "windows" / "system32"
    system.mkdir(parents=True)
    shutil.copy(root / "x86_64-w64-mingw32" / "lib" / "zlib1.dll", system)
    wine = root / "lib" / "wine" / "wine64"
    variables = {
        "WINEPREFIX": str(prefix),
        "WINEDEBUG": "-all",
        "LD_LIBRARY_PATH": str(root / "lib" / "x86_64-linux-gnu"),
    }
    machine = Machine("wine", (str(wine),), variables)
    version = subprocess.run(
        [wine, "--version"], env=variables, capture_output=True, text=True
    ).stdout.split()[0]
    machine.run("cmd", "/c", "ver", at=prefix)  # fills drive C
    return Machine(version.replace("-", " "), machine.before, variables)
