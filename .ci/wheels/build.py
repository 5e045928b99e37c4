"""Builds a release: the source distribution, and from it the wheels.

    PYTHONPATH=.ci python -m wheels.build [--output DIR] [--work DIR]

There is a wheel for every platform, and one without a library. It runs in the environment of
requirements.txt.

All is built from the source distribution, which holds the files that git tracks. The result does
not depend on the place or the time: dates are SOURCE_DATE_EPOCH or, if it is not set, the date of
the last commit.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

from wheels import sdist
from wheels.assemble import assemble
from wheels.compile import compile_library
from wheels.examine import faults, library_of, slices
from wheels.platforms import PLATFORMS

ROOT = Path(__file__).parents[2]


def main() -> None:
    """Build, examine, and say what came out."""
    parser = argparse.ArgumentParser(description="Build the wheels of a release.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "wheels")
    args = parser.parse_args()
    work = args.work.resolve()
    os.environ.setdefault("SOURCE_DATE_EPOCH", _run("git", "log", "-1", "--format=%ct").strip())
    output = args.output.resolve()
    shutil.rmtree(output, ignore_errors=True)
    source_archive = _source(output)
    source = _unpacked(source_archive, work / "source")
    pure = _pure(source, work / "pure")
    _tell(source_archive)
    _tell(Path(shutil.copy(pure, output)))
    for platform in PLATFORMS:
        started = time.monotonic()
        library = compile_library(source, platform, work / "compiled")
        made = assemble(pure, library, platform, work / "assembled")
        wheel = Path(shutil.move(made, output / made.name))
        found = slices(library_of(wheel, platform))
        wrong = list(faults(platform, found))
        if wrong:
            sys.exit(f"{wheel.name}: {'; '.join(wrong)}")
        _tell(wheel, f"{time.monotonic() - started:.0f} s")
        for part in found:
            signed = ", signed" * part.signed
            print(
                f"    {part.machine}: {part.oldest or platform.oldest}{signed}; needs "
                f"{', '.join(sorted(part.needs))}; exports {', '.join(sorted(part.exports))}"
            )
        print(f"    library: {len(library):,} bytes")


def _source(output: Path) -> Path:
    _run(sys.executable, "-m", "build", "--no-isolation", "--sdist", "--outdir", str(output))
    (archive,) = output.glob("*.tar.gz")
    wrong = sdist.faults(archive, ROOT)
    if wrong:
        sys.exit(f"{archive.name}: {'; '.join(wrong)}")
    return archive


def _unpacked(archive: Path, to: Path) -> Path:
    shutil.rmtree(to, ignore_errors=True)
    with tarfile.open(archive) as content:
        content.extractall(to, filter="data")
    (source,) = to.iterdir()
    return source


def _pure(source: Path, to: Path) -> Path:
    """Return the wheel without a library."""
    shutil.rmtree(to, ignore_errors=True)
    _run(
        sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(to),
        "--config-setting=wheel.cmake=false", str(source),
    )  # fmt: skip
    (wheel,) = to.glob("*-none-any.whl")
    return wheel


def _tell(file: Path, more: str = "") -> None:
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    print(f"{file.name}  {len(content):,} bytes  sha256 {digest}  {more}".rstrip(), flush=True)


def _run(*words: str) -> str:
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    main()
