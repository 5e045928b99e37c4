"""Removes the scatters of an ExportedProgram: a pass over its graph and the graphs of its branches.

Each write is replaced by nodes in front of it. If a program reads only a part of a written tensor,
the part is read from the tensor that it was written from. So a chain of writes becomes one cat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onnx_scatterx.torch import indices, slices
from onnx_scatterx.torch.fx import END, PARTS, Fx, behind
from onnx_scatterx.torch.ops import Tensor
from onnx_scatterx.torch.rows import Run, cut, part, strided

RULES: dict[str, Callable[..., Tensor | None]] = {
    "slice_scatter.default": slices.slice_scatter,
    "select_scatter.default": slices.select_scatter,
    "diagonal_scatter.default": slices.diagonal_scatter,
    "as_strided_scatter.default": slices.as_strided_scatter,
    "index_copy.default": indices.index_copy,
    "masked_scatter.default": indices.masked_scatter,
    "index_put.default": indices.index_put,
    "scatter.src": indices.scatter,
    "scatter.value": indices.scatter,
}


def remove(program: Any, last_bits: bool) -> bool:
    """Remove the scatters of a functional ExportedProgram, in place.

    Returns whether some tensor has other strides than before: then the program must be traced
    again.
    """
    modules, moved = program.graph_module.modules(), False
    for module in [m for m in modules if hasattr(m, "graph")]:
        graph = module.graph
        (output,) = (node for node in graph.nodes if node.op == "output")
        roots = [_root(node) for node in output.args[0]]
        ops = Fx(program, graph, last_bits)
        if ops.mode is None:
            continue
        for node in list(graph.nodes):
            with graph.inserting_before(node):
                new = _replacement(ops, node)
            if new is not None:
                moved = moved or str(ops.value(new).stride()) != str(ops.value(node).stride())
                node.replace_all_uses_with(new)
                graph.erase_node(node)
            elif isinstance(
                value := ops.value(node) if "val" in node.meta else None, ops.torch.SymInt
            ):
                ops.numbers.setdefault(str(value.node.expr), node)
        for node in graph.nodes if moved else ():
            if node.target is ops.aten.view.default:
                node.target = ops.aten.reshape.default
        _own(ops, output, roots)
        graph.eliminate_dead_code()
        module.recompile()
        if module is program.graph_module:
            named = zip(program.graph_signature.output_specs, output.args[0], strict=True)
            for spec, node in named:
                if hasattr(node, "name"):
                    spec.arg.name = node.name
    return moved


def _replacement(ops: Fx, node: Any) -> Any:
    """Return the node that replaces a node; None if the node stays."""
    name = str(node.target).removeprefix("aten.")
    if node.op != "call_function" or name == str(node.target):
        return None
    if name in RULES:
        args, kwargs = node.args, node.kwargs
        if name.startswith("index_put") and not _indexable(ops, args[1]):
            return None
        if name.startswith("diagonal_scatter"):
            arguments, base, _ = ops.diagonals.get(args[0], (None, args[0], None))
            args = (base if arguments == (args[2:], kwargs) else args[0], *args[1:])
        new = RULES[name](ops, *args, **kwargs)
        if new is not None:  # the type may differ: PyTorch promotes tensors without dims
            fine = ops.fits(new, node) and ops.value(new).dtype == ops.value(node).dtype
            new = new if fine else None
        if new is not None and name.startswith("diagonal_scatter"):
            ops.diagonals[new] = ((args[2:], kwargs), args[0], args[1])
        return new
    x = node.args[0] if node.args else None
    if name == "diagonal.default" and x in ops.diagonals:
        arguments, _, src = ops.diagonals[x]
        return ops.cast(src, x) if arguments == (node.args[1:], node.kwargs) else None
    if not node.kwargs and x in ops.rows and name in ("slice.Tensor", "select.int"):
        return _read(ops, name, *node.args)
    users = {str(user.target).removeprefix("aten.") for user in node.users}
    copied = name == "copy.default" and users & {*RULES, "output"}
    if copied or (name == "fill.Tensor" and users & {*RULES} and behind(x, PARTS) in ops.rows):
        return ops.expand(ops.cast(node.args[1], x), ops.sizes(x))
    return None


def _read(
    ops: Fx, name: str, x: Any, dim: int = 0, start: Any = 0, end: Any = None, step: Any = 1
) -> Any:
    """Read a slice or row of a written tensor from its source, if it has only one source."""
    axis, pieces = ops.rows[x]
    dim, n = dim % ops.rank(x), ops.size(x, dim)
    lo = ops.front(0 if start is None else start, n)
    hi = ops.add(lo, 1) if name == "select.int" else n if end in (None, END) else ops.front(end, n)
    if name == "slice.Tensor" and step == 1 and ops.holds(lo, 0) and ops.holds(n, hi):
        return x
    if axis != dim:
        return None
    if step != 1:
        taken = strided(ops, pieces, lo, hi, step)
        return None if taken is None else part(ops, taken[0], dim, *taken[1:])
    parts = cut(ops, pieces, lo, hi)
    if parts is None or len(parts[1]) != 1 or not isinstance(run := parts[1][0], Run):
        return None
    at = ops.sub(lo, run.shift)
    inserted = run.source.target is ops.aten.unsqueeze.default and run.source.args[1] == dim
    if name == "select.int" and inserted and ops.holds(at, 0):
        return run.source.args[0]
    if name == "select.int":
        return ops.call(ops.aten.select.int, run.source, dim, at)
    return part(ops, run.source, dim, ops.sub(run.lo, run.shift), ops.sub(run.hi, run.shift))


def _indexable(ops: Fx, indices: Sequence[Any]) -> bool:
    """Return whether every index holds int32, int64 or booleans."""
    types = (ops.torch.bool, ops.torch.int32, ops.torch.int64)
    return all(index is None or ops.value(index).dtype in types for index in indices)


def _root(node: Any) -> Any:
    """Return the node whose memory a node is a view of, or the node; None for a number."""
    if not hasattr(node, "target"):
        return None
    while arguments := getattr(getattr(node.target, "_schema", None), "arguments", None):
        if arguments[0].alias_info is None:
            break
        node = node.args[0]
    return node


def _own(ops: Fx, output: Any, before: list[Any]) -> None:
    """Copy each output that shares memory with an input or another output, but did not before."""
    seen: dict[Any, Any] = {}
    outputs = list(output.args[0])
    for i, (node, root) in enumerate(zip(outputs, before, strict=True)):
        now = _root(node)
        if root is None:
            continue
        if (now.op == "placeholder" and root is not now) or seen.setdefault(now, root) is not root:
            with ops.graph.inserting_before(output):
                outputs[i] = ops.call(ops.aten.clone.default, node)
    output.args = (tuple(outputs),)
