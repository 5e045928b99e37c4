"""What the soundness tests share: models of text, hard inputs, and one call that judges a model.

`assert_sound` optimizes a model and has a `Pair` compare it with the original.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import onnx.reference
from numpy.typing import ArrayLike

import onnx_scatterx
from onnx_scatterx.targets.catalogue import AnyTarget
from tests.helpers.onnx_syntax import parser_text
from tests.helpers.pair import Feed, Pair, agree, describe, open_session, rejections

Judge = Callable[[onnx.ModelProto, Feed], list[Any]]

SCATTERS = frozenset({"Scatter", "ScatterND", "ScatterElements", "TensorScatter"})
GATHERS = frozenset({"Gather", "GatherElements", "GatherND"})


def parse(text: str, opset: int = 18, ir_version: int = 8, more: str = "") -> onnx.ModelProto:
    """Parse a graph (`onnx_syntax.py`) and functions after it, under the header of an opset.

    The header imports the domains of the functions, and ``more``. A text may have its own.
    """
    if text.lstrip().startswith("<"):
        return onnx.parser.parse_model(parser_text(text))
    own = dict.fromkeys(re.findall(r'<domain: "(\w+)"', text))
    imported = "".join(f', "{domain}" : 1' for domain in own if f'"{domain}"' not in more)
    header = f'<ir_version: {ir_version}, opset_import: ["" : {opset}{imported}{more}]>'
    return onnx.parser.parse_model(header + parser_text(text))


def run(model: onnx.ModelProto, feed: Feed) -> list[Any]:
    """Return the outputs of a model in ONNX Runtime.

    What a model rejects raises one of ONNX Runtime's own exceptions.
    """
    return list(open_session(model).run(None, dict(feed)))


def run_reference(model: onnx.ModelProto, feed: Feed, new_ops: Sequence[type] = ()) -> list[Any]:
    """Return the outputs in ONNX's reference implementation, for what ONNX Runtime lacks."""
    evaluator = onnx.reference.ReferenceEvaluator(model, new_ops=list(new_ops))
    return list(evaluator.run(None, dict(feed)))


def scatters(model: onnx.ModelProto) -> int:
    """Count the scatter nodes of a model, those of subgraphs and functions too."""
    return sum(node.op_type in SCATTERS and node.domain in ("", "ai.onnx") for node in nodes(model))


def gathers_in(model: onnx.ModelProto) -> int:
    """Count the nodes of a model that read by indices, those of subgraphs and functions too."""
    return sum(node.op_type in GATHERS and node.domain in ("", "ai.onnx") for node in nodes(model))


def nodes(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """List every node of a model: of its graph, of all subgraphs and of all functions."""
    waiting: list[onnx.NodeProto] = list(model.graph.node)
    waiting += (node for function in model.functions for node in function.node)
    found = []
    while waiting:
        found.append(node := waiting.pop())
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                waiting += graph.node
    return found


def f32(values: ArrayLike) -> np.ndarray:
    """Make an array of float32."""
    return np.asarray(values, np.float32)


def i64(values: ArrayLike) -> np.ndarray:
    """Make an array of int64."""
    return np.asarray(values, np.int64)


def sample(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    """Draw an array that is hard on sloppy rules: NaN, infinities, both zeros, the ends of ranges.

    >>> sample("bool", 2, 3).shape
    (2, 3)
    """
    rng = np.random.default_rng([seed, *shape])
    if dtype == "string":
        return rng.choice(
            np.array(["", "a", "scatter", "\N{GREEK SMALL LETTER PI}"], object), shape
        )
    kind = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    if kind.kind in "iu":
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        return rng.integers(low, high, shape, kind, endpoint=True)
    array = rng.standard_normal(shape).round(2)
    odd = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0], shape)
    return np.where(rng.random(shape) < 0.3, odd, array).astype(kind)


