"""`bench` times models against each other: interleaved, warm, with a confidence interval."""
