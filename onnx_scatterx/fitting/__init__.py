"""Fits a model to fixed sizes, to an operator set, and to a device."""
