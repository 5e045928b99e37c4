"""What a device or runtime takes: targets by name, and files of profiles.

Come here for a target, for the limits of its operators, and for the keys of a profile. Not for the
question whether a target takes one node (``engine.device``), and not for asking a compiler
(``lab``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.targets.catalogue import BASES as BASES
    from onnx_scatterx.targets.catalogue import AnyTarget as AnyTarget
    from onnx_scatterx.targets.catalogue import all_targets as all_targets
    from onnx_scatterx.targets.catalogue import target_of as target_of
    from onnx_scatterx.targets.limits import NO_LIMITS as NO_LIMITS
    from onnx_scatterx.targets.limits import OperatorLimits as OperatorLimits
    from onnx_scatterx.targets.limits import SlowUse as SlowUse
    from onnx_scatterx.targets.profile import DENSE_LIMIT as DENSE_LIMIT
    from onnx_scatterx.targets.profile import target_from as target_from
    from onnx_scatterx.targets.profile_checks import check_profile as check_profile
    from onnx_scatterx.targets.profile_checks import profile_schema as profile_schema
    from onnx_scatterx.targets.refused_use import RefusedUse as RefusedUse
    from onnx_scatterx.targets.target import SCATTERX as SCATTERX
    from onnx_scatterx.targets.target import STANDARD as STANDARD
    from onnx_scatterx.targets.target import WORK_LIMIT as WORK_LIMIT
    from onnx_scatterx.targets.target import Target as Target
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "catalogue": "AnyTarget BASES all_targets target_of",
            "limits": "NO_LIMITS OperatorLimits SlowUse",
            "profile": "DENSE_LIMIT target_from",
            "profile_checks": "check_profile profile_schema",
            "refused_use": "RefusedUse",
            "target": "SCATTERX STANDARD Target WORK_LIMIT",
        },
    )
