"""Changes of the computation of a model: its numbers, attributes, operators and wires."""

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

from tests.engine.fuzz.mutant import LARGE, Mutant

NUMBERS = (0, 1, -1, 2, 3, -2, 5, 7, 8, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
SIBLINGS = (
    ("Add", "Sub", "Mul", "Max", "Min"),
    ("Div", "Mod", "Mul"),
    ("Less", "Greater", "Equal", "LessOrEqual", "GreaterOrEqual"),
    ("And", "Or", "Xor"),
    ("Neg", "Abs", "Identity", "Sign", "Relu"),
    ("Floor", "Ceil", "Round", "Identity"),
    ("Sigmoid", "Tanh", "Exp", "Sqrt", "Identity"),
    ("ReduceMax", "ReduceMin", "ReduceSum", "ReduceProd", "ReduceMean"),
    ("ArgMax", "ArgMin"),
    ("ScatterElements", "ScatterND"),
    ("GatherElements", "Gather", "GatherND"),
    ("Squeeze", "Identity"),
    ("Transpose", "Identity"),
    ("Concat", "Sum"),
)
WORDS = {
    "reduction": ("none", "add", "mul", "max", "min"),
    "mode": ("linear", "circular", "nearest", "constant", "edge", "reflect"),
    "auto_pad": ("NOTSET", "SAME_UPPER", "VALID"),
}


def number(m: Mutant) -> bool:
    """Change some elements of a constant."""
    fitting = [t for t in m.tensors() if 0 < np.prod(t.dims, dtype=int) <= LARGE]
    if not fitting:
        return False
    tensor = m.rng.choice(fitting)
    array = np.array(numpy_helper.to_array(tensor))
    if array.dtype.kind not in "iubf":
        return False
    flat = array.reshape(-1)
    kind = m.rng.random()
    if kind < 0.2 and flat.size > 1:
        flat[:] = flat[m.rng.sample(range(flat.size), flat.size)]
    elif array.dtype.kind == "b":
        flat[m.rng.randrange(flat.size)] ^= True
    else:
        for _ in range(m.rng.choice([1, 1, 2])):
            place = m.rng.randrange(flat.size)
            old = flat[place].item()
            new = m.rng.choice([old + 1, old - 1, -old, *m.rng.sample(NUMBERS, 2)])
            if array.dtype.kind in "iu":
                limits = np.iinfo(array.dtype)
                new = min(max(int(new), int(limits.min)), int(limits.max))
            with np.errstate(all="ignore"):
                flat[place] = new
    tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return True


def rank(m: Mutant) -> bool:
    """Give a constant of one element a dim, or take it away."""
    fitting = [t for t in m.tensors() if list(t.dims) in ([], [1])]
    if not fitting:
        return False
    tensor = m.rng.choice(fitting)
    tensor.dims[:] = [] if tensor.dims else [1]
    return True


def attribute(m: Mutant) -> bool:
    """Change an attribute that is a number, some numbers or a word."""
    kinds = (AttributeProto.INT, AttributeProto.INTS, AttributeProto.STRING)
    found = [
        a
        for n in m.nodes()
        for a in n.attribute
        if a.type in kinds and not a.ref_attr_name and a.name not in ("to", "dtype")
    ]
    if not found:
        return False
    chosen = m.rng.choice(found)
    if chosen.type == AttributeProto.INT:
        chosen.i = m.rng.choice([chosen.i + 1, chosen.i - 1, -chosen.i, 0, 1, 1 - chosen.i])
    elif chosen.type == AttributeProto.STRING:
        if chosen.name not in WORDS:
            return False
        chosen.s = m.rng.choice(WORDS[chosen.name]).encode()
    elif chosen.ints:
        if m.rng.random() < 0.5:
            chosen.ints[:] = m.rng.sample(list(chosen.ints), len(chosen.ints))
        else:
            chosen.ints[m.rng.randrange(len(chosen.ints))] += m.rng.choice([-1, 1])
    return True


def reduction(m: Mutant) -> bool:
    """Let a scatter reduce, or not."""
    node = m.node("ScatterND", "ScatterElements")
    if node is None:
        return False
    kept = [a for a in node.attribute if a.name != "reduction"]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.append(helper.make_attribute("reduction", m.rng.choice(WORDS["reduction"])))
    return True


def operator(m: Mutant) -> bool:
    """Exchange an operator for a sibling."""
    node = m.node(*(op for group in SIBLINGS for op in group))
    if node is None:
        return False
    groups = [group for group in SIBLINGS if node.op_type in group]
    node.op_type = m.rng.choice([op for op in m.rng.choice(groups) if op != node.op_type])
    return True


def wire(m: Mutant) -> bool:
    """Let a node read another value, mostly one of the same type and rank."""
    places = [p for p, n in enumerate(m.graph.node) if n.input]
    if not places:
        return False
    place = m.rng.choice(places)
    node = m.graph.node[place]
    which = m.rng.randrange(len(node.input))
    own = m.types.get(node.input[which])
    others = [n for n in m.readable(place) if n != node.input[which]]
    alike = [n for n in others if m.types.get(n) == own]
    if m.rng.random() < 0.9:
        others = alike
    if not others:
        return False
    node.input[which] = m.rng.choice(others)
    return True


def swap(m: Mutant) -> bool:
    """Exchange two inputs of a node."""
    node = m.node()
    if node is None or len(node.input) < 2:
        return False
    i, j = m.rng.sample(range(len(node.input)), 2)
    node.input[i], node.input[j] = node.input[j], node.input[i]
    return True


def bypass(m: Mutant) -> bool:
    """Let the readers of a node read its first input."""
    node = m.node()
    if node is None or not (node.input and node.input[0] and node.output):
        return False
    for other in m.nodes():
        for i, name in enumerate(other.input):
            if name == node.output[0]:
                other.input[i] = node.input[0]
    return True


def again(m: Mutant) -> bool:
    """Do once more what a node does, to its own result."""
    kinds = ("ScatterND", "ScatterElements", "TensorScatter", "Transpose", "Slice", "Add", "Mul")
    places = [p for p, n in enumerate(m.graph.node) if n.op_type in kinds]
    if not places:
        return False
    place = m.rng.choice(places)
    node = m.graph.node[place]
    copy = onnx.NodeProto()
    copy.CopyFrom(node)
    inner = f"{node.output[0]}_{m.rng.randrange(10**6)}"
    copy.input[0] = inner
    copy.name = f"{node.name}_{inner}"
    m.graph.node.insert(place + 1, copy)
    m.graph.node[place].output[0] = inner
    return True
