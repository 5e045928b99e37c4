"""Raises a model to a newer operator set, which TensorScatter needs, or lowers it to an older one.

Compilers often need an older operator set. A model is lowered only if each of its nodes means the
same there (`onnx_scatterx.ir.schemas`), or can be written in another spelling
(`onnx_scatterx.ir.older_spelling`) or by its definition (`onnx_scatterx.ir.definitions`).
"""

from __future__ import annotations

from typing import NamedTuple

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.ir.check import check
from onnx_scatterx.ir.cleanup import Names, cloned
from onnx_scatterx.ir.collection import quiet
from onnx_scatterx.ir.data import to_proto
from onnx_scatterx.ir.definitions import write_definitions
from onnx_scatterx.ir.graphs import all_nodes, is_scatterx_domain
from onnx_scatterx.ir.known_values import KnownValues
from onnx_scatterx.ir.older_spelling import Spelling, older_spelling
from onnx_scatterx.ir.schemas import difference

_CONVERTER = "onnxscript.version_converter"
_ONNXSCRIPT_BEGINS = 18
_SHOWN = 4  # the most nodes that an error names
_NESTED = 4  # the deepest definitions within definitions


def check_known(version: int) -> None:
    """Raise ScatterXError for an operator set that onnx does not know."""
    newest = onnx.defs.onnx_opset_version()
    if not 9 <= version <= newest:
        raise ScatterXError(f"operator set {version}: onnx knows 9 to {newest}")


def newer_opset(model: ir.Model, version: int | None) -> int | None:
    """Return the operator set of a model if it is newer than ``version``; otherwise None.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> newer_opset(model, 17), newer_opset(model, 18), newer_opset(model, None)
    (18, None, None)
    """
    there = model.opset_imports.get("")
    return there if there is not None and version is not None and there > version else None


def raise_opset(model: ir.Model, version: int) -> bool:
    """Raise a model to an operator set in place; return whether it was older.

    onnxscript's converter is used. Raises ScatterXError for a set that onnx does not know, and
    ModelError if the model cannot be converted.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> raise_opset(model, 24), model.opset_imports[""], raise_opset(model, 20)
    (True, 24, False)
    """
    check_known(version)
    if model.opset_imports.get("", version) >= version:
        return False
    with quiet(_CONVERTER), quiet(f"{_CONVERTER}._version_converter") as messages:
        try:
            left = _converted(model, version)
        except Exception as error:  # the converter raises many kinds of errors
            install = ": pip install onnxscript" if isinstance(error, ImportError) else ""
            told = f"cannot be raised to operator set {version}: {one_line(error)}{install}"
            raise ModelError(told) from error
    if left is not None:
        why = messages[0] if messages else f"{left.op_type} is not converted"
        raise ModelError(f"cannot be raised to operator set {version}: {one_line(why)}")
    if model.opset_imports.get("") != version:
        raise ModelError(f"cannot be raised to operator set {version}")
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)])
    model.ir_version = max(model.ir_version or 0, needed)
    check(to_proto(model), "the model, raised")
    return True


class OpsetObstacle(NamedTuple):
    """A node that may mean something else in an older operator set, and why."""

    node: ir.Node
    graph: str
    why: str
    version: int  # of the operator set of the node's graph

    @property
    def name(self) -> str:
        """The name of the node, or of its first output if the node has no name."""
        return self.node.name or self.node.outputs[0].name or "?"

    def __str__(self) -> str:
        return f"{self.name} ({self.node.op_type}): {self.why}"


def obstacles(model: ir.Model, version: int) -> list[OpsetObstacle]:
    """Return the nodes that prevent lowering a model to an operator set."""
    return _compared(model, version)[0]


def _compared(model: ir.Model, version: int) -> tuple[list[OpsetObstacle], dict[ir.Node, Spelling]]:
    """Return the nodes that prevent lowering a model, and the nodes that get another spelling."""
    known = KnownValues(model)
    blocking, respelled = [], {}
    for name, graph, there in _versioned(model):
        for node in graph:
            if node.domain != "" or there <= version:
                continue
            why = difference(node, there, version, known.types)
            spelling = None if why is None else older_spelling(node, there, version, known)
            if isinstance(spelling, Spelling):
                respelled[node] = spelling
            elif why is not None:
                why = f"{why}, {spelling}" if spelling else why
                blocking.append(OpsetObstacle(node, name, why, there))
    return blocking, respelled


class LoweredOpset(NamedTuple):
    """The nodes that prevent lowering a model; if there are none, the nodes with definitions."""

    obstacles: list[OpsetObstacle]
    defined: tuple[str, ...] = ()


