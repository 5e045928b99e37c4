"""Small changes of a model: its numbers, attributes, operators, wires, dims, inputs and outputs.

A mutation returns whether it changed anything. What a mutant is worth ONNX Runtime decides: many
are rejected, and that is what they are for.
"""

import random
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from onnx import AttributeProto, helper, numpy_helper

Mutation = Callable[["Mutant"], bool]

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
_LARGE = 1 << 16  # elements of a tensor that is changed


class Mutant:
    """A copy of a model that is being changed."""

    def __init__(self, model: onnx.ModelProto, rng: random.Random) -> None:
        self.rng = rng
        self.model = onnx.ModelProto()
        self.model.CopyFrom(model)
        self.graph = self.model.graph
        self.types: dict[str, tuple[int, int | None]] = {}
        """The element type of every value of the main graph, and its rank where that is known."""
        try:
            inferred = onnx.shape_inference.infer_shapes(model).graph
        except (onnx.shape_inference.InferenceError, RuntimeError):
            inferred = model.graph
        for info in (*inferred.input, *inferred.output, *inferred.value_info):
            tensor = info.type.tensor_type
            rank = len(tensor.shape.dim) if tensor.HasField("shape") else None
            self.types[info.name] = tensor.elem_type, rank
        for constant in model.graph.initializer:
            self.types[constant.name] = constant.data_type, len(constant.dims)

    def nodes(self) -> list[onnx.NodeProto]:
        """List the nodes of the main graph, of its subgraphs and of functions."""
        waiting: list[onnx.NodeProto] = list(self.graph.node)
        waiting += (node for function in self.model.functions for node in function.node)
        found = []
        while waiting:
            found.append(node := waiting.pop())
            for attribute in node.attribute:
                for graph in (attribute.g, *attribute.graphs):
                    waiting += graph.node
        return found

    def tensors(self) -> Iterator[onnx.TensorProto]:
        """Yield the constants, those in nodes too."""
        yield from self.graph.initializer
        for node in self.nodes():
            yield from (a.t for a in node.attribute if a.type == AttributeProto.TENSOR)

    def readable(self, before: int) -> list[str]:
        """List the values that the node at a place of the main graph may read."""
        names = [i.name for i in self.graph.input] + [i.name for i in self.graph.initializer]
        return names + [o for n in self.graph.node[:before] for o in n.output if o]


def _choose(m: Mutant, items: list[onnx.NodeProto]) -> onnx.NodeProto | None:
    return m.rng.choice(items) if items else None


def number(m: Mutant) -> bool:
    """Change some elements of a constant."""
    fitting = [t for t in m.tensors() if 0 < np.prod(t.dims, dtype=int) <= _LARGE]
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
    node = _choose(m, [n for n in m.nodes() if n.op_type in ("ScatterND", "ScatterElements")])
    if node is None:
        return False
    kept = [a for a in node.attribute if a.name != "reduction"]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.append(helper.make_attribute("reduction", m.rng.choice(WORDS["reduction"])))
    return True


def operator(m: Mutant) -> bool:
    """Exchange an operator for a sibling."""
    known = {op for group in SIBLINGS for op in group}
    node = _choose(m, [n for n in m.nodes() if n.op_type in known and n.domain == ""])
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
    node = _choose(m, [n for n in m.nodes() if len(n.input) > 1])
    if node is None:
        return False
    i, j = m.rng.sample(range(len(node.input)), 2)
    node.input[i], node.input[j] = node.input[j], node.input[i]
    return True


def bypass(m: Mutant) -> bool:
    """Let the readers of a node read its first input."""
    node = _choose(m, [n for n in m.graph.node if n.input and n.input[0] and n.output])
    if node is None:
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


