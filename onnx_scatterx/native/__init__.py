"""Scatters as nodes of the native operator ScatterX, each with a fallback in standard operators."""

DOMAIN = "onnx_scatterx"
OPERATOR = "ScatterX"
OVERLOADS = 10  # the IR version that tells functions of one name apart
