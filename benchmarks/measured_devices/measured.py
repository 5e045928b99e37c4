"""Compares profiles with what others measured of their devices, and writes such profiles.

    pip install pyarrow
    pip download --no-deps winml-cli==0.4.0
    just measured winml_cli-0.4.0-py3-none-any.whl [NAME...] [--write]

winml-cli (MIT) carries tables of single nodes that were compiled for a device and run there. The
results were not compared, so they tell nothing of what is computed wrongly. NAME is a profile:
intel-npu, tensorrt-rtx, qnn-gpu, or qnn, which was made with a simulator. With --write the files of
the first three are written: their heads are kept, operators and limits are made anew. Fails if a
profile that was written takes too few of the successes, or too many of the failures.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.measured_devices.cases import Case, cases
from benchmarks.measured_devices.judging import WRITTEN, judged, separated, table, taken_of
from benchmarks.measured_devices.profiles import profile
from benchmarks.measured_devices.tables import DEVICES, Table, tables
from onnx_scatterx import Target
from onnx_scatterx.targets import target_of

_LEARNT, _JUDGED = 1600, 8000  # cases of an operator
_USUAL = ("float", "float16", "int64", "int32", "bool")
_PROFILES = Path(__file__).parents[2] / "onnx_scatterx" / "targets" / "profiles"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table for each profile."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("wheel", type=Path, help="of winml-cli")
    parser.add_argument("names", nargs="*", default=[*DEVICES], help="of profiles")
    parser.add_argument("--write", action="store_true", help="write the profiles")
    args = parser.parse_args(arguments)
    good = True
    for name in args.names:
        read = [*tables(args.wheel, name)]
        path = _PROFILES / f"{name}.toml"
        is_ours = name != "qnn"  # that one says what a simulator says
        if args.write and is_ours:
            head = path.read_text(encoding="utf-8").split("operators = [")[0]
            path.write_text(profile(head, _cases(read, _LEARNT)), encoding="utf-8")
        measured = _cases(read, _JUDGED)
        target = target_of(name)
        print(f"## {name}\n\n{table(measured, target)}\n")
        if is_ours:
            there = [op for op in WRITTEN if op in measured and target.has(op)]
            good &= all(judged(measured[op], target).good for op in there)
        else:
            _print_differences(measured, target)
    return 0 if good else 1


def _cases(read: Sequence[Table], most: int) -> dict[str, list[Case]]:
    """Return the cases by operator: fewer of those that are not written most."""
    found = {t.operator: cases(t, most if t.operator in WRITTEN else most // 4) for t in read}
    return {operator: some for operator, some in found.items() if some}


def _print_differences(measured: Mapping[str, Sequence[Case]], target: Target) -> None:
    """Print in which operators a profile that was made otherwise and the measurement disagree."""
    print("Only measured, or only in the profile:\n")
    for operator, found in measured.items():
        ran, taken = sum(case.ran for case in found), target.has(operator)
        if taken != (ran > 0):
            print(f"- {operator}: {'in' if taken else 'not in'} the profile, {ran} cases ran")
    print("\nOther operators in which they differ, of the types that models have most:\n")
    for operator, found in measured.items():
        cases = [c for c in found if c.use.dtype is None or c.use.dtype.name.lower() in _USUAL]
        if target.has(operator) and any(case.ran for case in cases):
            told = judged(cases, target)
            if told.share < 0.9:
                print(f"- {operator}: {told.share:.1%} of the successes are taken")
            if told.failing > 0.02:
                print(f"- {operator}: {told.failing:.1%} of what is taken fail:")
                for words in separated(told.failed, taken_of(cases, target)):
                    print(f"  - {words}")
