"""Small faults put into an optimized model, which a judge of models must find.

`mutate` changes one node that the optimizer wrote: a bound off by one, the inputs of a Concat
swapped or one left out, another axis, the branches of a Where swapped, a write dropped, `<` for
`<=`, a Squeeze of another axis, And for Or, Add for Sub. `mutate_anything` changes anything in a
model: a constant, what a node reads, an attribute, a stated dim, the operator sets. A mutant counts
only if, on some input, it differs from the original, or fails and the original does not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
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
Feed = dict[str, np.ndarray]


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
        _set(node, "axis", axis + rng.choice([-1, 1]))
        done = True
    elif kind == "permutation":
        order = next((list(a.ints) for a in node.attribute if a.name == "perm"), [])
        shuffled = rng.sample(order, len(order))
        done = shuffled != order
        if done:
            _set(node, "perm", shuffled)
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


def mutate_anything(
    after: onnx.ModelProto, rng: random.Random
) -> tuple[str, onnx.ModelProto] | None:
    """Return a model with one fault anywhere, and the fault; None if it cannot have the fault."""
    model = onnx.ModelProto()
    model.CopyFrom(after)
    kind, change = rng.choice(list(_CHANGES.items()))
    done = change(model, rng)
    return (kind, model) if done and model != after else None


def _constant(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Change, swap or repeat elements of a constant."""
    places = [t for t in model.graph.initializer if t.data_type in (1, 6, 7, 9) and any(t.dims)]
    nodes = [a.t for n in model.graph.node if n.op_type == "Constant" for a in n.attribute]
    places += [t for t in nodes if t.data_type in (1, 6, 7, 9)]
    if not places:
        return False
    proto = rng.choice(places)
    array = numpy_helper.to_array(proto).copy()
    flat = array.reshape(-1)
    if not flat.size:
        return False
    i, j = rng.randrange(flat.size), rng.randrange(flat.size)
    with np.errstate(over="ignore"):
        way = rng.randrange(4)
        if way == 0:
            flat[i], flat[j] = flat[j].copy(), flat[i].copy()
        elif way == 1:
            flat[i] = flat[j]
        elif array.dtype == bool:
            flat[i] = not flat[i]
        else:
            flat[i] += array.dtype.type(rng.choice([-1, 1, 2, -2, 100]))
    proto.CopyFrom(numpy_helper.from_array(array, proto.name))
    return True


def _swapped(model: onnx.ModelProto, rng: random.Random) -> bool:
    node = rng.choice(model.graph.node)
    if len(node.input) < 2:
        return False
    i, j = rng.sample(range(len(node.input)), 2)
    node.input[i], node.input[j] = node.input[j], node.input[i]
    return True


