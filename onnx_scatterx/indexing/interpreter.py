"""The abstract interpreter: one visit of every node, in order, with a transfer function each.

It goes into the bodies of If, Loop and Scan, and into model-local functions at every call. A
function's own nodes are then visited once more with what holds for all its callers, because that is
what a rewriting of the body may rest on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from onnx_scatterx.indexing import arithmetic, creation, movement, shapes, validity, windows
from onnx_scatterx.indexing.abstract import Abstract, Shape
from onnx_scatterx.indexing.call import Call, UnknownAttributeError
from onnx_scatterx.indexing.prove import Facts
from onnx_scatterx.indexing.simplify import simplify
from onnx_scatterx.indexing.terms import Term, coord, element, size, term

Transfer = Callable[[Call], "list[Abstract] | None"]

TRANSFERS: dict[str, Transfer] = {
    "CastLike": arithmetic.cast_like,
    "Cast": arithmetic.cast,
    "Clip": arithmetic.clip,
    "Concat": movement.concat,
    "Constant": creation.constant,
    "ConstantOfShape": creation.constant_of_shape,
    "CumSum": creation.cum_sum,
    "Expand": movement.expand,
    "EyeLike": creation.eye_like,
    "Flatten": movement.flatten,
    "Gather": movement.gather,
    "GatherND": movement.gather_nd,
    "Identity": movement.identity,
    "Mod": arithmetic.mod,
    "NonZero": creation.non_zero,
    "OneHot": creation.one_hot,
    "Pad": creation.pad,
    "Range": creation.range_,
    "ReduceMax": arithmetic.reduction,
    "ReduceMin": arithmetic.reduction,
    "ReduceProd": arithmetic.reduction,
    "ReduceSum": arithmetic.reduction,
    "Reshape": movement.reshape,
    "Scatter": creation.scatter_elements,
    "ScatterElements": creation.scatter_elements,
    "ScatterND": creation.scatter_nd,
    "Shape": creation.shape,
    "Size": creation.size,
    "Slice": movement.slice_,
    "Split": movement.split,
    "Squeeze": movement.squeeze,
    "Tile": movement.tile,
    "Transpose": movement.transpose,
    "Trilu": creation.trilu,
    "Unsqueeze": movement.unsqueeze,
    "Where": arithmetic.where_,
    "AveragePool": windows.pool,
    "Conv": windows.conv,
    "MaxPool": windows.pool,
    **dict.fromkeys(arithmetic.SAME_TYPE, arithmetic.elementwise),
    **dict.fromkeys(arithmetic.COMPARISONS, arithmetic.elementwise),
}

_VISITS = 2000  # of functions, at most: nested calls multiply
_LONG_SIZE = 12  # monomials of a size
_LONG_CONTENT = 64  # monomials of an element
_ROUNDS = 4  # attempts to find what holds in every iteration of a loop


@dataclasses.dataclass
class Scope:
    """One visit of a graph: the operator sets that hold in it, its attributes and its facts.

    ``token`` tells this visit from others; ``values`` is what is known of every value that can be
    seen, those of outer graphs included.
    """

    opsets: Mapping[str, int]
    facts: Facts
    values: dict[ir.Value, Abstract]
    bound: Mapping[str, ir.Attr | None] = dataclasses.field(default_factory=dict)
    function: ir.Function | None = None
    token: object = dataclasses.field(default_factory=object)

    def inner(self) -> Scope:
        """Return the scope of a subgraph: what is known outside holds in it, not the reverse."""
        return dataclasses.replace(self, facts=self.facts.assuming(), token=object())


@dataclasses.dataclass(frozen=True)
class Knowledge:
    """What the interpreter found: for every value, and the facts that hold in every graph."""

    values: Mapping[ir.Value, Abstract]
    scopes: Mapping[ir.Graph, Scope]
    shared: Mapping[Term, str]
    """Sizes that several graph inputs declare under one name (the assumption declared-dims)."""


class Interpreter:
    """Walks a model once; ``interpret`` is the way to use it."""

    def __init__(self, model: ir.Model, *, distrust_dims: bool) -> None:
        self.model = model
        self.distrust_dims = distrust_dims
        self.values: dict[ir.Value, Abstract] = {}
        self.scopes: dict[ir.Graph, Scope] = {}
        self.shared: dict[Term, str] = {}
        self.calls: dict[ir.OperatorIdentifier, list[tuple[list[Abstract | None], ir.Node, Scope]]] = {}
        self.visits = 0

    def run(self) -> Knowledge:
        graph = self.model.graph
        scope = Scope(_opsets(graph.opset_imports), Facts(), self.values)
        self._inputs(graph)
        self._visit(graph, scope)
        for function in callers_first(self.model):
            self._join(function)
        return Knowledge(self.values, self.scopes, self.shared)

    def _inputs(self, graph: ir.Graph) -> None:
        seen: dict[str, list[Term]] = {}
        for value in graph.inputs:
            if value.name in graph.initializers and self._is_constant(value):
                continue
            dims: list[Term] = []
            for axis, d in enumerate(value.shape or ()):
                if isinstance(d, int):
                    dims.append(term(d))
                elif d.value is None or self.distrust_dims:
                    dims.append(size(d.value or f"{value.name}.{axis}", (value, axis)))
                else:
                    dims.append(size(d.value, ("dim", d.value)))
                    seen.setdefault(d.value, []).append(dims[-1])
            shape = tuple(dims) if value.shape is not None else None
            self.values[value] = self._with_content(
                value, Abstract(value.dtype, shape), value, Facts()
            )
        self.shared = {terms[0]: name for name, terms in seen.items() if len(terms) > 1}

    def _is_constant(self, value: ir.Value) -> bool:
        """An initializer that is an input too can be overridden by the caller, from IR version 4."""
        return not value.is_graph_input() or (self.model.ir_version or 0) < 4

    def _initializers(self, graph: ir.Graph, scope: Scope) -> None:
        for value in graph.initializers.values():
            if value in scope.values and not self._is_constant(value):
                continue
            if value.const_value is not None:
                scope.values[value] = creation.of_tensor(value.const_value)

    def _visit(self, graph: ir.Graph | ir.Function, scope: Scope) -> None:
        inner = graph.graph if isinstance(graph, ir.Function) else graph
        self.scopes[inner] = scope
        self._initializers(inner, scope)
        live = live_nodes(inner)
        for node in inner:
            self._node(node, scope, node in live)

    def _node(self, node: ir.Node, scope: Scope, live: bool) -> None:
        inputs = [None if v is None else self._input(v, scope) for v in node.inputs]
        version = scope.opsets.get(node.domain, 0)
        call = Call(node, inputs, version, scope.facts, scope.bound, scope.token)
        results = self._results(call, scope)
        if live and node.domain in ("", "ai.onnx"):
            scope.facts.learn(validity.facts_of(call))
        for value, result in zip(node.outputs, results, strict=False):
            scope.values[value] = self._with_content(value, result, scope.token, scope.facts)
        for value in node.outputs[len(results) :]:
            scope.values[value] = Abstract(value.dtype, None)

    def _input(self, value: ir.Value, scope: Scope) -> Abstract:
        return scope.values.get(value) or Abstract(value.dtype, None)

    def _with_content(
        self, value: ir.Value, found: Abstract, token: object, facts: Facts
    ) -> Abstract:
        """Give what is not followed, or has grown too long to follow, a name of its own."""
        shape = found.shape
        if shape is None:
            return found
        shape = tuple(simplify(d, facts) for d in shape)
        shape = tuple(
            d if len(d.items) <= _LONG_SIZE else size(f"{value.name}.{i}", (token, value, i))
            for i, d in enumerate(shape)
        )
        content = found.content
        terms = [content] if isinstance(content, Term) else []
        if isinstance(content, np.ndarray) and content.dtype == object and found.is_integer:
            assert found.dtype is not None
            terms = [simplify(t, facts) for t in content.ravel()]
            simpler = np.empty(content.shape, dtype=object)
            simpler.ravel()[:] = terms
            content = Abstract.explicit(simpler, found.dtype).content
        if any(len(t.items) > _LONG_CONTENT for t in terms):
            content = None
        if content is None and found.is_integer:
            assert found.dtype is not None
            low, high = _range(found.dtype)
            coords = [coord(d) for d in range(len(shape))]
            content = element((token, value), coords, name=value.name or "?", low=low, high=high)
        return Abstract(found.dtype, shape, content)

    def _results(self, call: Call, scope: Scope) -> Sequence[Abstract]:
        node = call.node
        function = self.model.functions.get(node.op_identifier())
        if function is not None:
            return self._function(function, call, scope)
        if node.domain in ("", "ai.onnx"):
            if node.op_type == "If":
                return self._if(call, scope)
            if node.op_type == "Loop":
                return self._loop(call, scope)
            if node.op_type == "Scan":
                return self._scan(call, scope)
            transfer = TRANSFERS.get(node.op_type)
            if transfer is not None:
                try:
                    results = transfer(call)
                except (UnknownAttributeError, LookupError):
                    results = None
                if results is not None:
                    return results
        for attribute in node.attributes.values():
            for body in _graphs(attribute):
                self._body(body, [None] * len(body.inputs), scope)
        if call.node.domain not in ("", "ai.onnx"):
            return [Abstract(v.dtype, None) for v in node.outputs]
        return shapes.infer(call)

    def _body(
        self, graph: ir.Graph, inputs: Sequence[Abstract | None], scope: Scope
    ) -> list[Abstract]:
        inner = scope.inner()
        for value, given in zip(graph.inputs, inputs, strict=True):
            found = given or Abstract(value.dtype, None)
            inner.values[value] = self._with_content(value, found, inner.token, inner.facts)
        self._visit(graph, inner)
        return [self._input(v, inner) for v in graph.outputs]

    def _if(self, call: Call, scope: Scope) -> list[Abstract]:
        branches = [self._body(g, [], scope) for g in _all_graphs(call.node)]
        results = []
        for i, parts in enumerate(zip(*branches, strict=False)):
            results.append(_join_abstracts(parts, lambda rank, i=i: call.unknown_shape(rank, i)))
        return results

    def _loop(self, call: Call, scope: Scope) -> list[Abstract]:
        (body,) = _all_graphs(call.node)
        carried = [i or Abstract(None, None) for i in call.inputs[2:]]
        head = [Abstract(ir.DataType.INT64, ()), Abstract(ir.DataType.BOOL, ())]
        found, results = self._invariant(body, head, carried, [], scope)
        outputs = [Abstract(c.dtype, c.shape) for c in found]
        scans = results[1 + len(found) :]
        for i, scan in enumerate(scans, len(found)):
            shape = None
            if scan.shape is not None:  # what a body computes may differ between iterations
                fresh = call.unknown_shape(len(scan.shape) + 1, i)
                inner = zip(scan.shape, fresh[1:], strict=True)
                shape = (fresh[0], *(d if d.constant is not None else f for d, f in inner))
            outputs.append(Abstract(scan.dtype, shape))
        return outputs

    def _scan(self, call: Call, scope: Scope) -> list[Abstract]:
        (body,) = _all_graphs(call.node)
        count = call.integer("num_scan_inputs", 0)
        states = [i or Abstract(None, None) for i in call.inputs[: len(call.inputs) - count]]
        axes = call.integers("scan_input_axes") or [0] * count
        rows = []
        for given, axis in zip(call.inputs[len(states) :], axes, strict=True):
            shape = None if given is None else given.shape
            if shape is not None:
                shape = tuple(d for i, d in enumerate(shape) if i != axis % len(shape))
            rows.append(Abstract(None if given is None else given.dtype, shape))
        found, results = self._invariant(body, [], states, rows, scope)
        outputs = [Abstract(c.dtype, c.shape) for c in found]
        return outputs + [Abstract(r.dtype, None) for r in results[len(found) :]]

    def _invariant(
        self,
        body: ir.Graph,
        head: list[Abstract],
        carried: list[Abstract],
        tail: list[Abstract],
        scope: Scope,
    ) -> tuple[list[Abstract], list[Abstract]]:
        """Find shapes of loop-carried values that hold in every iteration, by induction.

        The first guess are the shapes before the first iteration; a dim that the body does not
        keep becomes unknown, and the body is visited again.
        """
        # What stands in them changes with every iteration.
        guess = [Abstract(c.dtype, c.shape) for c in carried]
        skip = len(head) // 2  # a Loop's body gives its condition first
        for _ in range(_ROUNDS):
            results = self._body(body, [*head, *guess, *tail], scope)
            after = results[skip : skip + len(guess)]
            if all(a.shape == g.shape or g.shape is None for a, g in zip(after, guess, strict=True)):
                return guess, results
            guess = [
                self._weakened(g, a, (body, i))
                for i, (g, a) in enumerate(zip(guess, after, strict=True))
            ]
        guess = [Abstract(g.dtype, None) for g in guess]
        return guess, self._body(body, [*head, *guess, *tail], scope)

    def _weakened(self, before: Abstract, after: Abstract, source: object) -> Abstract:
        if before.shape is None or after.shape is None or len(before.shape) != len(after.shape):
            return Abstract(before.dtype, None)
        pairs = enumerate(zip(before.shape, after.shape, strict=True))
        shape = tuple(b if b is a else size(f"carried.{d}", (source, d)) for d, (b, a) in pairs)
        return Abstract(before.dtype, shape)

    def _function(self, function: ir.Function, call: Call, scope: Scope) -> list[Abstract]:
        self.calls.setdefault(function.identifier(), []).append((list(call.inputs), call.node, scope))
        self.visits += 1
        if self.visits > _VISITS:
            return [Abstract(v.dtype, None) for v in call.node.outputs]
        bound: dict[str, ir.Attr | None] = {}
        for name, default in function.attributes.items():
            try:
                bound[name] = call.attribute(name) or (default if default.value is not None else None)
            except UnknownAttributeError:
                continue
        inner = Scope(_opsets(function.opset_imports), scope.facts.assuming(), {}, bound, function)
        for i, value in enumerate(function.inputs):
            inner.values[value] = call.input(i) or Abstract(None, None)
        quiet = Interpreter(self.model, distrust_dims=self.distrust_dims)
        quiet.visits = self.visits
        quiet.calls = self.calls
        quiet._visit(function, inner)
        self.visits = quiet.visits
        return [quiet._input(v, inner) for v in function.outputs]

    def _join(self, function: ir.Function) -> None:
        """Visit a function's body with what all its callers agree on."""
        calls = self.calls.get(function.identifier(), [])
        scope = Scope(_opsets(function.opset_imports), Facts(), self.values, {}, function)
        bound: dict[str, ir.Attr | None] = {}
        for name, default in function.attributes.items():
            given = []
            for _, node, outer in calls:
                found = node.attributes.get(name)
                if found is not None and found.is_ref():
                    found = outer.bound.get(found.ref_attr_name or "", found)
                given.append(found or (default if default.value is not None else None))
            texts = {None if g is None else repr((g.type, g.value)) for g in given}
            if len(texts) == 1 and not any(g is not None and g.is_ref() for g in given):
                bound[name] = given[0]
        scope.bound = bound
        merged: dict[tuple[Term, ...], Term] = {}
        for i, value in enumerate(function.inputs):
            parts = [inputs[i] if i < len(inputs) else None for inputs, _, _ in calls]
            present = [p for p in parts if p is not None]
            found = Abstract(value.dtype, None)
            if present and len(present) == len(parts):
                found = _join_callers(present, merged, (function, value))
            self.values[value] = self._with_content(value, found, scope.token, scope.facts)
        self._visit(function, scope)


