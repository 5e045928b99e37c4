"""``python -m onnx_scatterx`` is ``onnx-scatterx``."""

import sys

from onnx_scatterx.cli import main

if __name__ == "__main__":
    sys.exit(main())
