"""The judge of a rewriting: a model and its result, run side by side in ONNX Runtime.

Every feed that the original accepts is judged up to three times.

- Optimizations off: the same bits, any NaN being equal to any NaN. Only the sign of a zero may
  differ, and only in an output that a Where of floats reaches which the original does not have.
- Optimizations off, with every Where of floats written as a choice of elements, as NumPy does it:
  the same bits, without exception but for the sign of a zero behind a ReduceSum of such a Where.
- ONNX Runtime's default options, if the original gives the same bits under them: the same again;
  if ONNX Runtime fuses other nodes of the two models, floats within rounding.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.helper
import onnx.inliner
import onnx.shape_inference
import onnxruntime as ort

import onnx_scatterx

Feed = Mapping[str, Any]
_FLOATS = {
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.DOUBLE,
    onnx.TensorProto.FLOAT16,
    onnx.TensorProto.BFLOAT16,
}
_TOLERANCE = {8: 1e-12, 4: 1e-5, 2: 1e-2}


class Pair:
    """Two models to be compared; with `library`, the second runs with the ScatterX library too."""

    def __init__(
        self, original: onnx.ModelProto, optimized: onnx.ModelProto, *, library: bool = False
    ) -> None:
        self.original, self.optimized = original, optimized
        self._libraries = (False, True) if library else (False,)
        self._sessions: dict[tuple[int, str, bool], ort.InferenceSession | None] = {}
        self.judged: Counter[str] = Counter()

    def accepts(self, feed: Feed) -> bool:
        """Compare the models on a feed; return False if the original rejects it."""
        try:
            expected = self._run(0, "plain", feed)
        except rejections():
            return False
        for library in self._libraries:
            self._compare(feed, expected, "plain", library, self._forgiven)
        if self._has_floats:
            exact = self._run(0, "exact", feed)
            for library in self._libraries:
                self._compare(feed, exact, "exact", library, self._summed)
        try:
            fused = self._run(0, "default", feed)
        except rejections():
            return True
        if agree(expected, fused):
            for library in self._libraries:
                self._compare(feed, expected, "default", library, self._forgiven, rounded=True)
        return True

    def _compare(
        self,
        feed: Feed,
        expected: list[Any],
        way: str,
        library: bool,
        forgiven: frozenset[int],
        rounded: bool = False,
    ) -> None:
        actual = self._run(1, way, feed, library)
        self.judged[way] += 1
        for i, (before, after) in enumerate(zip(expected, actual, strict=True)):
            same = agree(before, after, zeros=i in forgiven)
            if not same and rounded and agree(before, after, zeros=True, close=True):
                same = self._fuses_differently
            assert same, (
                f"{way}{', library' * library}, {describe(feed)}: output {i}: "
                f"{before} became {after}"
            )

    def _run(self, which: int, way: str, feed: Feed, library: bool = False) -> list[Any]:
        key = (which, way, library)
        if key not in self._sessions:
            model = (self.original, self.optimized)[which]
            if way == "exact":
                model = with_exact_where(model)
            self._sessions[key] = open_session(model, fused=way == "default", library=library)
        session = self._sessions[key]
        assert session is not None
        return list(session.run(None, dict(feed)))

    @cached_property
    def _forgiven(self) -> frozenset[int]:
        """The outputs that a Where of floats reaches which the original does not have."""
        return written_where(self.original, self.optimized)

    @cached_property
    def _summed(self) -> frozenset[int]:
        """The same, if a ReduceSum reads such a Where: ONNX Runtime adds to 0.0, and loses -0.0."""
        nodes = list(_flat(self.optimized).graph.node)
        wheres = {node.output[0] for node in nodes if node.op_type == "Where"}
        sums = [n for n in nodes if n.op_type == "ReduceSum" and n.input[0] in wheres]
        return self._forgiven if sums else frozenset()

    @cached_property
    def _has_floats(self) -> bool:
        """Whether one of the models has a Where of floats which can be made exact."""
        return any(_float_wheres(_flat(m)) for m in (self.original, self.optimized))

    @cached_property
    def _fuses_differently(self) -> bool:
        """Whether ONNX Runtime makes other nodes of the two models, beyond those they have."""
        return fused_nodes(self.original) != fused_nodes(self.optimized)


def assert_same(
    original: onnx.ModelProto,
    optimized: onnx.ModelProto,
    feeds: Iterable[Feed],
    *,
    rejected: int = 0,
    library: bool = False,
) -> int:
    """Compare two models on feeds; the original may reject some. Return how many ran."""
    pair = Pair(original, optimized, library=library)
    feeds = list(feeds)
    refusals = [describe(feed) for feed in feeds if not pair.accepts(feed)]
    assert len(refusals) <= rejected, f"the original rejects {refusals}"
    return len(feeds) - len(refusals)


def open_session(
    model: onnx.ModelProto, *, fused: bool = False, library: bool = False
) -> ort.InferenceSession:
    """Load a model, on one thread and quietly: without graph optimizations, or with the default."""
    options = ort.SessionOptions()
    if not fused:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    if library:
        return onnx_scatterx.session(model, session_options=options)
    data = model.SerializeToString()
    return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])


SESSIONS = (open_session, partial(open_session, fused=True))
"""How a model is loaded, in turn: without graph optimizations, and with the default options."""


def agree(before: Any, after: Any, *, zeros: bool = False, close: bool = False) -> bool:
    """Tell whether two outputs are equal bit for bit, any NaN being equal to any NaN.

    `zeros` lets the sign of a zero differ, and `close` floats by rounding.

    >>> agree(np.float32([np.nan, 0.0]), np.float32([-np.nan, 0.0]))
    True
    >>> agree(np.float32([0.0]), np.float32([-0.0]))
    False
    >>> agree(np.float32([0.0]), np.float32([-0.0]), zeros=True)
    True
    """
    if isinstance(before, (list, tuple)):
        same_kind = isinstance(after, (list, tuple)) and len(before) == len(after)
        pairs = zip(before, after, strict=False)
        return same_kind and all(agree(a, b, zeros=zeros, close=close) for a, b in pairs)
    if before is None or after is None:
        return before is after
    a, b = np.asarray(before), np.asarray(after)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind not in "fV":
        return bool(np.array_equal(a, b))
    bits = np.dtype(f"u{a.dtype.itemsize}")
    same = np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits)
    same = same.reshape(a.shape) | (np.isnan(a) & np.isnan(b))
    if zeros:
        same |= (a == 0) & (b == 0)
    if close and a.dtype.itemsize in _TOLERANCE:
        limit = _TOLERANCE[a.dtype.itemsize]
        same |= np.isclose(a.astype(np.float64), b.astype(np.float64), rtol=limit, atol=limit)
    return bool(np.all(same))


def describe(feed: Feed) -> str:
    """Name the shapes of a feed, for messages."""
    return ", ".join(f"{name}{list(np.shape(value))}" for name, value in feed.items())


def rejections() -> tuple[type[Exception], ...]:
    """Return the exceptions with which ONNX Runtime rejects a model or a feed."""
    state = ort.capi.onnxruntime_pybind11_state
    names = ("Fail", "InvalidArgument", "InvalidGraph", "NotImplemented", "RuntimeException")
    return tuple(getattr(state, name) for name in names)


def written_where(original: onnx.ModelProto, optimized: onnx.ModelProto) -> frozenset[int]:
    """Return the outputs of a model that a Where reaches which the original does not have.

    A Where of the original gives the name of its output to the same Where afterwards.
    """
    known = {o for n in _nodes(original) if n.op_type == "Where" for o in n.output}
    graph = optimized.graph
    reached: set[str] = set()
    functions = {(f.domain, f.name): f for f in optimized.functions}

    def is_new(node: onnx.NodeProto) -> bool:
        if node.op_type == "Where" and not known.issuperset(node.output):
            return True
        inner = [n for g in _subgraphs(node) for n in g.node]
        function = functions.get((node.domain, node.op_type))
        inner += [] if function is None else function.node
        return any(map(is_new, inner))

    def reads(node: onnx.NodeProto) -> set[str]:
        return set(node.input).union(*(reads(n) for g in _subgraphs(node) for n in g.node), ())

    for node in graph.node:  # sorted: what a node reads was seen before
        if is_new(node) or reads(node) & reached:
            reached |= set(node.output) - {""}
    return frozenset(i for i, o in enumerate(graph.output) if o.name in reached)


def with_exact_where(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model in which each Where of floats takes elements as they are.

        Where(c, a, b) = Squeeze(GatherElements(Concat([a], [b]), [not c]))      c, a, b expanded

    Before operator set 11, which lacks GatherElements, it is a Where.
    """
    flat = _flat(model)
    wheres = _float_wheres(flat)
    for graph in reversed(_graphs(flat.graph)):  # inner ones first: what is put back are copies
        nodes = list(graph.node)
        if not any(n.output and n.output[0] in wheres for n in nodes):
            continue
        del graph.node[:]
        for node in nodes:
            exact = node.op_type == "Where" and node.output[0] in wheres
            graph.node.extend(_choice(node, _version(flat)) if exact else [node])
    return flat


