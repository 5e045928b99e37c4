"""A dry run of a plan: nodes are written on trial and thrown away.

So a plan is one function that writes. The dry run shows how many nodes it takes, what it reads, and
whether ONNX Runtime and the target take them. Everything that the target lacks is collected, so
that a refusal names all of it. What is known of new values is noted, on trial or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, TensorValue, outputs_of
from onnx_scatterx.engine.budget import PRICES, QuestionSpentError, TooLargeError, budget
from onnx_scatterx.engine.terms import Term, coord, element
from onnx_scatterx.engine.write.kernels import KERNELS, OF_INPUTS, has_kernel, lacking
from onnx_scatterx.graphs import constant
from onnx_scatterx.text import Missing, Reason, Refusal, RefusedError

Attributes: TypeAlias = "Mapping[str, int | float | str | Sequence[int]]"


def frozen(attributes: Attributes) -> tuple[object, ...]:
    """Return attributes as a key."""
    return tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in attributes.items())


class IndexOf(NamedTuple):
    """The elements of a tensor that are indices of an axis, if the original model runs."""

    value: ir.Value
    size: Term


_UNKNOWN = (LookupError, ValueError, ArithmeticError, TypeError, TooLargeError, QuestionSpentError)


@dataclass(eq=False)
class MadeValues:
    """What is known of values of a graph, and of new values that are written.

    ``outer`` are the values that were written before a dry run, if this is one. Many plans write
    equal nodes: what is known of their outputs is computed once.
    """

    scope: Scope
    outer: MadeValues | None = None
    _known: dict[ir.Value, TensorValue] = field(default_factory=dict, init=False)
    _computed: dict[tuple[object, ...], list[TensorValue]] = field(init=False)
    _made: set[TensorValue] = field(init=False)

    def __post_init__(self) -> None:
        self._computed = {} if self.outer is None else self.outer._computed
        self._made = set() if self.outer is None else self.outer._made

    def __getitem__(self, value: ir.Value) -> TensorValue:
        known = self._known.get(value)
        if known is None and self.outer is not None:
            return self.outer[value]
        if known is None:
            known = self.scope.values.get(value)
        tensor = constant(value, self.scope.overridable) if known is None else None
        if tensor is not None:
            known = self._known[value] = TensorValue.of_tensor(tensor)
        return known or TensorValue(value.dtype, None)

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
            pairs = zip(dtypes, outputs_of(call), strict=True)
            return [TensorValue(d or f.dtype, f.shape, f.content) for d, f in pairs]
        except _UNKNOWN:
            return [TensorValue(dtype, None) for dtype in dtypes]

    def add(self, value: ir.Value, known: TensorValue) -> None:
        """Note the abstract value of a value that is written."""
        self._known[value] = known

    def add_outputs(self, node: ir.Node) -> None:
        """Note what is known of the outputs of a node that was created elsewhere."""
        if node.domain == "":
            given = {name: attribute.value for name, attribute in node.attributes.items()}
            dtypes = [value.dtype for value in node.outputs]
            results = self.results(node.op_type, node.inputs, dtypes, given)
            self._known.update(zip(node.outputs, results, strict=True))

    def add_index(self, value: ir.Value, size: Term, *, from_zero: bool) -> None:
        """Note that the elements of a value are indices of an axis: ``-size <= i < size``.

        If they count ``from_zero``, none is negative.
        """
        tensor = self[value]
        if tensor.shape is not None and tensor.constant is None:
            end = min(self.scope.facts.interval(size)[1], size.within_axes()[1])
            origin, coords = IndexOf(value, size), map(coord, range(len(tensor.shape)))
            low = 0 if from_zero else -end
            index = element(origin, coords, name="index", low=low, high=end - 1)
            self.add(value, TensorValue(tensor.dtype, tensor.shape, index))


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

    def new_name(self, _: str) -> str:
        """Return no name, since nothing is kept."""
        return ""

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        _: Attributes,
    ) -> ir.Value:
        """Return the output of a node that is not created, or refuse it."""
        budget().charge_part(PRICES.trial)
        present = [v for v in inputs if v is not None]
        kind = present[0].dtype if op in OF_INPUTS else dtype
        if op in KERNELS and kind is not None and not has_kernel(op, self.version, kind):
            raise RefusedError(Reason.NO_KERNEL, lacking(op, kind))
        self.read(v for v in present if not self.made(v))
        output = ir.Value(type=None if dtype is None else ir.TensorType(dtype))
        self._values.add(output)
        self.steps[output] = op, inputs
        self.nodes += 1
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
        if self.known is not None:
            self.known.add_outputs(node)
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
    numbers = np.asarray(array, order="C")
    if numbers.dtype.kind in "uO" and any(not -(1 << 63) <= int(n) < 1 << 63 for n in numbers.flat):
        raise RefusedError(Reason.UNKNOWN_SIZE, "a number beyond int64")
    return numbers.astype(np.int64, copy=False)
