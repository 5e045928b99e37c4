"""Models of every version of every operator, drawn from its schema, in each place of a model."""