def lower_opset(model: ir.Model, version: int, *, define: bool = True) -> LoweredOpset:
    """Lower a model to an operator set in place, unless nodes prevent it.

    If ``define``, nodes that the set lacks are written as ONNX defines them. The IR version becomes
    the version that came with the set, for old readers. Raises ScatterXError for a set that onnx
    does not know.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["": 20]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> lower_opset(model, 19), model.opset_imports[""], model.ir_version
    (LoweredOpset(obstacles=[], defined=()), 19, 9)
    """
    check_known(version)
    blocking, respelled = _compared(model, version)
    written: tuple[str, ...] = ()
    if blocking and define and _defined(cloned(model), version):
        written = _defined(model, version)
        blocking, respelled = _compared(model, version)
    if blocking:
        return LoweredOpset(blocking)
    names = Names(model)
    for node, spelling in respelled.items():
        spelling.write(node, version, names)
    for imports in (model.opset_imports, *(f.opset_imports for f in model.functions.values())):
        if imports.get("", version) > version:
            imports[""] = version
    for node in all_nodes(model):
        if node.domain == "" and (node.version or 0) > version:
            node.version = version
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)])
    if not any(function.overload for function in model.functions.values()):
        least = 8 if model.functions else 0  # functions need IR version 8
        model.ir_version = min(model.ir_version or needed, max(needed, least))
    return LoweredOpset([], written)


def _defined(model: ir.Model, version: int) -> tuple[str, ...]:
    """Write nodes that an operator set lacks by their definitions; return these nodes.

    If another node prevents lowering, the result is empty, and some nodes may be written.
    """
    written: list[str] = []
    for _ in range(_NESTED):
        blocking = obstacles(model, version)
        lacking = [o for o in blocking if not onnx.defs.has(o.node.op_type, version, "")]
        if not lacking:
            return () if blocking else tuple(written)
        written += [f"{o.name} ({o.node.op_type})" for o in lacking]
        nodes = [(o.node, o.version) for o in lacking]
        if not write_definitions(model, nodes, KnownValues(model)):
            return ()
    return ()


def change_opset(model: ir.Model, version: int) -> tuple[str, ...]:
    """Raise or lower a model to an operator set in place; return the nodes that got definitions.

    Raises ModelError if the model cannot be raised, or if nodes prevent lowering it.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["": 20]>
    ...     g (float[N] x) => (float[N] z) { y = Gelu(x)
    ...         z = StringConcat(y, y) }''')
    >>> change_opset(model, 19)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    onnx_scatterx.errors.ModelError: cannot be lowered to operator set 19: y (Gelu): began with ...
    """
    if newer_opset(model, version) is None:
        raise_opset(model, version)
        return ()
    blocking, written = lower_opset(model, version)
    if blocking:
        shown = "; ".join(map(str, blocking[:_SHOWN]))
        more = f"; and {len(blocking) - _SHOWN} more" if len(blocking) > _SHOWN else ""
        raise ModelError(
            f"cannot be lowered to operator set {version}: {shown}{more}: "
            "export the model with that operator set"
        )
    return written


def _versioned(model: ir.Model) -> list[tuple[str, ir.Graph, int]]:
    """Return all graphs, each with its name and its operator set."""
    there = model.opset_imports.get("", 0)
    versioned = [(g.name or "main", g, there) for g in (model.graph, *model.graph.subgraphs())]
    for function in model.functions.values():
        own = function.opset_imports.get("", there)
        if not is_scatterx_domain(function.domain):
            name = f"{function.domain}.{function.name}"
            versioned += [(name, g, own) for g in (function.graph, *function.graph.subgraphs())]
    return versioned


def _converted(model: ir.Model, version: int) -> ir.Node | None:
    """Convert a model; return a node that was not converted, or None.

    onnxscript reports such a node only in its log, which may be turned off. But if the set is
    raised by one, the ``version`` of such a node does not change. If onnxscript does not know an
    operator, onnx converts the whole model into another graph, or fails.
    """
    from onnxscript import version_converter

    while (there := model.opset_imports[""]) < version:
        wanted = version if there < _ONNXSCRIPT_BEGINS else there + 1
        before = model.graph
        version_converter.convert_version(model, wanted, fallback=True)
        if model.opset_imports.get("") != wanted:
            return None  # the model was not converted
        if model.graph is not before:
            continue
        for node in all_nodes(model):
            if node.domain == "" and node.version != wanted:
                return node
    return None
