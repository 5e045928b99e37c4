"""Measures the models that people name in public issues, and writes ``docs/gallery.md``.

    pip install torch==2.13.0 transformers timm ultralytics ".[prove]"
    python benchmarks/gallery.py [--only NAME ...] [--with tract=PYTHON ...]

``benchmarks/gallery_rows.py`` has the rows, at published configurations with seeded random weights.
Each row is exported, optimized for `standard` and for `ort-cpu`, proven and compared, timed in ONNX
Runtime, and given to the compilers of ``--with``, each with its interpreter, before and after.
Each step is a process of its own, so a failure costs one cell. ``--only`` makes some rows, and a
run goes on where the last one ended. ``--file`` measures a model of yours, such as a pretrained
one: its hash must be the one that you give. ``--page`` only writes the page of what is measured.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import platform
import re
import statistics
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from gallery_rows import GALLERY, LEFT_OUT, Shown
from real_steps import (
    ROOT,
    Record,
    counted,
    difference,
    export,
    optimize,
    version,
    write_page,
)

import onnx_scatterx

PAGE = ROOT / "docs" / "gallery.md"
RESULTS = ROOT / "benchmarks" / "gallery.json"
BEGINS = "<!-- the results begin: benchmarks/gallery.py writes them -->\n"
TARGETS = ("standard", "ort-cpu")
SECONDS = 60.0  # of a compiler for one model
BUDGET = 20.0  # seconds of the runs of a row, at least three rounds
WHOLE = (1 << 31) - (1 << 20)  # bytes of a file with all its weights
SIGNS = {"right": "yes", "wrong": "wrong", "refused": "-"}


def take(path: str, sha256: str, folder: str) -> dict[str, Any]:
    """Take a file of the caller's, if its content has the hash; draw its inputs."""
    from onnx_scatterx.doors.devices.subject import feeds_of

    content = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    if content != sha256.lower():
        return {"failed": f"the hash of the file is {content}"}
    np.savez(Path(folder, "feeds.npz"), **feeds_of(Path(path)))  # type: ignore[arg-type]
    onnx.save(onnx.load(path), Path(folder, "model.onnx"), save_as_external_data=True)
    return counted(path)


def pack(folder: str) -> dict[str, Any]:
    """Put the weights of an export into its file, if it can hold them; return its size in MB."""
    path = Path(folder, "model.onnx")
    model = onnx.load(path)
    if (size := model.ByteSize()) < WHOLE:
        onnx.save(model, path)
        path.with_name("model.onnx.data").unlink(missing_ok=True)
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
    """Let a model and its results take turns in ONNX Runtime, on one thread."""
    import onnxruntime as ort
    from turns import Variant, ratios, seconds

    with np.load(feeds) as file:
        given = dict(file)
    runs: dict[str, Any] = {}
    for name in ("model", *TARGETS):
        options = ort.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        session = onnx_scatterx.session(Path(folder, f"{name}.onnx"), session_options=options)
        fed = {value.name: given[value.name] for value in session.get_inputs()}
        runs[name] = Variant(run=lambda session=session, fed=fed: session.run(None, fed))
    first = runs.pop("model")
    expected = first.run()
    found: dict[str, Any] = {}
    for name, made in runs.items():
        apart = [difference(a, b) for a, b in zip(expected, made.run(), strict=True)]
        found[name] = {"difference": max(apart)}
    rounds = max(3, min(25, int(BUDGET / (4 * max(seconds(first.run, 1), 1e-3)))))
    base, shares = ratios(first, runs, rounds)
    for name, share in shares.items():
        low, middle, high = statistics.quantiles(share, n=4)
        found[name] |= {"ratio": middle, "quartiles": [low, high]}
    return found | {
        "ms": base * 1e3,
        "rounds": rounds,
        "machine": machine(),
        "runtime": f"onnxruntime {ort.__version__}",
    }


def machine() -> str:
    """Return the processor and how many cores it has here."""
    told = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    name = re.search(r"model name\s*: (.*)", told)
    return f"{name[1] if name else platform.machine()}, {os.cpu_count()} cores"


def ask(name: str, python: str, model: str, feeds: str) -> dict[str, Any]:
    """Give a model to a compiler: as it is, and optimized for the compiler's own target."""
    from onnx_scatterx.doors.devices.checking import judged, truths
    from onnx_scatterx.doors.devices.process import ConsumerProcess
    from onnx_scatterx.doors.devices.registry import consumer_of

    consumer = consumer_of(name)
    with np.load(feeds) as file:
        given = dict(file)
    files = {"before": Path(model), "after": Path(model).with_name(f"{name}.onnx")}
    given = {n: array for n, array in given.items() if n in inputs_of(model)}
    truth = truths(files["before"], [given])[0]
    onnx_scatterx.optimize(model, target=consumer.adapter.profile).save(files["after"])
    found: dict[str, Any] = {}
    with ConsumerProcess(consumer, python, SECONDS) as process:
        found["compiler"] = f"{name} {process.version}"
        for when, file in files.items():
            check = judged(consumer, process.run(file, given), truth, file)
            found[when] = {"verdict": check.verdict, "why": shortened(check.message)}
            found[when]["nodes"] = check.nodes[:1]
    files["after"].unlink()
    return found


