"""Print a model as ONNX text that is the same wherever its constants are kept and named.

Constants are written where they are read. Values that the optimizer names are numbered, in the
order of their nodes. `onnx_syntax.py` reads what is printed, if no constant is long.
"""

from collections.abc import Collection
from itertools import count
from typing import Any

import numpy as np
import onnx

_LISTED = 32  # elements of a constant that are written, at most
_MAX = np.iinfo(np.int64).max


def text_of(model: onnx.ModelProto, names: Collection[str] | None = None) -> str:
    """Return the main graph of a model as text.

    Args:
        model: the model; its functions are not printed.
        names: the values that keep their names, all others are numbered (None: all keep theirs).

    >>> import onnx.parser
    >>> print(text_of(onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N,2] x) => (float[N,3] y) <int64[2] a = {0, 1}, float one = {1}>
    ...     { b = Pad(x, a, one, last) last = Constant <value = int64[1] {-1}> ()
    ...       y = Concat <axis = 1> (b, x) }'''), {"x", "y"}))
    (float[N, 2] x) => (float[N, 3] y) {
        %1 = Pad (x, [0, 1], float 1.0, [-1])
        y = Concat <axis = 1> (%1, x)
    }
    """
    return _Printer(names).graph(model.graph)


def value_names(model: onnx.ModelProto) -> set[str]:
    """Return the names of all values of a model's main graph and of its subgraphs."""
    found = set()
    waiting = [model.graph]
    while waiting:
        graph = waiting.pop()
        found |= {v.name for v in (*graph.input, *graph.output, *graph.initializer)}
        for node in graph.node:
            found.update(node.output)
            waiting += [g for a in node.attribute for g in (a.g, *a.graphs)]
    return found


class _Printer:
    """Prints graphs, and remembers what their values are called."""

    def __init__(self, names: Collection[str] | None) -> None:
        self.names = names
        self.called: dict[str, str] = {"": ""}
        self.numbers = count(1)

    def graph(self, graph: onnx.GraphProto, indent: str = "") -> str:
        inputs = {i.name for i in graph.input}
        for initializer in graph.initializer:
            if initializer.name not in inputs:
                self.called[initializer.name] = _tensor(onnx.numpy_helper.to_array(initializer))
        for node in graph.node:
            if node.op_type == "Constant" and not node.domain:
                (attribute,) = node.attribute
                self.called[node.output[0]] = _tensor(_array(attribute))
        lines = [self._node(n, indent + "    ") for n in graph.node if n.op_type != "Constant"]
        for output in graph.output:
            if (constant := self.called[output.name]) != output.name:
                lines.append(f"{indent}    {output.name} = {constant}")
        takes, gives = (", ".join(map(_declared, v)) for v in (graph.input, graph.output))
        return "\n".join([f"({takes}) => ({gives}) {{", *lines, f"{indent}}}"])

    def _node(self, node: onnx.NodeProto, indent: str) -> str:
        inputs = ", ".join(self._name(i) for i in node.input)
        attributes = sorted(node.attribute, key=lambda a: a.name)
        given = ", ".join(f"{a.name} = {self._attribute(a, indent)}" for a in attributes)
        outputs = ", ".join(self._name(o) for o in node.output)
        op = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
        return f"{indent}{outputs} = {op}{f' <{given}>' if given else ''} ({inputs})"

    def _name(self, name: str) -> str:
        if name not in self.called:
            kept = self.names is None or name in self.names
            self.called[name] = name if kept else f"%{next(self.numbers)}"
        return self.called[name]

    def _attribute(self, attribute: onnx.AttributeProto, indent: str) -> str:
        if attribute.type == onnx.AttributeProto.GRAPH:
            return self.graph(attribute.g, indent)
        if attribute.ref_attr_name:
            return f"@{attribute.ref_attr_name}"
        value = onnx.helper.get_attribute_value(attribute)
        if isinstance(value, onnx.TensorProto):
            return _tensor(onnx.numpy_helper.to_array(value))
        if isinstance(value, bytes):
            return f'"{value.decode()}"'
        return str(value)


def _array(attribute: onnx.AttributeProto) -> np.ndarray:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    floats = attribute.type in (onnx.AttributeProto.FLOAT, onnx.AttributeProto.FLOATS)
    return np.asarray(value, np.float32 if floats else None)


def _tensor(array: np.ndarray) -> str:
    """Return a constant as nested lists, with its type unless it is int64."""
    if array.size > _LISTED or (array.size == 0 and array.ndim > 1):
        first = [_number(n) for n in array.ravel()[:4]]
        dims = ", ".join(map(str, array.shape))
        return f"{array.dtype.name}[{dims}] {{{', '.join(first)}, ...}}".replace("{, ", "{")
    kind = {"int64": "", "float32": "float ", "float64": "double "}
    return kind.get(array.dtype.name, f"{array.dtype.name} ") + _nested(array)


def _nested(array: np.ndarray) -> str:
    if array.ndim == 0:
        return _number(array[()])
    return f"[{', '.join(map(_nested, array))}]"


def _number(number: Any) -> str:
    if number in (_MAX, -_MAX):
        return "MAX" if number > 0 else "-MAX"
    return str(number)


def _declared(value: onnx.ValueInfoProto) -> str:
    tensor = value.type.tensor_type
    if value.type.WhichOneof("value") != "tensor_type":
        return value.name
    kind = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
    dims = ", ".join(d.dim_param or str(d.dim_value) for d in tensor.shape.dim)
    return f"{kind}[{dims}] {value.name}" if dims else f"{kind} {value.name}"
