"""How a node is written in each operator set, by one table of what changed between the sets.

Come here for a node of one operator set as another set wants it, and for why it cannot be written
there. Nodes are read, not changed: the writer of ``engine.write`` writes new nodes in the newest
spelling and asks here for that of its graph, and ``fitting`` asks for the nodes of a whole model.
Not for the element types of which ONNX Runtime has kernels (in ``operators``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.spelling.changes import EXPANDED as EXPANDED
    from onnx_scatterx.engine.spelling.newest import has as has
    from onnx_scatterx.engine.spelling.newest import in_set as in_set
    from onnx_scatterx.engine.spelling.newest import is_settled as is_settled
    from onnx_scatterx.engine.spelling.respell import NoSpelling as NoSpelling
    from onnx_scatterx.engine.spelling.respell import converted as converted
    from onnx_scatterx.engine.spelling.respell import respelled as respelled
    from onnx_scatterx.engine.spelling.respell import since as since
    from onnx_scatterx.engine.spelling.spelling import Known as Known
    from onnx_scatterx.engine.spelling.spelling import Operand as Operand
    from onnx_scatterx.engine.spelling.spelling import Spelling as Spelling
    from onnx_scatterx.engine.spelling.spelling import type_text as type_text
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "changes": "EXPANDED",
            "newest": "has in_set is_settled",
            "respell": "NoSpelling converted respelled since",
            "spelling": "Known Operand Spelling type_text",
        },
    )
