"""Plan one graph: rounds of plans, the selection among them, and replacement of the old nodes."""
