"""Graphs of onnx_ir: what they hold, and small changes of them.

Come here for walks (``all_nodes``, ``reached``), for questions about one node or value (is it this
operator, who computes it, is it constant in every run), and for removing, replacing and naming.
Not for what is known of a tensor (``engine.analysis``), not for writing operators
(``engine.write``), and not for files and messages (``files``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.graphs.cleanup import Names as Names
    from onnx_scatterx.graphs.cleanup import cloned as cloned
    from onnx_scatterx.graphs.cleanup import remove_dead as remove_dead
    from onnx_scatterx.graphs.cleanup import replace_uses as replace_uses
    from onnx_scatterx.graphs.cleanup import set_inputs as set_inputs
    from onnx_scatterx.graphs.constants import INT64_MAX as INT64_MAX
    from onnx_scatterx.graphs.constants import constant as constant
    from onnx_scatterx.graphs.constants import overridable as overridable
    from onnx_scatterx.graphs.inventory import Inventory as Inventory
    from onnx_scatterx.graphs.traversal import all_graphs as all_graphs
    from onnx_scatterx.graphs.traversal import all_nodes as all_nodes
    from onnx_scatterx.graphs.traversal import attribute_of as attribute_of
    from onnx_scatterx.graphs.traversal import called_function as called_function
    from onnx_scatterx.graphs.traversal import callers_first as callers_first
    from onnx_scatterx.graphs.traversal import graphs_of as graphs_of
    from onnx_scatterx.graphs.traversal import is_operator as is_operator
    from onnx_scatterx.graphs.traversal import is_scatterx_domain as is_scatterx_domain
    from onnx_scatterx.graphs.traversal import live_nodes as live_nodes
    from onnx_scatterx.graphs.traversal import made_by as made_by
    from onnx_scatterx.graphs.traversal import makers as makers
    from onnx_scatterx.graphs.traversal import may_be_operator as may_be_operator
    from onnx_scatterx.graphs.traversal import perm_of as perm_of
    from onnx_scatterx.graphs.traversal import reached as reached
    from onnx_scatterx.graphs.traversal import read_by as read_by
    from onnx_scatterx.graphs.traversal import values_by_name as values_by_name
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "cleanup": "Names cloned remove_dead replace_uses set_inputs",
            "constants": "INT64_MAX constant overridable",
            "inventory": "Inventory",
            "traversal": "all_graphs all_nodes attribute_of called_function "
            "callers_first graphs_of is_operator is_scatterx_domain live_nodes "
            "made_by makers may_be_operator perm_of reached read_by values_by_name",
        },
    )
