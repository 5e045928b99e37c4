"""How many faults at an end `verify` finds: one position, size or value of a result is changed.

    python benchmarks/verify_mutants.py FOLDER ... --pairs build/pairs

Results of seeded models of the folders get faults (`edge_mutants.py`). A pair counts if the two
models give other outputs, or the faulty one fails, on some inputs on which the original runs. The
pairs are kept in a folder, so that two versions of `verify` can be compared on them. The script
prints the share that is found, for each kind of fault, and the faults that are not found.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import onnx
from edge_mutants import FAULTS, Fault
from mutant_runs import Feed, Original, feeds

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError

EACH, TRIES, LARGEST, WITNESSES = 2, 12, 300_000, 12


def pairs_of(path: Path, seed: int) -> Iterator[tuple[str, Fault, onnx.ModelProto]]:
    """Yield for each kind of fault a faulty result that differs on some inputs, with its kind."""
    before = onnx.load(path)
    rng = random.Random(f"{path.name} {seed}")
    after = onnx.ModelProto()
    after.CopyFrom(onnx_scatterx.optimize(before, target="standard").model)
    original = Original(before, path)
    given = list(feeds(before, path, seed))
    onnx_scatterx.verify(before, before, samples=1)  # raises VerifyError if it cannot be compared
    for kind, maker in FAULTS.items():
        made = filter(None, (maker(before, after, rng) for _ in range(TRIES)))
        once = {fault.words: fault for fault in made}
        shown = (fault for fault in once.values() if _shows(original, fault, given))
        yield from ((kind, fault, before) for fault in itertools.islice(shown, EACH))


def _shows(original: Original, fault: Fault, given: Sequence[Feed]) -> bool:
    """Return whether a fault shows on inputs that were made for it, or on the given ones."""
    for feed in given:
        made = itertools.islice(fault.witness(feed), WITNESSES)
        if original.differs_on(fault.model, list(made)):
            return True
    return False


def write_pairs(folders: Sequence[Path], wanted: int, seed: int, to: Path) -> None:
    """Write the pairs of so many models of some folders, and their list."""
    paths = sorted(p for f in folders for p in f.glob("*.onnx") if p.stat().st_size < LARGEST)
    random.Random(seed).shuffle(paths)
    to.mkdir(parents=True, exist_ok=True)
    rows, used = [], 0
    for path in paths:
        try:
            found = list(pairs_of(path, seed))
        except ScatterXError:
            continue
        for number, (kind, fault, before) in enumerate(found):
            stem = f"{path.stem} {number}"
            onnx.save(before, to / f"{stem} before.onnx")
            onnx.save(fault.model, to / f"{stem} after.onnx")
            rows.append({"stem": stem, "kind": kind, "words": fault.words})
        used += bool(found)
        if used == wanted:
            break
    (to / "pairs.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Write the pairs if there are none, and let `verify` compare them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", type=Path, nargs="*", help="folders of models")
    parser.add_argument("--pairs", type=Path, required=True, help="where the pairs are kept")
    parser.add_argument("--models", type=int, default=60, help="how many results get faults")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if not (given.pairs / "pairs.json").exists():
        write_pairs(given.folders, given.models, given.seed, given.pairs)
    rows = json.loads((given.pairs / "pairs.json").read_text(encoding="utf-8"))
    found, all_of = collections.Counter[str](), collections.Counter[str]()
    for row in rows:
        files = (given.pairs / f"{row['stem']} {which}.onnx" for which in ("before", "after"))
        try:
            answer: str = onnx_scatterx.verify(*files).answer
        except ScatterXError as error:
            answer = f"error: {error}"
        all_of[row["kind"]] += 1
        found[row["kind"]] += answer == "different"
        if answer != "different":
            print(f"missed: {row['stem']}: {row['words']} ({answer})", flush=True)
    for kind, count in all_of.items():
        print(f"{kind}: {found[kind]} of {count}")
    total = all_of.total()
    print(f"all: {found.total()} of {total} ({100 * found.total() / max(total, 1):.1f} %)")


if __name__ == "__main__":
    main()
