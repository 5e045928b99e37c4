"""Faults at an end: one position, size or value of a model is changed, mostly by one.

Each fault comes with inputs that may show it. In the last kind, a constant of a node that the
optimizer wrote is changed. In the others, the elements of an input are changed before the model
reads them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import onnx
from mutant_runs import Feed, one_feed
from mutants import new_nodes
from onnx import AttributeProto, helper, numpy_helper

SIZES = (37, 100, 128, 512)
NUMBERS = (-100, 77, 5000, 12345, 50256)
FLOATS = (-60.0, 7.5, 77.5, 1000.0, 65000.0)


@dataclass(frozen=True)
class Fault:
    """A faulty model, in words, and inputs that may show the fault, made of stored ones."""

    words: str
    model: onnx.ModelProto
    witness: Callable[[Feed], Iterator[Feed]]


Maker = Callable[[onnx.ModelProto, onnx.ModelProto, random.Random], "Fault | None"]


def _copy(model: onnx.ModelProto) -> onnx.ModelProto:
    copied = onnx.ModelProto()
    copied.CopyFrom(model)
    return copied


def _reads(graph: onnx.GraphProto, old: str, new: str) -> None:
    """Let all nodes of a graph, and of its subgraphs, read another value."""
    for node in graph.node:
        node.input[:] = [new if name == old else name for name in node.input]
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                _reads(attribute.g, old, new)


def _inputs(model: onnx.ModelProto, kinds: str) -> list[onnx.ValueInfoProto]:
    known = {t.name for t in model.graph.initializer}
    return [
        value
        for value in model.graph.input
        if value.name not in known
        and helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type).kind in kinds
    ]


class _Before:
    """Writes nodes between an input and its readers."""

    def __init__(self, model: onnx.ModelProto, name: str) -> None:
        self.model, self.name = _copy(model), name
        _reads(self.model.graph, name, f"{name}/changed")
        self.nodes: list[onnx.NodeProto] = []

    def constant(self, number: object, kind: type | np.dtype = np.int64) -> str:
        name = f"{self.name}/constant {len(self.model.graph.initializer)}"
        self.model.graph.initializer.append(numpy_helper.from_array(np.array(number, kind), name))
        return name

    def node(self, operator: str, *inputs: str, last: bool = False, **attributes: object) -> str:
        output = f"{self.name}/changed" if last else f"{self.name}/node {len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output

    def made(self) -> onnx.ModelProto:
        nodes = [*self.nodes, *self.model.graph.node]
        del self.model.graph.node[:]
        self.model.graph.node.extend(nodes)
        return self.model


def _dtype(value: onnx.ValueInfoProto) -> np.dtype:
    return helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)


def _with_element(name: str, number: object) -> Callable[[Feed], Iterator[Feed]]:
    """Return inputs in which an element has a value, the first or the last one, or all."""

    def witness(feed: Feed) -> Iterator[Feed]:
        for place in (0, -1, slice(None)):
            array = feed[name].copy()
            if array.size:
                array.reshape(-1)[place] = number(feed) if callable(number) else number
                yield feed | {name: array}

    return witness


def position(_: onnx.ModelProto, after: onnx.ModelProto, rng: random.Random) -> Fault | None:
    """Take the neighbour of the first, last or last but one position of an axis, from an end."""
    indices, data = _inputs(after, "iu"), _inputs(after, "fiub")
    axes = [(v, k) for v in data for k in range(len(v.type.tensor_type.shape.dim))]
    if not indices or not axes:
        return None
    index, (value, axis) = rng.choice(indices), rng.choice(axes)
    back, step = rng.choice(((1, -1), (2, 1), (2, -1), (0, 1), (0, -1)))
    negative = rng.random() < 0.3
    change, kind = _Before(after, index.name), _dtype(index)
    if negative:
        number = change.constant({0: -1, 1: -1, 2: -2}[back], kind)
        replaced = change.constant({0: -2, 1: -2, 2: -1}[back], kind)
    elif back == 0:
        number, replaced = change.constant(0, kind), change.constant(1, kind)
    else:
        shape = change.node("Shape", value.name)
        size = change.node("Gather", shape, change.constant(axis))
        size = change.node("Cast", size, to=index.type.tensor_type.elem_type)
        number = change.node("Sub", size, change.constant(back, kind))
        replaced = change.node("Add", number, change.constant(step, kind))
    same = change.node("Equal", index.name, number)
    change.node("Where", same, replaced, index.name, last=True)

    def at(feed: Feed) -> int:
        size = feed[value.name].shape[axis]
        return {0: -1, 1: -1, 2: -2}[back] if negative else (size - back if back else 0)

    where = f"position {'-' if negative else 'n-' if back else ''}{back} of {value.name}[{axis}]"
    return Fault(f"{where} in {index.name}", change.made(), _with_element(index.name, at))


def end_of_type(_: onnx.ModelProto, after: onnx.ModelProto, rng: random.Random) -> Fault | None:
    """Clamp an integer before an end of its type, or send it through a narrower type."""
    found = _inputs(after, "iu")
    if not found:
        return None
    value = rng.choice(found)
    kind, change = _dtype(value), _Before(after, value.name)
    limits = np.iinfo(kind)
    way = rng.choice(("most", "least", "narrower"))
    if way == "narrower" and kind.itemsize > 1:
        to = rng.choice([t for t in ("int8", "uint8", "int16", "int32") if t != kind.name])
        narrow = helper.np_dtype_to_tensor_dtype(np.dtype(to))
        changed = change.node("Cast", value.name, to=narrow)
        change.node("Cast", changed, to=value.type.tensor_type.elem_type, last=True)
        number = int(np.iinfo(to).max) + 1
        way = to
    else:
        number, near = int(limits.max), int(limits.max) - 1
        if way == "least":
            number, near = int(limits.min), int(limits.min) + 1
        same = change.node("Equal", value.name, change.constant(number, kind))
        change.node("Where", same, change.constant(near, kind), value.name, last=True)
    return Fault(f"{way} of {value.name}", change.made(), _with_element(value.name, number))


def number(_: onnx.ModelProto, after: onnx.ModelProto, rng: random.Random) -> Fault | None:
    """Change one number, or all beyond it, or those between it and its half."""
    found = _inputs(after, "iuf")
    if not found:
        return None
    value = rng.choice(found)
    kind, change = _dtype(value), _Before(after, value.name)
    known: float | int = rng.choice(FLOATS if kind.kind == "f" else NUMBERS)
    if kind.kind in "iu" and not np.iinfo(kind).min <= known <= np.iinfo(kind).max:
        return None
    way = rng.choice(("equal", "beyond", "between"))
    limit = change.constant(known, kind)
    shown: float | int = known
    if way == "equal":
        same = change.node("Equal", value.name, limit)
    elif way == "beyond":
        same = change.node("Greater" if known > 0 else "Less", value.name, limit)
        shown = known + (1 if known > 0 else -1)
    else:
        half = known / 2 if kind.kind == "f" else known // 2
        low, high = sorted((half, known))
        above = change.node("Greater", value.name, change.constant(low, kind))
        below = change.node("Less", value.name, change.constant(high, kind))
        same, shown = change.node("And", above, below), known - (1 if known > 0 else -1)
    change.node("Where", same, change.constant(0, kind), value.name, last=True)
    return Fault(f"{way} {known} in {value.name}", change.made(), _with_element(value.name, shown))


def size(_: onnx.ModelProto, after: onnx.ModelProto, rng: random.Random) -> Fault | None:
    """Change an input if an axis has one size, or is longer than a size."""
    found = [
        (value, axis, dim.dim_param)
        for value in _inputs(after, "f")
        for axis, dim in enumerate(value.type.tensor_type.shape.dim)
        if dim.dim_param
    ]
    if not found:
        return None
    value, axis, name = rng.choice(found)
    known, exact = rng.choice(SIZES), rng.random() < 0.5
    kind, change = _dtype(value), _Before(after, value.name)
    there = change.node("Gather", change.node("Shape", value.name), change.constant(axis))
    same = change.node("Equal" if exact else "Greater", there, change.constant(known))
    more = change.node("Cast", same, to=value.type.tensor_type.elem_type)
    two = change.node("Mul", more, change.constant(2, kind))
    change.node("Add", value.name, two, last=True)

    def witness(feed: Feed) -> Iterator[Feed]:
        rng = np.random.default_rng(0)
        for small in (2, 3, 4, 8, 1):
            for number in (known,) if exact else (known + 1, 2 * known):
                made = one_feed(after, lambda small=small: small, {name: number}, rng, 1)
                if made is not None:
                    yield made

    words = f"{value.name}[{axis}] {'is' if exact else 'is more than'} {known}"
    return Fault(words, change.made(), witness)


def constant(before: onnx.ModelProto, after: onnx.ModelProto, rng: random.Random) -> Fault | None:
    """Change an end of a constant of a new node by one."""
    known = {t.name: t for t in after.graph.initializer if t.data_type in (1, 6, 7)}
    places = [
        (at, k)
        for at in new_nodes(before, after)
        for k, name in enumerate(after.graph.node[at].input)
        if name in known
    ]
    if not places:
        return None
    at, k = rng.choice(places)
    model = _copy(after)
    node = model.graph.node[at]
    array = numpy_helper.to_array(known[node.input[k]]).copy()
    if not array.size:
        return None
    with np.errstate(over="ignore"):
        array.reshape(-1)[rng.choice((0, -1))] += rng.choice((-1, 1))
    words = f"a constant of {node.op_type} {node.output[0]}"
    node.input[k] = f"changed {node.input[k]}"
    model.graph.initializer.append(numpy_helper.from_array(array, node.input[k]))
    return Fault(words, model, lambda feed: iter([feed]))


FAULTS: dict[str, Maker] = {
    "a position": position,
    "an end of a type": end_of_type,
    "a number": number,
    "a size": size,
    "a constant": constant,
}
