"""Writes operators before a node of a graph, each node once, in a form that the target takes.

What is written goes into a fragment, which may be committed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis import Scope, Shape, TensorValue
from onnx_scatterx.engine.spelling import Spelling, has, since
from onnx_scatterx.engine.terms import Term
from onnx_scatterx.engine.write.abstract_values import AbstractValues, Attributes, frozen
from onnx_scatterx.engine.write.conditions import direct_inputs
from onnx_scatterx.engine.write.forms import other_form
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.engine.write.fragment import Fragment
from onnx_scatterx.engine.write.graph_writer import GraphWriter
from onnx_scatterx.engine.write.operators import Operators
from onnx_scatterx.engine.write.spelled import KnownHere, check_alike, newest_spelling, spelled
from onnx_scatterx.engine.write.wider import sized, widened
from onnx_scatterx.graphs import Names
from onnx_scatterx.operators import KERNELS, WIDER, has_kernel, lacking
from onnx_scatterx.targets import STANDARD, Target
from onnx_scatterx.text import Reason, Refusal, RefusedError, granted, refuse_unless


class Writer(Operators):
    """Writes nodes; equal nodes and constants are made once, and nodes that do nothing are omitted.

    Nodes are written into a ``fragment``. One that ``target`` does not take is written in another
    form (``forms``), or the fragment is refused; ``scope`` has the abstract values of existing
    values. ``graph`` has the place where fragments are committed. A value that is ``replaced`` is
    not read, but its replacement.
    """

    def __init__(
        self,
        graph: ir.Graph,
        scope: Scope,
        names: Names,
        *,
        constant_nodes: bool,
        target: Target = STANDARD,
    ) -> None:
        limited = target.is_limited or target.static_only
        self.graph = GraphWriter(
            graph, names, constant_nodes=constant_nodes, resolve=lambda value: self.resolve(value)
        )
        self.target = target
        self.facts = scope.facts
        self.overridable = scope.overridable
        self.version = scope.opsets.get("", 0)
        self.also_read_as = scope.also_read_as
        self.wider = {} if target.has_scatterx else WIDER
        self.replaced: dict[ir.Value, ir.Value] = {}
        self._values = scope.values
        self._known = AbstractValues(scope) if limited else None
        self._objected: dict[TensorValue, tuple[Target, list[str]]] = {}  # by a node's result
        self._fragment: Fragment | None = None  # where nodes go
        self.in_other_form: set[str] = set()  # operators for which another form is being written
        self.last_bits = False  # whether those of floats may differ in another form
        self.known_here = KnownHere(self)

    @property
    def fragment(self) -> Fragment:
        """The fragment that is being written."""
        assert self._fragment is not None, "nodes are written into a fragment"
        return self._fragment

    def fragment_of(
        self, write: Callable[[], ir.Value], *, as_output: bool = False, rank_read: int = 0
    ) -> Fragment | Refusal:
        """Return the nodes that a function writes, or why the target or ONNX Runtime refuses them.

        They belong to the insertion point. If ``as_output``, the result gets a name of its own, by
        an Identity if necessary. The graph has tensors of ``rank_read`` dims already.
        """
        outer, at = self._fragment, self.graph.point
        made = Fragment(self.version, self.graph.constants, at, self._known, outer)
        made.rank_read = rank_read
        self._fragment = made
        try:
            result = made.result = write()
            if not made.made(result):
                made.read([result])
            is_node = result in made.by_output or (made.made(result) and self.graph.constant_nodes)
            if as_output and not is_node:
                made.output = self.node("Identity", [result], self.dtype_of(result))
                self._not_shared(made.output)
        except RefusedError as error:
            return error.refusal
        finally:
            self._fragment = outer
        made.drop_unread()
        return made.refusal(self.target.name) or made

    def write(self, write: Callable[[], ir.Value]) -> ir.Value:
        """Commit the nodes that a function writes, and return the result, or refuse them."""
        return self.graph.commit(granted(self.fragment_of(write))).result

    def surcharge(self, nodes: int) -> None:
        """Count the nodes of the fragment as more than they are."""
        self.fragment.surcharge += nodes

    def note_index(self, value: ir.Value, size: Term, *, from_zero: bool) -> None:
        """Note that the elements of a value are indices of an axis of a size."""
        self.fragment.note_index(value, size, from_zero=from_zero)

    def dtype_of(self, value: ir.Value) -> ir.DataType | None:
        """Return the element type of a value, if it is known."""
        known = self._values.get(value)
        return value.dtype or (None if known is None else known.dtype)

    def shape_of(self, value: ir.Value) -> Shape | None:
        """Return the shape of a value, if it is known."""
        new = None if self._fragment is None else self._fragment.new_values.get(value)
        known = new or self._values.get(value)
        return None if known is None else known.shape

    def has(self, op: str, attribute: str | None = None) -> bool:
        """Return whether the operator set has an operator, and an attribute of it."""
        return has(op, self.version, attribute)

    def require(self, op: str) -> None:
        """Refuse to write an operator that the operator set lacks, before a node is written."""
        refuse_unless(self.has(op), Reason.OPSET, f"{op} needs operator set {since(op)}")

    def runs(self, op: str, dtype: ir.DataType) -> bool:
        """Return whether ONNX Runtime runs an operator on an element type, or on a wider one."""
        return op not in KERNELS or has_kernel(op, self.version, self.wider.get(dtype, dtype))

    def resolve(self, value: ir.Value) -> ir.Value:
        """Return the replacement of a value; plans are made before anything is committed."""
        here = self._fragment
        while here is not None:
            value, here = here.placeholders.get(value, value), here.within
        while value in self.replaced:
            value = self.replaced[value]
        return value

    def let(self, placeholder: ir.Value, value: ir.Value) -> None:
        """Let nodes of the fragment that read a placeholder read a value."""
        self.fragment.placeholders[placeholder] = self.resolve(value)

    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant: an initializer, or a Constant node if there can be no initializer."""
        if dtype is not None and dtype.is_string():
            raise RefusedError(Reason.NO_KERNEL, lacking("Constant", dtype))
        return self.fragment.constant(array, dtype)

    def insert(self, node: ir.Node) -> ir.Value:
        """Add a node that was created elsewhere, and return its first output."""
        inputs = [v if v is None else self.resolve(v) for v in node.inputs]
        for i, value in enumerate(inputs):
            node.replace_input_with(i, value)
        op, output, fragment = node.op_type, node.outputs[0], self.fragment
        fragment.charge(op, inputs, output.dtype)
        request = self.request(op, inputs, output.dtype, {})
        fragment.insert(node)
        if request is not None:
            fragment.missing.update(dict.fromkeys(self._objections(request)))
            fragment.check_rank(op, request.result, self.target.max_rank)
        return output

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        **attributes: int | float | str | Sequence[int],
    ) -> ir.Value:
        """Write a node with one output of an element type, or return an existing equal one.

        It is given in the newest spelling, and written in that of the operator set. A node of a
        type that ONNX Runtime only casts has inputs and output of a wider type.
        """
        inputs = [v if v is None else self.resolve(v) for v in inputs]
        other = spelled(self, op, inputs, attributes)
        if other is not None:
            return self._spelled(other, dtype, attributes)
        return self._node(op, inputs, dtype, attributes)

    def spelled_node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        **attributes: int | float | str | Sequence[int],
    ) -> ir.Value:
        """Write a node that is given in the spelling of the operator set, as one of the model."""
        inputs = [v if v is None else self.resolve(v) for v in inputs]
        check_alike(self, newest_spelling(op, inputs, attributes))
        return self._node(op, inputs, dtype, attributes)

    def repeated_node(
        self,
        node: ir.Node,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
    ) -> ir.Value:
        """Write a node of the model again, with other inputs and attributes.

        What the target does not take of the node of the model, it need not take of the new one.
        """
        op = node.op_type
        inputs = [v if v is None else self.resolve(v) for v in inputs]
        check_alike(self, newest_spelling(op, inputs, attributes))
        before = self.request(op, node.inputs, dtype, attributes)
        excused = () if before is None else before.use.objections(self.target)
        return self._node(op, inputs, dtype, attributes, excused)

    def _spelled(
        self, spelling: Spelling, dtype: ir.DataType | None, attributes: Attributes
    ) -> ir.Value:
        """Write a node in a spelling of the operator set, after those that compute its inputs."""
        inputs: list[ir.Value | None] = []
        for part in spelling.inputs:
            if isinstance(part, Spelling):
                inputs.append(self._spelled(part, part.dtype, {}))
            elif isinstance(part, np.ndarray):
                inputs.append(self.constant(part, ir.DataType.from_numpy(part.dtype)))
            else:
                inputs.append(part)
        values = {name: attribute.value for name, attribute in spelling.attributes.items()}
        added = {name: value for name, value in values.items() if name not in attributes}
        return self._node(spelling.op_type, inputs, dtype, {**added, **values})

    def _node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
        excused: Iterable[str] = (),
    ) -> ir.Value:
        """Write a node as it is given, or in another form if the target does not take it."""
        if op == "Shape" and inputs[0] is not None:
            inputs = [sized(self, inputs[0], self.dtype_of(inputs[0]))]
        elif dtype is not None and dtype in self.wider and op != "Cast":
            inputs = [v if v is None else widened(self, v, self.dtype_of(v), dtype) for v in inputs]
            dtype = self.wider[dtype]
        fragment = self.fragment
        direct = direct_inputs(self, inputs, dtype) if op == "Where" else None
        if direct is not None and self._takes(op, direct, dtype):
            inputs = direct
        key = (op, tuple(inputs), frozen(attributes))
        value = fragment.written.get(key)
        value = fragment.undone(op, inputs, attributes) if value is None else value
        if value is not None:
            return value
        request = self.request(op, inputs, dtype, attributes)
        if request is None:
            value = fragment.written[key] = fragment.node(op, inputs, dtype, attributes)
            return value
        refused = self._objections(request)
        if refused:
            value = other_form(request)
            if value is not None:
                fragment.written[key] = value
                return value
            known = set(excused)
            fragment.missing.update(dict.fromkeys(why for why in refused if why not in known))
        return self.as_it_is(request)

    def _takes(self, op: str, inputs: Sequence[ir.Value | None], dtype: ir.DataType | None) -> bool:
        """Return whether the target takes a node without attributes as it is."""
        request = self.request(op, inputs, dtype, {})
        return request is None or not self._objections(request)

    def _objections(self, request: Request) -> list[str]:
        """Return why the target does not take a node.

        Equal nodes of several plans have one result (``AbstractValues.results``): they are asked
        once.
        """
        target, refused = self._objected.get(request.result, (None, []))
        if target is self.target:
            return refused
        use, target = request.use, self.target
        refused = list(use.objections(target))
        if target.static_only and (use.reads_size or use.counts_promised):
            refused.append(f"{request.op} with a size that is known only when the model runs")
        self._objected[request.result] = target, refused
        return refused

    def request(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
        *,
        known: TensorValue | None = None,
        of_any_sign: bool = False,
    ) -> Request | None:
        """Return a node with what is known of it, or None if the target takes every node.

        ``known`` is the abstract value of the result if the graph has the node.
        """
        if self._known is None:
            return None
        of = self._known_of
        values, result = [None if v is None else of(v) for v in inputs], known
        if result is None or result.shape is None:
            (result,) = self._known.results(op, inputs, values, [dtype], attributes)
        return Request(op, inputs, dtype, attributes, values, result, self, of, of_any_sign)

    def as_it_is(self, request: Request) -> ir.Value:
        """Write a node in no other form."""
        fragment, op, inputs, attributes = (
            self.fragment,
            request.op,
            request.inputs,
            request.attributes,
        )
        output = fragment.node(op, inputs, request.dtype, attributes)
        fragment.written[op, tuple(inputs), frozen(attributes)] = output
        fragment.new_values[output] = request.result
        fragment.check_rank(op, request.result, self.target.max_rank)
        return output

    def _known_of(self, value: ir.Value) -> TensorValue:
        """Return what is known of a value of the graph or of the fragment."""
        assert self._known is not None
        return self._known[value] if self._fragment is None else self._fragment.of(value)

    def _not_shared(self, value: ir.Value) -> None:
        """Let the node of a value be added even if the graph has an equal one."""
        step = self.fragment.by_output.get(value)
        if step is not None:
            step.own = True

    def narrowed(
        self, write: Callable[[], ir.Value], dtype: ir.DataType | None, *, as_output: bool
    ) -> Callable[[], ir.Value]:
        """Return a function that writes the same in its own element type.

        An output gets a node of its own: ONNX Runtime has no Identity of 4-bit integers.
        """
        if dtype is None or dtype not in self.wider:
            return write

        def whole() -> ir.Value:
            result = self.resolve(write())
            if self.dtype_of(result) == dtype and not as_output:
                return result
            result, to = widened(self, result, self.dtype_of(result), dtype), dtype.value
            self.fragment.written.pop(("Cast", (result,), frozen({"to": to})), None)
            result = self.node("Cast", [result], dtype, to=to)
            self._not_shared(result)
            return result

        return whole
