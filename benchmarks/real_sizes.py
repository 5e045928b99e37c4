"""Removes the scatters of models at published sizes, and writes ``docs/real_sizes.md``.

    pip install torch==2.13.0 transformers timm onnxsim onnxslim
    python benchmarks/real_sizes.py [--only NAME ...] [--cache FOLDER] [--page]

``benchmarks/real_rows.py`` has the rows. Each is exported by both exporters of PyTorch, with static
and with symbolic sizes, and is optimized as exported and after onnxsim and onnxslim. The result as
exported and after onnxslim runs beside its original in ONNX Runtime on the inputs of the export at
batch 1. Each step is a process of its own, with limits of memory and CPU time, so a failure costs
one cell. Exports and results stay in a cache. A run goes on where the last one ended, and measures
anew what another version of the package measured. ``--page`` only writes the page.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from real_rows import HOWS, ROWS

ROOT = Path(__file__).parents[1]

FORMS = ("model", "onnxsim", "onnxslim")  # the export, and what simplifiers make of it
GIB, CPU_SECONDS = 9, 1200  # of one step
PAGE = ROOT / "docs" / "real_sizes.md"
NO_SIZE = "no symbolic size"
TINY = '<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) {y = Neg (x)}'
BEGINS = "<!-- the results begin: benchmarks/real_sizes.py writes them -->\n"


def loaded(path: Path) -> Any:
    """Return a model without its external data."""
    import onnx

    return onnx.load(path, load_external_data=False)


def counted(path: Path) -> dict[str, int]:
    """Return how many nodes and scatters the graph of a file has."""
    nodes = loaded(path).graph.node
    kinds = ("ScatterND", "ScatterElements", "Scatter", "TensorScatter")
    return {"nodes": len(nodes), "scatters": sum(node.op_type in kinds for node in nodes)}


def export(name: str, how: str, folder: str) -> dict[str, Any]:
    """Export a row, and draw the inputs of the comparison."""
    import numpy as np
    import real_models
    import torch

    torch.set_num_threads(1)
    row = ROWS[name]
    traced = real_models.example(name, row, 1)
    if how.endswith("dynamic") and not any(traced.sizes.values()):
        return {"failed": NO_SIZE}
    np.savez(Path(folder, "feeds.npz"), **{n: t.numpy() for n, t in traced.inputs.items()})
    path = Path(folder, "model.onnx")
    real_models.export(name, row, how, path)
    return counted(path)


def simplify(tool: str, source: str, target: str) -> dict[str, Any]:
    """Write what a simplifier makes of a file."""
    import onnx

    if tool == "onnxsim":
        import onnxsim

        model, _ = onnxsim.simplify(source)
    else:
        import onnxslim

        model = onnxslim.slim(source)
    onnx.save(model, target, save_as_external_data=model.ByteSize() > 2**31 - 2**20)
    return counted(Path(target))


def optimize(source: str, target: str) -> dict[str, Any]:
    """Optimize a file; return CPU seconds, the peak of memory, and what is left."""
    import onnx.parser

    import onnx_scatterx

    def seconds() -> float:
        used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(u.ru_utime + u.ru_stime for u in used)

    onnx_scatterx.optimize(onnx.parser.parse_model(TINY))  # all modules are imported
    before = seconds()
    result = onnx_scatterx.optimize(source, target="standard")
    spent = seconds() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    result.save(target)
    kept = Counter(s.reason.value for s in result.report.scatters if s.reason is not None)
    limits = sum(n for why, n in kept.items() if "limit of" in why)
    after = counted(Path(target))
    return {
        "before": counted(Path(source)), "after": after, "limits": limits, "kept": dict(kept),
        "seconds": round(spent, 2), "mb": peak,
    }  # fmt: skip


def compare(source: str, target: str, feeds: str) -> dict[str, Any]:
    """Run both files; return the largest difference, by the largest number, for both options."""
    import numpy as np
    import onnxruntime as ort

    given = np.load(feeds)
    found: dict[str, Any] = {}
    for name, level in (("default", "ORT_ENABLE_ALL"), ("off", "ORT_DISABLE_ALL")):
        runs = []
        for path in (source, target):
            options = ort.SessionOptions()
            options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
            options.log_severity_level, options.intra_op_num_threads = 4, 1
            session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            runs.append(session.run(None, {i.name: given[i.name] for i in session.get_inputs()}))
            del session
        found[name] = max(difference(a, b) for a, b in zip(*runs, strict=True))
    return found


def difference(a: Any, b: Any) -> float:
    """Return 0 for equal bits; else the largest difference by the largest number of ``a``."""
    import numpy as np

    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf")
    if a.tobytes() == b.tobytes():
        return 0.0
    x, y = a.astype(np.float64), b.astype(np.float64)
    if not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return float("inf")
    apart = np.abs(np.where(np.isfinite(x), x - y, 0)).max(initial=0)
    return float(apart / max(np.abs(np.where(np.isfinite(x), x, 0)).max(initial=0), 1e-30))


STEPS = {step.__name__: step for step in (export, simplify, optimize, compare)}


def apart(step: str, *arguments: str | Path) -> dict[str, Any]:
    """Do a step in a process of its own; return what it found, or how it failed."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (GIB << 30, GIB << 30))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))

    command = [sys.executable, __file__, "--step", step, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return dict(json.loads(lines[-1]))
    if done.returncode in (-9, -24):
        return {"failed": f"{step}: more than {CPU_SECONDS} s of CPU time, or too much memory"}
    told = [line for line in done.stderr.splitlines() if line[:1].isalpha() and ": " in line]
    told = told or [f"ended with status {done.returncode}"]
    return {"failed": f"{step}: {told[-1]}".replace(str(ROOT), "")[:160].replace("|", "/")}


def version() -> str:
    """Return a hash of the package's source."""
    found = hashlib.sha256()
    for path in sorted((*ROOT.glob("onnx_scatterx/**/*.py"), *ROOT.glob("rewrites/**/*.py"))):
        found.update(path.read_bytes())
    return found.hexdigest()[:12]


class Results:
    """What is known of a row; each new fact is written at once."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "results.json"
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}

    def find(self, key: str, version: str, step: str, *arguments: str | Path) -> dict[str, Any]:
        """Return what a step found, doing it if it was not done with this version."""
        found = self.known.get(key)
        if found is None or found["version"] != version:
            found = apart(step, *arguments) | {"version": version}
            self.known[key] = found
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.known, indent=1))
            print(self.path.parent.name, key, found, flush=True)
        return dict(found)


def measure(name: str, how: str, cache: Path, code: str) -> None:
    """Do all that is still to do for one export of a row."""
    results, folder = Results(cache / name), cache / name / how
    folder.mkdir(parents=True, exist_ok=True)
    found = results.find(f"{how} export", "", "export", name, how, folder)
    if "failed" in found:
        return
    for form in FORMS if found["scatters"] else FORMS[:1]:
        source, target = folder / f"{form}.onnx", folder / f"{form}_optimized.onnx"
        if form != "model":
            made = results.find(
                f"{how} {form} made", "", "simplify", form, folder / "model.onnx", source
            )
            if "failed" in made:
                continue
        done = results.find(f"{how} {form}", code, "optimize", source, target)
        if found["scatters"] and form != "onnxsim" and "failed" not in done:
            feeds = folder / "feeds.npz"
            results.find(f"{how} {form} run", code, "compare", source, target, feeds)
        for written in folder.glob(f"{form}_optimized.onnx*"):
            written.unlink()


def cells(known: dict[str, Any], how: str) -> str:
    """Return the columns of one export: each cell has the three forms."""
    forms: list[dict[str, Any]] = [
        known.get(f"{how} {form} made", {}) | known.get(f"{how} {form}", {}) for form in FORMS
    ]

    def joined(show: Callable[[dict[str, Any]], object]) -> str:
        return " / ".join(
            "" if not f else "-" if "before" not in f else str(show(f)) for f in forms
        )

    def ran(form: str) -> str:
        run = known.get(f"{how} {form} run", {})
        if "default" not in run:
            return "-" if run else ""
        alike = run["default"] == run["off"] == 0
        return "equal" if alike else f"{run['default']:.0e}, {run['off']:.0e}"

    columns = (
        how.replace("_", ", "),
        joined(lambda f: f"{f['before']['nodes']} → {f['after']['nodes']}"),
        joined(lambda f: f"{f['before']['scatters']} → {f['after']['scatters']}"),
        *(joined(lambda f, part=part: f[part]) for part in ("limits", "seconds", "mb")),  # type: ignore[misc]
        f"{ran('model')} / {ran('onnxslim')}",
    )
    return " | ".join(columns)


def page(cache: Path, code: str) -> str:
    """Return the tables of all results in the cache."""
    rows, plain, failed, good = [], [], [], []
    for name in ROWS:
        known = Results(cache / name).known
        for how in HOWS:
            named, export = f"{name}, {how.replace('_', ', ')}", known.get(f"{how} export")
            good += [f for form in FORMS if "before" in (f := known.get(f"{how} {form}", {}))]
            if export is None:
                failed.append(f"- {named}: not made yet")
            elif export.get("scatters"):
                rows.append(f"| {name} | {cells(known, how)} |")
            elif "nodes" in export:
                plain.append(f"{named} ({export['nodes']} nodes)")
            failed += [
                f"- {named}, {key.split(maxsplit=1)[1]}: {found['failed']}"
                for key, found in known.items()
                if key.split()[0] == how and found.get("failed", NO_SIZE) != NO_SIZE
            ]
    slow = [f for f in good if f["seconds"] > max(10, f["before"]["nodes"] / 1000)]
    before, after = (sum(f[part]["scatters"] for f in good) for part in ("before", "after"))
    kept = Counter({why: 0 for f in good for why in f["kept"]})
    for f in good:
        kept.update(f["kept"])
    old = sum(f["version"] != code for f in good)
    slowest = max((f["seconds"] for f in good), default=0)
    heads = ("model", "export", "nodes", "scatters", "limits", "seconds", "MB", "runs")
    return "\n".join(
        [
            f"- {len(good)} files; {old} of them were optimized by an older version",
            f"- {before} scatters before, {after} after",
            f"- {sum(f['limits'] for f in good)} scatters are kept for a limit of steps",
            *(f"- kept, {number} times: {why}" for why, number in kept.most_common()),
            f"- {len(slow)} files took longer than 10 s and 1 ms a node; the longest {slowest} s",
            f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}",
            *rows,
            f"\n## Exports without a scatter\n\n{'; '.join(plain)}",
            "\n## What failed\n",
            *failed,
            "",
        ]
    )


def main() -> None:
    """Measure what is left to measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(ROWS), choices=ROWS, metavar="NAME")
    parser.add_argument("--how", nargs="+", default=list(HOWS), choices=HOWS)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "real_sizes"))
    parser.add_argument("--page", action="store_true", help="write the page of what is measured")
    parser.add_argument("--step", nargs="+", metavar="ARGUMENT", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.step:
        print(json.dumps(STEPS[args.step[0]](*args.step[1:])))
        return
    code = version()
    if not args.page:
        for name in args.only:
            for how in args.how:
                measure(name, how, args.cache, code)
    head, _, _ = PAGE.read_text(encoding="utf-8").partition(BEGINS)
    PAGE.write_text(f"{head}{BEGINS}\n{page(args.cache, code)}", encoding="utf-8")


if __name__ == "__main__":
    main()
