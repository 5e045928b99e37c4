"""Times whole models: the original, and the results of each target and of each other tool.

    pip install torch==2.13.0 transformers onnxsim onnxslim
    python benchmarks/models.py [--only WORD] [--threads 1] [--rounds 25] [--json FILE] [--regions]

The models are those of ``model_sources.py`` and, whole, of ``architectures.py``, exported on the
spot. With ``--regions`` the regions around the scatters of each are timed, too.

All variants of a model are open in one process and take turns; in each round, a variant's time is
divided by the original's, and the median of these ratios is printed with its quartiles (above 1 is
faster). Tools that are not installed are left out. If a tool breaks a model, or changes its
outputs, a word says so.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import math
import statistics
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from regions import regions
from turns import ratios, same, variant

import onnx_scatterx
from onnx_scatterx.files.writing import write_text

TARGETS = ("standard", "scatterx", "ort-cpu")


def by_onnxsim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model that onnxsim makes of a model."""
    import onnxsim

    return onnxsim.simplify(model)[0]


def by_onnxslim(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model that onnxslim makes of a model."""
    import onnxslim

    return onnxslim.slim(model)


def by_onnxscript(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model that onnxscript's optimizer makes of a model."""
    import onnxscript.optimizer

    return onnxscript.optimizer.optimize(model)


TOOLS = {"onnxsim": by_onnxsim, "onnxslim": by_onnxslim, "onnxscript": by_onnxscript}


def makers() -> dict[str, Callable[[onnx.ModelProto], onnx.ModelProto]]:
    """Return the targets and the other tools."""
    ours = {t: lambda m, t=t: onnx_scatterx.optimize(m, target=t).model for t in TARGETS}
    return ours | TOOLS


def measure(
    name: str, model: onnx.ModelProto, feeds: dict[str, np.ndarray], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Print one model's lines; return them as plain data."""
    original = variant(lambda m: m, model, feeds, arguments.threads)
    assert original.run is not None, original.wrong
    expected = original.run()
    variants = {}
    for label, make in makers().items():
        made = variants[label] = variant(make, model, feeds, arguments.threads)
        if made.run is not None and not same(expected, made.run()):
            made.wrong = "other outputs"
    base, found = ratios(original, variants, arguments.rounds)
    print(f"{name:28}{original.nodes:5} nodes{original.scatters:4} scatters{base * 1e3:10.3f} ms")
    lines = {}
    for label, made in variants.items():
        line: dict[str, Any] = {"nodes": made.nodes, "scatters": made.scatters, "wrong": made.wrong}
        text = made.wrong
        if label in found:
            low, middle, high = statistics.quantiles(found[label], n=4)
            line |= {"ratio": middle, "quartiles": [low, high]}
            text = f"{middle:6.2f} times as fast ({low:.2f} to {high:.2f}) {made.wrong}"
        print(f"    {label:24}{made.nodes:5} nodes{made.scatters:4} scatters  {text}")
        lines[label] = line
    return {"nodes": original.nodes, "scatters": original.scatters, "seconds": base} | {
        "variants": lines
    }


def main() -> None:
    """Print the table and the geometric means."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", metavar="WORD", help="models with this in their name")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--regions", action="store_true", help="time regions around scatters, too")
    parser.add_argument("--models", type=Path, metavar="DIR", help="keep the exported models here")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write a table of Markdown")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures too")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    results = {}
    for name, model, feeds in exported(arguments.only or "", arguments.models):
        results[name] = measure(name, model, feeds, arguments)
        for node, part, values in regions(model, feeds) if arguments.regions else ():
            results[f"{name}: {node}"] = measure(f"{name}: {node}", part, values, arguments)
    print("\ngeometric mean of the medians")
    for label in makers():
        lines = [r["variants"][label] for r in results.values()]
        medians = [x["ratio"] for x in lines if "ratio" in x]
        if medians:
            mean = math.exp(statistics.fmean(map(math.log, medians)))
            print(f"    {label:24}{mean:6.2f} over {len(medians)} models, least {min(medians):.2f}")
    if arguments.json:
        write_text(arguments.json, json.dumps(results, indent=1))
    if arguments.table:
        write_text(arguments.table, table(results))


def table(results: dict[str, Any]) -> str:
    """Return the figures as tables of Markdown: the whole models, and the regions of each.

    A cell holds the ratio, and nodes / scatters in brackets. Tools that ran nothing are left out.
    """
    ran = {k for r in results.values() for k, v in r["variants"].items() if "ratio" in v}
    labels = [label for label in makers() if label in ran]
    whole = {name: r for name, r in results.items() if ": " not in name}
    parts = {name: r for name, r in results.items() if name not in whole}
    tables = [_table("model", whole, labels), _table("region", parts, labels) if parts else ""]
    return "\n".join(filter(None, tables))


def _table(what: str, results: dict[str, Any], labels: list[str]) -> str:
    head = [what, "ms", "nodes", *labels]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    for name, result in results.items():
        cells = [f"{result['seconds'] * 1e3:.2f}", f"{result['nodes']} / {result['scatters']}"]
        for label in labels:
            line = result["variants"][label]
            counts = f"{line['nodes']} / {line['scatters']}"
            cells.append(f"{line['ratio']:.2f} ({counts})" if "ratio" in line else line["wrong"])
        rows.append([name, *cells])
    means = []
    for label in labels:
        medians = [v["ratio"] for r in results.values() if "ratio" in (v := r["variants"][label])]
        means.append(f"**{math.exp(statistics.fmean(map(math.log, medians))):.2f}**")
    rows.append(["geometric mean", "", "", *means])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def exported(only: str, folder: Path | None) -> Any:
    """Yield the name, the model and the inputs of every example."""
    import model_sources
    from export import export, portable

    examples = model_sources.examples()
    with contextlib.suppress(ImportError):
        import architectures

        examples |= architectures.examples()
    for name, example in examples.items():
        for how in example.exports:
            full = f"{name}_{how}"
            if only not in full:
                continue
            path = None if folder is None else folder / f"{full}.onnx"
            if path is not None and path.exists():
                model = onnx.load(path)
            else:
                with contextlib.redirect_stdout(io.StringIO()):
                    model = portable(export(example, how))
                if path is not None:
                    onnx.save(model, path)
            yield full, model, {n: t.numpy() for n, t in example.inputs.items()}


if __name__ == "__main__":
    main()
