"""One model from its settings to what was done with each node: the order of the passes."""
