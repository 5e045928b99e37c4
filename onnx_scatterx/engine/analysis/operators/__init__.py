"""Transfer functions, a file for each family of operators."""
