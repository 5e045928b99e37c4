"""How much `verify --prove` decides, how fast, and whether it finds faults.

    python benchmarks/prove.py models CORPUS/models [--mutants 300] [--jobs 2] [-v]

Every model is optimized for the target standard and judged against its original. A region is a
pair of values of both models that is not the same node on the same inputs. A region reduces if its
scatters have a reduction. Models that run on no input (the facts of the original contradict each
other) are counted separately. Seconds are CPU seconds.

With --mutants, faults are put into the optimized models (`mutants.py`). Each fault changes an
output in ONNX Runtime, so no mutant may be proven. A mutant is refuted if the solver finds inputs,
and the outputs differ when these inputs are run.
"""

from __future__ import annotations

import argparse
import collections
import functools
import itertools
import multiprocessing
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from mutants import differs, key, mutate, mutate_anything, replay

import onnx_scatterx
from onnx_scatterx.equivalence.core.terms import UnsupportedError, new_table
from onnx_scatterx.equivalence.judge import judge
from onnx_scatterx.equivalence.proof import prove, verdicts

SCATTERS = {"Scatter", "ScatterND", "ScatterElements", "TensorScatter"}
LIMIT, SLOW = 90, 5
TRIES, ROUNDS, LARGE = 12, 9, 400_000


def reduces(before: onnx.ModelProto, after: onnx.ModelProto, value: str) -> bool:
    """Return whether a region contains a scatter with a reduction."""
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


def alone(function: Callable[[Any], Any], task: Any) -> Any:
    """Call a function in a process of its own; return None if this dies or takes too long.

    ONNX Runtime may take the process with it: a division by 0 ends it at once.
    """
    context = multiprocessing.get_context("fork")
    mine, other = context.Pipe(duplex=False)
    process = context.Process(target=lambda: other.send(function(task)))
    process.start()
    other.close()
    try:
        return mine.recv() if mine.poll(2 * LIMIT) else None
    except EOFError:
        print(f"{task}: the process ended", file=sys.stderr)
        return None
    finally:
        process.kill()
        process.join()


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
        with new_table():
            found = judge(before, after)
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
        old = {output for n in before.graph.node for output in n.output}
        rewritten = (n for n in after.graph.node if key(n) in changed)
        row["regions"] = row["plain"] = sum(not old.isdisjoint(n.output) for n in rewritten)
    return row


def mutant(task: tuple[Path, int]) -> dict[str, Any] | None:
    """Make and judge one mutant of a model; None if no try gives one."""
    path, seed = task
    wide = seed % 2 == 1  # a fault anywhere; else one in a node that the optimizer wrote
    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(LIMIT)
    rng = random.Random(f"{path.name} {seed}")
    before = onnx.load(path)
    after = onnx_scatterx.optimize(path, target="standard").model
    row: dict[str, Any] | None = None
    try:
        for _ in range(TRIES):
            made = mutate_anything(after, rng) if wide else mutate(before, after, rng)
            how = made and differs(before, made[1], path, seed)
            if made and how:
                row = {"path": path, "kind": made[0], "how": how, "seed": seed, "answer": "unknown"}
                signal.alarm(LIMIT)
                row["answer"] = _answer(before, made[1])
                break
    except TimeoutError:
        pass
    return row


def _answer(before: onnx.ModelProto, faulty: onnx.ModelProto) -> str:
    def run(_: object, feed: Mapping[str, np.ndarray]) -> str | None:
        return replay(before, faulty, feed) or None

    return prove(before, faulty, replay=run).kind


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
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(functools.partial(alone, one), paths):
            if row is None:
                continue
            rows.append(row)
            if args.verbose and (not row["proven"] or row["seconds"] > SLOW):
                print(f"{row['path'].stem}, {row['seconds']:.1f} s: {row['why'][:160]}", flush=True)
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
    """Judge mutants of all models that are not large in turn, until there are enough."""
    paths = [p for p in paths if _size(p) < LARGE]
    random.Random(args.seed).shuffle(paths)
    tasks = itertools.product(range(args.seed, args.seed + ROUNDS), paths)
    found: list[dict[str, Any]] = []
    with ThreadPoolExecutor(args.jobs) as pool:
        while len(found) < args.mutants and (some := list(itertools.islice(tasks, args.jobs))):
            for row in pool.map(lambda t: alone(mutant, t[::-1]), some):
                if row is None or len(found) == args.mutants:
                    continue
                found.append(row)
                if args.verbose and row["answer"] != "refuted":
                    what = f"{row['path'].stem} {row['kind']} {row['seed']}"
                    print(f"{what}: {row['answer']} ({row['how'][:60]})", flush=True)
    of_proven = [m for m in found if m["path"] in proven]
    refuted = sum(m["answer"] == "refuted" for m in found)
    answers = dict(collections.Counter(m["answer"] for m in found))
    print(f"mutants: {len(found)} of {len({m['path'] for m in found})} models, {answers}")
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
