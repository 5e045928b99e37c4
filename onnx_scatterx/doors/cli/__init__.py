"""The command line: `main` parses, calls the public functions, and prints."""

from onnx_scatterx.doors.cli.program import main

__all__ = ["main"]
