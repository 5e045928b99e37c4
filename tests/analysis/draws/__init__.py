"""Random nodes of the operators that the interpreter follows, by family."""