def _rewired(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Let a node read another value of the same type, and of the same rank if that is known."""
    try:
        shaped = onnx.shape_inference.infer_shapes(model)
    except onnx.shape_inference.InferenceError:
        return False
    kinds: dict[str, tuple[int, int]] = {}
    for value in (*shaped.graph.input, *shaped.graph.value_info, *shaped.graph.output):
        tensor = value.type.tensor_type
        kinds[value.name] = (tensor.elem_type, len(tensor.shape.dim))
    kinds |= {t.name: (t.data_type, len(t.dims)) for t in model.graph.initializer}
    place = rng.randrange(len(model.graph.node))
    node = model.graph.node[place]
    before = {o for n in list(model.graph.node)[:place] for o in n.output}
    before |= {v.name for v in (*model.graph.input, *model.graph.initializer)}
    k = rng.randrange(len(node.input)) if node.input else 0
    if not node.input or node.input[k] not in kinds:
        return False
    alike = [n for n in before if kinds.get(n) == kinds[node.input[k]] and n != node.input[k]]
    if not alike:
        return False
    node.input[k] = rng.choice(sorted(alike))
    return True


def _attribute(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Change an attribute of any node, ScatterX included."""
    places = [a for n in model.graph.node for a in n.attribute if a.type in (1, 2, 3, 7)]
    if not places:
        return False
    one = rng.choice(places)
    if one.type == onnx.AttributeProto.INT:
        one.i += rng.choice([-1, 1])
    elif one.type == onnx.AttributeProto.FLOAT:
        one.f += 0.5
    elif one.type == onnx.AttributeProto.STRING:
        ways = {b"none": b"add", b"add": b"mul", b"mul": b"none", b"max": b"min", b"min": b"max"}
        one.s = ways.get(one.s, one.s)
    elif one.ints:
        i, j = rng.randrange(len(one.ints)), rng.randrange(len(one.ints))
        if rng.random() < 0.6:
            one.ints[i], one.ints[j] = one.ints[j], one.ints[i]
        else:
            one.ints[i] += rng.choice([-1, 1])
    return True


def _reduction(model: onnx.ModelProto, rng: random.Random) -> bool:
    nodes = [n for n in model.graph.node if n.op_type.startswith("Scatter")]
    if not nodes:
        return False
    _set(rng.choice(nodes), "reduction", rng.choice(["none", "add", "mul", "max", "min"]))
    return True


def _stated(model: onnx.ModelProto, rng: random.Random) -> bool:
    """State another dim of a value or of an output."""
    dims = [
        (d, v.name)
        for v in (*model.graph.value_info, *model.graph.output)
        for d in v.type.tensor_type.shape.dim
    ]
    if not dims:
        return False
    dim, _ = rng.choice(dims)
    names = [d.dim_param for d, _ in dims if d.dim_param]
    if names and rng.random() < 0.4:
        dim.dim_param = rng.choice(names)
    else:
        dim.dim_value = max(dim.dim_value + rng.choice([-1, 1, 2]), 0)
    return True


def _operator_set(model: onnx.ModelProto, rng: random.Random) -> bool:
    one = next((o for o in model.opset_import if o.domain in ("", "ai.onnx")), None)
    if one is None:
        return False
    if rng.random() < 0.5:
        one.version += rng.choice([-4, -2, -1, 1])
    else:
        spelled = "ai.onnx" if one.domain == "" else ""
        model.opset_import.append(helper.make_opsetid(spelled, rng.choice([12, one.version])))
    return True


def _function(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Put a node with an attribute into a function, with another default of the attribute."""
    nodes = [
        n
        for n in model.graph.node
        if n.domain == "" and any(a.type in (1, 2, 7) for a in n.attribute) and all(n.input)
    ]
    if not nodes:
        return False
    node = rng.choice(nodes)
    one = rng.choice([a for a in node.attribute if a.type in (1, 2, 7)])
    default, body = onnx.AttributeProto(), onnx.NodeProto()
    default.CopyFrom(one)
    if default.type == onnx.AttributeProto.INT:
        default.i += rng.choice([-1, 1])
    elif default.type == onnx.AttributeProto.INTS:
        default.ints[:] = reversed(default.ints)
    else:
        default.f += 0.5
    body.CopyFrom(node)
    inputs = [f"i{k}" for k in range(len(node.input))]
    outputs = [f"o{k}" for k in range(len(node.output))]
    body.input[:], body.output[:] = inputs, outputs
    for attribute in body.attribute:
        if attribute.name == one.name:
            kind = attribute.type
            attribute.Clear()
            attribute.name, attribute.ref_attr_name, attribute.type = one.name, one.name, kind
    function = helper.make_function(
        "own",
        "f",
        inputs,
        outputs,
        [body],
        [o for o in model.opset_import if not o.domain],
        [],
        [default],
    )
    model.functions.append(function)
    model.opset_import.append(helper.make_opsetid("own", 1))
    node.op_type, node.domain = "f", "own"
    del node.attribute[:]
    return True


def _promised(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Promise something in the metadata that makes a fault harmless."""
    names = [d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim]
    names = [n for n in names if n]
    if not names or not _rewired(model, rng):
        return False
    text = f'{{"{rng.choice(names)}": "<= 0"}}'
    model.metadata_props.add(key="onnx_scatterx.assumes", value=text)
    return True


_CHANGES: dict[str, Callable[[onnx.ModelProto, random.Random], bool]] = {
    "a constant": _constant,
    "another constant": _constant,
    "swapped inputs": _swapped,
    "a rewired value": _rewired,
    "another rewired value": _rewired,
    "an attribute": _attribute,
    "a reduction": _reduction,
    "a stated dim": _stated,
    "operator sets": _operator_set,
    "the default of a function": _function,
    "a promise": _promised,
}

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


def _set(node: onnx.NodeProto, name: str, value: object) -> None:
    for attribute in list(node.attribute):
        if attribute.name == name:
            node.attribute.remove(attribute)
    node.attribute.append(helper.make_attribute(name, value))


def session(model: onnx.ModelProto) -> ort.InferenceSession:
    """Load a model on one thread, without graph optimizations."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model.SerializeToString(), options)


def feeds(model: onnx.ModelProto, path: Path, seed: int) -> Iterator[Feed]:
    """Yield inputs: those that are stored beside a model, then drawn ones of several sizes."""
    for suffix in (".in.npz", ".in2.npz"):
        stored = path.with_suffix(suffix)
        if stored.exists():
            with np.load(stored) as archive:
                yield {name: archive[name] for name in archive.files}
    rng = np.random.default_rng(seed)
    known = {i.name for i in model.graph.initializer}
    for trial, most in enumerate((2, 3, 5, 8, 12, 1, 4, 6, 16, 9)):
        sizes: dict[str, int] = {}
        feed = {}
        for value in model.graph.input:
            if value.name in known:
                continue
            tensor = value.type.tensor_type
            shape = []
            for k, dim in enumerate(tensor.shape.dim):
                name = dim.dim_param or f"{value.name}[{k}]"
                drawn = most if trial % 2 else int(rng.integers(trial < 6, most + 1))
                fixed = dim.HasField("dim_value")
                shape.append(dim.dim_value if fixed else sizes.setdefault(name, drawn))
            kind = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
            if kind.kind == "b":
                feed[value.name] = rng.random(shape) < 0.5
            elif kind.kind in "iu":
                feed[value.name] = rng.integers(0, (2, 3, 4, 1, 6)[trial % 5], shape).astype(kind)
            elif kind.kind == "f":
                feed[value.name] = rng.standard_normal(shape).astype(kind)
            else:
                return
        yield feed


def replay(before: onnx.ModelProto, after: onnx.ModelProto, feed: Mapping[str, np.ndarray]) -> str:
    """Return how two models differ on inputs: "" if they do not, or the first does not run."""
    names = [o.name for o in before.graph.output]
    try:
        expected = session(before).run(names, dict(feed))
    except Exception:
        return ""
    try:
        actual = session(after).run(names, dict(feed))
    except Exception as error:
        return f"fails: {error}"
    for name, one, other in zip(names, expected, actual, strict=True):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"{name} has another shape or type"
        if not np.array_equal(one, other, equal_nan=one.dtype.kind == "f"):
            return f"{name} differs"
    return ""


def differs(before: onnx.ModelProto, after: onnx.ModelProto, path: Path, seed: int) -> str:
    """Return how two models are seen to differ on drawn inputs, "" if they are not."""
    found = (replay(before, after, feed) for feed in feeds(before, path, seed))
    return next(filter(None, found), "")