def _choice(node: onnx.NodeProto, version: int) -> list[onnx.NodeProto]:
    """Return what chooses elements as a Where does."""
    (y,), old = node.output, version < 13
    made: list[onnx.NodeProto] = []

    def new(op: str, *inputs: str, **attributes: Any) -> str:
        name = f"{y}/exact{len(made)}"
        made.append(onnx.helper.make_node(op, inputs, [name], **attributes))
        return name

    def axes(op: str, x: str) -> str:
        return new(op, x, axes=[0]) if old else new(op, x, zero)

    zero = new("Constant", value_ints=[0]) if not old else ""
    shape = new("Shape", new("Where", *node.input))
    c, a, b = (new("Expand", x, shape) for x in node.input)
    both = new("Concat", axes("Unsqueeze", a), axes("Unsqueeze", b), axis=0)
    which = axes("Unsqueeze", new("Cast", new("Not", c), to=onnx.TensorProto.INT64))
    axes("Squeeze", new("GatherElements", both, which, axis=0))
    made[-1].output[0] = y
    return made


def fused_nodes(model: onnx.ModelProto) -> Counter[tuple[str, str]]:
    """Count the nodes of a model in ONNX Runtime that the model itself has fewer of."""
    with tempfile.TemporaryDirectory() as directory:
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.optimized_model_filepath = str(Path(directory) / "fused.onnx")
        ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        fused = onnx.load(options.optimized_model_filepath)
    before, after = (Counter((n.domain, n.op_type) for n in _nodes(m)) for m in (model, fused))
    return after - before


