"""Integer expressions over sizes and coordinates, and the prover of inequalities.

Nothing here depends on ONNX.
"""
