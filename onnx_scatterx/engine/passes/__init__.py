"""The passes of the pipeline, the job that they share, and what lets them begin anew."""
