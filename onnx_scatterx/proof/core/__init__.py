"""The core of the judge: terms, tensors, the solver, and the facts about two models."""
