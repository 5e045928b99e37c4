"""Small faults in the nodes that the optimizer wrote, which a judge of models must find.

A bound off by one, the inputs of a Concat swapped or one left out, another axis, the branches of a
Where swapped, a write dropped, `<` for `<=`, a Squeeze of another axis, And for Or, Add for Sub.
Whether a mutant differs from the original is for `mutant_runs.py` to find.
"""

from __future__ import annotations

import random

import numpy as np
import onnx
from onnx import helper, numpy_helper

_BOUNDED = {"Slice", "Pad", "Add", "Sub", "Gather", "Range", "Mod", "Expand", "Less", "Concat"}
_BOUNDED |= {"Reshape", "Where", "Equal", "Max"}
_OTHER = {
    "Less": "LessOrEqual",
    "LessOrEqual": "Less",
    "Greater": "GreaterOrEqual",
    "GreaterOrEqual": "Greater",
    "Equal": "LessOrEqual",
    "Or": "And",
    "And": "Or",
    "Add": "Sub",
    "Sub": "Add",
    "Max": "Min",
    "ReduceMax": "ReduceMin",
    "ReduceMin": "ReduceMax",
    "Not": "Identity",
}
_DROPPED = ("Concat", "Where", "Mul", "Pad", "Reshape", "Transpose", "Or", "Slice")


def key(node: onnx.NodeProto) -> tuple[object, ...]:
    """Return a key that distinguishes nodes."""
    attributes = tuple(sorted(a.SerializeToString(deterministic=True) for a in node.attribute))
    return node.op_type, node.domain, tuple(node.input), tuple(node.output), attributes


def new_nodes(before: onnx.ModelProto, after: onnx.ModelProto) -> list[int]:
    """Return the positions of the nodes of the second model that the first does not have."""
    old = {key(n) for n in before.graph.node}
    return [i for i, n in enumerate(after.graph.node) if key(n) not in old]


def mutate(
    before: onnx.ModelProto, after: onnx.ModelProto, rng: random.Random
) -> tuple[str, onnx.ModelProto] | None:
    """Return a mutant of the second model and its fault, or None if no node can have the fault."""
    places = new_nodes(before, after)
    if not places:
        return None
    model = onnx.ModelProto()
    model.CopyFrom(after)
    kind, ways = rng.choice(list(_WAYS.items()))
    places = [i for i in places if model.graph.node[i].op_type in ways]
    if not places:
        return None
    node = model.graph.node[rng.choice(places)]
    known = {i.name: i for i in model.graph.initializer}

    def constant(array: np.ndarray) -> str:
        name = f"mutant {len(model.graph.initializer)}"
        model.graph.initializer.append(numpy_helper.from_array(array, name))
        return name

    done = False
    if kind in ("bound", "squeezed axis"):
        among = [k for k, n in enumerate(node.input) if n in known and known[n].data_type in (6, 7)]
        among = [k for k in among if kind == "bound" or k == 1]
        if among:
            k = rng.choice(among)
            array = numpy_helper.to_array(known[node.input[k]]).copy()
            if array.size:
                with np.errstate(over="ignore"):
                    array.reshape(-1)[rng.randrange(array.size)] += rng.choice([-1, 1])
                node.input[k] = constant(array)
                done = True
    elif kind == "swap" and len(node.input) > 1:
        k = rng.randrange(len(node.input) - 1) if node.op_type == "Concat" else 1
        node.input[k], node.input[k + 1] = node.input[k + 1], node.input[k]
        done = True
    elif kind == "input left out" and len(node.input) > 1:
        del node.input[rng.randrange(len(node.input))]
        done = True
    elif kind == "axis":
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        put(node, "axis", axis + rng.choice([-1, 1]))
        done = True
    elif kind == "permutation":
        order = next((list(a.ints) for a in node.attribute if a.name == "perm"), [])
        shuffled = rng.sample(order, len(order))
        done = shuffled != order
        if done:
            put(node, "perm", shuffled)
    elif kind == "another operator":
        node.op_type = _OTHER[node.op_type]
        done = True
    elif kind == "dropped":
        kept = node.input[rng.randrange(len(node.input))]
        node.op_type = "Identity"
        del node.input[:], node.attribute[:]
        node.input.append(kept)
        done = True
    return (kind, model) if done else None


_WAYS: dict[str, set[str]] = {
    "bound": _BOUNDED,
    "squeezed axis": {"Squeeze", "Unsqueeze"},
    "swap": {"Concat", "Where"},
    "input left out": {"Concat"},
    "axis": {"Concat", "Gather", "GatherElements"},
    "permutation": {"Transpose"},
    "another operator": set(_OTHER),
    "dropped": set(_DROPPED),
}


def put(node: onnx.NodeProto, name: str, value: object) -> None:
    for attribute in list(node.attribute):
        if attribute.name == name:
            node.attribute.remove(attribute)
    node.attribute.append(helper.make_attribute(name, value))
