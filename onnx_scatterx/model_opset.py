"""Raising a model to a newer operator set, where a target's operators need one."""

from __future__ import annotations

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError, one_line
from onnx_scatterx.model_check import check
from onnx_scatterx.model_data import to_proto
from onnx_scatterx.quiet import quiet

_CONVERTER = "onnxscript.version_converter"


def check_known(version: int) -> None:
    """Raise ScatterXError for an operator set that onnx does not know."""
    newest = onnx.defs.onnx_opset_version()
    if not 9 <= version <= newest:
        raise ScatterXError(f"operator set {version}: onnx knows 9 to {newest}")


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
    from onnxscript import version_converter

    try:
        with quiet(_CONVERTER), quiet(f"{_CONVERTER}._version_converter") as skipped:
            version_converter.convert_version(model, version, fallback=True)
    except Exception as error:  # of a converter that has no error of its own
        raise ModelError(
            f"cannot be raised to operator set {version}: {one_line(error)}"
        ) from error
    if skipped:  # nodes that stay as they were, where they mean something else
        raise ModelError(f"cannot be raised to operator set {version}: {one_line(skipped[0])}")
    if model.opset_imports.get("") != version:
        raise ModelError(f"cannot be raised to operator set {version}")
    needed = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", version)])
    model.ir_version = max(model.ir_version or 0, needed)
    check(to_proto(model), "the model, raised")
    return True