def inputs_of(model: str) -> set[str]:
    """Return the names of the inputs of a file."""
    return {value.name for value in onnx.load(model, load_external_data=False).graph.input}


def shortened(message: str) -> str:
    """Return a message without folders and colours, as a cell of a table holds it."""
    plain = re.sub(r"\x1b\[[\d;]*m", "", message)
    plain = re.sub(r"(?<![\w/])/[\w.+-]+/\S*/", "", plain)
    return re.sub(r"[|<>`\s]+", " ", plain).strip()[:160]


def measure(
    record: Record, shown: Shown | None, file: list[str] | None, compilers: dict[str, str]
) -> None:
    """Do all that is still to do for a row."""
    folder, name = record.folder, record.folder.name
    folder.mkdir(parents=True, exist_ok=True)
    paths = {n: str(folder / f"{n}.onnx") for n in ("model", *TARGETS)}
    model, feeds = paths["model"], str(folder / "feeds.npz")
    keys = ("export", "size", *TARGETS, "judge", "times", *compilers)
    if all(map(record.has, keys)) or "failed" in record.known().get("export", {}):
        return
    if shown is None:
        make: tuple[Any, ...] = (take, *(file or ("", "")), str(folder))
    else:
        make = (export, name, shown.built_from(name), shown.how, str(folder))
    found = record.find("export", *make, versioned=False, made=model)
    if "failed" not in found:
        packed = str(folder / "packed")
        record.find("size", pack, str(folder), versioned=False, made=packed)
        for target in TARGETS:
            record.find(target, optimize, model, paths[target], target, made=paths[target])
        record.find("judge", judge, model, paths[TARGETS[0]], feeds)
        record.find("times", times, str(folder), feeds)
        for compiler, python in compilers.items():
            record.find(compiler, ask, compiler, python, model, feeds)
    for left in (p for p in folder.iterdir() if p.suffix != ".json"):
        left.unlink()


def judged_as(found: dict[str, Any]) -> str:
    """Return the cell of a proof, or of a comparison."""
    judge, timed = found.get("judge", {}), found.get("times", {})
    if judge.get("proof") == "proven" and judge["same"]:
        return "proven"
    if judge.get("same"):
        return "compared: equal"
    apart = timed.get(TARGETS[0], {}).get("difference")
    return "-" if apart is None else f"compared: {apart:.0e}"


def timed_as(found: dict[str, Any]) -> list[str]:
    """Return the cells of the times: before, and after for both targets, with the ratio."""
    timed = found.get("times", {})
    if "ms" not in timed:
        return ["-"] * (1 + len(TARGETS))
    base = timed["ms"]
    shares = (timed[target]["ratio"] for target in TARGETS)
    return [number(base), *(f"{number(base / share)} ({share:.2f})" for share in shares)]


def number(ms: float) -> str:
    """Return milliseconds with three digits."""
    return f"{ms:.0f}" if ms >= 100 else f"{ms:.3g}"


def answers(found: dict[str, Any], compilers: list[str]) -> list[str]:
    """Return the cells of the compilers."""
    cells = []
    for name in compilers:
        asked = found.get(name, {})
        signs = [SIGNS[asked[w]["verdict"]] for w in ("before", "after") if w in asked]
        cells.append(" → ".join(signs) or ("-" if asked else "?"))
    return cells


def linked(text: str, thread: str) -> str:
    """Return a title, with a link to a thread."""
    repository, _, issue = thread.partition("#")
    where = f"https://github.com/{repository}/issues/{issue}"
    return f"{text} ([{thread}]({where}))" if thread else text


