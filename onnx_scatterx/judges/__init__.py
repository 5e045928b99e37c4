"""Whether two models compute the same, found without trust in the optimizer.

``verification`` runs both in ONNX Runtime; ``equivalence`` proves them equal with a solver.
"""
