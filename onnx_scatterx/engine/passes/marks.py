"""What passes note at the nodes of a model; the copies of a node share it."""

KEPT = "onnx_scatterx.kept"
"""The key of the scatters and gathers that are kept, with the reason."""

NUMBER = "onnx_scatterx.number"
"""The key of the number of a node of the model before anything was written."""

LAST_WINS = "onnx_scatterx.last_wins"
"""The key of scatters whose overwritten updates were dropped."""
