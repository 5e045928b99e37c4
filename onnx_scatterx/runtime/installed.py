"""Whether ONNX Runtime is installed: on some platforms it is not, as in a browser's Python."""

from onnx_scatterx.errors import MissingRuntimeError, one_line

EVALUATOR = "onnx's reference evaluator"
"""What `verify` runs models in instead."""


def needed() -> None:
    """Raise MissingRuntimeError if ONNX Runtime cannot be imported."""
    try:
        import onnxruntime  # noqa: F401 - is it there?
    except ImportError as error:
        why = one_line(error)
        raise MissingRuntimeError(
            f"ONNX Runtime is missing ({why}): pip install onnxruntime"
        ) from error
