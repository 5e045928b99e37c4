"""Writes a model for another operator set: a newer one, which TensorScatter needs, or an older one.

Compilers often need an older operator set. Each node is written as the other set wants it
(`engine.spelling`), by its table of what changed. A node that has no such spelling is written
by its definition (`definitions`), or is named.
"""

from __future__ import annotations

from typing import NamedTuple

import onnx
import onnx_ir as ir

from onnx_scatterx.engine.spelling import EXPANDED, NoSpelling, Spelling, respelled
from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import check_opset, check_valid, to_proto
from onnx_scatterx.fitting.declared_dims import (
    declare_body_dims,
    forget_unchecked_dims,
    note_body_dims,
)
from onnx_scatterx.fitting.known_values import Analysed, KnownValues
from onnx_scatterx.fitting.write_spelling import write_spelling
from onnx_scatterx.graphs import Inventory, Names, all_graphs, all_nodes, cloned, is_operator

_SHOWN = 4  # the most nodes that an error names
_NESTED = 4  # the deepest definitions within definitions


def newer_opset(model: ir.Model, version: int | None) -> int | None:
    """Return the operator set of a model if it is newer than ``version``; otherwise None.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> newer_opset(model, 17), newer_opset(model, 18), newer_opset(model, None)
    (18, None, None)
    """
    there = model.opset_imports.get("")
    return there if there is not None and version is not None and there > version else None


class OpsetObstacle(NamedTuple):
    """A node that may mean something else in another operator set, and why."""

    node: ir.Node
    graph: str
    why: str
    version: int  # of the operator set of the node's graph
    last: int  # the last operator set, on the way to the other one, in which it means the same
    lacks: bool = False  # whether the next one lacks the operator, or has none of its meaning

    @property
    def name(self) -> str:
        """The name of the node, or of its first output if the node has no name."""
        return self.node.name or self.node.outputs[0].name or "?"

    def __str__(self) -> str:
        return f"{self.name} ({self.node.op_type}): {self.why}"


class ChangedOpset(NamedTuple):
    """The nodes that prevent a change; if there are none, the nodes whose last bits may differ.

    ``defined`` are those that got their definitions. ONNX Runtime computes ``other_kernels`` by
    another kernel in the new operator set.
    """

    obstacles: tuple[OpsetObstacle, ...] = ()
    defined: tuple[str, ...] = ()
    other_kernels: tuple[str, ...] = ()


def obstacles(
    model: ir.Model, version: int, analysed: Analysed | None = None
) -> list[OpsetObstacle]:
    """Return the nodes that prevent lowering a model to an operator set.

    ``analysed`` returns what is known of the model; without it, the model is interpreted.
    """
    return _compared(model, version, KnownValues(model, analysed), raises=False)[0]


def _compared(
    model: ir.Model, version: int, known: KnownValues, *, raises: bool
) -> tuple[list[OpsetObstacle], dict[ir.Node, Spelling]]:
    """Return the nodes that prevent a change, and the nodes that get another spelling."""
    blocking, changed = [], {}
    for name, graph, there in _versioned(model):
        for node in graph if there > version or (raises and there < version) else ():
            spelling = respelled(node, there, version, known)
            if isinstance(spelling, NoSpelling):
                blocking.append(OpsetObstacle(node, name, spelling.why, there, *spelling[1:3]))
            elif spelling is not None:
                changed[node] = spelling
    return blocking, changed


