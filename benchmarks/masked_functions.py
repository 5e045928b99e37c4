"""The NonZero nodes of the models of a folder: which are removed, and what the others feed.

    python benchmarks/masked_functions.py models

A NonZero gives the positions of a mask. If a model reads elements there, computes a function f of
them and writes the result back, the NonZero goes with the write if all of f is computed element by
element, with the same bits at any place (`onnx_scatterx/engine/plan/last_bits.py`). Of
each NonZero that is left, the operators of f that are not of that kind are printed.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.engine.analysis.domain.call import Scope
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.plan.last_bits import computes_alike
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.graphs.traversal import all_graphs

_MOVES = frozenset(
    {
        *("Cast", "Concat", "Expand", "Flatten", "Identity", "Reshape", "Shape", "Slice"),
        *("Split", "Squeeze", "Transpose", "Unsqueeze"),
    }
)
_READS = frozenset({"Gather", "GatherElements", "GatherND"})


def function_of(positions: ir.Node, scope: Scope) -> str:
    """Return what is computed of the elements at the positions, up to the next scatter."""
    (output,), (mask,) = positions.outputs, positions.inputs
    known = None if mask is None else scope.values.get(mask)
    if known is not None and known.constant is not None:
        return "no mask: the positions are constants"
    places, computed = {output}, set[ir.Value]()
    listed, others = set[str](), set[str]()
    for node in positions.graph or ():
        first = node.inputs[0] if node.inputs else None
        if node.op_type.startswith("Scatter"):
            continue
        if node.op_type in _READS and places.intersection(node.inputs[1:]) and first not in places:
            computed.update(node.outputs)
        elif computed.intersection(node.inputs):
            computed.update(node.outputs)
            kinds = [
                scope.values[v].dtype if v in scope.values else v.dtype for v in node.inputs if v
            ]
            if node.op_type not in _MOVES:
                (listed if computes_alike(node, kinds) else others).add(node.op_type)
        elif places.intersection(node.inputs) and node.op_type in _MOVES:
            places.update(node.outputs)
    if not computed:
        return "nothing is read there"
    return f"f has {', '.join(sorted(others)) or 'listed operators alone'}"


def main() -> None:
    """Print a row for each model and function that is left, and the sums."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--target", default="standard")
    args = parser.parse_args()
    before, rows, grown = 0, Counter[tuple[str, str]](), list[str]()
    for path in sorted(args.folder.rglob("*.onnx")):
        nodes = [n for g in all_graphs(ir.load(path)) for n in g]
        count = sum(n.op_type == "NonZero" for n in nodes)
        if not count:
            continue
        try:
            model = ir.from_proto(onnx_scatterx.optimize(path, target=args.target).model)
        except ScatterXError:
            continue
        before += count
        left = 0
        for graph, scope in interpret(model).own_graphs():
            found = [n for n in graph if n.op_type == "NonZero"]
            rows.update((path.stem, function_of(n, scope)) for n in found)
            left += len(found)
        if left < count and sum(1 for g in all_graphs(model) for _ in g) > len(nodes):
            grown.append(path.stem)
    print("| left in | NonZero | what is computed at the positions |\n|---|---|---|")
    for (name, found), times in sorted(rows.items()):
        print(f"| `{name}` | {times} | {found} |")
    print(f"\n{before} NonZero nodes, {sum(rows.values())} left; more nodes in: {grown or 'none'}")


if __name__ == "__main__":
    main()
