"""Opens model files in ONNX Runtime, runs them on tensors of any type, and reads inferred dims.

Worker processes import this module first, so it imports no heavy library but NumPy and ONNX
Runtime.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime as ort

from onnx_scatterx.processes import RawTensor
from onnx_scatterx.runtime.library import is_utf8
from onnx_scatterx.runtime.timing import Call

if TYPE_CHECKING:
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.Graph import Graph
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.TypeInfo import TypeInfo

# onnx.TensorProto numbers of NumPy's own types; tensors of other types are moved as raw bytes.
STRING = 8
NUMPY_TYPES: dict[int, type[np.generic]] = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
    9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64,
    14: np.complex64, 15: np.complex128,
}  # fmt: skip
_NUMBERS = {np.dtype(scalar): number for number, scalar in NUMPY_TYPES.items()}
_PLAIN_OUTPUTS = (
    "float", "double", "float16", "bool", "string", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64",
)  # fmt: skip
_TENSOR = 1  # a kind of value, in ONNX Runtime's format
_NUMBER, _NAME = 1, 2  # the kinds of dims


def open_file(
    model: str, data_directory: str | None, options: ort.SessionOptions
) -> ort.InferenceSession:
    """Open a model file on the CPU. External data are beside the file, or in `data_directory`."""
    with source(model, data_directory, options) as argument:
        return ort.InferenceSession(argument, options, providers=["CPUExecutionProvider"])


@contextlib.contextmanager
def source(
    model: str, data_directory: str | None, options: ort.SessionOptions
) -> Iterator[str | bytes]:
    """Yield the argument that opens a session: the path of a model, or its content.

    The content is used if the external data are not beside the model; then `options` get their
    directory. The content is also used if the path is not UTF-8, which ONNX Runtime refuses; then
    `options` get a link to the directory.
    """
    if data_directory is None and is_utf8(model):
        yield model
        return
    content = Path(model).read_bytes()
    directory = os.path.dirname(model) if data_directory is None else data_directory
    with contextlib.ExitStack() as stack:
        if not is_utf8(directory):
            link = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "data")
            os.symlink(os.path.abspath(directory), link)
            directory = link
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", directory or os.curdir
        )
        yield content


def run_raw(
    session: ort.InferenceSession,
    tensors: Sequence[RawTensor],
    outputs: Sequence[str] | None = None,
) -> list[RawTensor]:
    """Run a model; a sequence gives a tensor for each element, an absent optional gives none."""
    wanted = [o for o in session.get_outputs() if outputs is None or o.name in outputs]
    names = [output.name for output in wanted]
    plain = {f"tensor({name})" for name in _PLAIN_OUTPUTS}
    dense = [o for o in wanted if o.type.startswith("tensor(")]
    if all(o.type in plain for o in dense) or any(tensor.type == STRING for tensor in tensors):
        arrays = (*NUMPY_TYPES, STRING)
        feeds = {t.name: _array(t) if t.type in arrays else value_of(t) for t in tensors}
        return [
            raw
            for name, output in zip(names, session.run(names, feeds), strict=True)
            for raw in _flat(name, output)
        ]
    values = {tensor.name: value_of(tensor) for tensor in tensors}
    results = session.run_with_ort_values(names, values)
    return [_raw(name, value) for name, value in zip(names, results, strict=True)]


def _array(tensor: RawTensor) -> np.ndarray:
    if tensor.type == STRING:
        return np.array(tensor.strings, dtype=object).reshape(tensor.shape)
    return np.frombuffer(tensor.data, NUMPY_TYPES[tensor.type]).reshape(tensor.shape)


def value_of(tensor: RawTensor) -> ort.OrtValue:
    """Return a tensor as a value of ONNX Runtime with its own memory; not for strings."""
    kind = NUMPY_TYPES.get(tensor.type, tensor.type)  # ONNX Runtime before 1.20 takes no numbers
    value = ort.OrtValue.ortvalue_from_shape_and_type(tensor.shape, kind, "cpu")
    if tensor.data:
        ctypes.memmove(value.data_ptr(), bytes(tensor.data), len(tensor.data))
    return value


def _raw(name: str, value: ort.OrtValue) -> RawTensor:
    if not value.is_tensor():
        raise TypeError(f"output {name} is a {value.data_type()}, which cannot be compared")
    size = value.tensor_size_in_bytes()
    data = ctypes.string_at(value.data_ptr(), size) if size else b""
    return RawTensor(name, value.element_type(), tuple(value.shape()), data)


def _flat(name: str, output: object) -> list[RawTensor]:
    """Return an output as tensors: one for each element of a sequence, none for an absent one."""
    if output is None:
        return []
    if isinstance(output, list):
        return [raw for i, part in enumerate(output) for raw in _flat(f"{name}[{i}]", part)]
    array = np.asarray(output)
    if array.dtype.kind in "OU":
        strings = tuple(str(text) for text in array.ravel())
        return [RawTensor(name, STRING, array.shape, strings=strings)]
    return [RawTensor(name, _NUMBERS[array.dtype], array.shape, array.tobytes())]


class BoundModel:
    """A model with bound inputs, and a call that runs the model on them."""

    def __init__(self, session: ort.InferenceSession, tensors: Sequence[RawTensor]) -> None:
        self._session = session
        self._tensors = tensors
        self.call = self._bound()

    def _bound(self) -> Call:
        others = any(not o.type.startswith("tensor(") for o in self._session.get_outputs())
        if others or any(tensor.type == STRING for tensor in self._tensors):
            return lambda: run_raw(self._session, self._tensors)  # these tensors cannot be bound
        binding = self._session.io_binding()
        for tensor in self._tensors:
            binding.bind_ortvalue_input(tensor.name, value_of(tensor))
        for output in self._session.get_outputs():
            binding.bind_output(output.name)
        return lambda: self._session.run_with_iobinding(binding)

    def outputs(self) -> list[RawTensor]:
        """Return the outputs of a run, after one run of the call that is timed."""
        outputs = run_raw(self._session, self._tensors)
        self.call()
        return outputs

    def trace(self, runs: int) -> str:
        """Run the model ``runs`` times, and return the file of the session's trace."""
        for _ in range(runs):
            self.call()
        return str(self._session.end_profiling())


