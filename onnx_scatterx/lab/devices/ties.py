"""Whether wrong integers and booleans are ties: choices between floats that are nearly equal.

A consumer that computes in float16 rounds the candidates of an ArgMax, an ArgMin or a TopK, and
the operands of a comparison. If two of them are closer than its error, it may choose the other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx_ir as ir

from onnx_scatterx.files import load, save
from onnx_scatterx.graphs import attribute_of, constant, overridable
from onnx_scatterx.lab.devices.adapter import Outputs
from onnx_scatterx.lab.devices.nearness import CLOSE, nearness
from onnx_scatterx.operators import described
from onnx_scatterx.processes import NoReply
from onnx_scatterx.runtime import ModelFile, Runner

_TIMEOUT = 120.0  # seconds of a run in ONNX Runtime
_EXTREMES = ("ArgMax", "ArgMin")

Arrays = Mapping[str, np.ndarray]


def are_tied(model: Path, feeds: Arrays, truth: Arrays, outputs: Outputs, directory: Path) -> bool:
    """Return whether outputs that are wrong differ only between candidates closer than the error.

    The error is that of the other outputs, if a float is among them, and otherwise the largest one
    of what is close. It is relative to the largest candidate. Files are written into the directory.
    """
    if not isinstance(outputs, Mapping):
        outputs = dict(zip(truth, outputs, strict=False))
    if set(truth) - set(outputs):
        return False
    wrong = [n for n, t in truth.items() if nearness({n: t}, {n: outputs[n]}).grade == "wrong"]
    if any(truth[name].dtype.kind not in "iub" for name in wrong):
        return False
    floats = {n: t for n, t in truth.items() if n not in wrong and t.dtype.kind == "f"}
    error = nearness(floats, {n: outputs[n] for n in floats}).error if floats else CLOSE
    return _are_near(
        model, feeds, {n: truth[n] for n in wrong}, outputs, error, directory / "candidates.onnx"
    )


def _are_near(
    model: Path, feeds: Arrays, truth: Arrays, outputs: Arrays, error: float, place: Path
) -> bool:
    """Return whether all these outputs differ only between candidates closer than an error."""
    loaded = load(model)
    ends = {str(value.name): value for value in loaded.graph.outputs}
    chosen = {name: _choice(ends[name]) for name in truth if name in ends}
    wanted = dict.fromkeys(v for node in chosen.values() if node for v in _candidates(node))
    if set(chosen) != set(truth) or None in chosen.values():
        return False
    known = {value: constant(value, overridable(loaded)) for value in wanted}
    loaded.graph.outputs[:] = [v for v in wanted if known[v] is None]
    file = save(loaded, place)[0]
    with Runner(ModelFile(file)) as runner:
        answer = runner.run(feeds, _TIMEOUT)
    if isinstance(answer, NoReply):
        return False
    arrays = {
        v: np.asarray(answer[str(v.name)] if stored is None else stored.numpy(), np.float64)
        for v, stored in known.items()
    }
    return all(
        node is not None
        and _is_tied(node, [arrays[v] for v in _candidates(node)], truth[n], outputs[n], error)
        for n, node in chosen.items()
    )


def _choice(value: ir.Value) -> ir.Node | None:
    """Return the node that chose the elements of a value, before a Reshape or a Cast."""
    node = value.producer()
    while node is not None and (described(node).keeps_order or node.op_type == "Cast"):
        value = node.inputs[0] or value
        node = value.producer()
    if node is None or any(read is None for read in node.inputs):
        return None
    if described(node).compares:
        return node
    chooses = node.op_type in _EXTREMES or (node.op_type == "TopK" and value.index() == 1)
    return node if chooses and node.domain == "" else None


def _candidates(node: ir.Node) -> list[ir.Value]:
    inputs = node.inputs if described(node).compares else node.inputs[:1]
    return [value for value in inputs if value is not None]


def _is_tied(
    node: ir.Node, floats: list[np.ndarray], truth: np.ndarray, output: np.ndarray, error: float
) -> bool:
    """Return whether one output differs only between candidates that are close.

    >>> graph = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[3] x) => (int64[1] y) { y = ArgMax (x) }''').graph
    >>> scores, first, second = np.array([0.5, 0.4999, 0.1]), np.array([0]), np.array([1])
    >>> [_is_tied(graph.node(0), [scores], first, second, error) for error in (1e-3, 1e-5)]
    [True, False]
    """
    if truth.size != output.size or not np.isfinite(output.astype(np.float64)).all():
        return False
    if not truth.size:
        return True
    if described(node).compares:
        one, other = np.broadcast_arrays(*floats)
        if (output.astype(np.bool_) != output).any():
            return False
        gaps = np.abs(one - other).ravel()[truth.ravel() != output.ravel()]
    else:
        (scores,) = floats
        axis = int(attribute_of(node, "axis", -1 if node.op_type == "TopK" else 0))
        rows = np.moveaxis(scores, axis, -1)
        shape = list(scores.shape)
        shape[axis] = truth.size * scores.shape[axis] // scores.size
        chosen = [np.moveaxis(a.reshape(shape), axis, -1).astype(np.int64) for a in (truth, output)]
        indices = output.astype(np.float64)
        if indices.min() < 0 or indices.max() >= rows.shape[-1] or (indices % 1 != 0).any():
            return False
        ordered = np.sort(chosen[1], -1)
        if (ordered[..., 1:] == ordered[..., :-1]).any():  # no element is chosen twice
            return False
        one, other = (np.take_along_axis(rows, index, -1) for index in chosen)
        gaps = np.abs(one - other)[chosen[0] != chosen[1]]
    finite = np.concatenate([array[np.isfinite(array)] for array in floats])
    return bool((gaps <= error * np.abs(finite).max(initial=0.0)).all())
