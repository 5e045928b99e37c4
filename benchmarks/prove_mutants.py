"""Faults are put into optimized models. If a faulty model differs in a run, it must not be proven.

A mutant counts if it loads and differs from the original, or fails, on some input on which the
original runs. It is refuted if the solver finds such inputs. A mutant that is proven for sizes is
run at these sizes. For ScatterX, the kernel of the library counts as well as the function.
"""

from __future__ import annotations

import collections
import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from mutant_runs import Original
from mutants import mutate
from mutants_anywhere import CHANGES, mutate_anything
from prove_workers import Row, rows_of

import onnx_scatterx
from tests.helpers.proving import prove

TRIES, ROUNDS, EACH, LARGE, STEP, LIMIT = 10, 40, 16, 400_000, 10_000, 120
TARGETS = ("standard", "scatterx", "standard", "qnn")
WRITTEN = "a node that was written"
Optimized = Callable[[Path, str, Path], "onnx.ModelProto | None"]


def share(part: int, whole: int) -> str:
    """Return a part of a whole, in numbers and per cent."""
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def mutants(path: Path, keys: Sequence[str], kept: Path, optimized: Optimized) -> Iterator[Row]:
    """Make and judge one mutant of a model for each key: a number and a target."""
    before = onnx.load(path)
    original = Original(before, path, 0, str(onnx_scatterx.library_path()))
    for key in keys:
        seed, target = key.split("/")
        rng = random.Random(f"{path.name} {key}")
        after = optimized(path, target, kept)
        row: Row = {"answer": "none", "kind": "", "how": ""}
        # The kinds take turns, so that each has its share.
        turn = int(seed) + sum(map(ord, path.stem))
        kinds = (*CHANGES, WRITTEN, WRITTEN)
        for attempt in range(TRIES):
            if after is None:
                break
            kind = kinds[turn % len(kinds)] if attempt < TRIES // 2 else rng.choice(kinds)
            if kind == WRITTEN:
                written = mutate(before, after, rng)
                faulty = written and written[1]
            else:
                faulty = mutate_anything(after, kind, rng)
            if faulty is None:
                continue
            kernel = target == "scatterx"
            how = original.differs(faulty)
            in_kernel = original.differs(faulty, kernel=True) if kernel else how
            if how or in_kernel:
                row = {"kind": kind, "how": how or in_kernel, "in kernel": bool(in_kernel)}
                row |= _answer(original, faulty)
                break
        yield row


def _answer(original: Original, faulty: onnx.ModelProto) -> Row:
    def run(_: object, feed: Mapping[str, np.ndarray]) -> str | None:
        return original.differs_on(faulty, [feed]) or None

    found = prove(original.model, faulty, replay=run)
    row: Row = {"answer": found.kind, "why": "; ".join({v.why for v in found.outputs.values()})}
    if found.kind == "proven for sizes":
        row["sizes"] = [dict(s) for s in found.sizes]
        row["wrong at"] = [dict(s) for s in found.sizes if original.differs_at(faulty, _named(s))]
        if found.least and original.differs_at(faulty, {}, found.least, draws=40):
            row["wrong at"].append({"least": found.least})
    return row


def _named(sizes: Mapping[str, int]) -> Mapping[str, int]:
    return dict(sizes)


def is_false(row: Row) -> bool:
    """Return whether an answer is a false proof."""
    if row["answer"] == "proven for the kernel":
        return bool(row["in kernel"])
    return row["answer"] == "proven" or bool(row.get("wrong at"))


def judge_mutants(
    paths: Sequence[Path],
    wanted: int,
    rows: Path,
    jobs: int,
    seed: int,
    verbose: bool,
    optimized: Optimized,
) -> int:
    """Judge mutants of all models that are not large in turn, until there are enough.

    Returns the number of false proofs.
    """
    kept = rows / "optimized"
    small = [p for p in paths if p.stat().st_size < LARGE]
    small.sort(key=lambda path: path.stat().st_size // STEP)  # those that take little time first
    found: list[Row] = []
    for first in range(seed, seed + ROUNDS * EACH, EACH):
        keys = [f"{first + k}/{TARGETS[k % len(TARGETS)]}" for k in range(EACH)]
        made = rows_of(
            lambda path, some: mutants(path, some, kept, optimized),
            [(path, keys) for path in small],
            rows / "mutants.jsonl",
            jobs,
            LIMIT,
        )
        for row in itertools.takewhile(lambda _: len(found) < wanted, made):
            if row["answer"] == "none" or not row.get("kind"):
                continue
            found.append(row)
            if is_false(row):
                print(f"FALSE: {row}", flush=True)
            elif verbose and len(found) % 100 == 0:
                print(f"{len(found)} mutants", flush=True)
        if len(found) >= wanted:
            break
    _told(found)
    return sum(map(is_false, found))


def _told(found: Sequence[Row]) -> None:
    answers = dict(collections.Counter(m["answer"] for m in found))
    print(f"{len(found)} mutants of {len({m['model'] for m in found})} models: {answers}")
    print(f"false proofs: {sum(map(is_false, found))}")
    print("| kind | mutants | refuted | unknown | for sizes | proven |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind in sorted({m["kind"] for m in found}):
        own = collections.Counter(m["answer"] for m in found if m["kind"] == kind)
        order = ("refuted", "unknown", "proven for sizes", "proven")
        counts = " | ".join(str(own[answer]) for answer in order)
        print(f"| {kind} | {own.total()} | {counts} |")
