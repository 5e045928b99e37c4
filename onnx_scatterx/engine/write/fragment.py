"""A fragment: nodes that are written in front of a node of a graph, before they are added to it.

    fragment    Slice_0 = Slice(x, [0], [2])      cost: 2 nodes
                Concat_1 = Concat(Slice_0, u)     inputs: x, u

A plan is its nodes. What it costs, what it reads, and whether ONNX Runtime and the target take it
is read off them. Everything that the target lacks is collected, so that a refusal names all of it.
A fragment that is not committed (``GraphWriter.commit``) leaves no trace in the graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import TensorValue
from onnx_scatterx.engine.budget import PRICES, budget
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.engine.write.abstract_values import AbstractValues, Attributes
from onnx_scatterx.operators import KERNELS, has_kernel, is_of_inputs, lacking
from onnx_scatterx.text import Missing, Reason, Refusal, RefusedError


@dataclass(eq=False)
class Step:
    """A node of a fragment. Its outputs become values of the graph if it is committed.

    ``node`` is one that was created elsewhere, without its inputs. One that is its ``own`` is added
    even if the graph has an equal one.
    """

    op: str
    inputs: Sequence[ir.Value | None]
    attributes: Attributes
    outputs: Sequence[ir.Value]
    node: ir.Node | None = None
    own: bool = False


_OPPOSITE = {"Squeeze": "Unsqueeze", "Unsqueeze": "Squeeze"}
_LARGE = 1 << 12  # elements: larger constants are compared when they are committed


class Constants:
    """The constants of all fragments of a writer: equal ones are one value.

    They are tensors: whether a graph has them, the graph is asked.
    """

    def __init__(self) -> None:
        self._values: dict[object, ir.Value] = {}

    def get(self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None) -> ir.Value:
        """Return a constant; int64 if nothing else is said."""
        if isinstance(array, list) and dtype is None:  # most often: not made an array to be found
            key: object = (*array,)
            value = self._values.get(key)
            if value is None:
                value = self._values[key] = self._of(_integers(array), ir.DataType.INT64)
            return value
        if dtype is None or dtype == ir.DataType.INT64:
            return self._of(_integers(array), ir.DataType.INT64)
        return self._of(np.asarray(array, order="C"), dtype)

    def _of(self, array: np.ndarray, dtype: ir.DataType) -> ir.Value:
        small = array.size <= _LARGE and array.dtype != object
        value = self._values.get(_key(array, dtype)) if small else None
        if value is None:
            tensor = ir.Tensor(array, dtype=dtype)
            value = ir.Value(type=ir.TensorType(dtype), shape=tensor.shape, const_value=tensor)
            if small:
                self._values[_key(array, dtype)] = value
        return value

    def shared(self, value: ir.Value) -> ir.Value:
        """Return the constant that all equal ones are, also of a large one."""
        assert value.const_value is not None
        array = np.asarray(value.const_value.raw)
        if array.size <= _LARGE or array.dtype == object:
            return value
        return self._values.setdefault(_key(array, value.const_value.dtype), value)


def _key(array: np.ndarray, dtype: ir.DataType) -> tuple[object, ...]:
    return dtype, array.shape, array.tobytes()


def _integers(array: np.ndarray | Sequence[int]) -> np.ndarray:
    """Return an array as int64, or refuse a number that int64 does not hold."""
    numbers = np.asarray(array, order="C")
    if numbers.dtype.kind in "uO" and any(not -(1 << 63) <= int(n) < 1 << 63 for n in numbers.flat):
        raise RefusedError(Reason.UNKNOWN_SIZE, "a number beyond int64")
    return numbers.astype(np.int64, copy=False)


@dataclass(eq=False)
class Fragment:
    """An append-only list of nodes, and the constants that they read; equal nodes are one.

    It belongs to an insertion point (``at``): for another one, it is made again. ``known`` has
    what is known of the graph, if the target has limits. ``missing`` are the uses of operators that
    the target does not take, ``too_many_dims`` those that it does not take for their rank.
    """

    version: int  # of the operator set
    constants: Constants
    at: ir.Node | None  # the node in front of which it is committed
    known: AbstractValues | None = None
    within: Fragment | None = None  # the fragment that is being made, if this is about a part of it
    items: list[Step | ir.Value] = field(default_factory=list)  # nodes and constants, in order
    surcharge: int = 0  # extra nodes that a choice counts as
    inputs: dict[ir.Value, None] = field(default_factory=dict)  # values of the graph
    missing: dict[str, None] = field(default_factory=dict)
    too_many_dims: dict[str, None] = field(default_factory=dict)
    rank_read: int = 0  # the largest rank of a value that was read
    written: dict[object, ir.Value] = field(default_factory=dict)  # key of a node: its output
    by_output: dict[ir.Value, Step] = field(default_factory=dict)
    placeholders: dict[ir.Value, ir.Value] = field(default_factory=dict)  # what they stand for
    result: ir.Value | None = None
    output: ir.Value | None = None  # that of an Identity, which gives the result a name of its own
    new_values: dict[ir.Value, TensorValue] = field(default_factory=dict)
    """What is known of the outputs, and more of other values."""
    noted: set[ir.Value] = field(default_factory=set)  # those of which an index was noted
    _constants: set[ir.Value] = field(default_factory=set)

    @property
    def steps(self) -> dict[ir.Value, tuple[str, Sequence[ir.Value | None]]]:
        """For each output: the operator, and its inputs."""
        return {value: (step.op, step.inputs) for value, step in self.by_output.items()}

    @property
    def cost(self) -> int:
        """How many nodes it counts as."""
        return len(self.items) - len(self._constants) + self.surcharge

    def refusal(self, target: str) -> Refusal | None:
        """Return why the target does not take the nodes, or None if it takes them."""
        if self.missing:
            return Refusal(Reason.NOT_IN_TARGET, Missing(tuple(self.missing), target))
        if self.too_many_dims:
            return Refusal(Reason.RANK, Missing(tuple(self.too_many_dims), target))
        return None

    def of(self, value: ir.Value) -> TensorValue:
        """Return what is known of a value of the graph or of a fragment."""
        assert self.known is not None
        here: Fragment | None = self
        while here is not None:
            if value in here.new_values:
                return here.new_values[value]
            here = here.within
        return self.known[value]

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
    ) -> ir.Value:
        """Append a node with one output, or refuse one that ONNX Runtime has no kernel of."""
        self.charge(op, inputs, dtype)
        output = ir.Value(type=None if dtype is None else ir.TensorType(dtype))
        self.append(Step(op, inputs, attributes, [output]))
        return output

    def insert(self, node: ir.Node) -> None:
        """Append a node that was created elsewhere; until the commit it reads nothing."""
        inputs = tuple(node.inputs)
        for i in range(len(inputs)):
            node.replace_input_with(i, None)
        self.append(Step(node.op_type, inputs, {}, node.outputs, node))
        if self.known is not None and node.domain == "":
            attributes = {name: attribute.value for name, attribute in node.attributes.items()}
            dtypes = [value.dtype for value in node.outputs]
            known = [None if value is None else self.of(value) for value in inputs]
            results = self.known.results(node.op_type, inputs, known, dtypes, attributes)
            self.new_values.update(zip(node.outputs, results, strict=True))

    def append(self, step: Step) -> None:
        """Append a node as it is."""
        self.read(v for v in step.inputs if v is not None and not self.made(v))
        self.by_output.update(dict.fromkeys(step.outputs, step))
        self.items.append(step)

    def charge(self, op: str, inputs: Sequence[ir.Value | None], dtype: ir.DataType | None) -> None:
        """Count a node as work, or refuse one of an element type that ONNX Runtime does not run."""
        budget().charge_part(PRICES.trial)
        present = [v for v in inputs if v is not None]
        kind = present[0].dtype if is_of_inputs(op) else dtype
        if op in KERNELS and kind is not None and not has_kernel(op, self.version, kind):
            raise RefusedError(Reason.NO_KERNEL, lacking(op, kind))

    @property
    def mark(self) -> tuple[int, int]:
        """How much is written by now: so many items, and uses that the target does not take."""
        return len(self.items), len(self.missing)

    def forget(self, mark: tuple[int, int]) -> None:
        """Remove what was written since: a form that ends halfway leaves nothing."""
        first, missing = mark
        for use in list(self.missing)[missing:]:
            del self.missing[use]
        if first < len(self.items):
            self._keep(self.items[:first])

    def check_rank(self, op: str, result: TensorValue, most: int | None) -> None:
        """Note a tensor of more dims than the target takes, unless the graph already had one."""
        rank = result.rank
        if most is not None and rank is not None and rank > max(most, self.rank_read):
            self.too_many_dims[f"{op} of rank {rank}"] = None

    def read(self, values: Iterable[ir.Value]) -> None:
        """Note values of the graph that are read."""
        for value in values:
            self.inputs[value] = None
            if self.known is not None:
                self.rank_read = max(self.rank_read, self.of(value).rank or 0)

    def note_index(self, value: ir.Value, size: Term, *, from_zero: bool) -> None:
        """Note that the elements of a value are indices of an axis of a size."""
        if self.known is not None:
            more = self.known.as_index(value, self.of(value), size, from_zero=from_zero)
            if more is not None:
                self.new_values[value] = more
                self.noted.add(value)

    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant; int64 if nothing else is said."""
        value = self.constants.get(array, dtype)
        if value not in self._constants:
            self._constants.add(value)
            self.items.append(value)
        return value

    def undone(
        self, op: str, inputs: Sequence[ir.Value | None], attributes: Attributes
    ) -> ir.Value | None:
        """Return what the node before reads, if a node undoes it, as Squeeze undoes Unsqueeze."""
        before = self.by_output.get(inputs[0]) if op in _OPPOSITE and inputs[0] else None
        if before is None or before.op != _OPPOSITE[op]:
            return None
        same = list(before.inputs[1:]) == list(inputs[1:])
        return before.inputs[0] if same and before.attributes == attributes else None

    def drop_unread(self) -> None:
        """Remove nodes and constants that the result does not need.

        A node may have been undone, and an older spelling has attributes in place of constants.
        """
        read = {self.result, self.output}
        kept: list[Step | ir.Value] = []
        for item in reversed(self.items):
            if not isinstance(item, Step):  # onnx_ir's classes are asked about at length
                kept += [item] if item in read else []
            elif not read.isdisjoint(item.outputs):
                kept.append(item)
                read.update(item.inputs)
        self._keep(kept[::-1])
        self.inputs = {value: None for value in self.inputs if value in read}

    def _keep(self, items: list[Step | ir.Value]) -> None:
        """Remove all other nodes and constants."""
        if len(items) == len(self.items):
            return
        kept = set[ir.Value]()
        for item in items:
            kept.update(item.outputs if isinstance(item, Step) else [item])
        for value in [v for v in (*self.by_output, *self._constants) if v not in kept]:
            self.by_output.pop(value, None)
            self.new_values.pop(value, None)
        self.items = items
        self._constants &= kept
        self.written = {key: value for key, value in self.written.items() if value in kept}

    def operator_of(self, value: ir.Value) -> str | None:
        """Return the operator of the node here or in the graph that makes a value, or None."""
        node = self.by_output[value].node if value in self.by_output else value.producer()
        if node is None:
            return self.by_output[value].op if value in self.by_output else None
        return node.op_type if node.domain == "" else None

    def made(self, value: ir.Value) -> bool:
        """Return whether a value is an output of these nodes, or a constant that they read."""
        return value in self.by_output or value in self._constants
