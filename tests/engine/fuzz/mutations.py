"""Small changes of a model, drawn.

ONNX Runtime decides whether a mutant is valid: it rejects many, and they are test cases, too.
"""

import random

import onnx

from tests.engine.fuzz import inner, interface, nesting
from tests.engine.fuzz.mutant import Mutant, Mutation

MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (inner.number, 6),
    (inner.rank, 1),
    (inner.attribute, 4),
    (inner.reduction, 1),
    (inner.operator, 3),
    (inner.wire, 3),
    (inner.swap, 1),
    (inner.bypass, 1),
    (inner.again, 1),
    (nesting.in_function, 1),
    (nesting.in_branch, 1),
    (interface.dim, 4),
    (interface.output, 2),
    (interface.override, 1),
    (interface.free, 2),
    (interface.fix, 1),
    (interface.opset, 1),
)


def mutated(model: onnx.ModelProto, rng: random.Random) -> tuple[onnx.ModelProto, list[str]]:
    """Return a copy of a model with one to four changes, and what they are called."""
    mutant = Mutant(model, rng)
    ways, weights = zip(*MUTATIONS, strict=True)
    done: list[str] = []
    for mutation in rng.choices(ways, weights, k=rng.choice([1, 1, 2, 2, 3, 4])):
        if mutation(mutant):
            done.append(mutation.__name__)
    del mutant.graph.value_info[:]
    for value in mutant.graph.output:  # a change may have made another shape of it
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    return mutant.model, done
