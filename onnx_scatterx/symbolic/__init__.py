"""Integer expressions over sizes and coordinates, and the prover of inequalities.

Nothing here knows ONNX.
"""
