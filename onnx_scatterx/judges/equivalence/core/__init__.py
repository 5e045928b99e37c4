"""Terms and the solver, and the facts about the tensors of two models."""
