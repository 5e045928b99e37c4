"""What stands in the integer tensors of a model, known without running it.

``terms`` are canonical integer expressions over sizes and coordinates, ``prove`` decides
inequalities between them, ``abstract`` says what is known of a tensor, and ``interpreter`` walks a
model with one transfer function for each operator.
"""
