"""Checks the files in dist/ before a release.

    PYTHONPATH=.ci python -m wheels.release [PYTHON ...]

Metadata; whether the dependencies have wheels, for each Python and platform; the wheel for this
machine in an empty environment of each Python that is here, where README's first command runs and
the operator's tests; the same from the source distribution, and with the oldest dependencies.
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

from wheels.built import DIST, ROOT, source_archive, tests_alone, tool, wheel_of
from wheels.platforms import PLATFORMS

WORK = ROOT / "build" / "wheels" / "release"
MINORS = (11, 12, 13, 14)
_MAC = ("universal2",)
NEWEST = {  # the tags that a new system of each platform takes, by its name and processor
    "linux-x86_64": [f"manylinux_2_{n}_x86_64" for n in range(39, 16, -1)],
    "linux-aarch64": [f"manylinux_2_{n}_aarch64" for n in range(39, 16, -1)],
    "macos arm64": [f"macosx_{n}_0_{on}" for n in range(15, 10, -1) for on in ("arm64", *_MAC)],
    "macos x86_64": [f"macosx_{n}_0_{on}" for n in range(15, 10, -1) for on in ("x86_64", *_MAC)],
    "windows": ["win_amd64"],
}
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
    """Check the metadata, the dependencies and the installations."""
    pythons = sys.argv[1:] or list(_pythons())
    tool("twine", "check", "--strict", *map(str, sorted(DIST.iterdir())))
    print(f"metadata: twine finds nothing in {len(list(DIST.iterdir()))} files", flush=True)
    for system, tags in NEWEST.items():
        print(f"dependencies on {system}: {', '.join(_supplied(system, tags))}", flush=True)
    source = tests_alone(WORK)
    own = next(p for p in PLATFORMS if p.name == f"linux-{machine.machine()}")
    for python in pythons:
        _try(python, wheel_of(own), source, OPERATOR)
    _try(pythons[0], source_archive(), source, OPERATOR)
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
    python: str, package: Path, source: Path, tests: Sequence[str], pins: Sequence[str] = ()
) -> None:
    """Install into an empty environment, and run README's first command and tests there."""
    place = WORK / "environment"
    shutil.rmtree(place, ignore_errors=True)
    _run(python, "-m", "venv", str(place), at=source)
    own = str(place / "bin" / "python")
    (command,) = re.findall(
        r"^pip install \. && (onnx-scatterx .*)$", (ROOT / "README.md").read_text("utf-8"), re.M
    )[:1]
    _run(own, "-m", "pip", "install", "--quiet", str(package), *pins, at=source)
    where = _run(own, "-c", "import onnx_scatterx as o; print(o.library_path())", at=source)
    told = _run("sh", "-c", command, at=source, path=place / "bin")
    verdict = next(line for line in told.splitlines() if line.startswith("the same"))
    _run(own, "-m", "pip", "check", at=source)
    _run(own, "-m", "pip", "install", "--quiet", f"{package}[test]", *pins, at=source)
    last = _run(own, "-m", "pytest", "-q", "-n", "0", *tests, at=source).strip().splitlines()[-1]
    with_them = f" with {', '.join(pins)}" if pins else ""
    print(f"{package.name} in {_version(own)}{with_them}")
    print(f"    library: {Path(where.strip()).name}; {command}: {verdict}")
    print(f"    {len(tests)} files of tests: {last}", flush=True)


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
