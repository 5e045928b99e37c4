"""One set of inputs, and how it is named in answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

GIVEN = "given inputs"
"""What a set of inputs of the user is called; its number follows."""

SOLVER = "of the solver"
"""How a counterexample of a proof was drawn."""


@dataclass(frozen=True)
class Draw:
    """One set of inputs: its number (the seed of its values), its sizes, and how it was drawn.

    `feeds` are the inputs by name. Inputs that the user gave have the numbers -1, -2, ...
    `outputs` are ONNX Runtime's outputs without graph optimizations, if `valid_draws` ran the
    model.
    """

    number: int
    sizes: Mapping[str, int]
    flavour: str
    feeds: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    def __str__(self) -> str:
        if self.flavour == "given":
            return f"{GIVEN} {-self.number}"
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        if self.flavour == SOLVER:
            return f"inputs of the solver{f' ({sizes})' if sizes else ''}"
        return f"draw {self.number} ({'; '.join(filter(None, (self.flavour, sizes)))})"
