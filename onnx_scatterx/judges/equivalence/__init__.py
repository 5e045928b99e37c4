"""Equivalence: whether two ONNX models are equal at every size and on every input.

Translation validation of any two models by an SMT solver. Any tool may have made the second model.
It shares no code with the analysis that the rewriting uses: the operators are defined again, more
simply, element by element.
"""
