"""Follows the printed commands: dynamic exports of small modules, optimized for three targets.

    pip install torch==2.13.0 onnxscript
    python benchmarks/followed.py [--page docs/kept_scatters.md] [--only WORD] [--commands]

The modules are those of ``followed_sources.py``. `optimize` prints commands. The first one is
pasted whose promises are true of the module, and which does not add an operator to the target. This
is repeated until no such command is printed. The result is compared with the export in ONNX
Runtime, and the nodes that the target does not take are listed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import onnx

import onnx_scatterx
from onnx_scatterx.doors.cli import main as run

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from export import export, portable
from followed_sources import TRUE, examples

MOST = 5  # commands that are pasted
EXPORTERS = {"dynamo_dynamic": "dynamo", "ts_dynamic": "TorchScript"}
TARGETS = ("qnn", "rknn", "npu.toml")
BEGIN, END = "<!-- the table begins -->\n", "<!-- the table ends -->\n"
PROFILE = """name = "npu"
static_only = true
max_rank = 5
operators = [
    "Add", "And", "AveragePool", "Cast", "Clip", "Concat", "Constant", "Conv", "Div", "Equal",
    "Exp", "Expand", "Flatten", "Gather", "Gemm", "Greater", "Less", "MatMul", "Max", "MaxPool",
    "Min", "Mul", "Neg", "Not", "Or", "Pad", "ReduceMax", "ReduceSum", "Relu", "Reshape", "Resize",
    "Sigmoid", "Slice", "Softmax", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "TopK", "Transpose",
    "Unsqueeze", "Where",
]
"""


class Followed(NamedTuple):
    """The pasted commands, and the outcome."""

    commands: list[str]
    outcome: str


def ways(printed: str) -> Iterator[str]:
    """Yield the commands that are printed."""
    for line in printed.splitlines():
        if line.strip().startswith("onnx-scatterx optimize "):
            yield line.strip()


def is_true(command: str, name: str) -> bool:
    """Return whether all promises of a command are true of the module."""
    words = shlex.split(command)
    promised = {words[i + 1] for i, word in enumerate(words) if word == "--assume"}
    return promised <= TRUE.get(name, set()) and not re.search(r"\b(add|max_rank) = ", command)


def pasted(command: str) -> tuple[int, str, str]:
    """Run a command in this process; return its status, its stdout and its stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(shlex.split(command)[1:])
    return status, out.getvalue(), err.getvalue()


def follow(name: str, model: str, target: str) -> Followed:
    """Paste the printed commands until no new command is printed."""
    commands = [f"onnx-scatterx optimize {model} -o out.onnx --target {target}"]
    while True:
        status, out, err = pasted(commands[-1])
        if status:
            return Followed(commands, f"error: {err.strip()}")
        more = [c for c in ways(out) if is_true(c, name) and c not in commands]
        if not more or len(commands) > MOST:
            break
        commands.append(more[0])
    status, _, err = pasted(f"onnx-scatterx verify {model} out.onnx --samples 5")
    if status:
        return Followed(commands, f"differs: {err.strip()}")
    words = shlex.split(commands[-1])
    told = words[words.index("--target") + 1]
    return Followed(commands, outcome(onnx_scatterx.inspect("out.onnx", target=told)))


def outcome(report: onnx_scatterx.Report) -> str:
    """Return in a few words which nodes of a result the target does not take."""
    scatters = {s.node for s in report.scatters}
    left = dict.fromkeys(v.op for v in report.violations if v.node not in scatters)
    host = all(v.on_host for v in report.violations if v.node not in scatters)
    rest = f"{', '.join(left)} {'on the host' if host else 'not taken'}" if left else ""
    if scatters:
        (reason, *_) = dict.fromkeys(s.reason.value for s in report.scatters if s.reason)
        return f"kept: {reason}"
    return f"done; {rest}" if rest else "done"


def options(command: str) -> str:
    """Return which kinds of options a command has beside the target."""
    kinds = {
        "sizes": "--fix" in command,
        "dense": "dense = true" in command,
        "promise": "--assume" in command,
        "last wins": "--deterministic" in command,
    }
    return ", ".join(kind for kind, there in kinds.items() if there)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="modules whose name has this word")
    parser.add_argument("--page", type=Path, help="write the table into this page")
    parser.add_argument("--commands", action="store_true", help="print all that was pasted")
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    rows = [
        "| model | exporter | `qnn` | `rknn` | a profile of our own |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("npu.toml").write_text(PROFILE, encoding="utf-8")
        for name, example in examples().items():
            for how, exporter in EXPORTERS.items():
                if args.only not in name:
                    continue
                path = f"{name}_{how}.onnx"
                onnx.save(portable(export(example, how)), path)
                cells = []
                for target in TARGETS:
                    found = follow(name, path, target)
                    said = options(found.commands[-1])
                    cells.append(f"{said}: {found.outcome}" if said else found.outcome)
                    if args.commands:
                        print(*found.commands, f"    {found.outcome}", sep="\n")
                rows.append(f"| `{name}` | {exporter} | {' | '.join(cells)} |")
    table = "\n".join(rows) + "\n"
    print(table)
    if args.page is not None:
        text = args.page.read_text(encoding="utf-8")
        before, rest = text.split(BEGIN)
        args.page.write_text(
            f"{before}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
