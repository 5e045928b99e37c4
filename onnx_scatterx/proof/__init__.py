"""Equivalence: proves two ONNX models equal at every size and on every input, by an SMT solver.

This is translation validation: any tool may have made the second model. The judge shares no code
with the optimizer's analysis: the operators are defined again, more simply, element by element.
"""
