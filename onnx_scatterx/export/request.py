"""The request of an export, checked against ONNX and ScatterX, and a builder for its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from numpy.typing import DTypeLike

from onnx_scatterx.errors import check
from onnx_scatterx.rewrites.scatterx import RANK, has_kernel
from onnx_scatterx.theory.scattering import Gathering, Reduction, Scattering
from onnx_scatterx.theory.transformer import XTransformer

_OLDEST = 13
_ONNX = {
    Reduction.MINIMUM: Reduction.MIN,
    Reduction.LESS: Reduction.MIN,
    Reduction.MAXIMUM: Reduction.MAX,
    Reduction.GREATER: Reduction.MAX,
}  # equal for integers only: floats may be NaN, or zeros of both signs
_SINCE = {"add": 16, "mul": 16, "min": 18, "max": 18}  # the first operator set of each reduction


@dataclass(frozen=True)
class ExportRequest:
    """A transformer, the element type, the reduction (None for a gathering), and the form."""

    transformer: XTransformer
    dtype: ir.DataType
    reduction: Reduction | None
    form: str
    indices: str
    opset: int

    def check(self) -> None:
        """Raise ValueError if no model satisfies the request."""
        t, gathers = self.transformer, self.reduction is None
        forms = ("standard",) if gathers else ("standard", "scatterx")
        check(self.form in forms, f"form must be one of {', '.join(forms)}, not {self.form!r}")
        known = self.indices in ("constant", "input")
        check(known, f"indices must be 'constant' or 'input', not {self.indices!r}")
        opset, newest = self.opset, onnx.defs.onnx_opset_version()
        check(_OLDEST <= opset <= newest, f"opset must be in {_OLDEST}..{newest}, not {opset}")
        needed = _SINCE.get(str(self.reduction), 0)
        check(opset >= needed, f"the reduction {self.reduction} needs opset {needed}")
        name = self.dtype.name.lower()
        operator = "GatherND" if gathers else "ScatterND"
        types = onnx.defs.get_schema(operator, opset).inputs[0].types
        check(f"tensor({name})" in types, f"ONNX has no {operator} of {name} in opset {opset}")
        if self.form == "scatterx":
            fault = f"ScatterX does not support {name} with reduction {self.reduction}"
            check(has_kernel(self.dtype, str(self.reduction)), fault)
            rank = max(len(t.shape), len(t.data_shape))
            check(rank <= RANK, f"ScatterX supports at most {RANK} dims")
        if self.constant:
            t.check_bounds()
            return
        check(t.f.shape[-1], "f has no columns, so its indices cannot be an input")
        apart = len(set(t.p1)) == len(t.p1)
        check(apart, f"an f over {t.p1}, which repeats a dim, cannot be an input")

    @property
    def constant(self) -> bool:
        """Whether the indices are a constant."""
        return self.indices == "constant"


def described(
    source: Scattering | Gathering | XTransformer, dtype: DTypeLike | None, reduction: str | None
) -> tuple[XTransformer, ir.DataType, Reduction | None]:
    """Return the transformer of a source, its element type, and for a scattering its reduction."""
    if isinstance(source, XTransformer):
        of = np.dtype(dtype or np.float32)
        return source, _type_of(of), _reduction_of(Reduction(reduction or "none"), of)
    fault = f"source must be a Scattering or a Gathering, not {type(source).__name__}"
    check(isinstance(source, Scattering | Gathering), fault)
    own = dtype is None and reduction is None
    check(own, "dtype and reduction are those of the source, so do not give them")
    of = source.data.dtype
    if isinstance(source, Gathering):
        return source.transformer, _type_of(of), None
    return source.transformer, _type_of(of), _reduction_of(source.reduction, of)


def _reduction_of(reduction: Reduction, dtype: np.dtype[Any]) -> Reduction:
    """Return the reduction of ONNX that is equivalent for a type."""
    exact = reduction not in _ONNX or dtype.kind in "biu"
    check(exact, f"ONNX has no reduction {reduction} of {dtype}")
    return _ONNX.get(reduction, reduction)


def _type_of(dtype: np.dtype[Any]) -> ir.DataType:
    if dtype.kind in "OUST":
        return ir.DataType.STRING
    try:
        return ir.DataType.from_numpy(dtype)
    except TypeError as error:
        raise ValueError(f"ONNX has no element type {dtype}") from error


class GraphBuilder:
    """A graph under construction: its inputs, and its nodes in order."""

    def __init__(self, request: ExportRequest) -> None:
        self.request = request
        self.nodes: list[ir.Node] = []
        self.inputs: list[ir.Value] = []
        self.initializers: list[ir.Value] = []

    def input(self, name: str, dtype: ir.DataType, shape: Sequence[int]) -> ir.Value:
        value = ir.Value(name=name, type=ir.TensorType(dtype), shape=ir.Shape(shape))
        self.inputs.append(value)
        return value

    def indices(self, t: XTransformer) -> ir.Value:
        """Add the f of a transformer as an input."""
        return self.input("indices", ir.DataType.INT64, t.f.shape)

    def constant(self, array: Any, name: str | None = None) -> ir.Value:
        tensor = ir.tensor(np.array(array, np.int64))
        name, kind = name or f"constant_{len(self.initializers)}", ir.TensorType(tensor.dtype)
        value = ir.Value(name=name, type=kind, shape=ir.Shape(np.shape(array)), const_value=tensor)
        self.initializers.append(value)
        return value

    def op(
        self, op: str, inputs: Sequence[ir.Value], **attributes: int | str | Sequence[int]
    ) -> ir.Value:
        output = ir.Value(name=f"{op}_{len(self.nodes)}")
        self.nodes.append(ir.node(op, inputs, attributes, outputs=[output], name=output.name))
        return output

    def transpose(self, x: ir.Value, perm: Sequence[int]) -> ir.Value:
        if tuple(perm) == tuple(range(len(perm))):
            return x
        return self.op("Transpose", [x], perm=tuple(perm))

    def axes(self, op: str, x: ir.Value, axes: Sequence[int]) -> ir.Value:
        """Add a Squeeze or an Unsqueeze."""
        return self.op(op, [x, self.constant(list(axes))]) if axes else x

    def expand(self, x: ir.Value, shape: Sequence[int], extents: Sequence[int]) -> ir.Value:
        """Broadcast a tensor of a shape to extents."""
        if tuple(shape) == tuple(extents):
            return x
        return self.op("Expand", [x, self.constant(list(extents))])

    def model(self, output: ir.Value, shape: Sequence[int]) -> ir.Model:
        """Return the model with this output."""
        if output in self.inputs:
            output = self.op("Identity", [output])
        output.name = "output"
        output.type, output.shape = ir.TensorType(self.request.dtype), ir.Shape(shape)
        opset = self.request.opset
        graph = ir.Graph(
            self.inputs,
            [output],
            nodes=self.nodes,
            initializers=self.initializers,
            opset_imports={"": opset},
            name="gathering" if self.request.reduction is None else "scattering",
        )
        version = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
        return ir.Model(graph, ir_version=version, producer_name="onnx_scatterx")
