"""Nodes are written before a node of a graph, as its operator set, ONNX Runtime and a target want.

Come here for the writer, for sizes and positions that are written as nodes, for other forms of a
node that a target does not take, and for ScatterX nodes with the functions that they fall back to;
not for what to write (that is in ``engine.plan`` and the rules). A fragment counts its nodes; what
they weigh, and which target takes them, is in ``engine.device``. The kernels are in ``operators``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.write.available import AvailableValues as AvailableValues
    from onnx_scatterx.engine.write.caches import caches_of as caches_of
    from onnx_scatterx.engine.write.cuts import Cut as Cut
    from onnx_scatterx.engine.write.forms import has_other_forms as has_other_forms
    from onnx_scatterx.engine.write.forms import instead_of as instead_of
    from onnx_scatterx.engine.write.forms.einsums import only_moves as only_moves
    from onnx_scatterx.engine.write.forms.request import range_of as range_of
    from onnx_scatterx.engine.write.forms.sums import OF_SUMS as OF_SUMS
    from onnx_scatterx.engine.write.fragment import Fragment as Fragment
    from onnx_scatterx.engine.write.graph_writer import GraphWriter as GraphWriter
    from onnx_scatterx.engine.write.native.attached import add_fallbacks as add_fallbacks
    from onnx_scatterx.engine.write.native.attached import needs_fallbacks as needs_fallbacks
    from onnx_scatterx.engine.write.native.fallback import FallbackSpec as FallbackSpec
    from onnx_scatterx.engine.write.native.nodes import Encoding as Encoding
    from onnx_scatterx.engine.write.native.nodes import is_native as is_native
    from onnx_scatterx.engine.write.numbers import Numbers as Numbers
    from onnx_scatterx.engine.write.outer_values import OuterValues as OuterValues
    from onnx_scatterx.engine.write.reduction import Reducer as Reducer
    from onnx_scatterx.engine.write.reduction import is_ordered as is_ordered
    from onnx_scatterx.engine.write.writer import Writer as Writer
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "available": "AvailableValues",
            "cuts": "Cut",
            "forms": "has_other_forms instead_of",
            "forms.einsums": "only_moves",
            "forms.request": "range_of",
            "forms.sums": "OF_SUMS",
            "fragment": "Fragment",
            "graph_writer": "GraphWriter",
            "caches": "caches_of",
            "native.attached": "add_fallbacks needs_fallbacks",
            "native.fallback": "FallbackSpec",
            "native.nodes": "Encoding is_native",
            "numbers": "Numbers",
            "outer_values": "OuterValues",
            "reduction": "Reducer is_ordered",
            "writer": "Writer",
        },
    )
