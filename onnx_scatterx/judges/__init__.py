"""Judges: decide whether two models compute the same, without trust in the optimizer.

``verification`` runs both models in ONNX Runtime; ``equivalence`` proves them equal by a solver.
"""
