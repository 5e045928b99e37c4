"""A dry run of a plan: nodes are written on trial and thrown away; and the kernels that they need.

So a plan is one function that writes. The dry run shows how many nodes it takes, what it reads, and
whether ONNX Runtime and the target take them. Everything that the target lacks is collected, so
that a refusal names all of it.

The kernels were probed with ONNX Runtime 1.31 by loading models of one node. ONNX allows more, but
a node that only ONNX allows would not load, although the original did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.constants import constant
from onnx_scatterx.optimizer.analysis import shapes
from onnx_scatterx.optimizer.analysis.domain.call import Scope
from onnx_scatterx.optimizer.analysis.domain.tensor import TensorValue
from onnx_scatterx.optimizer.analysis.domain.widening import widened
from onnx_scatterx.optimizer.analysis.operators import generators
from onnx_scatterx.optimizer.analysis.transfers import transferred
from onnx_scatterx.optimizer.symbolic.budget import QuestionSpentError, TooLargeError, budget
from onnx_scatterx.optimizer.symbolic.limits import PRICES
from onnx_scatterx.text.reasons import Missing, Reason, Refusal, RefusedError

T = ir.DataType

_FLOATS = {T.FLOAT, T.DOUBLE, T.FLOAT16}
_WIDE = {T.INT32, T.INT64, T.UINT32, T.UINT64}
_NARROW = {T.INT8, T.UINT8, T.INT16, T.UINT16}
_ALL = _FLOATS | _WIDE | _NARROW | {T.BOOL, T.STRING}

_MOVES = {"Concat", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}

# operator: (from this version, element types), newest first
KERNELS: dict[str, tuple[tuple[int, set[ir.DataType]], ...]] = {
    **dict.fromkeys(_MOVES, ((13, _ALL | {T.BFLOAT16}), (9, _ALL))),
    **dict.fromkeys(("Add", "Mul"), ((14, _FLOATS | _WIDE | _NARROW), (9, _FLOATS | _WIDE))),
    **dict.fromkeys(("And", "Or", "Not"), ((9, {T.BOOL}),)),
    **dict.fromkeys(("Greater", "Less"), ((9, _FLOATS | _WIDE | _NARROW),)),
    "Equal": (
        (11, {T.INT32, T.INT64, T.BOOL, T.FLOAT, T.DOUBLE}),
        (9, {T.INT32, T.INT64, T.BOOL}),
    ),
    "IsNaN": ((13, {T.FLOAT, T.DOUBLE}), (9, {T.FLOAT})),
    "CumSum": ((11, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),),
    **dict.fromkeys(
        ("ReduceMax", "ReduceMin"),
        (
            (13, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64, T.INT8, T.UINT8}),
            (9, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),
        ),
    ),
    "Shape": ((9, set(T) - {T.INT2, T.UINT2, T.INT4, T.UINT4, T.FLOAT4E2M1}),),
    "Range": ((11, {T.FLOAT, T.DOUBLE, T.INT16, T.INT32, T.INT64}),),
    "Expand": ((9, _ALL),),
    # Gather of strings runs, but may return empty strings.
    "Gather": ((13, (_ALL | {T.BFLOAT16}) - {T.STRING}), (9, _ALL - {T.STRING})),
    "GatherElements": ((13, _ALL | {T.BFLOAT16}), (11, _ALL)),
    **dict.fromkeys(("Max", "Min"), ((12, _FLOATS | _WIDE | {T.INT8, T.UINT8}), (9, _FLOATS))),
    "Pad": (
        (13, _FLOATS | _WIDE | {T.INT8, T.UINT8, T.BOOL}),
        (11, _FLOATS | _WIDE | {T.INT8, T.UINT8}),
        (9, _FLOATS),
    ),
    "TopK": ((11, {T.FLOAT, T.DOUBLE, T.INT32, T.INT64}),),
    "TensorScatter": ((24, (_ALL | {T.BFLOAT16}) - {T.STRING}),),
    "Where": ((9, _FLOATS | {T.INT32, T.INT64, T.UINT32, T.INT8, T.UINT8, T.STRING}),),
}

# The tests hold for each code: Cast to the wider type and back gives the same code.
WIDER = dict.fromkeys((T.FLOAT8E4M3FN, T.FLOAT8E4M3FNUZ, T.FLOAT8E5M2FNUZ), T.FLOAT)
WIDER |= {T.INT4: T.INT8, T.UINT4: T.UINT8}
_NOT_WIDER = {
    T.FLOAT8E5M2: ": Cast to a wider type and back changes the codes 7C to 7E and FC to FE",
    T.FLOAT4E2M1: ", and Cast to a wider type",
}


def lacking(op: str, dtype: ir.DataType) -> str:
    """Return what lacks a kernel, and why Cast does not help.

    >>> lacking("Concat", ir.DataType.FLOAT4E2M1)
    'Concat of float4e2m1, and Cast to a wider type'
    """
    return f"{op} of {dtype.name.lower()}{_NOT_WIDER.get(dtype, '')}"


def has_kernel(op: str, version: int, dtype: ir.DataType) -> bool:
    """Return whether an operator of an operator-set version runs on an element type.

    >>> has_kernel("Where", 18, ir.DataType.BOOL), has_kernel("Slice", 18, ir.DataType.BOOL)
    (False, True)
    """
    for since, dtypes in KERNELS.get(op, ()):
        if version >= since:
            return dtype in dtypes
    return False


Attributes: TypeAlias = "Mapping[str, int | float | str | Sequence[int]]"


def frozen(attributes: Attributes) -> tuple[object, ...]:
    """Return attributes as a key."""
    return tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in attributes.items())


_UNKNOWN = (LookupError, ValueError, ArithmeticError, TypeError, TooLargeError, QuestionSpentError)


@dataclass(eq=False)
class MadeValues:
    """What is known of values of a graph, and of new values that are written.

    ``outer`` are the values that were written before a dry run, if this is one. Many plans write
    equal nodes: what is known of their outputs is computed once.
    """

    scope: Scope
    outer: MadeValues | None = None
    _found: dict[ir.Value, TensorValue] = field(default_factory=dict, init=False)
    _computed: dict[tuple[object, ...], list[TensorValue]] = field(init=False)
    _made: set[TensorValue] = field(init=False)

    def __post_init__(self) -> None:
        self._computed = {} if self.outer is None else self.outer._computed
        self._made = set() if self.outer is None else self.outer._made

    def __getitem__(self, value: ir.Value) -> TensorValue:
        found = self._found.get(value)
        if found is None and self.outer is not None:
            return self.outer[value]
        if found is None:
            found = self.scope.values.get(value)
        tensor = constant(value, self.scope.overridable) if found is None else None
        if tensor is not None:
            found = self._found[value] = generators.of_tensor(tensor)
        return found or TensorValue(value.dtype, None)

    def results(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtypes: Sequence[ir.DataType | None],
        attributes: Attributes,
    ) -> list[TensorValue]:
        """Return the abstract values of the outputs of a node that is about to be written."""
        given = [None if v is None else self[v] for v in inputs]
        # What is known of a result belongs to equal nodes alone. Other values may share it.
        read = [(g, None if g in self._made else v) for g, v in zip(given, inputs, strict=True)]
        key = (op, *read, *dtypes, frozen(attributes))
        if key not in self._computed:
            self._computed[key] = self._results(op, given, dtypes, attributes)
            self._made.update(self._computed[key])
        return self._computed[key]

    def _results(
        self,
        op: str,
        given: Sequence[TensorValue | None],
        dtypes: Sequence[ir.DataType | None],
        attributes: Attributes,
    ) -> list[TensorValue]:
        outputs = [
            ir.Value(name=f"{op}{i or ''}", type=None if d is None else ir.TensorType(d))
            for i, d in enumerate(dtypes)
        ]
        scope = self.scope
        names = [None if g is None else ir.Value(name=f"x{i}") for i, g in enumerate(given)]
        try:
            settings = [ir.convenience.convert_attribute(k, v) for k, v in attributes.items()]
            node = ir.Node("", op, names, settings, outputs=outputs)
            call = scope.call(node, given)
            results = transferred(call) or shapes.infer(call)
            found = [
                widened(value, result, scope.visit_id, scope.facts)
                for value, result in zip(outputs, results, strict=False)
            ]
            pairs = zip(dtypes, found, strict=True)
            return [TensorValue(d or f.dtype, f.shape, f.content) for d, f in pairs]
        except _UNKNOWN:
            return [TensorValue(dtype, None) for dtype in dtypes]

    def add(self, value: ir.Value, known: TensorValue) -> None:
        """Note the abstract value of a value that is written."""
        self._found[value] = known


_OF_INPUTS = {"Equal", "Greater", "IsNaN", "Less"}  # the kernel depends on the input type
_LARGE = 1 << 12  # elements: larger constants are not compared


@dataclass
class DryRun:
    """What was written on trial; equal nodes count once.

    ``known`` has the abstract values, if the target has limits. ``missing`` are the uses of
    operators that it does not take, ``too_many_dims`` those that it does not take for their rank.
    ``drafts`` are the constants of all dry runs of a writer.
    """

    version: int  # of the operator set
    known: MadeValues | None
    drafts: dict[object, ir.Value]
    nodes: int = 0
    surcharge: int = 0  # extra nodes that a choice counts as
    inputs: dict[ir.Value, None] = field(default_factory=dict)  # values of the graph
    missing: dict[str, None] = field(default_factory=dict)
    too_many_dims: dict[str, None] = field(default_factory=dict)
    given_rank: int = 0  # the largest rank of a value that was read
    written: dict[object, ir.Value] = field(default_factory=dict)  # key of a node: its output
    steps: dict[ir.Value, tuple[str, Sequence[ir.Value | None]]] = field(default_factory=dict)
    """For each output that was written on trial: the operator, and its inputs."""
    result: ir.Value | None = None
    _values: set[ir.Value] = field(default_factory=set)

    @property
    def cost(self) -> int:
        """How many nodes it counts as."""
        return self.nodes + self.surcharge

    def refusal(self, target: str) -> Refusal | None:
        """Return why the target does not take the written nodes, or None if it takes them."""
        if self.missing:
            return Refusal(Reason.NOT_IN_TARGET, Missing(tuple(self.missing), target))
        if self.too_many_dims:
            return Refusal(Reason.RANK, Missing(tuple(self.too_many_dims), target))
        return None

    def node(
        self, op: str, inputs: Sequence[ir.Value | None], dtype: ir.DataType | None, key: object
    ) -> ir.Value:
        """Return the output of a node that is not created, or refuse it.

        Equal nodes have equal ``key``.
        """
        budget().work(PRICES.trial)
        present = [v for v in inputs if v is not None]
        kind = present[0].dtype if op in _OF_INPUTS else dtype
        if op in KERNELS and kind is not None and not has_kernel(op, self.version, kind):
            raise RefusedError(Reason.NO_KERNEL, lacking(op, kind))
        self.read(v for v in present if not self.made(v))
        output = ir.Value(type=None if dtype is None else ir.TensorType(dtype))
        self._values.add(output)
        self.steps[output] = op, inputs
        self.nodes += 1
        self.written[key] = output
        return output

    def check_rank(self, op: str, result: TensorValue, most: int | None) -> None:
        """Note a tensor of more dims than the target takes, unless the graph already had one."""
        rank = result.rank
        if most is not None and rank is not None and rank > max(most, self.given_rank):
            self.too_many_dims[f"{op} of rank {rank}"] = None

    def read(self, values: Iterable[ir.Value]) -> None:
        """Note values of the graph that are read."""
        for value in values:
            self.inputs[value] = None
            if self.known is not None:
                self.given_rank = max(self.given_rank, self.known[value].rank or 0)

    def outputs(self, node: ir.Node) -> None:
        """Note the outputs of a node that was created elsewhere: nothing of it is kept."""
        self._values.update(node.outputs)

    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant that is not created; int64 if nothing else is said."""
        if isinstance(array, list) and dtype is None:  # most often: not made an array to be found
            key: object = (*array,)
            value = self.drafts.get(key)
            if value is None:
                value = self.drafts[key] = self._constant(_integers(array), None)
        elif dtype in (None, ir.DataType.INT64):
            value = self._constant(_integers(array), dtype)
        else:
            value = self._constant(np.asarray(array, order="C"), dtype)
        self._values.add(value)
        return value

    def _constant(self, array: np.ndarray, dtype: ir.DataType | None) -> ir.Value:
        dtype = dtype or ir.DataType.INT64
        if dtype.is_string():  # its elements have no bytes, and 0 is none of them
            raise RefusedError(Reason.NO_KERNEL, lacking("Constant", dtype))
        small = array.size <= _LARGE and array.dtype != object
        key = (dtype, array.shape, array.tobytes()) if small else None
        value = None if key is None else self.drafts.get(key)
        if value is None:
            tensor = ir.Tensor(array, dtype=dtype)
            value = ir.Value(type=ir.TensorType(dtype), shape=tensor.shape, const_value=tensor)
            if key is not None:
                self.drafts[key] = value
        return value

    def made(self, value: ir.Value) -> bool:
        """Return whether a value was written on trial."""
        return value in self._values


def _integers(array: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return an array as int64, or refuse a number that int64 does not hold."""
    found = np.asarray(array, order="C")
    if found.dtype.kind in "uO" and any(not -(1 << 63) <= int(n) < 1 << 63 for n in found.flat):
        raise RefusedError(Reason.UNKNOWN_SIZE, "a number beyond int64")
    return found.astype(np.int64, copy=False)
