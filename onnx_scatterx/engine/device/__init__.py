"""What a target takes of a node whose shapes and elements are known, and what a node costs.

Come here for the uses of an operator that a target refuses, for the parts of a model that it does
not take, and for the nodes or nanoseconds by which plans are compared; not for the profiles of
targets (they are in ``targets``), nor for another form of what is refused (in ``engine.write``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.device.angles import is_of_positions as is_of_positions
    from onnx_scatterx.engine.device.costs import Costs as Costs
    from onnx_scatterx.engine.device.costs import Traffic as Traffic
    from onnx_scatterx.engine.device.costs import check_sizes as check_sizes
    from onnx_scatterx.engine.device.costs import costs_of as costs_of
    from onnx_scatterx.engine.device.costs import known_sizes as known_sizes
    from onnx_scatterx.engine.device.patterns import pattern_of as pattern_of
    from onnx_scatterx.engine.device.refused_uses import is_refused as is_refused
    from onnx_scatterx.engine.device.uses import Use as Use
    from onnx_scatterx.engine.device.uses import is_lacked as is_lacked
    from onnx_scatterx.engine.device.uses import is_of_any_sign as is_of_any_sign
    from onnx_scatterx.engine.device.uses import use_of as use_of
    from onnx_scatterx.engine.device.violation import Violation as Violation
    from onnx_scatterx.engine.device.violation import by_reason as by_reason
    from onnx_scatterx.engine.device.violations import TakenOut as TakenOut
    from onnx_scatterx.engine.device.violations import judged_nodes as judged_nodes
    from onnx_scatterx.engine.device.violations import objections_to as objections_to
    from onnx_scatterx.engine.device.violations import violating_nodes as violating_nodes
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "angles": "is_of_positions",
            "costs": "Costs Traffic check_sizes costs_of known_sizes",
            "patterns": "pattern_of",
            "refused_uses": "is_refused",
            "uses": "Use is_lacked is_of_any_sign use_of",
            "violation": "Violation by_reason",
            "violations": "TakenOut judged_nodes objections_to violating_nodes",
        },
    )
