"""Adds nodes before a node of a graph, each once, in a form that the target takes, or on trial."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import onnx_ir as ir

from onnx_scatterx.ir.cleanup import Names
from onnx_scatterx.optimizer.analysis.domain.call import Scope
from onnx_scatterx.optimizer.analysis.domain.overflow import most_of
from onnx_scatterx.optimizer.analysis.domain.tensor import IndexOf, TensorValue
from onnx_scatterx.optimizer.emit.dry_run import (
    KERNELS,
    WIDER,
    Attributes,
    DryRun,
    MadeValues,
    frozen,
    has_kernel,
    lacking,
)
from onnx_scatterx.optimizer.emit.forms import attempted, other_form
from onnx_scatterx.optimizer.emit.forms.merged import merged
from onnx_scatterx.optimizer.emit.forms.request import Request
from onnx_scatterx.optimizer.emit.graph_writer import GraphWriter
from onnx_scatterx.optimizer.symbolic.terms import Term, coord, element
from onnx_scatterx.optimizer.targets.limits import is_of_any_sign
from onnx_scatterx.optimizer.targets.target import STANDARD, Target
from onnx_scatterx.text.reasons import Missing, Reason, Refusal, RefusedError


class NodeWriter(GraphWriter):
    """Adds nodes to a graph before an insertion point; equal nodes and constants are made once.

    A node that ``target`` does not take is written in another form (``forms``), or a ``dry_run``
    refuses it; ``scope`` has the abstract values of existing values.
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
        super().__init__(graph, names, constant_nodes=constant_nodes)
        self.target = target
        self.facts = scope.facts
        self.overridable = scope.overridable
        self.version = scope.opsets.get("", 0)
        self._values = scope.values
        self._wider = {} if target.has_scatterx else WIDER
        self._trial: DryRun | None = None
        limited = target.is_limited or target.static_only
        self._known = MadeValues(scope) if limited else None
        self._in_other_form: set[str] = set()  # operators for which another form is being written
        self._nodes: dict[object, ir.Value] = {}
        self._drafts: dict[object, ir.Value] = {}  # constants of dry runs

    def dry_run(
        self, write: Callable[[], ir.Value], *, as_output: bool = False, given_rank: int = 0
    ) -> DryRun | Refusal:
        """Return the nodes of a dry run, or why the target or ONNX Runtime does not take them.

        If ``as_output``, the result gets a name of its own, by an Identity if necessary. The graph
        has tensors of ``given_rank`` dims already.
        """
        outer, known = self._trial, self._known
        inner = None if known is None else MadeValues(known.scope, known)
        trial = self._trial = DryRun(self.version, inner, self._drafts, given_rank=given_rank)
        self._known = inner
        try:
            result = trial.result = write()
            if not trial.made(result):
                trial.read([result])
                if as_output:
                    self.node("Identity", [result], self._dtype(result))
        except RefusedError as error:
            return error.refusal
        finally:
            self._trial, self._known = outer, known
        return trial.refusal(self.target.name) or trial

    def surcharge(self, nodes: int) -> None:
        """Count the nodes that are written on trial as more than they are."""
        if self._trial is not None:
            self._trial.surcharge += nodes

    def note_index(self, value: ir.Value, size: Term, *, from_zero: bool) -> None:
        """Note that the elements of a value are indices of an axis: ``-size <= i < size``.

        If they count ``from_zero``, none is negative.
        """
        known = self._known
        found = None if known is None else known[value]
        if known is None or found is None or found.shape is None or found.constant is not None:
            return
        end = min(self.facts.interval(size)[1], most_of(size))
        origin, coords = IndexOf(value, size), map(coord, range(len(found.shape)))
        low = 0 if from_zero else -end
        index = element(origin, coords, name="index", low=low, high=end - 1)
        known.add(value, TensorValue(found.dtype, found.shape, index))

    def has_kernel(self, op: str, dtype: ir.DataType) -> bool:
        """Return whether ONNX Runtime runs an operator on an element type, or on a wider one."""
        dtype = self._wider.get(dtype, dtype)
        return op not in KERNELS or has_kernel(op, self.version, dtype)

    def node(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        **attributes: int | float | str | Sequence[int],
    ) -> ir.Value:
        """Add a node with one output of an element type, or return an existing equal one.

        A node of a type that ONNX Runtime only casts has inputs and output of a wider type.
        """
        inputs = [v if v is None else self.resolve(v) for v in inputs]
        if op == "Shape" and inputs[0] is not None:
            inputs = [self._sized(inputs[0])]
        elif dtype is not None and dtype in self._wider and op != "Cast":
            inputs = [v if v is None else self._widened(v, dtype) for v in inputs]
            dtype = self._wider[dtype]
        trial = self._trial
        written = self._nodes if trial is None else trial.written
        key = (op, tuple(inputs), frozen(attributes))
        found = written.get(key)
        if found is not None:
            return found
        known = self._known
        if known is None:
            return self._write(op, inputs, dtype, attributes, key)
        (result,) = known.results(op, inputs, [dtype], attributes)
        given = [None if v is None else known[v] for v in inputs]
        request = Request(op, inputs, dtype, attributes, given, result, self)
        objections = list(self.target.objections(request.use))
        if trial is not None and self.target.static_only and request.use.reads_size:
            objections.append(f"{op} with a size that is known only when the model runs")
        if objections:
            found = self._other_form(request)
            if found is not None:
                written[key] = found
                return found
            # Symbols have other names in a dry run, so a proof that was found there may be missed
            # later. Then the node is written, and CheckTarget names it.
            if trial is not None:
                trial.missing.update(dict.fromkeys(objections))
        return self.as_it_is(request)

    def as_it_is(self, request: Request) -> ir.Value:
        """Add a node in no other form."""
        op, inputs, attributes = request.op, request.inputs, request.attributes
        key = (op, tuple(inputs), frozen(attributes))
        output = self._write(op, inputs, request.dtype, attributes, key)
        if self._known is not None:
            self._known.add(output, request.result)
        if self._trial is not None:
            self._trial.check_rank(op, request.result, self.target.max_rank)
        return output

    def cast(self, x: ir.Value, dtype: ir.DataType, to: ir.DataType) -> ir.Value:
        """Add a Cast from one element type to another, unless they are the same."""
        return x if dtype == to else self.node("Cast", [x], to, to=to.value)

    def _dtype(self, value: ir.Value) -> ir.DataType | None:
        known = self._values.get(value)
        return value.dtype or (None if known is None else known.dtype)

    def _widened(self, value: ir.Value, dtype: ir.DataType) -> ir.Value:
        """Return a value of an element type in the wider one, and any other value as it is."""
        found, wide = self._dtype(value), WIDER[dtype]
        if found is None:
            raise RefusedError(Reason.UNKNOWN_TYPE)
        return value if found != dtype else self.node("Cast", [value], wide, to=wide.value)

    def _sized(self, value: ir.Value) -> ir.Value:
        """Return a value whose shape ONNX Runtime reads; it removes a lone Cast before a Shape."""
        dtype = self._dtype(value)
        if dtype is None or has_kernel("Shape", self.version, dtype):
            return value
        if dtype not in WIDER:
            raise RefusedError(Reason.NO_KERNEL, lacking("Shape", dtype))
        return self.node("Abs", [self._widened(value, dtype)], WIDER[dtype])

    def narrowed(
        self, write: Callable[[], ir.Value], dtype: ir.DataType | None, *, as_output: bool
    ) -> Callable[[], ir.Value]:
        """Return a function that writes the same in its own element type.

        An output gets a node of its own: ONNX Runtime has no Identity of 4-bit integers.
        """
        if dtype is None or dtype not in self._wider:
            return write

        def whole() -> ir.Value:
            result = self.resolve(write())
            if self._dtype(result) == dtype and not as_output:
                return result
            result, to = self._widened(result, dtype), dtype.value
            self._nodes.pop(("Cast", (result,), frozen({"to": to})), None)
            return self.node("Cast", [result], dtype, to=to)

        return whole

    def instead_of(
        self,
        node: ir.Node,
        dtype: ir.DataType | None,
        *,
        may: Callable[[DryRun], bool] = lambda _: True,
        merges: bool = False,
    ) -> ir.Value | None:
        """Write another form that the target takes instead of a node, before it.

        Returns None, and writes nothing, if the target takes the node, or no other form of it, or
        if the form ``may`` not be written. If it ``merges``, a node of too many dims is written on
        merged axes.
        """
        known = self._known
        if known is None:
            return None
        inputs = list(node.inputs)
        given = {name: attribute.value for name, attribute in node.attributes.items()}
        (result,) = known.results(node.op_type, inputs, [dtype], given)
        values = [None if v is None else known[v] for v in inputs]
        sign = is_of_any_sign(node)
        request = Request(node.op_type, inputs, dtype, given, values, result, self, sign)
        rank, objected = request.use.rank, any(self.target.objections(request.use))
        if not objected and not (merges and rank > request.most_dims):
            return None

        def write() -> ir.Value:
            found = attempted(partial(merged, through=True), request)
            if found is None and not objected:
                raise RefusedError(Reason.RANK, Missing((node.op_type,), self.target.name))
            return found or self.node(node.op_type, inputs, dtype, **given)

        as_output = node.outputs[0].is_graph_output()
        write = self.narrowed(write, dtype, as_output=as_output)
        trial = self.dry_run(write, as_output=as_output, given_rank=rank)
        return None if isinstance(trial, Refusal) or not may(trial) else write()

    def _other_form(self, request: Request) -> ir.Value | None:
        """Write a node in another form, unless this is for another form of such a node."""
        if request.op in self._in_other_form:
            return None
        self._in_other_form.add(request.op)
        try:
            return other_form(request)
        finally:
            self._in_other_form.discard(request.op)

    def _write(
        self,
        op: str,
        inputs: Sequence[ir.Value | None],
        dtype: ir.DataType | None,
        attributes: Attributes,
        key: tuple[object, ...],
    ) -> ir.Value:
        if self._trial is not None:
            return self._trial.node(op, inputs, dtype, key)
        output = self._nodes[key] = self.add(op, inputs, dtype, attributes)
        return output

    def new_name(self, what: str) -> str:
        """Return a name for a new value; none on trial."""
        return "" if self._trial is not None else super().new_name(what)

    def insert(self, node: ir.Node) -> None:
        """Add a node that was created elsewhere."""
        inputs, dtypes = list(node.inputs), [value.dtype for value in node.outputs]
        if self._known is not None and node.domain == "":
            given = {name: attribute.value for name, attribute in node.attributes.items()}
            results = self._known.results(node.op_type, inputs, dtypes, given)
            for value, known in zip(node.outputs, results, strict=True):
                self._known.add(value, known)
        if self._trial is None:
            super().insert(node)
            return
        for i in range(len(inputs)):
            node.replace_input_with(i, None)
        self.node(node.op_type, inputs, dtypes[0])
        self._trial.outputs(node)

    def constant(
        self, array: np.ndarray | Sequence[int], dtype: ir.DataType | None = None
    ) -> ir.Value:
        """Return a constant: an initializer, or a Constant node if there can be no initializer."""
        if self._trial is None:
            return super().constant(array, dtype)
        return self._trial.constant(array, dtype)
