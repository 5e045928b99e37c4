"""Removes the scatters of models at published sizes, and writes ``docs/measured/real_sizes.md``.

    pip install torch==2.13.0 transformers timm onnxsim onnxslim
    python benchmarks/real_sizes.py [--only NAME ...] [--cache FOLDER] [--page]

``benchmarks/real_rows.py`` has the rows. Each is exported by both exporters of PyTorch, with static
and with symbolic sizes, and is optimized as exported and after onnxsim and onnxslim. The result as
exported and after onnxslim runs beside its original in ONNX Runtime on the inputs of the export at
batch 1. Each step is a process of its own, with limits of memory and CPU time, so a failure costs
one cell. Exports stay in a cache, and results in ``benchmarks/real_sizes.json``, too. A run goes on
where the last one ended, on whatever machine. With ``--anew`` it measures again what another
version of the package measured. ``--page`` only writes the results and the page.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
from real_rows import HOWS, ROWS
from real_steps import (
    LEVELS,
    NO_SIZE,
    ROOT,
    Record,
    Step,
    counted,
    difference,
    export,
    opened,
    optimize,
    version,
    write_page,
)

import onnx_scatterx

FORMS = ("model", "onnxsim", "onnxslim")  # the export, and what simplifiers make of it
PAGE = ROOT / "docs" / "measured" / "real_sizes.md"
RESULTS = ROOT / "benchmarks" / "real_sizes.json"
NUMBERS = ("nodes", "scatters", "limits", "seconds", "MB")
TINY = '<ir_version: 8, opset_import: ["" : 18]> g (float[2] x) => (float[2] y) {y = Neg (x)}'
BEGINS = "<!-- the results begin: benchmarks/real_sizes.py writes them -->\n"


def simplify(tool: str, source: str, target: str) -> dict[str, Any]:
    """Write what a simplifier makes of a file."""
    if tool == "onnxsim":
        import onnxsim

        model, _ = onnxsim.simplify(source)
    else:
        import onnxslim

        model = onnxslim.slim(source)
    onnx.save(model, target, save_as_external_data=model.ByteSize() > 2**31 - 2**20)
    return counted(target)


def compare(source: str, target: str, feeds: str) -> dict[str, Any]:
    """Run both files; return the largest difference, by the largest number, for both options."""
    given = np.load(feeds)
    found: dict[str, Any] = {}
    for name in LEVELS:
        runs = []
        for path in (source, target):
            try:
                session = opened(path, name)
                fed = {i.name: given[i.name] for i in session.get_inputs()}
                runs.append(session.run(None, fed))
            except Exception as error:
                which = "the result" if runs else "the original"
                return {"failed": f"{which}, {name} options: {error}"[:160].replace("|", "/")}
            del session
        found[name] = max(difference(a, b) for a, b in zip(*runs, strict=True))
    return found


class Measured:
    """One export of a row: what is found, and what is still to do with one version of the code."""

    def __init__(self, record: Record, how: str) -> None:
        self.record, self.how = record, how
        self.folder = record.folder / how
        self.folder.mkdir(parents=True, exist_ok=True)

    def file(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.folder / name)

    def find(self, key: str, step: Step, *arguments: Any, made: str | None = None) -> Any:
        """Return what a step found, doing it if it is not known, or if its file is lost."""
        versioned = step in (optimize, compare)
        key = f"{self.how} {key}"
        return self.record.find(key, step, *arguments, versioned=versioned, made=made)

    def has(self, key: str) -> bool:
        """Return whether nothing is left to do for a step."""
        return self.record.has(f"{self.how} {key}")

    def measure(self) -> None:
        """Do all that is still to do."""
        name = self.record.folder.name
        given = (name, ROWS[name], self.how, str(self.folder))
        found = self.find("export", export, *given)
        for form in FORMS if found.get("scatters") else FORMS[: "nodes" in found]:
            source, target = self.file(f"{form}.onnx"), self.file(f"{form}_optimized.onnx")
            runs = found["scatters"] and form != "onnxsim"
            if self.has(form) and (self.has(f"{form} run") or not runs):
                continue
            model = self.file("model.onnx")
            if "failed" in self.find("export", export, *given, made=model):
                return
            if form != "model":
                made = self.find(f"{form} made", simplify, form, model, source, made=source)
                if "failed" in made:
                    continue
            done = self.find(form, optimize, source, target, made=target)
            if runs and "failed" not in done:
                self.find(f"{form} run", compare, source, target, self.file("feeds.npz"))
            for written in self.folder.glob(f"{form}_optimized.onnx*"):
                written.unlink()


def cells(found: dict[str, Any], how: str) -> list[str]:
    """Return the columns of one export."""

    def joined(part: str) -> str:
        """Return a number of the three forms; "-" is a form that failed."""
        shown = []
        for form in FORMS:
            made = found.get(f"{how} {form} made", {})
            of = found.get(f"{how} {form}", made if "failed" in made else {})
            if part in NUMBERS[:2] and "before" in of:
                shown.append(f"{of['before'][part]} → {of['after'][part]}")
            else:
                shown.append(str(of.get(part, "-" if of else "?")))
        return " / ".join(shown)

    def ran(run: dict[str, Any]) -> str:
        if "default" not in run:
            return "-" if run else "?"
        apart = [f"{run[options]:.0e}" for options in ("default", "off")]
        return "equal" if apart == ["0e+00"] * 2 else ", ".join(apart)

    runs = [ran(found.get(f"{how} {form} run", {})) for form in (FORMS[0], FORMS[2])]
    return [*map(joined, NUMBERS), " / ".join(runs)]


def page(cache: Path) -> str:
    """Return the tables of all results."""
    rows, plain, failed, todo, good = [], [], [], [], []
    for name, how in itertools.product(ROWS, HOWS):
        title = f"{name}, {how.replace('_', ', ')}"
        found = Record(cache / name, RESULTS).known()
        own = {key.removeprefix(f"{how} "): f for key, f in found.items() if key.split()[0] == how}
        good += [own[form] for form in FORMS if "before" in own.get(form, {})]
        bad = {key: f["failed"] for key, f in own.items() if "failed" in f}
        told = {key: re.sub(r"\x1b\[\d*m", "", why) for key, why in bad.items()}
        failed += [f"- {title}, {key}: {why}" for key, why in told.items() if why != NO_SIZE]
        export = own.get("export", {"failed": ""})
        if not own:
            todo.append(title)
        elif export.get("scatters"):
            rows.append(f"| {title} | {' | '.join(cells(found, how))} |")
        elif "nodes" in export:
            plain.append(f"{title} ({export['nodes']} nodes)")
    slow = [f for f in good if f["seconds"] > max(10, f["before"]["nodes"] / 1000)]
    before, after = (sum(f[part]["scatters"] for f in good) for part in ("before", "after"))
    kept = sum((Counter(f["kept"]) for f in good), Counter())
    versions = Counter(f["version"] for f in good)
    heads = ["model, export", *NUMBERS, "runs"]
    lines = [
        f"- {len(good)} files are optimized, of {len(rows) + len(plain)} exports",
        f"- {before} scatters before, {after} after",
        f"- {sum(f['limits'] for f in good)} scatters are kept for a limit of steps",
        *(f"- kept, {number} times: {why}" for why, number in kept.most_common()),
        f"- {len(slow)} files took more than 10 s and more than 1 ms a node",
        f"- by version of the package: {', '.join(f'{v} {n}' for v, n in versions.most_common())}",
        f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}",
        *rows,
        f"\n## Exports without a scatter\n\n{'; '.join(plain)}",
        "\n## What failed\n",
        *failed,
        f"\n## Not made yet\n\n{'; '.join(todo)}",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure what is left to measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(ROWS), choices=ROWS, metavar="NAME")
    parser.add_argument("--how", nargs="+", default=list(HOWS), choices=HOWS)
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir(), "real_sizes"))
    parser.add_argument("--anew", action="store_true", help="measure again with this version")
    parser.add_argument("--page", action="store_true", help="write the page of what is measured")
    args = parser.parse_args()
    code = version()
    if not args.page:
        onnx_scatterx.optimize(onnx.parser.parse_model(TINY))  # now all modules are imported
        for name, how in itertools.product(args.only, args.how):
            Measured(Record(args.cache / name, RESULTS, code, args.anew), how).measure()
    write_page(PAGE, BEGINS, page(args.cache))
    records = {name: Record(args.cache / name, RESULTS).known() for name in ROWS}
    results = {name: found for name, found in records.items() if found}
    RESULTS.write_text(json.dumps(results, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
