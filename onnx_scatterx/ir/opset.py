"""Raising a model to a newer operator set, where a target's operators need one."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.ir.captured_logs import quiet
from onnx_scatterx.ir.check import check
from onnx_scatterx.ir.data import to_proto
from onnx_scatterx.ir.graphs import all_graphs

_CONVERTER = "onnxscript.version_converter"
_ONNXSCRIPT_BEGINS = 18


def check_known(version: int) -> None:
    """Raise ScatterXError for an operator set that onnx does not know."""
    newest = onnx.defs.onnx_opset_version()
    if not 9 <= version <= newest:
        raise ScatterXError(f"operator set {version}: onnx knows 9 to {newest}")


def newer_opset(model: ir.Model, version: int | None) -> int | None:
    """Return the operator set of a model where it is newer than this one, else None.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> newer_opset(model, 17), newer_opset(model, 18), newer_opset(model, None)
    (18, None, None)
    """
    there = model.opset_imports.get("")
    return there if there is not None and version is not None and there > version else None


def raise_opset(model: ir.Model, version: int) -> bool:
    """Raise a model to an operator set in place; return whether it was older.

    onnxscript's converter does it. Raises ScatterXError for a set that onnx does not know, and
    ModelError where the model cannot be converted.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g (float[N] x) => (float[N] y) { y = Neg(x) }''')
    >>> raise_opset(model, 24), model.opset_imports[""], raise_opset(model, 20)
    (True, 24, False)
    """
    check_known(version)
    if model.opset_imports.get("", version) >= version:
        return False
    with quiet(_CONVERTER), quiet(f"{_CONVERTER}._version_converter") as said:
        try:
            left = _converted(model, version)
        except Exception as error:  # of a converter that has no error of its own
            raise ModelError(
                f"cannot be raised to operator set {version}: {one_line(error)}"
            ) from error
    if left is not None:
        why = said[0] if said else f"{left.op_type} is not converted"
        raise ModelError(f"cannot be raised to operator set {version}: {one_line(why)}")
    if model.opset_imports.get("") != version:
        raise ModelError(f"cannot be raised to operator set {version}")
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)])
    model.ir_version = max(model.ir_version or 0, needed)
    check(to_proto(model), "the model, raised")
    return True


def _converted(model: ir.Model, version: int) -> ir.Node | None:
    """Convert a model; return a node that stayed as it was, where it means something else.

    onnxscript tells of such a node in its log alone, which may be turned off; but the node does not
    get the number of the set, if that is raised by one. What onnxscript does not know is for onnx,
    which converts all or nothing, into another graph.
    """
    from onnxscript import version_converter

    while (there := model.opset_imports[""]) < version:
        wanted = version if there < _ONNXSCRIPT_BEGINS else there + 1
        before = model.graph
        version_converter.convert_version(model, wanted, fallback=True)
        if model.opset_imports.get("") != wanted:
            return None  # nothing was done
        if model.graph is not before:
            continue
        for graph in all_graphs(model):
            for node in graph:
                if node.domain == "" and node.version != wanted:
                    return node
    return None
