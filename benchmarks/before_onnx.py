"""What is left of forty statements of PyTorch after an export: docs/before_onnx.md has the table.

    pip install torch==2.13.0
    python benchmarks/before_onnx.py              # all; --write puts the table into the page
    python benchmarks/before_onnx.py 3 7          # these rows

Each statement is exported with fixed and with symbolic sizes: as it is, as it is and then
optimized, and with `remove_scatters`. The outputs in PyTorch, of the
new program and of ONNX Runtime are compared bit for bit, symbolic exports at other sizes, too.
"""

from __future__ import annotations

import argparse
import logging
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import torch
from before_statements import SIZES, STATEMENTS, Statement

import onnx_scatterx
from onnx_scatterx.torch import remove_scatters

PAGE = Path(__file__).parents[1] / "docs" / "before_onnx.md"
MARK = "<!-- benchmarks/before_onnx.py writes what follows -->\n"
OTHER = {"B": 2, "T": 12, "S": 7, "N": 3, "K": 2, "H": 5, "W": 8}


def module(statement: Statement) -> torch.nn.Module:
    """Return a module whose forward is the statement, on a copy of x."""
    lines = textwrap.indent(statement.text, "    ")
    source = f"def forward(self, {', '.join(statement.shapes)}):\n    x = x.clone()\n{lines}\n"
    names: dict[str, Any] = {"torch": torch}
    exec(source + "    return x\n", names)
    return type("Put", (torch.nn.Module,), {"forward": names["forward"]})()


def inputs(statement: Statement, sizes: dict[str, int]) -> tuple[Any, ...]:
    """Draw the tensors."""
    torch.manual_seed(0)
    given = []
    for name, shape in statement.shapes.items():
        dims = [sizes[d] if d in sizes else int(d) for d in shape.split()]
        if name == "m":
            given.append(torch.rand(dims) < 0.5)
        elif name in "ip":
            given.append(torch.randperm(max(sizes.get("B", 2), 2))[: dims[0]])
        else:
            given.append(torch.randn(dims))
    return tuple(given)


def dynamic_shapes(statement: Statement, named: bool) -> tuple[Any, ...]:
    """Return the sizes that vary: by names, or each for itself."""
    dims = {name: torch.export.Dim(name.lower(), min=6 if name == "T" else 2) for name in SIZES}
    dims = dims if named else dict.fromkeys(SIZES, torch.export.Dim.AUTO)
    return tuple(
        {axis: dims[d] for axis, d in enumerate(shape.split()) if d in dims}
        for shape in statement.shapes.values()
    )


def same(statement: Statement, run: Any, sizes: dict[str, int]) -> bool:
    given = inputs(statement, sizes)
    wanted = module(statement)(*(tensor.clone() for tensor in given))
    return bool(np.array_equal(wanted.numpy(), np.asarray(run(*given))))


def session(model: onnx.ModelProto) -> Any:
    made = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [given.name for given in made.get_inputs()]

    def run(*given: Any) -> Any:
        feeds = (tensor.numpy() for tensor in given)
        return made.run(None, dict(zip(names, feeds, strict=True)))[0]

    return run


def exported(program: Any, **options: Any) -> onnx.ModelProto:
    return torch.onnx.export(program, dynamo=True, verbose=False, **options).model_proto


def counts(model: onnx.ModelProto) -> tuple[int, int]:
    ops = [node.op_type for node in model.graph.node]
    ops += [node.op_type for function in model.functions for node in function.node]
    return sum("Scatter" in op for op in ops), len(ops)


def row(statement: Statement, dynamic: bool) -> tuple[list[str], bool]:
    """Return the cells of a statement, and whether all outputs are the same."""

    def program() -> Any:  # anew for each export: they share the environment of its sizes
        given = inputs(statement, SIZES)
        shapes = (dynamic_shapes(statement, named) if dynamic else None for named in (True, False))
        try:
            return torch.export.export(module(statement), given, dynamic_shapes=next(shapes))
        except torch._dynamo.exc.UserError:
            return torch.export.export(module(statement), given, dynamic_shapes=next(shapes))

    new = remove_scatters(program())
    other = [OTHER] if dynamic else []
    fine = all(same(statement, lambda *g: new.module()(*g), s) for s in (SIZES, *other))
    cells = []
    try:
        plain = exported(program())
    except torch.onnx.OnnxExporterError:
        cells += ["fails", "fails"]
    else:
        after = onnx_scatterx.optimize(plain, target="standard").model
        cells += [_cell(*counts(plain)), _cell(*counts(after))]
    model = exported(new)
    run = session(model)
    fine &= all(same(statement, run, sizes) for sizes in (SIZES, *other))
    return [*cells, _cell(*counts(model))], fine


def _cell(scatters: int, nodes: int) -> str:
    return f"{scatters}, {nodes}"


def rows(chosen: list[int]) -> Iterator[str]:
    for at in chosen or range(1, len(STATEMENTS) + 1):
        statement = STATEMENTS[at - 1]
        for dynamic in (False, True):
            cells, fine = row(statement, dynamic)
            kind = "symbolic" if dynamic else "fixed"
            cells = [f"`{statement.title}`", kind, *cells, "yes" if fine else "NO"]
            yield f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="*", type=int)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    lines = ["| statement | sizes | exported | and optimized | removed before | same |"]
    lines += ["|---|---|---|---|---|---|"]
    print("\n".join(lines))
    for line in rows(arguments.rows):
        print(line, flush=True)
        lines.append(line)
    if arguments.write:
        text = PAGE.read_text().partition(MARK)[0] + MARK + "\n" + "\n".join(lines) + "\n"
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
