"""The threads of ``benchmarks/field.py``, and the page that its results make."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
THREADS = ROOT / "benchmarks" / "field_threads.txt"
RESULTS = ROOT / "benchmarks" / "field.json"
PAGE = ROOT / "docs" / "measured" / "field.md"
BEGINS = "<!-- the results begin: benchmarks/field.py writes them -->\n"
PROFILES = "benchmarks/field_targets"
SCATTERS = 'remove = ["ScatterElements", "ScatterND"]'

TARGETS = {
    "TensorRT 7": f"{PROFILES}/tensorrt7.toml",
    "TensorRT 8": f"{PROFILES}/tensorrt8.toml",
    "TensorRT 10": f"tensorrt, {SCATTERS}",
    "Barracuda 2": f"{PROFILES}/barracuda2.toml",
    "CoreML": "coreml",
    "IREE": f"iree, {SCATTERS}",
    "NNAPI": "nnapi",
    "OpenCV": f"opencv, {SCATTERS}",
    "OpenVINO": f"openvino, {SCATTERS}",
    "QNN": f"qnn, {SCATTERS}",
    "RKNN": f"rknn, {SCATTERS}",
    "TVM": f"tvm, {SCATTERS}",
    "WebGL": 'webnn, remove = ["Range", "ScatterElements", "ScatterND", "Where"]',
    "WebNN": 'webnn, remove = ["GatherND", "ScatterElements", "ScatterND"]',
    "ncnn": "ncnn",
    "onnx2tf": f"tflite, {SCATTERS}",
    "tract": f"tract, {SCATTERS}",
    "no scatters": 'standard, avoid = ["Scatter", "ScatterElements", "ScatterND"]',
    "standard": "standard",
    "ScatterX": "scatterx",
}
GRADES = ("solved at once", "solved by the printed command", "partly", "not solved", "no scatter")


@dataclass(frozen=True)
class Case:
    """What is run: a pattern, how it is exported, and for which target."""

    pattern: str
    exporter: str
    opset: int
    target: str

    @property
    def key(self) -> str:
        """The name of the case in the results."""
        return f"{self.pattern}, {self.exporter} {self.opset}, {self.target}"


@dataclass(frozen=True)
class Thread:
    """A public thread, what was written there, and its case. ``guessed``: it shows no code."""

    name: str
    words: str
    case: Case
    guessed: bool

    @property
    def link(self) -> str:
        """The thread as a link of Markdown."""
        repository, _, number = self.name.partition("#")
        return f"[{self.name}](https://github.com/{repository}/issues/{number})"


def threads() -> list[Thread]:
    """Return all threads in the order of the file."""
    found = []
    for line in THREADS.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, kind, export, target, words = line.split(" | ")
            exporter, opset = export.split()
            case = Case(kind.removeprefix("~"), exporter, int(opset), target)
            found.append(Thread(name, words, case, kind.startswith("~")))
    return found


def grade(found: Mapping[str, Any], first: str) -> str:
    """Return how far a case is solved; ``first`` is the command without what was printed."""
    left = {kind: n for kind, n in found["after"].items() if kind != "ScatterX"}
    if not found["before"]:
        return GRADES[4]
    if left:
        return GRADES[3]
    if found["lacks"]:
        return GRADES[2]
    return GRADES[found["command"] != first]


def asked(command: str, first: str) -> str:
    """Return which options were printed, and added to the first command."""
    options = {
        "dense = true": "dense forms",
        "--assume": "a promise",
        "--fix": "sizes",
        "--deterministic": "the last update wins",
        "--opset": "another operator set",
        "--last-bits": "last bits may differ",
    }
    more = [name for option, name in options.items() if option in command and option not in first]
    return ", ".join(more)


def outcome(found: Mapping[str, Any], first: str) -> str:
    """Return what comes out of a case, in words."""
    count = {part: sum(found[part].values()) for part in ("before", "after")}
    how = asked(found["command"], first)
    parts = [grade(found, first) + (f" ({how})" if how else "")]
    native = found["after"].get("ScatterX", 0)
    parts += [f"{count['before']} → {count['after']}" + (", ScatterX" if native else "")]
    parts += [f"kept: {why}" for why in found["kept"]]
    parts += [f"missing: {what}" for what in found["missing"]]
    parts += [f'a printed command was not run, "{what}"' for what in found["not_run"]]
    others = [op for op in found["lacks"] if op not in found["after"]]
    parts += [f"not taken besides: {', '.join(others)}"] if others else []
    parts += [f"on the host: {', '.join(found['on_host'])}"] if found["on_host"] else []
    return "; ".join(parts)


def first_command(case: Case) -> str:
    """Return the command that is run first."""
    target = TARGETS[case.target]
    option = f" --target {shlex.quote(target)}" if target != "scatterx" else ""
    return f"onnx-scatterx optimize in.onnx -o out.onnx{option}"


def cell(text: str) -> str:
    """Return a text as a cell of a table."""
    return text.replace("|", "\\|")


def page(results: Mapping[str, Any]) -> str:
    """Return the tables of all results."""
    cases, listed = results["cases"], threads()
    grades = {t.name: grade(cases[t.case.key], first_command(t.case)) for t in listed}
    totals = Counter(grades.values())
    used = [name for name in TARGETS if any(t.case.target == name for t in listed)]
    runs = [cases[key] for key in dict.fromkeys(t.case.key for t in listed)]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    repositories = {t.name.partition("#")[0] for t in listed}
    guessed = sum(t.guessed for t in listed)
    lines = [
        f"- {len(listed)} threads in {len(repositories)} repositories, {len(runs)} cases",
        f"- {guessed} threads show no code, so the statement is a guess",
        *(f"- {name}: {totals[name]} threads" for name in GRADES),
        f"- {sum(sum(r['before'].values()) for r in runs)} scatters before,"
        f" {sum(sum(r['after'].values()) for r in runs)} after",
        f"- {sum(r['ran'] for r in runs)} pairs of runs; the original refused"
        f" {sum(r['refused'] for r in runs)} drawn inputs",
        f"- largest difference with optimizations off: {max(r['off'] for r in runs):.0e}, under"
        f" the default options: {max(r['default'] for r in runs):.0e} of the largest number",
        f"- {versions}; package {results['version']}",
        "\n## The targets\n\n| target | `--target` |\n|---|---|",
        *(f"| {name} | `{TARGETS[name]}` |" for name in used),
        "\n## The threads\n",
        f"*Date: {results['date']}. Version: package {results['version']}. Command: `just field`."
        " Machine: any, since nothing is timed.*\n",
        "| thread | what they wrote | export | target | command | outcome |",
        "|---|---|---|---|---|---|",
    ]
    for t in listed:
        found = cases[t.case.key]
        guess = " (a guess)" if t.guessed else ""
        said = f"{t.words}: {found['statement']}{guess}"
        export = f"{t.case.exporter} {t.case.opset}"
        told = outcome(found, first_command(t.case))
        row = [t.link, said, export, t.case.target, f"`{found['command']}`", told]
        lines.append(f"| {' | '.join(map(cell, row))} |")
    lines.append("\n## What is not solved, and why\n")
    for name in GRADES[2:4]:
        for t in (t for t in listed if grades[t.name] == name):
            found = cases[t.case.key]
            lines.append(f"- {t.link}: {outcome(found, first_command(t.case))}")
    return "\n".join(lines) + "\n"


def write() -> None:
    """Write the page."""
    head, _, _ = PAGE.read_text(encoding="utf-8").partition(BEGINS)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(f"{head}{BEGINS}\n{page(results)}", encoding="utf-8")