def _flat(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy of a model without functions.

    ONNX Runtime calls no function of the default domain: a node of its name is the operator.
    """
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    called = [f for f in model.functions if f.domain not in ("", "ai.onnx")]
    del copy.functions[:]
    copy.functions.extend(called)
    return onnx.inliner.inline_local_functions(copy) if called else copy


def _float_wheres(model: onnx.ModelProto) -> set[str]:
    """Return the outputs of each Where of floats, as far as their types can be inferred."""
    found = {n.output[0] for g in _graphs(model.graph) for n in g.node if n.op_type == "Where"}
    if not found or _version(model) < 11:
        return set()
    for node in (n for g in _graphs(model.graph) for n in g.node if n.domain == "ai.onnx"):
        node.domain = ""  # runtimes know both names of the standard domain, and onnx one
    typed = onnx.shape_inference.infer_shapes(model)
    floats = {
        value.name
        for graph in _graphs(typed.graph)
        for value in (*graph.value_info, *graph.output)
        if value.type.tensor_type.elem_type in _FLOATS
    }
    return found & floats


def _version(model: onnx.ModelProto) -> int:
    (version,) = (o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    return int(version)


def _nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    nodes = [n for graph in _graphs(model.graph) for n in graph.node]
    for function in model.functions:
        nodes += [n for node in function.node for n in (node, *_below(node))]
    return nodes


def _below(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [n for sub in _subgraphs(node) for graph in _graphs(sub) for n in graph.node]


def _graphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    """Return a graph and all graphs in it."""
    found, waiting = [], [graph]
    while waiting:
        found.append(graph := waiting.pop())
        waiting += [sub for node in graph.node for sub in _subgraphs(node)]
    return found


def _subgraphs(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    return [g for a in node.attribute for g in ((a.g,) if a.HasField("g") else a.graphs)]