def write_for_opset(
    model: ir.Model, version: int, analysed: Analysed | None = None, *, exact: bool = False
) -> ChangedOpset:
    """Write a model for another operator set in place, unless nodes prevent it.

    Nodes that the set lacks are written as ONNX defines them. If ``exact``, nodes whose last bits
    may differ prevent the change. ``analysed`` returns what is known of the model; without it, the
    model is interpreted. The IR version becomes one that has the set: of a model that is
    lowered, the version that came with the set, for old readers. Raises ScatterXError for a set
    that onnx does not know.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["": 20]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> write_for_opset(model, 19), model.opset_imports[""], model.ir_version
    (ChangedOpset(obstacles=(), defined=(), other_kernels=()), 19, 9)
    """
    check_opset(version)
    raises = model.opset_imports.get("", version) < version
    known = KnownValues(model, analysed)
    blocking, changed = _compared(model, version, known, raises=raises)
    defined: tuple[str, ...] = ()
    held = Inventory(model)
    declare_body_dims(held)
    note_body_dims(held)
    copy = cloned(model) if blocking and not exact else None
    if copy is not None and _defined(copy, version, known.of_copy(copy), raises=raises):
        defined = _defined(model, version, known, raises=raises)
        known = KnownValues(model)
        blocking, changed = _compared(model, version, known, raises=raises)
    rounded = [node for node, spelling in changed.items() if spelling.last_bits]
    if exact:
        blocking += [_of_kernel(node, version) for node in rounded]
    if blocking:
        return ChangedOpset(tuple(blocking))
    names = Names(model)
    there_before = set(all_nodes(model))
    for node, spelling in changed.items():
        write_spelling(node, spelling, version, names)
    for _, graph, there in _versioned(model):
        for node in graph if there > version or raises else ():
            if node.domain == "" and node.version is not None:
                node.version = version
    for imports in (model.opset_imports, *(f.opset_imports for f in model.functions.values())):
        if raises or imports.get("", version) > version:
            imports[""] = version
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)])
    if raises:
        model.ir_version = max(model.ir_version or 0, needed)
    elif not any(function.overload for function in model.functions.values()):
        least = 8 if model.functions else 0  # functions need IR version 8
        model.ir_version = min(model.ir_version or needed, max(needed, least))
    declare_body_dims(Inventory(model))
    new = [node for node in all_nodes(model) if node not in there_before]
    forget_unchecked_dims(model, new)
    return ChangedOpset((), defined, tuple(f"{_name(n)} ({n.op_type})" for n in rounded))


def _name(node: ir.Node) -> str:
    return node.name or node.outputs[0].name or "?"


def _of_kernel(node: ir.Node, version: int) -> OpsetObstacle:
    why = "ONNX Runtime has another kernel there"
    return OpsetObstacle(node, "", why, version, version)


def _defined(model: ir.Model, version: int, known: KnownValues, *, raises: bool) -> tuple[str, ...]:
    """Write nodes that prevent a change by their definitions; return these nodes.

    If another node prevents the change, the result is empty, and some nodes may be written.
    """
    from onnx_scatterx.fitting.definitions import write_definitions

    written: list[str] = []
    for _ in range(_NESTED):
        blocking, _ = _compared(model, version, known, raises=raises)
        lacking = [o for o in blocking if o.lacks]
        if not lacking:
            return () if blocking else tuple(written)
        written += [f"{o.name} ({o.node.op_type})" for o in lacking]
        nodes = [(o.node, o.version) for o in lacking]
        before = {node for _, graph, _ in _versioned(model) for node in graph}
        while nodes:
            if not write_definitions(model, nodes, known):
                return ()
            known = KnownValues(model)
            made = ((n, there) for _, graph, there in _versioned(model) for n in graph)
            nodes = [(n, v) for n, v in made if n not in before and is_operator(n, EXPANDED)]
    return ()


def change_opset(model: ir.Model, version: int) -> ChangedOpset:
    """Raise or lower a model to an operator set in place; return the nodes with other last bits.

    Raises ScatterXError for a set that onnx does not know, and ModelError if nodes prevent it.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["": 20]>
    ...     g (float[N] x) => (float[N] z) { y = Gelu(x)
    ...         z = StringConcat(y, y) }''')
    >>> change_opset(model, 19)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    onnx_scatterx.errors.ModelError: cannot be lowered to operator set 19: y (Gelu): began with ...
    """
    check_opset(version)
    before = model.opset_imports.get("")
    if {there for _, _, there in _versioned(model)} <= {version}:
        return ChangedOpset()
    changed = write_for_opset(model, version)
    is_raised = before is not None and before < version
    if changed.obstacles:
        shown = "; ".join(map(str, changed.obstacles[:_SHOWN]))
        rest = len(changed.obstacles) - _SHOWN
        more = f"; and {rest} more" if rest > 0 else ""
        if is_raised:
            last = min(obstacle.last for obstacle in changed.obstacles)
            raise ModelError(f"cannot be raised past operator set {last}: {shown}{more}")
        raise ModelError(
            f"cannot be lowered to operator set {version}: {shown}{more}: "
            "export the model with that operator set"
        )
    if is_raised:
        check_valid(to_proto(model), "the model, raised")
    return changed


def _versioned(model: ir.Model) -> list[tuple[str, ir.Graph, int]]:
    """Return all graphs that use operators of ONNX, each with its name and its operator set."""
    there = model.opset_imports.get("")
    versioned = []
    if there is not None:
        versioned = [(g.name or "main", g, there) for g in all_graphs(model.graph)]
    for function in model.functions.values():
        own = function.opset_imports.get("", there)
        if own is not None:
            name = f"{function.domain}.{function.name}"
            versioned += [(name, g, own) for g in all_graphs(function)]
    return versioned
