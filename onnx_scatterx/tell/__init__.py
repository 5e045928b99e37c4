"""The outcome of a model in words: the report, the explanation of one scatter, next steps."""
