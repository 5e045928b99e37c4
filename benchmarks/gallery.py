"""Measures the models that people name in public issues, and writes ``docs/measured/gallery.md``.

    pip install torch==2.13.0 torchvision==0.28.0 transformers scipy timm ultralytics ".[prove]"
    python benchmarks/gallery.py [--only NAME ...] [--with tract=PYTHON ...]

``benchmarks/gallery_rows.py`` has the rows, at published configurations with seeded random weights.
Each row is exported, optimized for `standard` and for `ort-cpu`, proven and compared, timed in ONNX
Runtime, and given to the compilers of ``--with``, each with its interpreter: before, after its own
profile, and after `standard` if that is another file. ``benchmarks/gallery_cells.json`` has the
answers. Each step is a process of its own, so a failure costs one cell. ``--only`` makes some rows,
``--cells`` asks the compilers alone, and ``--forms original own`` only about these files. A run
goes on where the last one ended. ``--file`` measures a model of yours, such as a pretrained one:
its hash must be the one that you give. ``--page`` only writes the page of what is measured.
``--untimed`` leaves the times for another run, such as one on a machine that does nothing else.
``--again`` does steps again that have a result, and asks a compiler again that has answered.
``--seconds`` gives the compilers another limit than 600 seconds, and ``--gib`` another one than 9
GiB of memory:

    python benchmarks/gallery.py --only rwkv_169m --again tract --seconds 300 --with tract=PYTHON
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import real_steps
from gallery_cells import FORMS, Asker, Cells, without_notes
from gallery_page import STEPS, TARGETS, page
from gallery_rows import GALLERY, Shown
from real_steps import (
    ROOT,
    Record,
    apart,
    counted,
    difference,
    export,
    optimize,
    version,
    write_page,
)

import onnx_scatterx

PAGE = ROOT / "docs" / "measured" / "gallery.md"
RESULTS = ROOT / "benchmarks" / "gallery.json"
BEGINS = "<!-- the results begin: benchmarks/gallery.py writes them -->\n"
CELLS = Cells(ROOT / "benchmarks" / "gallery_cells.json")
SECONDS = 600.0  # of a compiler for one file, without --seconds
BUDGET = 10.0  # seconds of the runs of a row, at least three rounds
WHOLE = (1 << 31) - (1 << 20)  # bytes of a file with all its weights


def take(path: str, sha256: str, folder: str) -> dict[str, Any]:
    """Take a file of the caller's, if its content has the hash; draw its inputs."""
    from device_table import feeds_of

    content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if content != sha256.lower():
        return {"failed": f"the hash of the file is {content}"}
    np.savez(Path(folder, "feeds.npz"), **feeds_of(Path(path)))  # type: ignore[arg-type]
    onnx.save(onnx.load(path), Path(folder, "model.onnx"), save_as_external_data=True)
    return counted(path)


def pack(folder: str) -> dict[str, Any]:
    """Put the weights of an export into its file, if it can hold them; return its size in MB."""
    path = Path(folder, "model.onnx")
    beside = path.with_name("model.onnx.data")
    size = sum(file.stat().st_size for file in (path, beside) if file.exists())
    if size < WHOLE:  # larger messages cannot be made
        model = onnx.load(path)
        without_notes(model)
        size = model.ByteSize()
        onnx.save(model, path)
        beside.unlink(missing_ok=True)
    Path(folder, "packed").touch()
    return {"MB": round(size / 1e6, 1)}


def judge(before: str, after: str, feeds: str) -> dict[str, Any]:
    """Prove two files equal, and compare them on the inputs of the export."""
    with np.load(feeds) as file:
        given = dict(file)
    found = onnx_scatterx.verify(before, after, prove=True, samples=0, feeds=[given])
    assert found.proof is not None
    whys = [v.why for v in found.proof.outputs.values() if v.why]
    return {"proof": found.proof.kind, "same": bool(found), "why": whys[:1], "ran": found.accepted}


def times(folder: str, feeds: str) -> dict[str, Any]:
    """Let a model and its results take turns in ONNX Runtime, on one thread.

    They share one arena, so that their peaks of memory do not add up. Seconds are those in which
    the processor ran this process: what other programs take does not count.
    """
    import onnxruntime as ort
    from turns import ratios, seconds

    with np.load(feeds) as file:
        given = dict(file)
    runs: dict[str, Any] = {}
    kind, use = ort.OrtAllocatorType.ORT_ARENA_ALLOCATOR, ort.OrtMemType.DEFAULT
    ort.create_and_register_allocator(ort.OrtMemoryInfo("Cpu", kind, 0, use), None)
    for name in ("model", *TARGETS):
        options = ort.SessionOptions()
        options.add_session_config_entry("session.use_env_allocators", "1")
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        session = onnx_scatterx.session(Path(folder, f"{name}.onnx"), session_options=options)
        fed = {value.name: given[value.name] for value in session.get_inputs()}
        runs[name] = lambda session=session, fed=fed: session.run(None, fed)
    first = runs.pop("model")
    expected = first()
    found: dict[str, Any] = {}
    for name, run in runs.items():
        apart = [difference(a, b) for a, b in zip(expected, run(), strict=True)]
        found[name] = {"difference": max(apart)}
    rounds = max(3, min(25, int(BUDGET / (4 * max(seconds(first), 1e-3)))))
    base, shares = ratios(first, runs, rounds)
    for name, share in shares.items():
        low, middle, high = statistics.quantiles(share, n=4)
        found[name] |= {"ratio": middle, "quartiles": [low, high]}
    return found | {
        "ms": base * 1e3,
        "clock": "processor",
        "rounds": rounds,
        "machine": machine(),
        "runtime": f"onnxruntime {ort.__version__}",
    }


