"""The fallback bodies of ScatterX nodes: the standard operators that the node replaced.

A body takes data, f and updates, as the node does, and computes the same output, so a model runs
if the native operator is not registered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.spelling import Known, Spelling, in_set
from onnx_scatterx.operators import WIDER
from onnx_scatterx.targets import SCATTERX

Picks: TypeAlias = "tuple[Sequence[int], Sequence[int], Sequence[int]]"
"""The picks (p1, p2, p) of a node."""

BODY = "onnx_scatterx.body"
"""The key of the specification of a node's fallback, until the node gets it."""

ATTRIBUTES = ("p1", "p2", "p", "reduction", "unique")

_DOMAIN = "onnx_scatterx"


def scatterx_domain(number: int = 1) -> str:
    """Return the domain of the ScatterX nodes with a model's first, second, ... fallback.

    Overloads could distinguish functions of the same domain and name. But ONNX Runtime before 1.27
    ignores overloads, and 1.31 does not find them for a node within a function. The library has the
    operator in the first 8 domains. A node of a later domain always runs its fallback.

    >>> scatterx_domain(), scatterx_domain(2)
    ('onnx_scatterx', 'onnx_scatterx.2')
    >>> from onnx_scatterx.graphs.traversal import is_scatterx_domain
    >>> is_scatterx_domain(scatterx_domain(2))
    True
    """
    return _DOMAIN if number == 1 else f"{_DOMAIN}.{number}"


@dataclass(frozen=True)
class FallbackSpec:
    """What the body of a fallback depends on; equal ones share a function.

    The scatter is surrounded by transposes of its data (undone on the output) and of its updates.
    ``p1`` are the dims of the updates that f runs over, of the ``index_rank`` leading ones that the
    indices need. ``columns`` are the columns of a ScatterND's indices: dims of the updates or, if
    None, columns of f, which has ``index_type``. It is empty if f is the indices. ``axis`` and
    ``mode`` are those of the other operators. ``narrow`` is the element type if ONNX Runtime runs
    the operator on a wider one only.
    """

    op: str
    version: int
    reduction: str
    p1: tuple[int, ...] = ()
    index_rank: int = 0
    columns: tuple[int | None, ...] = ()
    index_type: ir.DataType = ir.DataType.INT64
    axis: int | None = None
    mode: str = "linear"
    narrow: ir.DataType | None = None
    data_perm: tuple[int, ...] = ()
    updates_perm: tuple[int, ...] = ()

    @property
    def stem(self) -> str:
        """The name of the body."""
        words = [self.op, "" if self.reduction == "none" else self.reduction]
        words.append("" if self.axis is None else f"axis{self.axis}")
        return "_".join(w for w in words if w)

    def behind(self, data: Sequence[int] = (), updates: Sequence[int] = ()) -> FallbackSpec:
        """Return the body behind more transposes of data and of updates."""
        return replace(
            self,
            data_perm=_composed(self.data_perm, data),
            updates_perm=_composed(self.updates_perm, updates),
        )

    def node(
        self,
        inputs: Sequence[ir.Value],
        picks: Picks,
        dtype: ir.DataType,
        name: str | None = None,
        *,
        unique: bool,
    ) -> ir.Node:
        """Return a new node with this body, without a graph; all attributes are written.

        Its fallback is added later (``attached``).
        """
        attributes = [
            *(ir.AttrInt64s(n, list(p)) for n, p in zip(("p1", "p2", "p"), picks, strict=True)),
            ir.AttrString("reduction", self.reduction),
            ir.AttrInt64("unique", int(unique)),
        ]
        output = ir.Value(name=name, type=ir.TensorType(dtype))
        node = ir.Node(scatterx_domain(), SCATTERX, inputs, attributes, outputs=[output], name=name)
        node.meta[BODY] = self
        return node


def _composed(inner: Sequence[int], outer: Sequence[int]) -> tuple[int, ...]:
    """Return the perm that does first the outer transpose, then the inner one."""
    if not inner or not outer:
        return tuple(inner or outer)
    return tuple(outer[d] for d in inner)


def inverse(perm: Sequence[int]) -> tuple[int, ...]:
    """Return the perm that undoes a perm.

    >>> inverse((2, 0, 1))
    (1, 2, 0)
    """
    return tuple(sorted(range(len(perm)), key=perm.__getitem__))


def fallback(body: FallbackSpec, domain: str) -> ir.Function:
    """Return the function of a body."""
    inputs = [ir.Value(name=name) for name in ("data", "f", "updates")]
    writer = _BodyWriter(body)
    data, f, updates = inputs
    if body.narrow is not None:
        wide = WIDER[body.narrow].value
        data, updates = (writer.op("Cast", [x], to=wide) for x in (data, updates))
    if body.data_perm:
        data = writer.op("Transpose", [data], perm=body.data_perm)
    if body.updates_perm:
        updates = writer.op("Transpose", [updates], perm=body.updates_perm)
    output = _scatter(writer, data, f, updates)
    if body.data_perm:
        output = writer.op("Transpose", [output], perm=inverse(body.data_perm))
    if body.narrow is not None:
        output = writer.op("Cast", [output], to=body.narrow.value)
    output.name = "output"
    graph = ir.Graph(
        inputs,
        [output],
        nodes=writer.tape.nodes,
        opset_imports={"": body.version},
        doc_string=body.stem,
    )
    attributes = [ir.Attr(name, ir.AttributeType.UNDEFINED, None) for name in ATTRIBUTES]
    return ir.Function(domain, SCATTERX, graph=graph, attributes=attributes)


