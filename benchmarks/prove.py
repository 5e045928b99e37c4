"""How much `verify --prove` decides, how fast, and whether it finds faults.

    python benchmarks/prove.py models CORPUS/models [--mutants 3000] [--names] [--jobs 2] [-v]

Every model is optimized for the targets standard, scatterx and qnn, and for standard with fixed
sizes, and judged against its original. With --names, it is judged again with inner names that are
new, and with each that of the next value. A region is a pair of values of both models that is not
the same node on the same inputs. Models that draw at random or run on no input are not counted.
Seconds are CPU seconds.

With --mutants, faults are put into the optimized models (`prove_mutants.py`). The exit status is 1
if a faulty model is proven.

All rows are kept in the directory --rows (build/prove). A run that was stopped goes on there; with
another version of the prover, take another directory.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).parents[1]))

from mutant_runs import stored
from mutants import key
from prove_mutants import judge_mutants, share
from prove_workers import Row, rows_of

import onnx_scatterx
from onnx_scatterx.proof.core.terms import UnsupportedError, new_table
from onnx_scatterx.proof.judge import deep, judge
from onnx_scatterx.proof.question import Question
from tests.helpers.proving import planned

VARIANTS = ("standard", "scatterx", "qnn", "fix")
NAMES = ("", "fresh", "rotated")
LIMIT, SLOW = 120, 5


def sizes_for(model: onnx.ModelProto, path: Path) -> dict[str, int]:
    """Return sizes for all named dims: those of the stored inputs, or 4."""
    inputs: dict[str, np.ndarray] = next(stored(path), {})
    sizes: dict[str, int] = {}
    for value in model.graph.input:
        shape = inputs[value.name].shape if value.name in inputs else ()
        for k, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                sizes.setdefault(dim.dim_param, shape[k] if k < len(shape) else 4)
    return sizes


def optimized(path: Path, variant: str, kept: Path) -> onnx.ModelProto | None:
    """Return the optimized model, from a directory if it is there; None if nothing changed."""
    place = kept / variant / path.name
    before = onnx.load(path)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        sizes = sizes_for(before, path) if variant == "fix" else {}
        try:
            target = "standard" if variant == "fix" else variant
            after = None
            if variant != "fix" or sizes:
                after = onnx_scatterx.optimize(path, target=target, fix=sizes or None).model
        except onnx_scatterx.ScatterXError:
            after = None
        place.write_bytes(b"" if after is None else after.SerializeToString())
    if not place.stat().st_size:
        return None
    after = onnx.load(place)
    old = {key(n) for n in before.graph.node}
    return None if {key(n) for n in after.graph.node} <= old else after


def renamed(model: onnx.ModelProto, way: str) -> onnx.ModelProto:
    """Return a model whose inner names are new, or each that of the next value."""
    if not way:
        return model
    made = onnx.ModelProto()
    made.CopyFrom(model)
    graph = made.graph
    outer = {v.name for v in (*graph.input, *graph.output)}
    inner = [o for node in graph.node for o in node.output if o and o not in outer]
    fresh = [f"fresh {k}" for k in range(len(inner))]
    names = dict(zip(inner, inner[1:] + inner[:1] if way == "rotated" else fresh, strict=True))

    def rename(inside: onnx.GraphProto) -> None:
        for value in inside.value_info:
            value.name = names.get(value.name, value.name)
        for node in inside.node:
            node.input[:] = [names.get(n, n) for n in node.input]
            node.output[:] = [names.get(n, n) for n in node.output]
            for attribute in node.attribute:
                for body in (attribute.g, *attribute.graphs):
                    rename(body)

    rename(graph)
    return made


def judged(path: Path, keys: Sequence[str], kept: Path) -> Iterator[Row]:
    """Judge a model for each key: its target, and how inner names are changed."""
    before = onnx.load(path)
    for variant, names in (k.split("/") for k in keys):
        after = optimized(path, variant, kept)
        if after is None:
            yield {"answer": "unchanged"}
            continue
        after = renamed(after, names)
        row: Row = {"answer": "unknown", "regions": 0, "proven": 0, "why": ""}
        start = time.process_time()
        ask = Question(functools.partial(judge, before, after, planner=planned))
        try:
            with deep(), new_table():
                found, outputs, _ = ask.answered()
                kinds = outputs.values()
            answers = {v.kind for v in kinds}
            row["answer"] = next(
                (k for k in ("unknown", "proven for the kernel") if k in answers), "proven"
            )
            row["why"] = "; ".join(dict.fromkeys(v.why for v in kinds if v.why))
            row["regions"] = len(found.regions)
            row["proven"] = sum(bool(r.comparison) for r in found.regions)
            if found.facts.status == "impossible":
                row["answer"] = "never runs"
            elif row["answer"] == "unknown" and not names:
                with deep():
                    large = ask.for_large_sizes(found)
                row["least"] = 0 if large is None else large.least
        except UnsupportedError as error:
            row["answer"] = "random" if "random" in str(error) else "unknown"
            row["why"] = str(error)
        row["seconds"] = round(time.process_time() - start, 3)
        yield row


def table(rows: Sequence[Row], names: Sequence[str]) -> str:
    """Return the shares of all targets as a table."""
    titles = ("models", "changed", "proven", "or for sizes of at least 2", "regions", "proven")
    lines = [f"| {' | '.join(titles)} | names new | names rotated |"]
    lines += ["| --- " + "| ---: " * 7 + "|"]
    for variant in VARIANTS:
        parts: list[str] = []
        for way in NAMES:
            some = [r for r in rows if r["key"] == f"{variant}/{way}"]
            some = [r for r in some if r["answer"] not in ("unchanged", "never runs", "random")]
            good = sum(r["answer"].startswith("proven") for r in some)
            if way:
                parts.append(share(good, len(some)) if way in names else "")
                continue
            regions = sum(r.get("regions", 0) for r in some)
            proven = sum(r.get("proven", 0) for r in some)
            large = good + sum(bool(r.get("least")) for r in some)
            parts += [str(len(some)), share(good, len(some)), share(large, len(some))]
            parts += [str(regions), share(proven, regions)]
        lines.append(f"| {variant} | " + " | ".join(parts) + " |")
    return "\n".join(lines)


def main() -> int:
    """Print the tables; return 1 if there is a false proof."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", type=Path, nargs="+", help="directories of models")
    parser.add_argument("--mutants", type=int, default=0)
    parser.add_argument("--names", action="store_true", help="with other inner names, too")
    parser.add_argument("--rows", type=Path, default=Path("build/prove"))
    parser.add_argument("--only", default="", help="models whose name contains this")
    parser.add_argument("--variants", default=",".join(VARIANTS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    paths = sorted(p for place in args.places for p in place.glob("*.onnx") if args.only in p.stem)
    kept = args.rows / "optimized"
    names = NAMES if args.names else NAMES[:1]
    variants = args.variants.split(",")
    keys = [f"{v}/{n}" for v, n in itertools.product(variants, names)]
    random.Random(args.seed).shuffle(paths)  # so what is done of a long run is a fair sample
    if args.mutants:
        wanted = args.mutants, args.rows, args.jobs, args.seed, args.verbose
        return int(judge_mutants(paths, *wanted, optimized) > 0)
    rows = []
    work = rows_of(
        lambda path, some: judged(path, some, kept),
        [(path, keys) for path in paths],
        args.rows / "models.jsonl",
        args.jobs,
        LIMIT,
    )
    for row in work:
        rows.append(row)
        good = row["answer"] in ("proven", "unchanged")
        if args.verbose and (not good or row.get("seconds", 0) > SLOW):
            seconds = row.get("seconds", 0)
            print(
                f"{row['model']} {row['key']} {row['answer']}, {seconds:.1f} s: {row['why'][:200]}",
                flush=True,
            )
    print(table(rows, names))
    seconds = sorted(r["seconds"] for r in rows if "seconds" in r)
    if len(seconds) > 1:
        ends = statistics.quantiles(seconds, n=20)
        print(
            f"seconds: median {statistics.median(seconds):.2f}, 95 % below {ends[-1]:.2f}, "
            f"largest {seconds[-1]:.2f}"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
