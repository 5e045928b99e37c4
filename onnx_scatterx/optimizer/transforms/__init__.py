"""The passes of the pipeline, a file for each."""