def _scatter(w: _BodyWriter, data: ir.Value, f: ir.Value, updates: ir.Value) -> ir.Value:
    body = w.body
    attributes: dict[str, int | str] = {} if body.axis is None else {"axis": body.axis}
    if body.reduction != "none":
        attributes["reduction"] = body.reduction
    if body.op == "ScatterND":
        indices = _columns(w, f, updates) if body.columns else f
        return w.original([data, indices, updates], **attributes)
    if body.op == "TensorScatter":
        inputs = [data, updates]
        if 0 in body.p1:
            # f[b, i] = write_indices[b] + i, and without rows the sum is 0.
            row = w.op("Slice", [f, w.ints([0]), w.ints([1]), w.ints([1])])
            inputs.append(w.op("ReduceSum", [row, w.ints([1, 2])], keepdims=0))
        return w.original(inputs, mode=body.mode, **attributes)
    indices = w.axes("Squeeze", f, [len(body.p1)])
    return w.original([data, w.spread(indices, updates), updates], **attributes)


def _columns(w: _BodyWriter, f: ir.Value, updates: ir.Value) -> ir.Value:
    """Return the indices of a ScatterND, one column after the other."""
    body, columns, position = w.body, list[ir.Value](), 0
    for dim in body.columns:
        if dim is None:
            column = w.op("Gather", [f, w.ints(position)], axis=len(body.p1))
            if body.index_type != ir.DataType.INT64:
                column = w.op("Cast", [column], to=ir.DataType.INT64.value)
            column, position = w.spread(column, updates), position + 1
        else:
            count = w.op("Gather", [w.op("Shape", [updates]), w.ints(dim)], axis=0)
            numbers = w.op("Range", [w.ints(0), count, w.ints(1)])
            column = w.spread(numbers, updates, (dim,))
        columns.append(w.axes("Unsqueeze", column, [body.index_rank]))
    return w.op("Concat", columns, axis=-1)


class _BodyWriter:
    """Creates the nodes of one body."""

    def __init__(self, body: FallbackSpec) -> None:
        self.body = body
        self.tape = ir.tape.Tape()

    def op(
        self,
        op: str,
        inputs: Sequence[ir.Value | np.ndarray],
        **attributes: int | str | Sequence[int],
    ) -> ir.Value:
        """Add a node, which is given in the newest spelling, in that of the operator set."""
        converted = {k: ir.convenience.convert_attribute(k, v) for k, v in attributes.items()}
        here = in_set(Spelling(op, (*inputs,), converted), self.body.version, Known())
        assert isinstance(here, Spelling), "the set has the scatter, so it has these operators"
        read = [self.ints(v) if isinstance(v, np.ndarray) else v for v in here.inputs]
        return self._add(here.op_type, read, {k: a.value for k, a in here.attributes.items()})

    def original(self, inputs: Sequence[ir.Value], **attributes: int | str) -> ir.Value:
        """Add the scatter, as the model spells it."""
        return self._add(self.body.op, inputs, attributes)

    def _add(self, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any]) -> ir.Value:
        name = f"{op}_{len(self.tape.nodes)}"
        return self.tape.op(op, inputs, attributes, name=name, output=ir.Value(name=name))

    def ints(self, values: int | Sequence[int] | np.ndarray) -> ir.Value:
        name = f"Constant_{len(self.tape.nodes)}"
        tensor = ir.tensor(np.array(values, np.int64))
        return self.tape.op("Constant", [], {"value": tensor}, output=ir.Value(name=name))

    def axes(self, op: str, x: ir.Value, axes: Sequence[int]) -> ir.Value:
        """Add a Squeeze or an Unsqueeze."""
        if not axes:
            return x
        return self.op(op, [x, np.array(axes, np.int64)])

    def spread(self, x: ir.Value, updates: ir.Value, dims: Sequence[int] | None = None) -> ir.Value:
        """Return a tensor over some dims of the updates, broadcast over all that indices need."""
        dims = self.body.p1 if dims is None else dims
        rank = self.body.index_rank
        order = sorted(range(len(dims)), key=dims.__getitem__)
        if order != list(range(len(dims))):
            x = self.op("Transpose", [x], perm=tuple(order))
        missing = [d for d in range(rank) if d not in dims]
        if not missing:
            return x
        shape = self.op("Shape", [updates])
        if self.body.op == "ScatterND":
            shape = self.op("Gather", [shape, self.ints(list(range(rank)))], axis=0)
        return self.op("Expand", [self.axes("Unsqueeze", x, missing), shape])
