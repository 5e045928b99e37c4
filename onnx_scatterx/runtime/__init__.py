"""Runs models in ONNX Runtime: sessions with the library, worker processes, and arrays.

Come here for a session, for a process that runs models and cannot crash this one, and for files of
arrays. Not for the comparison of two models (``compare``), not for how long a model takes
(``lab``), and not for constants that the optimizer computes (``fitting``, which asks here).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.runtime.array_files import DeclaredInput as DeclaredInput
    from onnx_scatterx.runtime.array_files import output_path as output_path
    from onnx_scatterx.runtime.array_files import read_arrays as read_arrays
    from onnx_scatterx.runtime.array_files import save_arrays as save_arrays
    from onnx_scatterx.runtime.array_files import validated_inputs as validated_inputs
    from onnx_scatterx.runtime.evaluator import runner_of as runner_of
    from onnx_scatterx.runtime.library import missing_library as missing_library
    from onnx_scatterx.runtime.opened import OpenModel as OpenModel
    from onnx_scatterx.runtime.opened import as_file as as_file
    from onnx_scatterx.runtime.opened import opened_model as opened_model
    from onnx_scatterx.runtime.session import EVALUATOR as EVALUATOR
    from onnx_scatterx.runtime.session import library_for as library_for
    from onnx_scatterx.runtime.session import require_runtime as require_runtime
    from onnx_scatterx.runtime.timing import LEAST_ROUNDS as LEAST_ROUNDS
    from onnx_scatterx.runtime.worker_client import ModelFile as ModelFile
    from onnx_scatterx.runtime.worker_client import OrtProcess as OrtProcess
    from onnx_scatterx.runtime.worker_client import Runner as Runner
    from onnx_scatterx.runtime.worker_client import from_raw as from_raw
    from onnx_scatterx.runtime.worker_client import to_raw as to_raw
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "array_files": "DeclaredInput output_path read_arrays save_arrays validated_inputs",
            "evaluator": "runner_of",
            "library": "missing_library",
            "opened": "OpenModel as_file opened_model",
            "session": "EVALUATOR library_for require_runtime",
            "timing": "LEAST_ROUNDS",
            "worker_client": "ModelFile OrtProcess Runner from_raw to_raw",
        },
    )
