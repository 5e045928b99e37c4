"""Faults anywhere in a model: one kind of fault, put into a copy of the model.

A constant, what a node reads, an attribute, the end of a slice, two axes of one size, what the
kernel of ScatterX obeys, a stated dim, the operator sets, the default of a function, a promise in
the metadata.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import onnx
from mutants import put
from onnx import helper, numpy_helper


def mutate_anything(
    after: onnx.ModelProto, kind: str, rng: random.Random
) -> onnx.ModelProto | None:
    """Return a model with one fault of a kind anywhere; None if it cannot have the fault."""
    model = onnx.ModelProto()
    model.CopyFrom(after)
    return model if _CHANGES[kind](model, rng) and model != after else None


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


def _shaped(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return the model with inferred shapes, or None if they contradict each other."""
    try:
        return onnx.shape_inference.infer_shapes(model)
    except onnx.shape_inference.InferenceError:
        return None


def _rewired(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Let a node read another value of the same type, and of the same rank if that is known."""
    shaped = _shaped(model)
    if shaped is None:
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
    put(rng.choice(nodes), "reduction", rng.choice(["none", "add", "mul", "max", "min"]))
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


def _end(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Move a constant start, end or amount of a Slice or Pad by one, or by a lot."""
    known = {t.name: t for t in model.graph.initializer if t.data_type == 7 and any(t.dims)}
    nodes = (n for n in model.graph.node if n.op_type in ("Slice", "Pad"))
    places = [(n, k) for n in nodes for k in (1, 2) if k < len(n.input) and n.input[k] in known]
    if not places:
        return False
    node, k = rng.choice(places)
    array = numpy_helper.to_array(known[node.input[k]]).copy()
    flat = array.reshape(-1)
    moved = int(flat[place := rng.randrange(flat.size)]) + rng.choice([-1, 1, -1, 1, 7, 3000])
    flat[place] = min(max(moved, -(2**63)), 2**63 - 1)
    node.input[k] = f"mutant {len(model.graph.initializer)}"
    model.graph.initializer.append(numpy_helper.from_array(array, node.input[k]))
    return True


def _equal_axes(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Swap two axes of a value that seem to have one size: so every shape still fits."""
    shaped = _shaped(model)
    if shaped is None:
        return False
    places: list[tuple[int, int, list[int]]] = []
    dims: dict[str, list[str]] = {}
    for value in (*shaped.graph.input, *shaped.graph.value_info):
        axes = value.type.tensor_type.shape.dim
        dims[value.name] = [
            d.dim_param or (str(d.dim_value) if d.dim_value > 1 else "") for d in axes
        ]
    for i, node in enumerate(model.graph.node):
        for k, name in enumerate(node.input):
            own = dims.get(name, [])
            for a in range(len(own)):
                for b in range(a + 1, len(own)):
                    if own[a] and own[a] == own[b]:
                        order = list(range(len(own)))
                        order[a], order[b] = b, a
                        places.append((i, k, order))
    if not places:
        return False
    i, k, order = rng.choice(places)
    read = model.graph.node[i].input[k]
    turned = helper.make_node("Transpose", [read], [f"turned {i} {k}"], perm=order)
    model.graph.node[i].input[k] = turned.output[0]
    model.graph.node.insert(i, turned)
    return True


def _scatterx(model: onnx.ModelProto, rng: random.Random) -> bool:
    """Change what the kernel of a ScatterX obeys; the function that runs without it stays."""
    nodes = [n for n in model.graph.node if n.op_type == "ScatterX"]
    if not nodes:
        return False
    node = rng.choice(nodes)
    places = [a for a in node.attribute if len(a.ints) > 0]
    if rng.random() < 0.3 or not places:
        put(node, "reduction", rng.choice(["none", "add", "mul", "max", "min"]))
    elif rng.random() < 0.2:
        put(node, "unique", 1)
    else:
        one = rng.choice(places)
        i, j = rng.randrange(len(one.ints)), rng.randrange(len(one.ints))
        if rng.random() < 0.6:
            one.ints[i], one.ints[j] = one.ints[j], one.ints[i]
        else:
            one.ints[i] += rng.choice([-1, 1])
    return True


_CHANGES: dict[str, Callable[[onnx.ModelProto, random.Random], bool]] = {
    "a constant": _constant,
    "swapped inputs": _swapped,
    "a rewired value": _rewired,
    "an end": _end,
    "equal axes": _equal_axes,
    "attributes of ScatterX": _scatterx,
    "an attribute": _attribute,
    "a reduction": _reduction,
    "a stated dim": _stated,
    "operator sets": _operator_set,
    "the default of a function": _function,
    "a promise": _promised,
}
CHANGES = tuple(_CHANGES)