def _opsets(imports: Mapping[str, int]) -> dict[str, int]:
    """Return the operator sets with the default domain under both of its names."""
    standard = imports.get("", imports.get("ai.onnx", 0))
    return {**imports, "": standard, "ai.onnx": standard}


def _range(dtype: ir.DataType) -> tuple[float, float]:
    if dtype == ir.DataType.BOOL:
        return 0, 1
    if dtype == ir.DataType.INT64 or dtype.bitwidth < 8:
        return float("-inf"), float("inf")
    return float(dtype.min), float(dtype.max)


def _graphs(attribute: ir.Attr) -> list[ir.Graph]:
    if attribute.type == ir.AttributeType.GRAPH and not attribute.is_ref():
        return [attribute.as_graph()]
    if attribute.type == ir.AttributeType.GRAPHS and not attribute.is_ref():
        return list(attribute.as_graphs())
    return []


def _all_graphs(node: ir.Node) -> list[ir.Graph]:
    return [g for a in node.attributes.values() for g in _graphs(a)]


def live_nodes(graph: ir.Graph) -> set[ir.Node]:
    """Return the nodes of a graph that its outputs need (subgraphs need what they capture)."""
    live: set[ir.Node] = set()
    stack: list[ir.Value | None] = list(graph.outputs)
    while stack:
        value = stack.pop()
        node = None if value is None else value.producer()
        if node is None or node in live or node.graph is not graph:
            continue
        live.add(node)
        stack.extend(node.inputs)
        for body in _all_graphs(node):
            for inner in body.all_nodes():
                stack.extend(inner.inputs)
            stack.extend(body.outputs)
    return live


