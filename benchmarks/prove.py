"""How much `verify --prove` decides, how fast, and whether it finds faults.

    python benchmarks/prove.py models CORPUS/models [--mutants 300] [--jobs 2] [-v]

Every model is optimized for the target standard and judged against its original. A region is a
value that both models name and compute differently; one is said to reduce if the scatters that it
stands for have a reduction. Models that run on no input (the facts of the original contradict each
other) are told apart. Seconds are of the processor.

With --mutants, faults are put into the optimized models (`mutants.py`), each seen to change what
ONNX Runtime computes; none may be proven. A mutant is refuted if what the solver finds is run and
differs.
"""

from __future__ import annotations

import argparse
import collections
import multiprocessing
import random
import signal
import statistics
import time
from pathlib import Path
from typing import Any

import onnx
from mutants import differs, key, mutate, replay

import onnx_scatterx
from onnx_scatterx.equivalence.judge import judge
from onnx_scatterx.equivalence.proof import prove, verdicts
from onnx_scatterx.equivalence.tensor import UnsupportedError

SCATTERS = {"Scatter", "ScatterND", "ScatterElements", "TensorScatter"}
LIMIT = 90


def reduces(before: onnx.ModelProto, after: onnx.ModelProto, value: str) -> bool:
    """Return whether a scatter with a reduction is among what a region stands for."""
    makers = {o: n for n in before.graph.node for o in n.output}
    kept = {o for n in after.graph.node for o in n.output}
    waiting, seen = [value], set()
    while waiting:
        name = waiting.pop()
        node = makers.get(name)
        if node is None or name in seen or (name in kept and name != value):
            continue
        seen.add(name)
        if node.op_type in SCATTERS:
            modes = [a.s for a in node.attribute if a.name == "reduction"]
            if modes and modes[0] != b"none":
                return True
        waiting += node.input
    return False


def alarm(*_: object) -> None:
    raise TimeoutError


def one(path: Path) -> dict[str, Any] | None:
    """Judge one model; None if nothing was rewritten in it."""
    signal.signal(signal.SIGALRM, alarm)
    before = onnx.load(path)
    after = onnx_scatterx.optimize(path, target="standard").model
    if {key(n) for n in after.graph.node} <= {key(n) for n in before.graph.node}:
        return None
    row: dict[str, Any] = {"path": path, "kind": "dynamic" if "dynamic" in path.name else "static"}
    row |= {"regions": 0, "proven regions": 0, "plain": 0, "proven plain": 0, "proven": False}
    start = time.process_time()
    signal.alarm(LIMIT)
    try:
        found = judge(before, after, seconds=LIMIT / 2)
        kinds = verdicts(found)
        row["proven"] = all(v.kind == "proven" for v in kinds.values())
        row["runs"] = found.facts.status != "proven"
        row["why"] = "; ".join(dict.fromkeys(v.why for v in kinds.values() if v.why))
        for region in found.regions:
            plain = not reduces(before, after, region.value)
            for name, counts in (("regions", True), ("plain", plain)):
                row[name] += counts
                row[f"proven {name}"] += counts and bool(region.found)
    except UnsupportedError as error:
        row["runs"], row["why"] = "random" not in str(error), str(error)
    except TimeoutError:
        row["runs"], row["why"] = True, f"no answer within {LIMIT} s"
    finally:
        signal.alarm(0)
    row["seconds"] = time.process_time() - start
    if row["why"] and row["regions"] == 0 and row["runs"]:
        changed = {key(n) for n in after.graph.node} - {key(n) for n in before.graph.node}
        row["regions"] = row["plain"] = sum(
            any(o in {p for n in before.graph.node for p in n.output} for o in k[3])  # type: ignore[attr-defined]
            for k in changed
        )
    return row


