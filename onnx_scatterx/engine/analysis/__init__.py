"""What the integer tensors of a model hold, known without running it.

Come here for what is known of a value (``TensorValue``) and of a graph (``Scope``, ``Knowledge``),
for what an operator's outputs hold and what it demands of its inputs (``first_false``,
``index_ranges``), and for the elements that it reads (``Reading``, ``cuts_of``). Contents are terms
(``engine.terms``). Not for the form of a scatter and the bounds of its indices (``engine.lift``),
nor for what a device takes of a node (``engine.device``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.analysis.domain.call import Call as Call
    from onnx_scatterx.engine.analysis.domain.call import Knowledge as Knowledge
    from onnx_scatterx.engine.analysis.domain.call import NotKnownError as NotKnownError
    from onnx_scatterx.engine.analysis.domain.call import Scope as Scope
    from onnx_scatterx.engine.analysis.domain.call import (
        UnknownAttributeError as UnknownAttributeError,
    )
    from onnx_scatterx.engine.analysis.domain.call import require as require
    from onnx_scatterx.engine.analysis.domain.call import required as required
    from onnx_scatterx.engine.analysis.domain.overflow import (
        without_wraparound as without_wraparound,
    )
    from onnx_scatterx.engine.analysis.domain.tensor import ElementOf as ElementOf
    from onnx_scatterx.engine.analysis.domain.tensor import Shape as Shape
    from onnx_scatterx.engine.analysis.domain.tensor import TensorValue as TensorValue
    from onnx_scatterx.engine.analysis.domain.tensor import size_name as size_name
    from onnx_scatterx.engine.analysis.misread import misread_node as misread_node
    from onnx_scatterx.engine.analysis.misread import size_makers as size_makers
    from onnx_scatterx.engine.analysis.model_analysis import ModelAnalysis as ModelAnalysis
    from onnx_scatterx.engine.analysis.model_analysis import interpret as interpret
    from onnx_scatterx.engine.analysis.operators.gathers import Reading as Reading
    from onnx_scatterx.engine.analysis.operators.index_ranges import index_ranges as index_ranges
    from onnx_scatterx.engine.analysis.operators.reshaping import axis_groups as axis_groups
    from onnx_scatterx.engine.analysis.operators.reshaping import reshaped as reshaped
    from onnx_scatterx.engine.analysis.operators.slicing import cuts_of as cuts_of
    from onnx_scatterx.engine.analysis.preconditions import first_false as first_false
    from onnx_scatterx.engine.analysis.shapes import outputs_of as outputs_of
    from onnx_scatterx.engine.analysis.ties import ties_in as ties_in
    from onnx_scatterx.engine.analysis.transfers import transferred as transferred
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "domain.call": "Call Knowledge NotKnownError Scope UnknownAttributeError require "
            "required",
            "domain.overflow": "without_wraparound",
            "domain.tensor": "ElementOf Shape TensorValue size_name",
            "misread": "misread_node size_makers",
            "model_analysis": "ModelAnalysis interpret",
            "operators.gathers": "Reading",
            "operators.index_ranges": "index_ranges",
            "operators.reshaping": "axis_groups reshaped",
            "operators.slicing": "cuts_of",
            "preconditions": "first_false",
            "shapes": "outputs_of",
            "ties": "ties_in",
            "transfers": "transferred",
        },
    )
