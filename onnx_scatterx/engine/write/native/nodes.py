"""ScatterX nodes: their attributes and operands, and how a scatter becomes one.

    J = T(I) = p( f(p1(I)) ++ p2(I) )

The picks are those of the operator, unless the indices are known to depend on fewer dims of the
updates, or to be a coordinate themselves: then f shrinks to those dims, as in the normal form.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import ElementOf
from onnx_scatterx.engine.lift import Scatter
from onnx_scatterx.engine.mosaic import Provenance
from onnx_scatterx.engine.spelling import has
from onnx_scatterx.engine.terms import Term, as_numbers, tabulated
from onnx_scatterx.engine.write.native.fallback import BODY, FallbackSpec, Picks
from onnx_scatterx.engine.write.numbers import Numbers
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.graphs import all_nodes, is_scatterx_domain
from onnx_scatterx.operators import WIDER
from onnx_scatterx.targets import SCATTERX
from onnx_scatterx.text import Reason, RefusedError, refuse_unless


def picks_of(node: ir.Node) -> Picks:
    """Return (p1, p2, p)."""
    p1, p2, p = (tuple(node.attributes[n].as_ints()) for n in ("p1", "p2", "p"))
    return p1, p2, p


def is_native(node: ir.Node) -> bool:
    """Return whether a node is a ScatterX."""
    return node.op_type == SCATTERX and is_scatterx_domain(node.domain)


def new_nodes(graph: ir.Graph | ir.Function) -> Iterator[tuple[ir.Node, FallbackSpec]]:
    """Yield the nodes without a fallback, also in subgraphs, with their descriptions."""
    for node in all_nodes(graph):
        body = node.meta.get(BODY)
        if is_native(node) and isinstance(body, FallbackSpec):
            yield node, body


def put_behind(node: ir.Node, *, data: Sequence[int] = (), updates: Sequence[int] = ()) -> None:
    """Put the fallback of a new node behind more transposes of data or of updates."""
    node.meta[BODY] = node.meta[BODY].behind(data, updates)


def set_fallback(node: ir.Node, fallback: ir.Function) -> None:
    """Give a node its fallback."""
    node.domain = fallback.domain
    del node.meta[BODY]


_INT64 = ir.DataType.INT64
_NUMBERS = 1 << 12  # indices that are written out as a constant


@dataclass(frozen=True)
class ProvisionTensor:
    """A tensor that can be f: the dims of the updates that it runs over, and how it is written."""

    dims: tuple[int, ...]
    dtype: ir.DataType
    write: Callable[[Writer], ir.Value]


@dataclass(frozen=True)
class Encoding:
    """The picks of a node, its f, and its fallback body."""

    p2: tuple[int, ...]
    p: tuple[int, ...]
    provision: ProvisionTensor
    body: FallbackSpec

    @classmethod
    def of(cls, scatter: Scatter, provenance: Provenance, numbers: Numbers) -> Encoding:
        """Return the encoding of a scatter, or refuse."""
        version = provenance.scope.opsets.get(scatter.node.domain, 0)
        return _encoded(scatter, provenance, numbers, version)

    @classmethod
    def at_positions(
        cls,
        rank: int,
        axes: Sequence[int],
        counted: tuple[int, ...],
        version: int,
        write: Callable[[Writer], ir.Value],
    ) -> Encoding:
        """Return the encoding of a write to positions on some axes, and to all of the others.

        ``write`` writes f, the positions, over the ``counted`` axes; elsewhere the axes count on.
        """
        index_rank = max(axes) + 1
        columns = tuple(None if d in axes else d for d in range(index_rank))
        if counted == tuple(range(index_rank)):
            columns = ()  # f is the indices
        body = FallbackSpec("ScatterND", version, "none", counted, index_rank, columns)
        p2 = tuple(d for d in range(rank) if d not in axes)
        provision = ProvisionTensor(counted, _INT64, write)
        return cls(p2, _permutation(rank, axes), provision, body)

    def write(
        self, w: Writer, data: ir.Value, updates: ir.Value, dtype: ir.DataType, *, unique: bool
    ) -> ir.Value:
        """Write the node; its updates are known not to collide if ``unique``."""
        inputs = data, self.provision.write(w), updates
        picks = self.provision.dims, self.p2, self.p
        return w.insert(self.body.node(inputs, picks, dtype, unique=unique))


def _encoded(scatter: Scatter, provenance: Provenance, numbers: Numbers, version: int) -> Encoding:
    rank, op, attributes = len(scatter.data_shape), scatter.node.op_type, scatter.node.attributes
    if op == "ScatterND":
        return _scatter_nd(scatter, provenance, version)
    for name in ("axis", "mode"):  # the fallback is that of one call of a function
        is_own = name not in attributes or not attributes[name].is_ref()
        refuse_unless(is_own, Reason.UNKNOWN_ATTRIBUTE, name)
    axis, mode = (
        scatter.named[0],
        attributes["mode"].as_string() if "mode" in attributes else "linear",
    )
    if op == "TensorScatter":
        provision = _of_tensor_scatter(scatter, axis, mode, numbers)
    else:
        provision = _small(scatter, provenance, [axis]) or _whole(scatter, provenance)
    p2 = tuple(d for d in range(len(scatter.shape)) if d != axis)
    body = FallbackSpec(op, version, scatter.reduction, provision.dims, rank, axis=axis, mode=mode)
    body = replace(body, narrow=scatter.dtype if scatter.dtype in WIDER else None)
    return Encoding(p2, _permutation(rank, [axis]), provision, body)


def _permutation(rank: int, named: Sequence[int]) -> tuple[int, ...]:
    """Return p that moves f's columns to the named axes, and p2 to the others in order."""
    order = [*named, *(c for c in range(rank) if c not in named)]
    return tuple(order.index(c) for c in range(rank))


