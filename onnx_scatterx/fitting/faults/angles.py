"""Sines and cosines of a position of the run, which float16 makes wrong, as rows of a table.

    table_of_angles    Cos(Cast<float>(at) * f)   =   Reshape(Gather(T, at))        0 <= at <= n
                       row p of T is Cos(Cast<float>(p) * f)

At 700, the numbers of float16 are 0.5 apart, and so are the angles of a rotary embedding. The rows
are computed in float32, by the nodes of the model, one position after the other (a Scan), without
optimizations: as the original computes them. All that an angle is computed from are constants and
one integer, whose range is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue, required
from onnx_scatterx.engine.budget import LIMITS
from onnx_scatterx.engine.write import range_of
from onnx_scatterx.fitting.constant_finder import COMPUTED, NodeRunner
from onnx_scatterx.fitting.faults.candidate import Candidate
from onnx_scatterx.graphs import constant

_FLOAT, _INTEGERS = ir.DataType.FLOAT, (ir.DataType.INT64, ir.DataType.INT32)
OPERATORS = ("Cos", "Sin")
_MOST = 64  # nodes from the integer to an angle
_POSITIONS = 1 << 16
_SCANS = 9  # the operator set from which a Scan has a tensor of any rank


@dataclass
class _Chain:
    """The nodes that compute angles from one integer, in the order of the graph, and constants."""

    source: ir.Value | None = None
    nodes: dict[ir.Node, None] = field(default_factory=dict)
    tensors: dict[str, ir.TensorProtocol] = field(default_factory=dict)


def table_of_angles(at: Candidate) -> bool:
    """Gather all sines and cosines of the same integer from tables."""
    opset = at.scope.opsets.get("", 0)
    found = {
        node: chain for node in (at.node, *at.others(*OPERATORS)) if (chain := _chain(at, node))
    }
    source = found[at.node].source if at.node in found else None
    if source is None or opset < _SCANS:
        return False
    count = _count(at, source)
    alike = {node: chain for node, chain in found.items() if chain.source is source}
    if count is None or not _fit(at, alike, count):
        return False
    tables = _tables(alike, source, at.scope.of(source), count, opset)
    written = [_gathered(at, value, source, rows) for value, rows in (tables or {}).items()]
    return any(written)


def _chain(at: Candidate, node: ir.Node) -> _Chain | None:
    """Return the nodes that compute an angle from one integer, or None."""
    (angle,) = node.outputs
    if at.scope.of(angle).dtype != _FLOAT or at.scope.of(angle).static_shape is None:
        return None
    chain = _Chain()
    return chain if _follow(at, angle, chain) and chain.source is not None else None


def _follow(at: Candidate, value: ir.Value, chain: _Chain) -> bool:
    """Follow a value back to constants and the one integer; return whether nothing else is read."""
    tensor, known, maker = (
        constant(value, at.scope.overridable),
        at.scope.of(value),
        value.producer(),
    )
    if tensor is not None:
        chain.tensors[value.name or ""] = tensor
        return tensor.nbytes <= LIMITS.computed_bytes
    is_integer = known.dtype in _INTEGERS and known.static_shape is not None
    if is_integer and math.prod(known.static_shape or ()) == 1 and known.constant is None:
        chain.source = chain.source or value
        return chain.source is value
    if maker is None or maker.graph is not at.node.graph or maker in chain.nodes:
        return maker in chain.nodes
    if maker.domain != "" or maker.op_type not in COMPUTED or len(chain.nodes) >= _MOST:
        return False
    if not all(v is None or _follow(at, v, chain) for v in maker.inputs):
        return False
    chain.nodes[maker] = None
    return True


def _count(at: Candidate, source: ir.Value) -> int | None:
    """Return how many positions there are, from 0 up to the largest, if that is known."""
    low, high = range_of(at.scope.of(source), at.writer.facts) or (-1, -1)
    return high + 1 if low >= 0 and high < _POSITIONS else None


def _fit(at: Candidate, chains: Mapping[ir.Node, _Chain], count: int) -> bool:
    """Return whether all tables are small enough."""
    sizes = (math.prod(at.scope.of(node.outputs[0]).static_shape or ()) for node in chains)
    return 4 * count * sum(sizes) <= LIMITS.computed_bytes


def _tables(
    chains: Mapping[ir.Node, _Chain],
    source: ir.Value,
    known: TensorValue,
    count: int,
    opset: int,
) -> dict[ir.Value, np.ndarray] | None:
    """Compute the angles of each position by a Scan, a row for each."""
    angles, dtype, shape = (
        [node.outputs[0] for node in chains],
        required(known.dtype),
        known.static_shape or (),
    )
    made = dict.fromkeys(node for chain in chains.values() for node in chain.nodes)
    tensors = {name: t for chain in chains.values() for name, t in chain.tensors.items()}
    stored = [ir.to_proto(ir.Tensor(t.numpy(), name=name)) for name, t in tensors.items()]
    body = onnx.helper.make_graph(
        [ir.to_proto(node) for node in made],
        "angles",
        [onnx.helper.make_tensor_value_info(str(source.name), dtype.value, shape)],
        [onnx.helper.make_tensor_value_info(str(v.name), _FLOAT.value, None) for v in angles],
        stored,
    )
    scan = ir.Node(
        "",
        "Scan",
        [ir.Value(name="positions")],
        attributes=[
            ir.AttrInt64("num_scan_inputs", 1),
            ir.AttrGraph("body", ir.serde.deserialize_graph(body)),
        ],
        outputs=[ir.Value(name=v.name) for v in angles],
    )
    positions = np.arange(count, dtype=dtype.numpy()).reshape(count, *shape)
    with NodeRunner() as runner:
        found = runner.run(scan, {"positions": positions}, opset)
    return None if found is None else dict(zip(angles, found, strict=True))


def _gathered(at: Candidate, value: ir.Value, source: ir.Value, rows: np.ndarray) -> bool:
    """Write an angle as a row of a table."""
    w, (count, *shape) = at.writer, rows.shape

    def write() -> ir.Value:
        table = w.constant(rows.reshape(count, -1), _FLOAT)
        place = w.node("Reshape", [source, w.constant([1])], source.dtype)
        row = w.node("Gather", [table, place], _FLOAT, axis=0)
        return w.node("Reshape", [row, w.constant(shape)], _FLOAT)

    return at.on_host(lambda: at.replace(value, write))