def dim(m: Mutant) -> bool:
    """Declare a dim of an input otherwise: by another number, by a name, or not at all."""
    dims = [d for i in m.graph.input for d in i.type.tensor_type.shape.dim]
    if not dims:
        return False
    chosen = m.rng.choice(dims)
    names = [d.dim_param for d in dims if d.dim_param]
    kind = m.rng.random()
    if kind < 0.3:
        chosen.dim_param = m.rng.choice([*names, "N", "M"])
    elif kind < 0.45:
        chosen.Clear()
    elif chosen.HasField("dim_value"):
        old = chosen.dim_value
        chosen.dim_value = m.rng.choice([old + 1, max(old - 1, 0), 0, 1, 2])
    else:
        chosen.dim_value = m.rng.randint(0, 6)
    return True


def output(m: Mutant) -> bool:
    """Show a value from within."""
    shown = {o.name for o in m.graph.output}
    names = [o for n in m.graph.node for o in n.output if o and o not in shown]
    if not names:
        return False
    name = m.rng.choice(names)
    elem, _ = m.types.get(name, (0, None))
    made = onnx.ValueInfoProto(name=name)
    if elem:
        made.type.tensor_type.elem_type = elem
    m.graph.output.append(made)
    return True


def override(m: Mutant) -> bool:
    """Let callers override an initializer."""
    inputs = {i.name for i in m.graph.input}
    found = [t for t in m.graph.initializer if t.name not in inputs]
    if not found or m.model.ir_version < 4:
        return False
    chosen = m.rng.choice(found)
    dims = list(chosen.dims)
    m.graph.input.append(helper.make_tensor_value_info(chosen.name, chosen.data_type, dims))
    return True


def free(m: Mutant) -> bool:
    """Let callers give what was a constant."""
    found = [t for t in m.graph.initializer if np.prod(t.dims, dtype=int) <= _LARGE]
    if not found:
        return False
    chosen = m.rng.choice(found)
    dims: list[int | str] = [
        m.rng.choice([n, f"{chosen.name}_{d}"]) for d, n in enumerate(chosen.dims)
    ]
    kept = [t for t in m.graph.initializer if t.name != chosen.name]
    if chosen.name not in {i.name for i in m.graph.input}:
        made = helper.make_tensor_value_info(chosen.name, chosen.data_type, dims)
        m.graph.input.append(made)
    del m.graph.initializer[:]
    m.graph.initializer.extend(kept)
    return True


def fix(m: Mutant) -> bool:
    """Make an input of integers a constant."""
    constants = {t.name for t in m.graph.initializer}
    kinds = (onnx.TensorProto.INT64, onnx.TensorProto.INT32, onnx.TensorProto.BOOL)
    found = [
        i
        for i in m.graph.input
        if i.type.tensor_type.elem_type in kinds and i.name not in constants
    ]
    if not found:
        return False
    chosen = m.rng.choice(found)
    shape = [d.dim_value or m.rng.randint(1, 4) for d in chosen.type.tensor_type.shape.dim]
    if np.prod(shape, dtype=int) > _LARGE:
        return False
    rng = np.random.default_rng(m.rng.randrange(2**32))
    dtype = helper.tensor_dtype_to_np_dtype(chosen.type.tensor_type.elem_type)
    array = rng.integers(0, m.rng.choice([2, 4, 8]), shape).astype(dtype)
    m.graph.initializer.append(numpy_helper.from_array(array, chosen.name))
    kept = [i for i in m.graph.input if i.name != chosen.name]
    del m.graph.input[:]
    m.graph.input.extend(kept)
    return True


def opset(m: Mutant) -> bool:
    """Take another operator set."""
    for imported in m.model.opset_import:
        if imported.domain == "":
            imported.version = m.rng.choice([imported.version - 1, imported.version + 1, 18, 21])
    return True


MUTATIONS: tuple[tuple[Mutation, int], ...] = (
    (number, 6),
    (attribute, 4),
    (reduction, 1),
    (operator, 3),
    (wire, 3),
    (swap, 1),
    (bypass, 1),
    (again, 1),
    (dim, 4),
    (output, 2),
    (override, 1),
    (free, 2),
    (fix, 1),
    (opset, 1),
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
