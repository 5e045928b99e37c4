"""What a user says of inputs that the model does not: promises, and fixed sizes.

Come here for reading ``--assume`` and ``--fix``, for the expressions of sizes in them, and for
checking them against the inputs of a model. Not for what follows from them about tensors
(``engine.analysis``), and not for writing sizes into a model (``fitting``).
"""