def assert_sound(
    model: str | onnx.ModelProto,
    *feeds: Feed,
    left: int | None = None,
    rejected: int = 0,
    judge: Judge = run,
    gathers: bool = False,
    target: AnyTarget = "standard",
) -> int:
    """Optimize a model for a target and compare it with the original on every feed.

    A feed has inputs, and symbolic sizes of those that are drawn. `rejected` is how many feeds the
    original may refuse to run, `left` how many scatters must remain (None: as many as may be).
    Returns how many remain. With `gathers`, gathers are counted.
    """
    original = parse(model) if isinstance(model, str) else model
    optimized = optimize(original, target, gathers=gathers)
    pair = Pair(original, optimized)
    accepts = pair.accepts if judge is run else _judged_by(judge, original, optimized)
    whole = [feed_of(original, some, seed) for seed, some in enumerate(feeds or ({},))]
    refusals = [describe(feed) for feed in whole if not accepts(feed)]
    assert len(refusals) <= rejected, f"the original rejects {refusals}"
    assert len(refusals) < max(1, len(feeds)), "the original accepts no feed"
    what = "gathers" if gathers else "scatters"
    remaining = gathers_in(optimized) if gathers else scatters(optimized)
    assert left is None or remaining == left, f"{remaining} {what} are left, not {left}"
    return remaining


def feed_of(model: onnx.ModelProto, given: Feed, seed: int) -> Feed:
    """Return a feed of all inputs: as given, or drawn where only sizes are.

    >>> model = parse("g (float[N,2] x, int64[N] i) => (float[N,2] y) { y = Gather (x, i) }")
    >>> {name: array.shape for name, array in feed_of(model, {"i": [0, 1, 1]}, 0).items()}
    {'x': (3, 2), 'i': (3,)}
    """
    constants = {constant.name for constant in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name in given or i.name not in constants]
    if given.keys() == {i.name for i in inputs}:
        values = given.values()
        if not any(isinstance(value, int | np.integer | float | list) for value in values):
            return given
    dims: dict[str | int, int] = {
        n: int(v) for n, v in given.items() if isinstance(v, int | np.integer)
    }
    feed: dict[str, Any] = {}
    for n, value in enumerate(sorted(inputs, key=lambda i: i.name not in given)):
        tensor = value.type.tensor_type
        if value.type.WhichOneof("value") != "tensor_type" or not tensor.HasField("shape"):
            feed[value.name] = given[value.name]
            continue
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        declared = [d.dim_param or d.dim_value for d in tensor.shape.dim]
        shape = [dims.get(d, d) for d in declared]
        if value.name in given:
            array = np.asarray(given[value.name], kind)
            if array.ndim != len(shape):  # an empty list
                array = array.reshape([int(n) for n in shape])
            feed[value.name] = array
            dims.update(zip(declared, array.shape, strict=True))
        else:
            name = "string" if kind.kind == "O" else kind.name
            feed[value.name] = np.asarray(sample(name, *map(int, shape), seed=seed + n))
    return {i.name: feed[i.name] for i in inputs}


def _judged_by(
    judge: Judge, original: onnx.ModelProto, optimized: onnx.ModelProto
) -> Callable[[Feed], bool]:
    """Return a comparison of two models that ONNX Runtime cannot run."""

    def accepts(feed: Feed) -> bool:
        try:
            expected = judge(original, feed)
        except rejections():
            return False
        actual = judge(optimized, feed)
        assert agree(expected, actual), f"{describe(feed)}: {expected} became {actual}"
        return True

    return accepts


def optimize(
    original: onnx.ModelProto, target: AnyTarget = "standard", *, gathers: bool = False
) -> onnx.ModelProto:
    """Optimize for a target, and check all that can be seen without running the result."""
    kept = original.SerializeToString(deterministic=True)
    result = onnx_scatterx.optimize(original, target=target, gathers=gathers)
    optimized = result.model
    assert isinstance(optimized, onnx.ModelProto), "a ModelProto must come back as a ModelProto"
    assert original.SerializeToString(deterministic=True) == kept, "optimize changed its argument"
    assert signature(optimized) == signature(original), "inputs or outputs changed"
    strictest = next((full for full in (True, False) if passes_checker(original, full)), None)
    if strictest is not None:  # the full check is the other one, and shape inference
        onnx.checker.check_model(optimized, full_check=strictest)
    return optimized


def signature(model: onnx.ModelProto) -> tuple[Any, ...]:
    """Return the interface: inputs with types, outputs with element types, overridables."""
    graph = model.graph
    return (
        [(i.name, i.type.SerializeToString(deterministic=True)) for i in graph.input],
        [(o.name, o.type.WhichOneof("value"), o.type.tensor_type.elem_type) for o in graph.output],
        {i.name for i in graph.input} & {i.name for i in graph.initializer},
    )


def passes_checker(model: onnx.ModelProto, full: bool) -> bool:
    """Tell whether ONNX's checker, with shape inference if full, accepts a model."""
    try:
        onnx.checker.check_model(model, full_check=full)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True
