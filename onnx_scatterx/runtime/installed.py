"""Whether ONNX Runtime is installed: on some platforms it is not, as in a browser's Python.

There `verify` runs models in the EVALUATOR.
"""

from onnx_scatterx.errors import MissingRuntimeError, one_line
from onnx_scatterx.system.interrupts import postponed

EVALUATOR = "onnx's reference evaluator"


def needed() -> None:
    """Raise MissingRuntimeError if ONNX Runtime cannot be imported."""
    try:
        with postponed():  # a signal would look like a failed import
            import onnxruntime  # noqa: F401 - is it there?
    except ImportError as error:
        told = f"ONNX Runtime is missing ({one_line(error)}): pip install onnxruntime"
        raise MissingRuntimeError(told) from error
