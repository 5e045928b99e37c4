"""Tests the wheels of dist/, each as far as this machine can.

    PYTHONPATH=.ci python -m wheels.test [linux-x86_64] [linux-aarch64] [macos] [windows] [any]

linux-x86_64    the kernel's tests and fuzz; installed: models, the operator's tests, a command
linux-aarch64   the same in an emulated Linux
windows         the kernel's tests and fuzz, and models in the ONNX Runtime for Windows, in wine
macos           looked into, and not run
any             without ONNX Runtime, processes and threads: all that runs no model
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from wheels import emulation
from wheels.built import ROOT, pure_wheel, tests_alone, tool, wheel_of
from wheels.compile import compile_all
from wheels.emulation import Machine
from wheels.examine import faults, library_of, slices
from wheels.platforms import PLATFORMS, Platform

WORK = ROOT / "build" / "wheels" / "tests"
NEEDED = ("pytest", "pytest-xdist", "hypothesis")
COMMAND = ("optimize", "models/yolox_head_ts_dynamic.onnx", "-o", "yolox_head.onnx", "--verify")


def main() -> None:
    """Test the wheels that are named, or all."""
    names = sys.argv[1:] or [*TESTS, "any"]
    chosen = [platform for platform in PLATFORMS if platform.name in names]
    if not {*names} <= {*TESTS, "any"}:
        sys.exit(f"a platform is one of {', '.join([*TESTS, 'any'])}")
    WORK.mkdir(parents=True, exist_ok=True)
    source = tests_alone(WORK)
    for platform in chosen:
        started = time.monotonic()
        print(f"== {platform.name}: {wheel_of(platform).name}", flush=True)
        TESTS[platform.name](platform, source)
        print(f"   {time.monotonic() - started:.0f} s", flush=True)
    if "any" in names:
        print(f"== any: {pure_wheel().name}", flush=True)
        _on_any(source)


def _on_linux(platform: Platform, source: Path) -> None:
    machine = Machine("this machine")
    python = _own_python(platform)
    (site,) = (WORK / "own" / "lib").glob("python*/site-packages")
    _library(machine, platform, source, *site.glob("onnxruntime/capi/libonnxruntime.so.*"))
    _installed(machine, source, python)


def _on_arm(platform: Platform, source: Path) -> None:
    machine = emulation.arm(WORK)
    python = emulation.python_of(machine, WORK / "aarch64" / "python")
    host = Machine(machine.name)
    facts = "import os, sys; print(*sys.version_info[:2], os.confstr('CS_GNU_LIBC_VERSION'))"
    major, minor, _, glibc = host.run(python, "-c", facts, at=source).split()
    site = WORK / "aarch64" / "site"
    shutil.rmtree(site, ignore_errors=True)
    oldest, newest = 17, int(glibc.split(".")[1])
    fitting = [f"manylinux_2_{n}_aarch64" for n in range(newest, oldest - 1, -1)]
    tool(
        "pip", "--quiet", "install", "--target", str(site), "--only-binary", ":all:",
        "--implementation", "cp", "--python-version", f"{major}.{minor}",
        str(wheel_of(platform)), *NEEDED,
        *(word for tag in (*fitting, "manylinux2014_aarch64") for word in ("--platform", tag)),
    )  # fmt: skip
    runtimes = site.glob("onnxruntime/capi/libonnxruntime.so.*")
    _library(machine, platform, source, *runtimes)
    _installed(host, source, str(python), PYTHONPATH=str(site))


def _on_windows(platform: Platform, source: Path) -> None:
    machine = emulation.windows(WORK)
    site = WORK / "x86_64-windows"
    shutil.rmtree(site, ignore_errors=True)
    tool(
        "pip", "--quiet", "install", "--target", str(site), "--no-deps",
        "--only-binary", ":all:", "--platform", "win_amd64", "--python-version", "3.11",
        "onnxruntime",
    )  # fmt: skip
    _library(machine, platform, source, site / "onnxruntime" / "capi" / "onnxruntime.dll")


def _on_macos(platform: Platform, _: Path) -> None:
    found = slices(library_of(wheel_of(platform), platform))
    wrong = list(faults(platform, found))
    if wrong:
        sys.exit("; ".join(wrong))
    for part in found:
        signed = "signed" if part.signed else "not signed"
        print(f"   {part.machine}: {part.oldest}, {part.install_name}, {signed}")
        print(f"      exports {', '.join(sorted(part.exports))}")
    print("   not run: no machine of this kind is here")


def _on_any(source: Path) -> None:
    """Use the wheel without a library where packages, processes and threads are missing."""
    shutil.rmtree(WORK / "any", ignore_errors=True)
    tool("venv", "--without-pip", str(WORK / "any"))
    python = str(WORK / "any" / "bin" / "python")
    tool("pip", "--quiet", "--python", python, "install", str(pure_wheel()))
    tool("pip", "--quiet", "--python", python, "uninstall", "--yes", "onnxruntime")
    lacking = source / "tests" / "helpers" / "lacking"
    own = WORK / "any" / "tmp"  # without fcntl, others may remove its temporary files
    own.mkdir()
    variables = {
        "TMPDIR": str(own),
        "PYTHONPATH": str(lacking),
        "LACKS": "onnxruntime processes",
    }
    told = Machine("this machine").run(
        python, lacking / "everything.py", source / "models", at=WORK, **variables
    )
    for line in told.strip().splitlines()[-6:]:
        print(f"   {line}")


def _library(machine: Machine, platform: Platform, source: Path, runtime: Path) -> None:
    """Run the kernel's tests, and those of the wheel's library in an ONNX Runtime."""
    (target,) = platform.targets
    build = compile_all(source, target, WORK / target.triple, tests=True) / "tests"
    library = WORK / target.triple / "wheel" / platform.library
    library.parent.mkdir(exist_ok=True)
    library.write_bytes(library_of(wheel_of(platform), platform))
    ending = ".exe" if target.system == "Windows" else ""
    fuzz = ("--cases", "20000", "--seconds", "30", "--seed", "1")
    for name, *words in (
        ("kernel_test",),
        ("split_test",),
        ("half_test",),
        ("fuzz", *fuzz),
        ("fuzz_portable", *fuzz),
        ("register_test", library),
        ("session_test", runtime, library, _cases(source)),
    ):
        told = machine.run(build / f"{name}{ending}", *words, at=WORK).strip().splitlines()
        print(f"   {machine.name}: {name}: {told[-1] if told else 'passed'}", flush=True)


def _installed(machine: Machine, source: Path, python: str, **variables: str) -> None:
    """Run the operator's tests with the installed wheel, and a command."""
    program = "import onnx_scatterx; print(onnx_scatterx.library_path())"
    where = machine.run(python, "-c", program, at=source, **variables)
    if str(source) in where:
        sys.exit(f"the library is not the wheel's: {where}")
    found = sorted((source / "tests" / "engine" / "native").glob("test_custom_op*.py"))
    if not found:
        sys.exit("the source distribution has no tests of the operator")
    tests = [str(path.relative_to(source)) for path in found]
    variables |= {"PYTHONDONTWRITEBYTECODE": "", "ALL_CASES": "1"}
    told = machine.run(python, "-m", "pytest", "-q", "-n", "0", *tests, at=source, **variables)
    print(f"   {machine.name}: {' '.join(tests)}: {told.strip().splitlines()[-1]}", flush=True)
    told = machine.run(python, "-m", "onnx_scatterx", *COMMAND, at=source, **variables)
    verdict = next(line.strip() for line in told.splitlines() if "the same" in line)
    print(f"   {machine.name}: onnx-scatterx {' '.join(COMMAND)}: {verdict}", flush=True)


def _own_python(platform: Platform) -> str:
    """Return the Python of a new environment of this machine, with the wheel in it."""
    shutil.rmtree(WORK / "own", ignore_errors=True)
    tool("venv", "--without-pip", str(WORK / "own"))
    python = str(WORK / "own" / "bin" / "python")
    tool("pip", "--quiet", "--python", python, "install", str(wheel_of(platform)), *NEEDED)
    return python


def _cases(source: Path) -> Path:
    """Return a file of models, made by this machine."""
    file = source / "cases.bin"
    if not file.is_file():
        own = WORK / "own" / "bin" / "python"
        python = str(own) if own.is_file() else _own_python(PLATFORMS[0])
        maker = ROOT / ".ci" / "wheels" / "cases.py"
        Machine("this machine").run(python, maker, file, at=source, PYTHONPATH=str(source))
    return file


TESTS: dict[str, Callable[[Platform, Path], None]] = {
    "linux-x86_64": _on_linux,
    "linux-aarch64": _on_arm,
    "macos": _on_macos,
    "windows": _on_windows,
}

if __name__ == "__main__":
    main()
