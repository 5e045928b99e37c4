"""The passes that fit a model to fixed sizes, to an operator set and to a target.

Come here for sizes that are written and folded, for nodes in the spelling of another operator set,
for what a target does not take of the result, and for dims that ONNX Runtime infers and a rewrite
must keep; not for the removal of scatters (that is in ``engine.passes``), nor for the order of the
passes (in ``pipeline``).
"""
