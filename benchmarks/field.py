"""Runs the scatters of public threads through onnx-scatterx, and writes ``docs/measured/field.md``.

    pip install torch==2.13.0 .
    python benchmarks/field.py [--only PATTERN ...] [--page]

``benchmarks/field_threads.txt`` has the threads, one in a line. Each names a pattern: a module of
``field_slices.py``, ``field_sizes.py``, ``field_indices.py`` or ``field_masks.py``, or a graph of
``field_graphs.py``. It is exported as the thread says, and the command that the page shows is run.
While the tool prints a command that removes more, this one is run: a promise (``--assume``) only if
the thread makes it, sizes (``--fix``) with the numbers of the thread, and no other compiler. Then
the two files run beside each other in ONNX Runtime, on drawn inputs. If they differ, or if a
command fails, the exit status is 1. The results are kept in ``benchmarks/field.json``; ``--page``
only writes the page, and needs no torch. ``--only`` prints some of the results and writes nothing.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import importlib.metadata
import itertools
import json
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import field_page
import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
from field_graphs import GRAPHS
from field_inputs import draws, names
from field_page import ROOT, TARGETS, Case
from real_steps import LEVELS, difference, opened, version

MODULES = ("field_slices", "field_sizes", "field_indices", "field_masks")
PACKAGES = ("torch", "onnxruntime", "onnx", "onnxscript")
COMMANDS = 4  # that are run for one case
LARGEST = 1e-5  # difference under the default options, by the largest number


def pattern(name: str) -> Any:
    """Return the graph, or the class of the module, with a name."""
    if name in GRAPHS:
        return GRAPHS[name]
    found = [getattr(importlib.import_module(module), name, None) for module in MODULES]
    return next(kind for kind in found if kind is not None)


def statement(name: str) -> str:
    """Return what a pattern writes, in one line."""
    kind = pattern(name)
    return kind.statement if name in GRAPHS else str(kind.__doc__).splitlines()[0]


def export(case: Case, path: Path) -> None:
    """Write the model of a case."""
    kind = pattern(case.pattern)
    if case.exporter == "graph":
        head = f'<ir_version: 8, opset_import: ["" : {case.opset}]> '
        onnx.save(onnx.parser.parse_model(head + kind.text), path)
        return
    import torch

    torch.manual_seed(0)
    own = next(draws(kind.inputs, (), fixed=True))
    given = tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in own.values())
    free = names(kind.inputs)
    options: dict[str, Any] = {"input_names": list(own), "opset_version": case.opset}
    if case.exporter == "TorchScript":
        options |= {"dynamo": False, "dynamic_axes": free}
    else:
        options |= {"dynamo": True, "external_data": False}
        if any(free.values()):
            options["dynamic_shapes"] = free
    with torch.no_grad():
        torch.onnx.export(kind().eval(), given, str(path), verbose=False, **options)


def nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of all graphs and functions, but those of ScatterX itself."""

    def inside(owner: Any) -> Iterator[onnx.NodeProto]:
        for node in owner.node:
            yield node
            for attribute in node.attribute:
                for graph in (*attribute.graphs, *[attribute.g] * attribute.HasField("g")):
                    yield from inside(graph)

    for owner in (model.graph, *(f for f in model.functions if f.name != "ScatterX")):
        yield from inside(owner)


def scatters(path: Path) -> dict[str, int]:
    """Return how many scatters of each operator a file has."""
    kinds = (node.op_type for node in nodes(onnx.load(path)))
    return dict(sorted(Counter(kind for kind in kinds if "Scatter" in kind).items()))


def beyond(path: Path, target: str) -> list[str]:
    """Return what the compiler does not take of a file, and its profile does not say.

    The list of operators of TensorRT 10.1 says of TopK that K is less than 3840.
    """
    model = onnx.load(path)
    values = {t.name: t for t in model.graph.initializer}
    constants = [node for node in nodes(model) if node.op_type == "Constant"]
    values |= {n.output[0]: a.t for n in constants for a in n.attribute if a.name == "value"}
    sorts = [node.input[1] for node in nodes(model) if node.op_type == "TopK"]
    counts = [int(onnx.numpy_helper.to_array(values[k]).max()) for k in sorts if k in values]
    found = target.startswith("TensorRT") and max(counts, default=0) >= 3840
    return ["TopK of 3840 elements or more"] if found else []


def lacks(report: dict[str, Any], on_host: bool) -> list[str]:
    """Return the operators that the target does not take, or runs on its host."""
    found = [v for v in report["violations"] if v["on_host"] is on_host]
    newer = {v["op"] for v in found if v["why"].startswith("operator set")}
    operators = sorted({v["op"] for v in found if not v["why"].startswith("operator set")})
    text = f"{', '.join(sorted(newer))} of operator set {report['opset_kept']}"
    return [*operators, *([text] if newer else [])]


def run(command: str, folder: Path) -> dict[str, Any]:
    """Run a command of onnx-scatterx in a folder, and return its report."""
    words = [*shlex.split(command)[1:], "--json", "--advice"]
    arguments = [sys.executable, "-m", "onnx_scatterx", *words]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
    return dict(json.loads(done.stdout))