def _scatter_nd(scatter: Scatter, provenance: Provenance, version: int) -> Encoding:
    depth = len(scatter.named)
    rank, index_rank = len(scatter.data_shape), len(scatter.index_dims)
    rest = tuple(range(index_rank, len(scatter.shape)))
    columns: list[int | None] = []
    for target in scatter.index_exprs[:depth]:
        dim = target.dim
        columns.append(None if dim is None or dim >= index_rank or dim in columns else dim)
    named = [c for c, dim in enumerate(columns) if dim is None]
    provision = _small(scatter, provenance, named) if named and has("Range", version) else None
    wide = [d for d in range(index_rank) if scatter.shape[d].constant != 1]
    if provision is None or (len(named) == depth and set(provision.dims) >= set(wide)):
        provision, named, columns = _whole(scatter, provenance), list(range(depth)), []
    own = [d for d in columns if d is not None]
    order = [c for c in range(depth) if c not in named]
    p = [0] * rank
    for position, axis in enumerate([*named, *order, *range(depth, rank)]):
        p[axis] = position
    body = FallbackSpec("ScatterND", version, scatter.reduction)
    if columns:
        body = replace(body, p1=provision.dims, index_rank=index_rank)
        body = replace(body, columns=tuple(columns), index_type=provision.dtype)
    return Encoding((*own, *rest), tuple(p), provision, body)


def _whole(scatter: Scatter, provenance: Provenance) -> ProvisionTensor:
    """Return the indices input itself as f."""
    indices = scatter.indices
    if indices is None:
        raise RefusedError(Reason.INVALID, "there are no indices")
    dims = scatter.index_dims
    dtype = provenance.abstract(indices).dtype or indices.dtype or _INT64
    if scatter.node.op_type == "ScatterND":
        return ProvisionTensor(dims, dtype, lambda w: indices)
    return ProvisionTensor(dims, dtype, lambda w: w.axes("Unsqueeze", indices, dtype, [len(dims)]))


def _of_tensor_scatter(scatter: Scatter, axis: int, mode: str, numbers: Numbers) -> ProvisionTensor:
    """Return ``f[b, i] = write_indices[b] + i``, or ``f[i] = i`` if there are no starts.

    If the mode is circular, the start is taken modulo the size, and so is the sum.
    """
    starts, count, size = scatter.indices, scatter.shape[axis], scatter.data_shape[axis]

    def on_ring(w: Writer, x: ir.Value) -> ir.Value:
        if mode == "linear":
            return x
        return w.node("Mod", [x, numbers.divisor(size, scatter.facts)], _INT64)

    def write(w: Writer) -> ir.Value:
        n = count.constant
        if n is not None and n <= _NUMBERS:
            line = w.constant(np.arange(n).reshape(-1, 1))
        else:
            line = w.axes("Unsqueeze", numbers.positions(count), _INT64, [1])
        if starts is None:
            return line
        first = on_ring(w, w.axes("Unsqueeze", starts, _INT64, [1, 2]))
        return first if n == 1 else on_ring(w, w.node("Add", [first, line], _INT64))

    return ProvisionTensor((axis,) if starts is None else (0, axis), _INT64, write)


def _small(scatter: Scatter, provenance: Provenance, axes: Sequence[int]) -> ProvisionTensor | None:
    """Return a provision tensor over the essential dims of some targets, if one is available."""
    targets = [scatter.index_exprs[c] for c in axes]
    dims = tuple(sorted(frozenset[int]().union(*(t.coords for t in targets))))
    if any(t.leaves() for t in targets):
        return _read(scatter, provenance, targets[0]) if len(targets) == 1 else None
    extents = as_numbers(scatter.shape[d] for d in dims)
    if extents is None or math.prod(extents) * len(targets) > _NUMBERS:
        return None
    if not all(map(scatter.is_narrow, targets)):
        return None
    values = np.empty((*extents, len(targets)), np.int64)
    for column, target in enumerate(targets):
        values[..., column] = tabulated(target, dict(zip(dims, extents, strict=True)))
    return ProvisionTensor(dims, _INT64, lambda w: w.constant(values))


def _read(scatter: Scatter, provenance: Provenance, target: Term) -> ProvisionTensor | None:
    """Return the tensor of this graph whose elements the targets are, one dim for each of its own.

    A dim of extent 1 that is read at 0 is removed.
    """
    atom = target.symbol
    if atom is None or not isinstance(atom.origin, ElementOf):
        return None
    visit, value = atom.origin
    if visit not in (value, provenance.scope.visit_id):
        return None
    tensor = provenance.abstract(value)
    if not _is_in(value, provenance.graph) or tensor.shape is None:
        return None
    if tensor.dtype not in (_INT64, ir.DataType.INT32) or len(tensor.shape) != len(atom.parts):
        return None
    read, dtype = scatter.dims_read(atom.parts, tensor.shape) or [], tensor.dtype
    dims = [d for d in read if d is not None]
    if len(read) != len(atom.parts) or len(set(dims)) < len(dims):
        return None
    gone = [axis for axis, d in enumerate(read) if d is None]
    # An axis of extent 1 at the end may be kept: it is the one column of f.
    keeps = bool(gone) and gone[-1] == len(tensor.shape) - 1
    dropped = gone[:-1] if keeps else gone

    def write(w: Writer) -> ir.Value:
        provision = w.axes("Squeeze", value, dtype, dropped)
        return provision if keeps else w.axes("Unsqueeze", provision, dtype, [len(dims)])

    return ProvisionTensor(tuple(dims), dtype, write)


def _is_in(value: ir.Value, graph: ir.Graph) -> bool:
    node = value.producer()
    return node.graph is graph if node is not None else value.graph is graph
