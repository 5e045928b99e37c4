"""Models of one node of an operator version, in each place of a model, with feeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx.defs
from onnx import TensorProto, helper, numpy_helper

from tests.fitting.opsets.recipes import ATTRIBUTES, ELEMENTWISE, PAIR, RECIPES, Case

OLDEST, NEWEST = 9, 28
PLACES = ("main", "if", "loop", "function")
_PREFERRED = ("float", "int64", "uint8", "int32", "bool", "string")
_STRINGS = ("a", "ab", "Abc", "")


class Version(NamedTuple):
    """A version of an operator, by the set that brought it."""

    op: str
    since: int

    @property
    def opset(self) -> int:
        """The first set, of those that are read, in which it is in force."""
        return max(self.since, OLDEST)

    @property
    def is_a_change(self) -> bool:
        """Whether there was a version before."""
        return any(v.since < self.since for v in versions_of(self.op))

    @property
    def schema(self) -> Any:
        return onnx.defs.get_schema(self.op, self.since, "")


def versions() -> list[Version]:
    """Return the versions of all operators that are in force at the sets 9 to 28."""
    found = [
        Version(schema.name, schema.since_version)
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain == ""
    ]
    latest: dict[str, int] = {}
    for op, since in found:
        if since <= OLDEST:
            latest[op] = max(since, latest.get(op, 0))
    return sorted(v for v in found if latest.get(v.op, 0) <= v.since <= NEWEST)


@dataclass
class Drawn:
    """A node with its inputs; a model is made of it for a place.

    The types are those of type parameters. The inputs ``constant`` are constants beside the node.
    """

    version: Version
    inputs: list[Any]
    types: dict[str, str]
    attributes: dict[str, Any]
    outputs: int
    constant: frozenset[int]
    place: str = "main"
    declared: bool = True

    def __str__(self) -> str:
        shapes = [
            "seq" if isinstance(v, list) else None if v is None else v.shape for v in self.inputs
        ]
        kinds = {k: t for k, t in self.types.items() if t != "tensor(float)"}
        name = f"{self.version.op}-{self.version.since}"
        return f"{name} {self.place} {shapes} {kinds} {self.attributes}"


def drawn(version: Version) -> Iterator[Drawn]:
    """Yield the nodes of a version: its cases, each type, each attribute, absent inputs."""
    schema = version.schema
    inputs = len(schema.inputs)
    usual = ELEMENTWISE if inputs == 1 else PAIR
    cases = RECIPES.get(version.op, usual)
    seen: set[Any] = set()
    number = 0
    for case, types in _varied(schema, cases):
        try:
            node = _node(version, case, types, number)
        except (KeyError, TypeError, ValueError, OverflowError):
            continue
        if version.op == "BatchNormalization" and types.keys() & {"T1", "T2", "U"}:
            continue  # of mixed types, default options differ where no version does
        rest = repr((node.types, node.attributes, node.outputs))
        key = (*map(_key, node.inputs), rest)
        if key not in seen:
            seen.add(key)
            node.place = PLACES[number % len(PLACES)]
            node.declared = number // len(PLACES) % 2 == 0
            number += 1
            yield node


def _key(value: Any) -> Any:
    """Return what tells an input from others."""
    if not isinstance(value, np.ndarray):
        return repr(value)
    elements = tuple(value.flat) if value.dtype == object else value.tobytes()
    return value.dtype, value.shape, elements


def _varied(schema: Any, cases: list[Case]) -> Iterator[tuple[Case, dict[str, str]]]:
    for case in cases:
        yield case, {}
    first = cases[0] if cases else {}
    for constraint in schema.type_constraints:
        for kind in sorted(constraint.allowed_type_strs):
            yield first, {constraint.type_param_str: kind}
    for attribute in schema.attributes.values():
        for value in _others(attribute, first):
            yield {**first, attribute.name: value}, {}
        if attribute.name in first and not attribute.required:
            yield {k: v for k, v in first.items() if k != attribute.name}, {}
    for index, parameter in enumerate(schema.inputs):
        names = {index, parameter.name}
        if names & first.keys() and parameter.option != parameter.option.Single:
            yield {k: v for k, v in first.items() if k not in names}, {}
    for case in cases[1:6]:  # special numbers, in other types
        for constraint in schema.type_constraints:
            for kind in ("tensor(float16)", "tensor(double)", "tensor(int32)", "tensor(int8)"):
                if kind in constraint.allowed_type_strs:
                    yield case, {constraint.type_param_str: kind}
    yield {**first, "special": True}, {}
    yield {**first, "computed": True}, {}


def _others(attribute: Any, case: Case) -> list[Any]:
    if attribute.name in ATTRIBUTES:
        return ATTRIBUTES[attribute.name]
    default = (
        helper.get_attribute_value(attribute.default_value)
        if attribute.default_value.type
        else None
    )
    kinds = onnx.defs.OpSchema.AttrType
    if attribute.type == kinds.INT:
        return [1 - default] if default in (0, 1) else [1, 2]
    if attribute.type == kinds.FLOAT:
        return [0.25 + (default or 0) / 2]
    return []


def _node(version: Version, case: Case, types: Mapping[str, str], number: int) -> Drawn:
    schema = version.schema
    rng = np.random.default_rng(number)
    names = {p.name: i for i, p in enumerate(schema.inputs)}
    variadic = schema.inputs and schema.inputs[-1].option == schema.inputs[-1].option.Variadic
    given: dict[int, Any] = {}
    attributes: dict[str, Any] = {}
    for key, value in case.items():
        place = key if isinstance(key, int) else names.get(key)
        if place is not None:
            if place < len(schema.inputs) or variadic:
                given[place] = value
        elif key in schema.attributes:
            attributes[key] = value
    if version.op == "Resize" and version.since < 13:
        given.setdefault(1, np.zeros(0, np.float32))
        if version.since >= 11:
            given.setdefault(2, np.zeros(0, np.float32))
    allowed = {c.type_param_str: list(c.allowed_type_strs) for c in schema.type_constraints}
    bound = dict(types)
    mixed = variadic and not schema.inputs[-1].is_homogeneous

    def parameter(index: int) -> Any:
        return schema.inputs[min(index, len(schema.inputs) - 1)]

    for index, value in given.items():
        own = parameter(index).type_str
        if mixed or own not in allowed or own in bound:
            continue
        if isinstance(value, np.ndarray | np.generic):
            bound[own] = f"tensor({_name(np.asarray(value).dtype)})"
            if bound[own] not in allowed[own]:
                raise TypeError(own)
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            bound[own] = "seq(tensor(float))"
    for index in given:
        own = parameter(index).type_str
        if own in allowed:
            order = [f"tensor({t})" for t in _PREFERRED]
            usual = [t for t in order if t in allowed[own]] or allowed[own]
            bound.setdefault(own, usual[0])
    inputs: list[Any] = [None] * (max(given, default=-1) + 1)
    fixed = set()
    for index, value in given.items():
        kind = bound.get(parameter(index).type_str, parameter(index).type_str)
        if mixed and isinstance(value, np.ndarray | np.generic):
            kind = f"tensor({_name(np.asarray(value).dtype)})"
        elif mixed:
            kind = "tensor(float)"
        if not isinstance(value, tuple):
            fixed.add(index)
        inputs[index] = _array(value, kind, rng, case.get("special", False))
    fixed = set() if case.get("computed") else fixed - {0}
    outputs = (
        min(case.get("out", 1), len(schema.outputs)) if not _many(schema) else case.get("out", 1)
    )
    types_of = {f"{i}": bound.get(parameter(i).type_str, parameter(i).type_str) for i in given}
    if mixed:
        types_of = {}
    results = {f"o{i}": bound.get(p.type_str, p.type_str) for i, p in enumerate(schema.outputs)}
    return Drawn(version, inputs, {**types_of, **results}, attributes, outputs, frozenset(fixed))


def _many(schema: Any) -> bool:
    return bool(schema.outputs) and schema.outputs[-1].option == schema.outputs[-1].option.Variadic


def _name(dtype: np.dtype) -> str:
    return {"float32": "float", "float64": "double", "object": "string"}.get(dtype.name, dtype.name)


_NATIVE = {"float": "float32", "double": "float64", "string": "object"}


def native(kind: str) -> str | None:
    """Return the type of NumPy for a type of tensors; None if a feed cannot have it."""
    inner = kind.removeprefix("tensor(").removesuffix(")")
    inner = _NATIVE.get(inner, inner)
    plain = (
        "bool",
        "float16",
        "float32",
        "float64",
        "object",
        *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)),
    )
    return inner if inner in plain else None


_SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, -2.5, 1e-40, 65504.0, 3e38)


def _array(value: Any, kind: str, rng: np.random.Generator, special: bool) -> Any:
    """Return an input: a shape is filled with numbers that are drawn."""
    if isinstance(value, tuple) and value == ("optional",):
        return np.array([1, 2], np.float32)
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return value
    if "complex" in kind or kind.startswith(("seq", "optional")):
        raise TypeError(kind)
    dtype = native(kind)
    if not isinstance(value, tuple):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(dtype or "float32")
    count = int(np.prod(value, dtype=int))
    if dtype == "object":
        found = np.array([_STRINGS[i] for i in rng.integers(0, 4, count)], object)
    elif dtype == "bool":
        found = rng.integers(0, 2, count).astype(bool)
    elif dtype is None or dtype.startswith("float"):
        found = rng.standard_normal(count)
        if special:
            found[: len(_SPECIAL)] = _SPECIAL[:count]
        with np.errstate(over="ignore"):
            found = found.astype(dtype or "float32")
        if dtype is None:
            found = np.round(np.abs(found) * 2)
    elif special:
        info = np.iinfo(dtype)
        found = rng.choice(np.array([info.min, info.max, 0, 1, 7], dtype), count)
    else:
        found = rng.integers(0 if dtype[0] == "u" else -4, 5, count).astype(dtype)
    return found.reshape(value)


def _tensor_type(kind: str) -> int:
    inner = kind.removeprefix("tensor(").removesuffix(")").upper()
    return int(TensorProto.DataType.Value(inner))


def model_of(node: Drawn, tag: str) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """Return a model of a node in its place, and a feed; all names begin with a tag."""
    version, opset = node.version, node.version.opset
    names = ["" if v is None else f"{tag}x{i}" for i, v in enumerate(node.inputs)]
    feed: dict[str, Any] = {}
    infos, beside = [], []
    for index, value in enumerate(node.inputs):
        if value is None:
            continue
        kind = node.types.get(str(index), "")
        if isinstance(value, list):
            infos.append(
                helper.make_tensor_sequence_value_info(names[index], TensorProto.FLOAT, None)
            )
            feed[names[index]] = value
            continue
        dtype = helper.np_dtype_to_tensor_dtype(value.dtype)
        if index in node.constant:
            tensor = numpy_helper.from_array(value, names[index])
            beside.append(helper.make_node("Constant", [], [names[index]], value=tensor))
        elif kind.startswith("optional"):
            inner = helper.make_optional_type_proto(helper.make_tensor_type_proto(dtype, None))
            infos.append(helper.make_value_info(names[index], inner))
            feed[names[index]] = value
        else:
            dims = value.shape if node.declared else [None] * value.ndim
            infos.append(helper.make_tensor_value_info(names[index], dtype, dims))
            feed[names[index]] = value
        if kind.startswith("tensor") and native(kind) is None:
            raw, names[index] = names[index], f"{names[index]}/cast"
            beside.append(helper.make_node("Cast", [raw], [names[index]], to=_tensor_type(kind)))
    outs = [f"{tag}y{i}" for i in range(node.outputs)]
    made = [f"{out}/raw" for out in outs]
    name = f"{tag}node"
    nodes = [*beside, helper.make_node(version.op, names, made, name=name, **node.attributes)]
    for index, (out, raw) in enumerate(zip(outs, made, strict=True)):
        kind = node.types.get(f"o{min(index, len(version.schema.outputs) - 1)}", "")
        if kind.startswith("tensor") and native(kind) is None:
            nodes.append(helper.make_node("Cast", [raw], [out], to=TensorProto.FLOAT))
        else:
            nodes.append(helper.make_node("Identity", [raw], [out]))
    nodes, functions = _PLACED[node.place](nodes, list(feed), outs, opset, tag)
    graph = helper.make_graph(nodes, "g", infos, [onnx.ValueInfoProto(name=o) for o in outs])
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("own", 1)]
    needed = max(helper.find_min_ir_version_for(imports[:1]), 8)
    model = helper.make_model(graph, opset_imports=imports, functions=functions, ir_version=needed)
    return model, feed


def joined(models: Sequence[onnx.ModelProto]) -> onnx.ModelProto:
    """Return a model that computes what several models compute."""
    whole = onnx.ModelProto()
    whole.CopyFrom(models[0])
    for model in models[1:]:
        whole.graph.node.extend(model.graph.node)
        whole.graph.input.extend(model.graph.input)
        whole.graph.output.extend(model.graph.output)
        whole.functions.extend(model.functions)
    return whole


_Placed = tuple[list[onnx.NodeProto], list[onnx.FunctionProto]]
_Names = Sequence[str]


def _main(inner: list[Any], feeds: _Names, outs: _Names, opset: int, tag: str) -> _Placed:
    return inner, []


def _renamed(nodes: list[Any], names: Mapping[str, str]) -> list[Any]:
    copies = []
    for node in nodes:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [names.get(i, i) for i in node.input]
        copy.output[:] = [names.get(o, o) for o in node.output]
        copies.append(copy)
    return copies


def _if(inner: list[Any], feeds: _Names, outs: _Names, opset: int, tag: str) -> _Placed:
    def branch(name: str) -> Any:
        local = {o: f"{o}/{name}" for n in inner for o in n.output}
        results = [onnx.ValueInfoProto(name=local[o]) for o in outs]
        return helper.make_graph(_renamed(inner, local), name, [], results)

    truth = helper.make_tensor("t", TensorProto.BOOL, [], [True])
    return [
        helper.make_node("Constant", [], [f"{tag}if"], value=truth),
        helper.make_node(
            "If", [f"{tag}if"], outs, then_branch=branch("t"), else_branch=branch("e")
        ),
    ], []


def _loop(inner: list[Any], feeds: _Names, outs: _Names, opset: int, tag: str) -> _Placed:
    count = helper.make_tensor("n", TensorProto.INT64, [], [2])
    truth = helper.make_tensor("t", TensorProto.BOOL, [], [True])
    state = list(feeds[:1])
    local = {name: f"{name}/in" for name in (*outs, *state)}
    takes = [
        helper.make_tensor_value_info(f"{tag}i", TensorProto.INT64, []),
        helper.make_tensor_value_info(f"{tag}c", TensorProto.BOOL, []),
        *(onnx.ValueInfoProto(name=local[s]) for s in state),
    ]
    kept = [(f"{tag}c", f"{tag}d"), *((local[s], f"{s}/out") for s in state)]
    keep = [helper.make_node("Identity", [a], [b]) for a, b in kept]
    gives = [
        onnx.ValueInfoProto(name=n) for n in (*(b for _, b in kept), *(local[o] for o in outs))
    ]
    body = helper.make_graph([*_renamed(inner, local), *keep], "b", takes, gives)
    given = [f"{tag}loop/n", f"{tag}loop/c", *state]
    made = [*(f"{s}/last" for s in state), *outs]
    return [
        helper.make_node("Constant", [], [given[0]], value=count),
        helper.make_node("Constant", [], [given[1]], value=truth),
        helper.make_node("Loop", given, made, body=body),
    ], []


def _function(inner: list[Any], feeds: _Names, outs: _Names, opset: int, tag: str) -> _Placed:
    imports = [helper.make_opsetid("", opset)]
    function = helper.make_function("own", f"{tag}f", feeds, outs, inner, imports)
    return [helper.make_node(f"{tag}f", feeds, outs, domain="own")], [function]


_PLACED = {"main": _main, "if": _if, "loop": _loop, "function": _function}


def sets_of(version: Version) -> list[int]:
    """Return the other sets for a version: the ends, the one before it, and that of the next.

    Of two that have the same version of the operator, only one: an end, or in turn the other.
    """
    later = [v.since for v in versions_of(version.op) if v.since > version.opset]
    ends, others = (OLDEST, NEWEST), (version.opset - 1, min(later, default=NEWEST))
    order = (*ends, *others) if len(version.op) % 2 else (*others, *ends)
    found: dict[int, int] = {}
    for wanted in order:
        if OLDEST <= wanted <= NEWEST and wanted != version.opset:
            in_force = max(
                (v.since for v in versions_of(version.op) if v.since <= wanted), default=0
            )
            found.setdefault(in_force, wanted)
    return sorted(found.values())


@cache
def versions_of(op: str) -> tuple[Version, ...]:
    """Return all versions of an operator."""
    schemas = onnx.defs.get_all_schemas_with_history()
    return tuple(Version(op, s.since_version) for s in schemas if (s.domain, s.name) == ("", op))
