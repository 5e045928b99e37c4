"""``python -m onnx_scatterx`` is ``onnx-scatterx``."""

import sys

from onnx_scatterx.doors import run

if __name__ == "__main__":
    sys.exit(run())
