"""From a node to a scatter or a gather: its index map, its footprint, its uniqueness."""