def page(results: dict[str, dict[str, Any]]) -> str:
    """Return the table of all results, and what is in no cell."""
    good = {n: f for n, f in results.items() if f.get("standard", {}).get("before")}
    asked = ("export", "size", *TARGETS, "judge", "times")
    versions: dict[str, str] = {}
    for row in good.values():
        versions |= {n: f["compiler"] for n, f in row.items() if "compiler" in f}
    compilers = sorted({n for row in good.values() for n in row if n not in asked})
    timed = [f["times"] for f in good.values() if "ms" in f.get("times", {})]
    rows, failed, words = [], [], []
    for name, found in results.items():
        shown = GALLERY.get(name)
        title = linked(shown.title, shown.thread) if shown else f"{name}, a file"
        failed += [f"- {title}, {k}: {why(f)}" for k, f in found.items() if "failed" in f]
        if name not in good:
            continue
        before, after = (found["standard"][w] for w in ("before", "after"))
        counts = [f"{before[part]} → {after[part]}" for part in ("scatters", "nodes")]
        how = shown.how.replace("_", ", ") if shown else "-"
        size = f"{found.get('size', {}).get('MB', '-')}"
        cells = [title, how, *counts, size, *answers(found, compilers), *timed_as(found)]
        rows.append(f"| {' | '.join((*cells, judged_as(found)))} |")
        words += said(title, found, compilers)
    totals = [sum(f["standard"][w]["scatters"] for f in good.values()) for w in ("before", "after")]
    lines = [
        f"- {len(good)} models; {totals[0]} scatters before, {totals[1]} after `standard`",
        f"- {sum(judged_as(f) == 'proven' for f in good.values())} are proven equal, "
        f"{sum(judged_as(f) == 'compared: equal' for f in good.values())} more are compared, and "
        "their bits are equal",
        *(f"- {versions.get(c, c)}: {takes(good, c)}" for c in compilers),
        *(f"- {t}: {speed(timed, t)}" for t in TARGETS if timed),
        *(f"- timed on {m}" for m in told(f"{t['machine']}, {t['runtime']}" for t in timed)),
        f"- package {', '.join(told(f['standard']['version'] for f in good.values()))}",
    ]
    heads = ["model", "export", "scatters", "nodes", "MB", *compilers]
    heads += ["ms", *(f"ms, `{target}`" for target in TARGETS), "result"]
    lines += [f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", *rows]
    lines += ["\n## What the compilers say\n", *words, "\n## Not measured\n", *failed]
    lines += [f"- {linked(*left)}: {reason}" for left, reason in LEFT_OUT.items()]
    return "\n".join(lines) + "\n"


def told(texts: Any) -> list[str]:
    """Return texts, the frequent ones first."""
    return [text for text, _ in Counter(texts).most_common()]


def why(found: dict[str, Any]) -> str:
    """Return the reason of a step that failed."""
    return shortened(str(found["failed"])) or "no reason"


def takes(good: dict[str, dict[str, Any]], compiler: str) -> str:
    """Return how many models a compiler takes, before and after."""
    cells = [f[compiler] for f in good.values() if "after" in f.get(compiler, {})]
    right = [sum(c[w]["verdict"] == "right" for c in cells) for w in ("before", "after")]
    return f"{right[0]} models of {len(cells)} taken and right before, {right[1]} after"


def speed(timed: list[dict[str, Any]], target: str) -> str:
    """Return the geometric mean of the ratios, and the least."""
    shares = [t[target]["ratio"] for t in timed]
    mean = math.exp(statistics.fmean(map(math.log, shares)))
    return f"{mean:.2f} times as fast in the geometric mean, least {min(shares):.2f}"


def said(title: str, found: dict[str, Any], compilers: list[str]) -> list[str]:
    """Return what compilers say of a model that they do not take, in lines."""
    lines = []
    for name in compilers:
        asked = found.get(name, {})
        texts = {w: asked[w]["why"] for w in ("before", "after") if asked.get(w, {}).get("why")}
        if len(set(texts.values())) == 1 < len(texts):
            texts = {"before and after": texts["before"]}
        told = "; ".join(f"{when}: {text}" for when, text in texts.items())
        lines += [f"- {title.partition(' ([')[0]}, {name}, {told}"] if told else []
    return lines


def main() -> None:
    """Measure what is left to measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = {"nargs": "+", "metavar": "NAME", "choices": GALLERY}
    parser.add_argument("--only", default=list(GALLERY), **names)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "gallery"))
    parser.add_argument("--with", dest="compilers", nargs="+", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--file", nargs=3, metavar=("NAME", "PATH", "SHA256"), help="your model")
    parser.add_argument("--anew", action="store_true", help="measure again with this version")
    parser.add_argument("--page", action="store_true", help="write the page of what is measured")
    args = parser.parse_args()
    code, compilers = version(), dict(pair.split("=", 1) for pair in args.compilers)
    name, *file = args.file or ("",)
    for row in [] if args.page else [name] if name else args.only:
        record = Record(args.cache / row, RESULTS, code, args.anew)
        measure(record, None if name else GALLERY[row], file, compilers)
        publish(args.cache)
    publish(args.cache)


def publish(cache: Path) -> None:
    """Write the results and the page."""
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    rows = dict.fromkeys((*GALLERY, *kept, *(p.name for p in sorted(cache.glob("*")))))
    records = {row: Record(cache / row, RESULTS).known() for row in rows}
    results = {row: found for row, found in records.items() if found}
    RESULTS.write_text(json.dumps(results, separators=(",", ":")) + "\n")
    write_page(PAGE, BEGINS, page(results))


if __name__ == "__main__":
    main()
