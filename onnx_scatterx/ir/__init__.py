"""A model as a file and as a graph: read, checked, raised, written whole or not at all."""
