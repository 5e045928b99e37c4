"""Scatters as nodes of the native operator ScatterX, each with a fallback in standard operators."""