def allowed(command: str, case: Case, inputs: dict[str, str], promises: Sequence[str]) -> str:
    """Return a printed command with the sizes of the thread; "" if the thread does not allow it."""
    arguments = shlex.split(command)
    target = arguments[arguments.index("--target") + 1] if "--target" in arguments else "scatterx"
    keys = re.sub(r"dense(_limit)? = \w+", "", target.removeprefix(TARGETS[case.target]))
    own = {name: array.shape for name, array in next(draws(inputs, (), fixed=True)).items()}
    sizes = {d: own[name][i] for name, dims in names(inputs).items() for i, d in dims.items()}
    for i, (option, value) in enumerate(itertools.pairwise(arguments), 1):
        about, _, facts = value.partition(": ")
        said = [f"{about}: {fact}" for fact in facts.split(", ")] if facts else [value]
        if option == "--assume" and not {*said} <= {*promises}:
            return ""
        if option == "--fix" and ":" in value:
            name, _, _ = value.partition(":")
            arguments[i] = f"{name}:{','.join(map(str, own[name]))}"
        elif option == "--fix":
            dim, _, number = value.partition("=")
            arguments[i] = f"{dim}={sizes.get(dim, number)}"
    return "" if keys.strip(", ") else shlex.join(arguments)


def compare(folder: Path, feeds: Iterator[Any]) -> dict[str, Any]:
    """Run both files on the same inputs, and return the largest differences.

    Inputs that the original refuses are counted, and are not compared.
    """
    found: dict[str, Any] = {"ran": 0, "refused": 0, "default": 0.0, "off": 0.0}
    sessions: dict[str, list[Any]] = {}
    for level in LEVELS:
        sessions[level] = [opened(folder / name, level) for name in ("in.onnx", "out.onnx")]
    for feed in feeds:
        for options, (before, after) in sessions.items():
            fed = {i.name: feed[i.name] for i in before.get_inputs()}
            try:
                wanted = before.run(None, fed)
            except Exception:  # one of many that ONNX Runtime has
                found["refused"] += 1
                continue
            given = after.run(None, fed)
            found["ran"] += 1
            for a, b in zip(wanted, given, strict=True):
                apart = 0.0 if np.array_equal(a, b) and a.dtype == b.dtype else difference(a, b)
                found[options] = max(found[options], apart)
    return found


def solve(case: Case, folder: Path) -> dict[str, Any]:
    """Export a case, run the commands, and compare the files."""
    kind = pattern(case.pattern)
    inputs, promises = kind.inputs, getattr(kind, "promises", ())
    export(case, folder / "in.onnx")
    command = field_page.first_command(case)
    tried: list[str] = []
    while command:
        tried.append(command)
        report = run(command, folder)
        told = [(*advice["ways"], *advice["too_large"]) for advice in report["advice"]]
        ways = [way["command"] for some in told for way in some]  # the large ones last
        nexts = [allowed(way, case, inputs, promises) for way in ways]
        more = [way for way in nexts if way and way not in tried]
        command = more[0] if more and len(tried) < COMMANDS else ""
    kept = [s["why"] for s in report["scatters"] if s["action"] == "kept"]
    stuck = [advice for advice in report["advice"] if advice["nodes"]]
    found = {
        "statement": statement(case.pattern),
        "command": tried[-1],
        "before": scatters(folder / "in.onnx"),
        "after": scatters(folder / "out.onnx"),
        "kept": dict(Counter(kept)),
        "missing": list(dict.fromkeys(a["missing"] for a in stuck if not a["ways"])),
        "not_run": list(dict.fromkeys(way["condition"] for a in stuck for way in a["ways"])),
        "lacks": lacks(report, on_host=False) + beyond(folder / "out.onnx", case.target),
        "on_host": lacks(report, on_host=True),
    }
    fixed = "--fix" in tried[-1]
    return found | compare(folder, draws(inputs, promises, fixed))


def main() -> None:
    """Run all cases, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="PATTERN")
    parser.add_argument("--page", action="store_true", help="write the page of what is known")
    args = parser.parse_args()
    wrong = []
    if not args.page:
        results: dict[str, Any] = {}
        for case in dict.fromkeys(thread.case for thread in field_page.threads()):
            if args.only and case.pattern not in args.only:
                continue
            with tempfile.TemporaryDirectory() as temporary:
                (Path(temporary) / "benchmarks").symlink_to(ROOT / "benchmarks")
                try:
                    found = solve(case, Path(temporary))
                except Exception as error:  # of the exporter, the tool or ONNX Runtime
                    found = {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
            if "failed" in found or found["off"] or found["default"] > LARGEST or not found["ran"]:
                wrong.append(case.key)
            results[case.key] = found
            print(case.key, json.dumps(found), flush=True)
        if not args.only:
            versions = {package: importlib.metadata.version(package) for package in PACKAGES}
            lines = [f"{json.dumps(key)}: {json.dumps(found)}" for key, found in results.items()]
            told = f'"version": "{version()}", "date": "{datetime.date.today()}"'
            head = f'{{"versions": {json.dumps(versions)}, {told}, "cases": {{\n'
            field_page.RESULTS.write_text(head + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    if not args.only:
        field_page.write()
    if wrong:
        raise SystemExit(f"wrong or failed: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
