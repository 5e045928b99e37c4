"""The data of a model's tensors: checks whether they fit their shapes, and finds their files."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeGuard, TypeVar

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError
from onnx_scatterx.files.held_nodes import HEAVY, HeldNode, bodies
from onnx_scatterx.files.raw_lengths import RawLengths
from onnx_scatterx.graphs import all_graphs
from onnx_scatterx.processes import quiet

T = TypeVar("T")

_COMPLEX = (onnx.TensorProto.COMPLEX64, onnx.TensorProto.COMPLEX128)
_FIELDS = {
    number: onnx.helper.tensor_dtype_to_field(number)
    for number in onnx.TensorProto.DataType.values()
    if number != onnx.TensorProto.UNDEFINED
}
_TYPED_FIELDS = frozenset(_FIELDS.values())
EXTERNAL = onnx.TensorProto.EXTERNAL
"""The location of external data. Protobuf looks for a name of a type of messages at length."""

DATA_FIELDS = _TYPED_FIELDS | {"raw_data"}
"""The fields of a TensorProto that may hold its numbers."""

_HOLD_TENSORS = (ir.AttributeType.TENSOR, ir.AttributeType.TENSORS)
SPARSE = "onnx_scatterx.sparse_initializers"
"""The key in the meta of a graph for the messages of its sparse initializers."""

_CONVERSION = "onnx_ir.serde"  # this logger warns of unknown values


def from_proto(proto: onnx.ModelProto) -> ir.Model:
    """Return a message as an `onnx_ir.Model`, with its sparse initializers, which onnx_ir lacks.

    A sparse initializer becomes an initializer without a value. Its message is kept in the meta of
    the graph.
    """
    sparse = {tensor.values.name: tensor for tensor in proto.graph.sparse_initializer}
    if not sparse:
        return ir.from_proto(proto)
    with quiet(_CONVERSION):
        model = ir.from_proto(proto)
    initializers = model.graph.initializers
    for name, tensor in sparse.items():
        dtype = ir.DataType(tensor.values.data_type)
        kind, shape = ir.TensorType(dtype), ir.Shape(tensor.dims)
        initializers[name] = ir.Value(name=name, type=kind, shape=shape)
    for graph in all_graphs(model):
        for node in graph:
            for index, value in enumerate(node.inputs):
                # onnx_ir has created a value for each name that is read but not defined.
                if value is None or value.name not in sparse:
                    continue
                if value.producer() is None and value.graph is None:
                    node.replace_input_with(index, initializers[str(value.name)])
    model.graph.meta[SPARSE] = sparse
    return model


def to_proto(model: ir.Model) -> onnx.ModelProto:
    """Return a model as a message; the inverse of `from_proto`."""
    sparse = model.graph.meta.get(SPARSE)
    if not sparse:
        proto = ir.serde.serialize_model(model)
    else:
        with quiet(_CONVERSION):
            proto = ir.serde.serialize_model(model)
        alive = [tensor for name, tensor in sparse.items() if name in model.graph.initializers]
        proto.graph.sparse_initializer.extend(alive)
    for function in proto.functions:
        function.domain = function.domain  # ONNX's checker wants the default domain written out
    return proto


def check_tensors(
    some: Iterable[onnx.TensorProto],
    what: str,
    directory: Path | None,
    elsewhere: Mapping[str, Path] | None = None,
    lengths: RawLengths | None = None,
) -> bool:
    """Return whether some tensors have external data.

    Raises `ModelError` if a tensor's data do not fit its shape, or its external file is short.
    Without a `directory`, external files are not checked. `elsewhere` has the files that are not in
    the directory, by their locations. `lengths` may know how many bytes of raw data tensors have.
    """
    lengths = lengths or RawLengths()
    sizes: dict[str, int] = {}
    outside = False
    for tensor in some:
        where = f"{what}: tensor {tensor.name or 'of a Constant'}"
        if min(tensor.dims[:], default=0) < 0:
            raise ModelError(f"{where} has the shape {list(tensor.dims)}")
        stored = {field for field in _TYPED_FIELDS if len(getattr(tensor, field))}
        if tensor.HasField("raw_data"):  # its bytes are not copied
            stored.add("raw_data")
        if len(stored) > 1:
            fields = " and ".join(sorted(stored))
            raise ModelError(f"{where} has its numbers in {fields}")
        if tensor.data_location == EXTERNAL:
            outside = True
            if directory is not None:
                _check_external(tensor, where, directory, elsewhere or {}, sizes)
        elif tensor.HasField("raw_data"):
            expected, length = tensor_bytes(tensor), lengths.of(tensor)
            if expected not in (None, length):
                needs = f"needs {expected} bytes and has {length}"
                raise ModelError(f"{where} of shape {list(tensor.dims)} {needs}")
        else:
            _check_typed(tensor, where)
    return outside


def _check_typed(tensor: onnx.TensorProto, what: str) -> None:
    """Raise `ModelError` if the count of a tensor's numbers is wrong."""
    field = _FIELDS.get(tensor.data_type)
    if field is None:
        return
    expected = math.prod(tensor.dims[:])
    if tensor.data_type in _COMPLEX:
        expected *= 2
    bits = _bits(tensor)
    if bits is not None and bits < 8:
        expected = -(-expected // (8 // bits))  # elements that share a byte are one number
    length = len(getattr(tensor, field))
    if length != expected:
        needs = f"needs {expected} numbers and has {length}"
        raise ModelError(f"{what} of shape {list(tensor.dims)} {needs}")


def _check_external(
    tensor: onnx.TensorProto,
    what: str,
    directory: Path,
    elsewhere: Mapping[str, Path],
    sizes: dict[str, int],
) -> None:
    fields = {entry.key: entry.value for entry in tensor.external_data}
    location = fields.get("location", "")
    outside = f"{what}: external data file"
    if not is_inside(location):
        raise ModelError(f"{outside} {location!r} is not inside the model's directory")
    if location not in sizes:
        file = elsewhere.get(location, directory / location)
        if not file.is_file():
            raise ModelError(f"{outside} {file} does not exist")
        sizes[location] = file.stat().st_size
    try:
        offset = int(fields.get("offset", "0"))
        length = int(fields["length"]) if "length" in fields else tensor_bytes(tensor) or 0
    except ValueError as error:
        raise ModelError(f"{what}: an offset or length of external data is not a number") from error
    if offset < 0 or length < 0 or offset + length > sizes[location]:
        named = f"but the model names bytes {offset} to {offset + length}"
        has = f"has {sizes[location]} bytes, {named}"
        raise ModelError(f"{outside} {directory / location} {has}")


def tensor_bytes(tensor: onnx.TensorProto) -> int | None:
    """Return how many bytes a tensor's raw data take; None for strings and unknown types."""
    bits = _bits(tensor)
    return None if bits is None else -(-math.prod(tensor.dims[:]) * bits // 8)


def _bits(tensor: onnx.TensorProto) -> int | None:
    return _bits_of(tensor.data_type)


@lru_cache(maxsize=64)
def _bits_of(number: int) -> int | None:
    """Return how many bits an element of a type takes; None for strings and unknown types."""
    try:
        dtype = ir.DataType(number)
    except ValueError:
        return None
    return None if dtype in (ir.DataType.STRING, ir.DataType.UNDEFINED) else dtype.bitwidth


def graphs_in(proto: onnx.ModelProto) -> Iterator[onnx.GraphProto | onnx.FunctionProto]:
    """Yield the graph, the functions, and all their subgraphs."""
    stack: list[onnx.GraphProto | onnx.FunctionProto] = [proto.graph, *proto.functions]
    while stack:
        graph = stack.pop()
        yield graph
        for node in graph.node[:]:
            stack.extend(bodies(node))


def tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Yield every tensor of a model: initializers and attributes, of subgraphs and functions."""
    yield from proto.graph.initializer[:]
    yield from tensors_of(proto.graph.node[:])
    for function in proto.functions:
        yield from tensors_of(function.node)


def tensors_of(nodes: Iterable[onnx.NodeProto]) -> Iterator[onnx.TensorProto]:
    """Yield every tensor of some nodes: of their attributes, and of their subgraphs."""
    waiting = [nodes]
    while waiting:
        for node in waiting.pop():
            attributes = node.attribute[:]
            inner = bodies(node, attributes)
            yield from _held_tensors(attributes, inner)
            waiting += [body.node[:] for body in inner]


def tensors_held(nodes: Iterable[HeldNode]) -> Iterator[onnx.TensorProto]:
    """Yield the tensors of some nodes, and the initializers of their subgraphs."""
    for held in nodes:
        yield from _held_tensors(held.attributes, held.bodies)


def _held_tensors(
    attributes: Iterable[onnx.AttributeProto], inner: Iterable[onnx.GraphProto]
) -> Iterator[onnx.TensorProto]:
    for attribute in attributes:
        if attribute.type in HEAVY:
            if attribute.HasField("t"):
                yield attribute.t
            yield from attribute.tensors[:]
    for body in inner:
        yield from body.initializer[:]


def locations(proto: onnx.ModelProto) -> tuple[str, ...]:
    """Return the locations of external data in a message, unchanged."""
    outside = (t for t in tensors(proto) if t.data_location == EXTERNAL)
    return tuple(dict.fromkeys(filter(None, map(location_of, outside))))


def location_of(tensor: onnx.TensorProto) -> str:
    """Return the location of a tensor's external data; "" for a tensor without external data."""
    return next((entry.value for entry in tensor.external_data if entry.key == "location"), "")


def ir_tensors(model: ir.Model) -> Iterator[ir.TensorProtocol]:
    """Yield every tensor of a model: initializers and attributes, of subgraphs and functions."""
    for graph in all_graphs(model):
        for value in graph.initializers.values():
            if value.const_value is not None:
                yield value.const_value
        for node in graph:
            for attribute in node.attributes.data.values():
                if attribute.type not in _HOLD_TENSORS or attribute.is_ref():
                    continue
                # as_tensor() would be slow: it checks each time for every method of a tensor.
                if attribute.type == ir.AttributeType.TENSOR:
                    yield attribute.value
                elif attribute.type == ir.AttributeType.TENSORS:
                    yield from attribute.value


def is_a(tensor: object, kind: type[T]) -> TypeGuard[T]:
    """Return whether a tensor is of a class of onnx_ir: isinstance asks for each method of it.

    >>> is_a(ir.tensor([1]), ir.ExternalTensor), is_a(ir.tensor([1]), ir.Tensor)
    (False, True)
    """
    return kind in type(tensor).__mro__


def replace_tensors(model: ir.Model, new: Callable[[ir.TensorProtocol], ir.TensorProtocol]) -> None:
    """Replace each tensor of a model by the result of a function, which may be the same tensor.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["": 18]>
    ...     g () => (float y) <float w = {1}> { c = Constant <value = float {2}> ()
    ...     y = Add (w, c) }''')
    >>> replace_tensors(model, lambda tensor: ir.tensor(tensor.numpy() + 10))
    >>> [tensor.numpy().item() for tensor in ir_tensors(model)]
    [11.0, 12.0]
    """
    for graph in all_graphs(model):
        for value in graph.initializers.values():
            tensor = value.const_value
            replaced = None if tensor is None else new(tensor)
            if replaced is not tensor:
                value.const_value = replaced
        for node in graph:
            for name, attribute in list(node.attributes.data.items()):
                if attribute.type not in _HOLD_TENSORS or attribute.is_ref():
                    continue
                single = attribute.type == ir.AttributeType.TENSOR
                held = [attribute.value] if single else list(attribute.value)
                made = [new(tensor) for tensor in held]
                if any(one is not other for one, other in zip(made, held, strict=True)):
                    content = made[0] if single else made
                    doc = attribute.doc_string
                    node.attributes[name] = ir.Attr(name, attribute.type, content, doc_string=doc)


def is_inside(location: str | os.PathLike[str]) -> bool:
    """Return whether a location of external data, by its name, is inside the model's directory.

    >>> is_inside("weights/w.bin"), is_inside("../w.bin"), is_inside("/w.bin"), is_inside("")
    (True, False, False, False)
    """
    name = os.fspath(location)
    path = PureWindowsPath(name) if os.name == "nt" else PurePosixPath(name)
    return bool(name) and not path.anchor and not path.drive and ".." not in path.parts


def data_files(model: ir.Model) -> tuple[Path, ...]:
    """Return the files of a model's external data."""
    outside = (t for t in ir_tensors(model) if is_a(t, ir.ExternalTensor))
    return tuple(dict.fromkeys(Path(t.base_dir, t.location) for t in outside))
