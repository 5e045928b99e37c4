"""What is known of ONNX's operators, and of ONNX Runtime's kernels, as tables.

Come here for a property of an operator (``described(node).moves``), for the operators that share
one (``those``), and for the element types that ONNX Runtime has kernels of. An operator without a
row gets what is safe to assume. Not for functions that follow what an operator computes
(``engine.analysis``), not for its schema (``onnx.defs``), and not for what changed between operator
sets (``engine.spelling``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.operators.columns import EVERY as EVERY
    from onnx_scatterx.operators.columns import Decides as Decides
    from onnx_scatterx.operators.columns import Kinds as Kinds
    from onnx_scatterx.operators.columns import Passing as Passing
    from onnx_scatterx.operators.columns import Rounding as Rounding
    from onnx_scatterx.operators.columns import Rows as Rows
    from onnx_scatterx.operators.columns import Trust as Trust
    from onnx_scatterx.operators.element_types import element_type as element_type
    from onnx_scatterx.operators.equations import named_equation as named_equation
    from onnx_scatterx.operators.kernels import KERNELS as KERNELS
    from onnx_scatterx.operators.kernels import WIDER as WIDER
    from onnx_scatterx.operators.kernels import has_kernel as has_kernel
    from onnx_scatterx.operators.kernels import is_of_inputs as is_of_inputs
    from onnx_scatterx.operators.kernels import lacking as lacking
    from onnx_scatterx.operators.kernels import needed as needed
    from onnx_scatterx.operators.table import OPERATORS as OPERATORS
    from onnx_scatterx.operators.table import RANDOM as RANDOM
    from onnx_scatterx.operators.table import READS as READS
    from onnx_scatterx.operators.table import SCATTERS as SCATTERS
    from onnx_scatterx.operators.table import described as described
    from onnx_scatterx.operators.table import those as those
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "columns": "EVERY Decides Kinds Passing Rounding Rows Trust",
            "element_types": "element_type",
            "equations": "named_equation",
            "kernels": "KERNELS WIDER has_kernel is_of_inputs lacking needed",
            "table": "OPERATORS RANDOM READS SCATTERS described those",
        },
    )
