"""Terms and the solver, and what is known of the tensors of two models."""