def mutant(task: tuple[Path, int]) -> dict[str, Any] | None:
    """Make and judge one mutant; None if the try came to nothing."""
    path, seed = task
    signal.signal(signal.SIGALRM, alarm)
    rng = random.Random(seed)
    before = onnx.load(path)
    after = onnx_scatterx.optimize(path, target="standard").model
    made = mutate(before, after, rng)
    if made is None:
        return None
    kind, faulty = made
    how = differs(before, faulty, path, seed)
    if not how:
        return None
    signal.alarm(LIMIT)
    try:
        found = prove(
            before,
            faulty,
            replay=lambda _, feed: replay(before, faulty, feed) or None,
            seconds=LIMIT / 2,
        )
        answer = found.kind
    except TimeoutError:
        answer = "unknown"
    finally:
        signal.alarm(0)
    return {"path": path, "kind": kind, "how": how, "answer": answer, "seed": seed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", type=Path, nargs="+", help="directories of models")
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    paths = sorted((p for place in args.places for p in place.glob("*.onnx")), key=_size)
    rows = []
    context = multiprocessing.get_context("fork")
    with context.Pool(args.jobs, maxtasksperchild=8) as pool:
        for row in pool.imap_unordered(one, paths):
            if row is None:
                continue
            rows.append(row)
            if args.verbose and not row["proven"]:
                print(f"{row['path'].stem}: {row['why'][:160]}", flush=True)
    counted = [r for r in rows if r["runs"]]
    print(f"{len(rows)} models, {len(rows) - len(counted)} of them draw at random or never run")
    print("| | models | proven | regions | proven | without reductions | proven |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for kind in ("static", "dynamic", "all"):
        some = [r for r in counted if kind in (r["kind"], "all")]
        parts = [(len(some), sum(r["proven"] for r in some))]
        for name in ("regions", "plain"):
            parts.append((sum(r[name] for r in some), sum(r[f"proven {name}"] for r in some)))
        print(f"| {kind} | " + " | ".join(f"{n} | {share(p, n)}" for n, p in parts) + " |")
    seconds = sorted(r["seconds"] for r in counted)
    if len(seconds) > 1:
        ends = statistics.quantiles(seconds, n=20)
        print(
            f"seconds: median {statistics.median(seconds):.2f}, 95 % below {ends[-1]:.2f}, "
            f"largest {seconds[-1]:.2f}"
        )
    if args.mutants:
        proven = {r["path"] for r in counted if r["proven"]}
        _mutants(args, [r["path"] for r in counted], proven)


def _mutants(args: argparse.Namespace, paths: list[Path], proven: set[Path]) -> None:
    rng = random.Random(args.seed)
    small = [p for p in paths if _size(p) < 200_000]
    tasks = ((rng.choice(small), seed) for seed in range(1, 40 * args.mutants))
    found: list[dict[str, Any]] = []
    context = multiprocessing.get_context("fork")
    with context.Pool(args.jobs, maxtasksperchild=40) as pool:
        for row in pool.imap_unordered(mutant, tasks):
            if row is None:
                continue
            found.append(row)
            if args.verbose and row["answer"] != "refuted":
                print(
                    f"{row['path'].stem} {row['kind']} {row['seed']}: {row['answer']}", flush=True
                )
            if len(found) == args.mutants:
                pool.terminate()
                break
    of_proven = [m for m in found if m["path"] in proven]
    refuted = sum(m["answer"] == "refuted" for m in found)
    print(f"mutants: {len(found)}, {dict(collections.Counter(m['answer'] for m in found))}")
    print(f"refuted: {share(refuted, len(found))}")
    refuted = sum(m["answer"] == "refuted" for m in of_proven)
    print(f"refuted, of pairs that are proven: {share(refuted, len(of_proven))}")
    print(dict(collections.Counter(m["kind"] for m in found)))


def share(part: int, whole: int) -> str:
    """Return a part of a whole, in numbers and per cent."""
    return f"{part} ({100 * part / whole:.1f} %)" if whole else "0"


def _size(path: Path) -> int:
    return path.stat().st_size


if __name__ == "__main__":
    main()
