"""Checks the files in dist/ before a release.

    PYTHONPATH=.ci python -m wheels.release [PYTHON ...]

The version and its date, the metadata, README as an index shows it, and whether the dependencies
have wheels, for each Python and platform. Then the wheel for this machine, the one without the
library and the source distribution are installed into an empty environment each, of each Python
that is here. README's first command runs there, and a model with a ScatterX node. The operator's
tests run with the wheel, with the source distribution, and with the oldest dependencies. The
digests of the files are printed, and written to build/wheels/SHA256SUMS.
"""

from __future__ import annotations

import glob
import os
import platform as machine
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from wheels.built import DIST, ROOT, pure_wheel, source_archive, tests_alone, tool, wheel_of
from wheels.described import page_faults, version_faults, write_digests
from wheels.platforms import PLATFORMS

WORK = ROOT / "build" / "wheels" / "release"
SUMS = ROOT / "build" / "wheels" / "SHA256SUMS"
MINORS = (11, 12, 13, 14)
_MAC = ("universal2",)
NEWEST = {  # the tags that a new system of each platform takes, by its name and processor
    "linux-x86_64": [f"manylinux_2_{n}_x86_64" for n in range(39, 16, -1)],
    "linux-aarch64": [f"manylinux_2_{n}_aarch64" for n in range(39, 16, -1)],
    "macos arm64": [f"macosx_{n}_0_{on}" for n in range(15, 10, -1) for on in ("arm64", *_MAC)],
    "macos x86_64": [f"macosx_{n}_0_{on}" for n in range(15, 10, -1) for on in ("x86_64", *_MAC)],
    "windows": ["win_amd64"],
}
KEPT = (  # a scatter that is kept becomes ScatterX, which runs by the library or its fallback
    "optimize models/kv_cache_dynamo.onnx -o kept.onnx --verify",
    "run kept.onnx",
)
OPERATOR = ("tests/engine/native/test_custom_op.py", "tests/engine/native/test_custom_op_memory.py")
# With the oldest, not all: of the models in the others, before they are optimized, ONNX Runtime
# 1.18 crashes on some and computes others wrongly.
OLDEST = (
    *OPERATOR,
    "tests/engine/lift/test_lift_scatter.py",
    "tests/project/test_models.py",
    "tests/doors/cli/test_run.py",
    "tests/tell/page/test_document.py",
    "tests/engine/native/test_scatterx.py",
)


def main() -> None:
    """Check what is said, the dependencies and the installations."""
    pythons = sys.argv[1:] or list(_pythons())
    wrong = [*version_faults(), *page_faults()]
    if wrong:
        sys.exit("\n".join(wrong))
    tool("twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    print(f"metadata, and README on an index: right in {len(list(DIST.iterdir()))} files")
    print(write_digests(SUMS), end="", flush=True)
    for system, tags in NEWEST.items():
        print(f"dependencies on {system}: {', '.join(_supplied(system, tags))}", flush=True)
    source = tests_alone(WORK)
    own = next(p for p in PLATFORMS if p.name == f"linux-{machine.machine()}")
    for python in pythons:
        _try(python, wheel_of(own), source, OPERATOR)
        _try(python, pure_wheel(), source)
        _try(python, source_archive(), source, OPERATOR if python == pythons[0] else ())
    _try(pythons[0], wheel_of(own), source, OLDEST, _oldest())
    missing = [f"3.{n}" for n in MINORS if not any(_minor(python) == n for python in pythons)]
    if missing:
        print(f"not tried: Python {', '.join(missing)}, which is not here")


def _pythons() -> Iterator[str]:
    """Yield a Python of each supported version that is installed."""
    managed = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    for minor in MINORS:
        name = f"python3.{minor}"
        for found in (shutil.which(name), *glob.glob(f"{managed}/versions/3.{minor}.*/bin/python")):
            if found and _minor(found) == minor:
                yield found
                break


def _minor(python: str) -> int | None:
    asked = [python, "-c", "import sys; print(sys.version_info[1])"]
    done = subprocess.run(asked, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else None


def _supplied(system: str, tags: Sequence[str]) -> Iterator[str]:
    """Yield each Python, and whether all dependencies have wheels for it."""
    wheel = next(wheel_of(p) for p in PLATFORMS if p.name == system.split()[0])
    for minor in MINORS:
        done = subprocess.run(
            [
                sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed",
                "--target", str(WORK / "nothing"), "--only-binary", ":all:",
                "--python-version", f"3.{minor}", "--implementation", "cp",
                *(word for tag in tags for word in ("--platform", tag)),
                str(wheel),
            ],
            capture_output=True, text=True,
        )  # fmt: skip
        found = re.search(r"onnxruntime-([\d.]+)", done.stdout.partition("Would install")[2])
        yield f"3.{minor} (onnxruntime {found[1]})" if found else f"none for 3.{minor}"


def _oldest() -> list[str]:
    """Return the dependencies, each in the oldest version that is declared to do."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return [dependency.replace(">=", "==") for dependency in project["dependencies"]]


def _try(
    python: str,
    package: Path,
    source: Path,
    tests: Sequence[str] = (),
    pins: Sequence[str] = (),
) -> None:
    """Install into an empty environment; run README's first command, a ScatterX, and tests."""
    place = WORK / "environment"
    shutil.rmtree(place, ignore_errors=True)
    _run(python, "-m", "venv", str(place), at=source)
    own = str(place / "bin" / "python")
    readme = (ROOT / "README.md").read_text("utf-8")
    first = re.findall(r"^(?:pip install .* && )?onnx-scatterx (optimize .*)$", readme, re.M)[0]
    _run(own, "-m", "pip", "install", "--quiet", str(package), *pins, at=source)
    _run(own, "-m", "pip", "check", at=source)
    with_them = f" with {', '.join(pins)}" if pins else ""
    print(f"{package.name} in {_version(own)}{with_them}")
    about = _run("sh", "-c", "onnx-scatterx --version", at=source, path=place / "bin")
    print(f"    version {'; '.join(about.split(chr(10))).strip('; ')}")
    for command in (first, *KEPT):
        told = _run("sh", "-c", f"onnx-scatterx {command}", at=source, path=place / "bin")
        said = [line.strip() for line in told.splitlines() if "the same" in line]
        print(f"    {command}: {said[0] if said else 'done'}", flush=True)
    if tests:
        _run(own, "-m", "pip", "install", "--quiet", f"{package}[test]", *pins, at=source)
        told = _run(own, "-m", "pytest", "-q", "-n", "0", *tests, at=source)
        print(f"    {len(tests)} files of tests: {told.strip().splitlines()[-1]}", flush=True)


def _version(python: str) -> str:
    return _run(python, "--version", at=WORK).strip()


def _run(*words: str, at: Path, path: Path | None = None) -> str:
    first = f"{path}{os.pathsep}" if path else ""
    environment = {**os.environ, "PATH": first + os.environ["PATH"], "ALL_CASES": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(words, cwd=at, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}:\n{done.stdout[-8000:]}{done.stderr[-8000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