def memory_plan(path: str) -> dict[str, Any]:
    """Return the dims that ONNX Runtime infers for a model's values, by which it reuses memory.

    ``path`` is a model in ONNX Runtime's own format, which has the dims of all values, also of
    those in subgraphs. The result is plain data:

        {"dims": {name: [size, name of a size or None, ...] or None},
         "inner": [[first output of a node, name of the attribute, plan of the subgraph], ...]}
    """
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession import (
        InferenceSession,
    )

    with open(path, "rb") as file:
        saved = InferenceSession.GetRootAs(file.read(), 0)
    return _plan(saved.Model().Graph())


def _plan(graph: Graph) -> dict[str, Any]:
    values = (graph.NodeArgs(k) for k in range(graph.NodeArgsLength()))
    inner = []
    for node in (graph.Nodes(k) for k in range(graph.NodesLength())):
        made = (node.Outputs(k).decode() for k in range(node.OutputsLength()))
        output = next(filter(None, made), "")
        for attribute in (node.Attributes(k) for k in range(node.AttributesLength())):
            if attribute.G() is not None:
                name = attribute.Name().decode()
                inner.append([output, name, _plan(attribute.G())])
    return {"dims": {v.Name().decode(): _dims(v.Type()) for v in values}, "inner": inner}


def _dims(kind: TypeInfo | None) -> list[int | str | None] | None:
    from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.TensorTypeAndShape import (
        TensorTypeAndShape,
    )

    if kind is None or kind.ValueType() != _TENSOR:
        return None
    tensor, table = TensorTypeAndShape(), kind.Value()
    tensor.Init(table.Bytes, table.Pos)
    shape = tensor.Shape()
    if shape is None:
        return None
    dims: list[int | str | None] = []
    for value in (shape.Dim(k).Value() for k in range(shape.DimLength())):
        known = {_NUMBER: value.DimValue(), _NAME: (value.DimParam() or b"").decode() or None}
        dims.append(known.get(value.DimType()))
    return dims
