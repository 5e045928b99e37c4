"""A second mind: whether two ONNX models are equal at every size and on every input.

Translation validation by an SMT solver, of any two models, whoever made the second from the
first. It shares nothing with the analysis that the rewriting rests on: the operators are defined
again, more simply, element by element.
"""