def machine() -> str:
    """Return the processor and how many cores it has here."""
    told = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = re.search(r"model name\s*: (.*)", told)
    return f"{name[1] if name else platform.machine()}, {os.cpu_count()} cores"


@dataclass(frozen=True)
class Wish:
    """What to measure: with which compilers, and which steps are done again."""

    asker: Asker
    again: frozenset[str]
    timed: bool
    only_cells: bool
    keep: bool
    """Whether the files of a row stay in the cache."""


def measure(record: Record, shown: Shown | None, file: list[str] | None, wish: Wish) -> None:
    """Do all that is still to do for a row."""
    folder, name = record.folder, record.folder.name
    folder.mkdir(parents=True, exist_ok=True)
    paths = {n: str(folder / f"{n}.onnx") for n in ("model", *TARGETS)}
    model, feeds = paths["model"], str(folder / "feeds.npz")
    steps = ("export", "size") if wish.only_cells else STEPS if wish.timed else STEPS[:-1]
    todo = {step for step in steps if step in wish.again or not record.has(step)}
    failed = "failed" in record.known().get("export", {}) and "export" not in wish.again
    ask = bool(wish.asker.compilers) and wish.asker.todo(name, record.known())
    if failed or not (todo or ask):
        return

    def find(step: str, *work: Any, **how: Any) -> dict[str, Any]:
        return record.find(step, *work, again=step in wish.again, **how)

    if shown is None:
        make: tuple[Any, ...] = (take, *(file or ("", "")), str(folder))
    else:
        make = (export, name, shown.built_from(name), shown.how, str(folder))
    found = find("export", *make, versioned=False, made=model)
    if "failed" not in found:
        find("size", pack, str(folder), versioned=False, made=str(folder / "packed"))
        if todo & {*TARGETS, "judge", "times"}:
            for target in TARGETS:
                find(target, optimize, model, paths[target], target, made=paths[target])
            find("judge", judge, model, paths[TARGETS[0]], feeds)
            if wish.timed:
                find("times", times, str(folder), feeds)
        if ask:
            wish.asker.fill(record, shown, apart)
    for left in () if wish.keep else [p for p in folder.iterdir() if p.suffix != ".json"]:
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def main() -> None:
    """Measure what is left to measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = {"nargs": "+", "metavar": "NAME", "choices": GALLERY}
    parser.add_argument("--only", default=list(GALLERY), **names)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "gallery"))
    parser.add_argument("--with", dest="compilers", nargs="+", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--file", nargs=3, metavar=("NAME", "PATH", "SHA256"), help="your model")
    parser.add_argument("--anew", action="store_true", help="measure again with this version")
    parser.add_argument("--again", nargs="+", default=[], metavar="STEP", help="such as times")
    limit = {"type": float, "default": SECONDS, "help": f"of a compiler ({SECONDS:.0f})"}
    parser.add_argument("--seconds", **limit)
    parser.add_argument("--gib", type=int, default=real_steps.GIB, help="memory of a process")
    parser.add_argument("--untimed", action="store_true", help="leave the times for later")
    parser.add_argument("--cells", action="store_true", help="only ask the compilers")
    parser.add_argument("--forms", nargs="+", default=list(FORMS), choices=FORMS)
    parser.add_argument("--keep", action="store_true", help="keep the files of a row in the cache")
    parser.add_argument("--page", action="store_true", help="write the page of what is measured")
    args = parser.parse_args()
    real_steps.GIB = args.gib
    code, compilers = version(), dict(pair.split("=", 1) for pair in args.compilers)
    again = frozenset(args.again)
    forms, made_by = tuple(args.forms), code if args.anew else ""
    asker = Asker(CELLS, compilers, args.seconds, again, forms, made_by)
    wish = Wish(asker, again, not args.untimed, args.cells, args.keep)
    name, *file = args.file or ("",)
    rows = [name] if name else args.only
    for row in [] if args.page else rows:
        record = Record(args.cache / row, RESULTS, code, args.anew)
        measure(record, None if name else GALLERY[row], file, wish)
        publish(args.cache, rows)
    publish(args.cache, rows)


def publish(cache: Path, rows: list[str]) -> None:
    """Write the page and the results. Of the cache, only these rows: it may have older ones."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found = kept | {row: Record(cache / row, RESULTS).known() for row in rows}
    results = {row: found[row] for row in dict.fromkeys((*GALLERY, *found)) if found.get(row)}
    RESULTS.write_text(json.dumps(results, separators=(",", ":")) + "\n")
    write_page(PAGE, BEGINS, page(results, CELLS))


if __name__ == "__main__":
    main()
