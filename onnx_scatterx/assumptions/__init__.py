"""What a user says of inputs and values, and the model does not say: promises, and fixed sizes.

Come here for reading ``--assume`` and ``--fix``, for the expressions of sizes in them, and for
checking them against the inputs of a model. Not for what follows from them about tensors
(``engine.analysis``), and not for writing sizes into a model (``fitting``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.assumptions.assumption import NOTHING as NOTHING
    from onnx_scatterx.assumptions.assumption import Assumption as Assumption
    from onnx_scatterx.assumptions.assumption import Relation as Relation
    from onnx_scatterx.assumptions.clauses import METADATA as METADATA
    from onnx_scatterx.assumptions.clauses import Assume as Assume
    from onnx_scatterx.assumptions.clauses import Clause as Clause
    from onnx_scatterx.assumptions.clauses import at_sizes as at_sizes
    from onnx_scatterx.assumptions.clauses import by_name as by_name
    from onnx_scatterx.assumptions.clauses import check_clauses as check_clauses
    from onnx_scatterx.assumptions.clauses import conditions_of as conditions_of
    from onnx_scatterx.assumptions.clauses import equalities as equalities
    from onnx_scatterx.assumptions.clauses import note_assumptions as note_assumptions
    from onnx_scatterx.assumptions.clauses import noted_assumptions as noted_assumptions
    from onnx_scatterx.assumptions.clauses import read_clauses as read_clauses
    from onnx_scatterx.assumptions.counts import Subject as Subject
    from onnx_scatterx.assumptions.expressions import TURNED as TURNED
    from onnx_scatterx.assumptions.expressions import evaluate as evaluate
    from onnx_scatterx.assumptions.expressions import names_in as names_in
    from onnx_scatterx.assumptions.expressions import parts_of as parts_of
    from onnx_scatterx.assumptions.fixed_sizes import Fix as Fix
    from onnx_scatterx.assumptions.fixed_sizes import FixedSizes as FixedSizes
    from onnx_scatterx.assumptions.fixed_sizes import dims_of as dims_of
    from onnx_scatterx.assumptions.fixed_sizes import fix_template as fix_template
    from onnx_scatterx.assumptions.fixed_sizes import open_sizes as open_sizes
    from onnx_scatterx.assumptions.fixed_sizes import places_of as places_of
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "assumption": "Assumption NOTHING Relation",
            "clauses": "Assume Clause METADATA at_sizes by_name check_clauses conditions_of "
            "equalities note_assumptions noted_assumptions read_clauses",
            "counts": "Subject",
            "expressions": "TURNED evaluate names_in parts_of",
            "fixed_sizes": "Fix FixedSizes dims_of fix_template open_sizes places_of",
        },
    )