def callers_first(model: ir.Model) -> list[ir.Function]:
    """Return the functions, each after all that call it."""
    order: list[ir.Function] = []
    seen: set[ir.OperatorIdentifier] = set()

    def visit(function: ir.Function) -> None:
        if function.identifier() in seen:
            return
        seen.add(function.identifier())
        for node in function.all_nodes():
            callee = model.functions.get(node.op_identifier())
            if callee is not None:
                visit(callee)
        order.append(function)

    for function in model.functions.values():
        visit(function)
    return order[::-1]


def _join_abstracts(parts: Iterable[Abstract], fresh: Callable[[int], Shape]) -> Abstract:
    parts = list(parts)
    dtypes = {p.dtype for p in parts}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    ranks = {p.rank for p in parts}
    if len(ranks) != 1 or None in ranks:
        return Abstract(dtype, None)
    shapes_ = [p.shape for p in parts if p.shape is not None]
    unknown = fresh(len(shapes_[0]))
    dims = zip(zip(*shapes_, strict=True), unknown, strict=True)
    return Abstract(dtype, tuple(d[0] if all(e is d[0] for e in d) else u for d, u in dims))


def _join_callers(
    parts: list[Abstract], merged: dict[tuple[Term, ...], Term], source: object
) -> Abstract:
    """Join what callers give: a dim that differs between them is one size of the function's own.

    Dims that are equal in every call are one size, whatever they are.
    """
    dtypes = {p.dtype for p in parts}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    shapes_ = [p.shape for p in parts if p.shape is not None]
    if len(shapes_) < len(parts) or len({len(s) for s in shapes_}) != 1:
        return Abstract(dtype, None)
    dims = []
    for axis, group in enumerate(zip(*shapes_, strict=True)):
        if group[0].constant is not None and all(t is group[0] for t in group):
            dims.append(group[0])
        else:
            dims.append(merged.setdefault(group, size(f"dim{len(merged)}", (source, axis))))
    first = parts[0].known
    same = first is not None and all(
        p.known is not None and p.known.shape == first.shape and bool((p.known == first).all())
        for p in parts
    )
    return Abstract(dtype, tuple(dims), first if same else None)


def interpret(model: ir.Model, *, distrust_dims: bool = False) -> Knowledge:
    """Return what is known of every value of a model without running it.

    ``distrust_dims`` drops the assumption that graph inputs that declare a dim under one name agree
    in it; runtimes do not check that.
    """
    return Interpreter(model, distrust_dims=distrust_dims).run()
