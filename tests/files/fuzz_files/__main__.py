"""Makes and judges cases until the time is up; writes those with faults to a directory."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

# What every command imports late is imported here, once for all cases.
import onnx_scatterx.compare.verifying
import onnx_scatterx.doors.batch.many
import onnx_scatterx.lab.benchmarking.models
import onnx_scatterx.tell.explanation  # noqa: F401 - imported early
from tests.files.fuzz_files.cases import MODELS, Case, case
from tests.files.fuzz_files.judge import faults
from tests.helpers.isolation import Ended, run


def main() -> int:
    """Return 1 if a case had a fault."""
    parser = argparse.ArgumentParser(prog="python -m tests.files.fuzz_files", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="of the cases (0)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case (0)")
    parser.add_argument("--cases", type=int, help="how many; by default as the time allows")
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--cpu", type=int, default=60, help="CPU seconds of one command (60)")
    parser.add_argument("--slow", type=float, default=20, help="seconds that are told (20)")
    parser.add_argument("--models", type=Path, default=MODELS, help="where good models are")
    parser.add_argument("--keep", type=Path, help="a directory for the cases with faults")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    statuses: Counter[int] = Counter()
    bad = number = 0
    while number < args.cases if args.cases is not None else time.monotonic() < end:
        here = args.first + number
        made = case(args.seed, here, args.models)
        with tempfile.TemporaryDirectory() as place:
            directory = Path(place) / "case"
            directory.mkdir()
            made.write(directory)
            ended = run(made.arguments, directory, made.environment, args.cpu)
            found = [*faults(made, ended, directory)]
        statuses[ended.status] += 1
        if found or ended.seconds > args.slow:
            bad += bool(found)
            _tell(here, made, ended, found)
            if args.keep is not None:
                made.write(args.keep / f"{args.seed}.{here}")
        number += 1
    told = ", ".join(f"{count} ended with {status}" for status, count in sorted(statuses.items()))
    print(f"{number} cases, seed {args.seed}: {told}; {bad} had faults")
    return bool(bad)


def _tell(number: int, made: Case, ended: Ended, found: list[str]) -> None:
    print(f"case {number}: {'; '.join(found) or 'slow'} ({ended.seconds:.1f} s)")
    print(f"  onnx-scatterx {shlex.join(made.arguments)[:300]}")
    for line in ended.err.splitlines()[-6:]:
        print(f"  | {line[:300]!r}")


if __name__ == "__main__":
    sys.exit(main())
