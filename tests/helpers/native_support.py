"""The judge of target `scatterx`: the optimized model with the library, and without it."""

import onnx
import onnxruntime as ort
import pytest

import onnx_scatterx
from onnx_scatterx.graphs.traversal import is_scatterx_domain
from tests.helpers.pair import Feed, assert_same, open_session
from tests.helpers.support import feed_of, parse, passes_checker, signature

OPERATOR = "ScatterX"
RUNTIME = tuple(int(n) for n in ort.__version__.split(".")[:2])


def since(major: int, minor: int, what: str) -> pytest.MarkDecorator:
    """Mark a test that needs an ONNX Runtime which can do something."""
    reason = f"{what} came with ONNX Runtime {major}.{minor}"
    return pytest.mark.skipif((major, minor) > RUNTIME, reason=reason)


def run_native(model: onnx.ModelProto, feed: Feed) -> list[object]:
    """Return the outputs of a model with the library registered, on one thread."""
    return list(open_session(model, library=True).run(None, dict(feed)))


def check(
    model: str | onnx.ModelProto, *feeds: Feed, rejected: int = 0, target: str = "scatterx"
) -> onnx.ModelProto:
    """Optimize for a target, compare with the original on every feed, and return the result.

    Of a feed, inputs and symbolic sizes are given. `rejected` is how many feeds the original may
    refuse to run.
    """
    original = parse(model) if isinstance(model, str) else model
    kept = original.SerializeToString(deterministic=True)
    optimized: onnx.ModelProto = onnx_scatterx.optimize(original, target=target).model
    assert original.SerializeToString(deterministic=True) == kept, "optimize changed its argument"
    if original.ir_version >= 4:
        assert signature(optimized) == signature(original), "inputs or outputs changed"
    for full in (False, True):
        if passes_checker(original, full):
            onnx.checker.check_model(optimized, full_check=full)
    if feeds:
        whole = [feed_of(original, some, seed) for seed, some in enumerate(feeds)]
        assert_same(original, optimized, whole, rejected=rejected, library=True)
    return optimized


def graphs(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """List the nodes of a model, those of subgraphs and functions too, fallback bodies left out."""
    waiting = list(model.graph.node)
    waiting += (n for f in model.functions if not is_scatterx_domain(f.domain) for n in f.node)
    found = []
    while waiting:
        found.append(node := waiting.pop(0))
        for attribute in node.attribute:
            for graph in (attribute.g, *attribute.graphs):
                waiting += graph.node
    return found


def natives(model: onnx.ModelProto) -> list[onnx.NodeProto]:
    """List the ScatterX nodes of a model."""
    return [n for n in graphs(model) if n.op_type == OPERATOR and is_scatterx_domain(n.domain)]


def picks(node: onnx.NodeProto) -> tuple[tuple[int, ...], ...]:
    """Return (p1, p2, p) of a node, which must have all its attributes."""
    attributes = {a.name: a for a in node.attribute}
    assert set(attributes) == {"p1", "p2", "p", "reduction", "unique"}
    return tuple(tuple(attributes[name].ints) for name in ("p1", "p2", "p"))


def unique(node: onnx.NodeProto) -> int:
    """Return whether a node promises that no two updates meet."""
    return next(int(a.i) for a in node.attribute if a.name == "unique")


def operators(model: onnx.ModelProto) -> list[str]:
    """List the operators of a model's main graph, in order."""
    return [n.op_type for n in model.graph.node]


def fallback(model: onnx.ModelProto, node: onnx.NodeProto) -> onnx.FunctionProto:
    """Return the function that runs where the operator is not registered."""
    called = (node.domain, node.op_type, node.overload)
    functions: list[onnx.FunctionProto] = list(model.functions)
    (function,) = (f for f in functions if (f.domain, f.name, f.overload) == called)
    return function


def body(model: onnx.ModelProto, node: onnx.NodeProto) -> list[str]:
    """List the operators of a node's fallback, constants left out."""
    return [n.op_type for n in fallback(model, node).node if n.op_type != "Constant"]
