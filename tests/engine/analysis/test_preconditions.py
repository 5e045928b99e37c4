"""One list says what operators demand: it is learned, why nodes fail, and what is drawn within."""

import re

import onnx_ir as ir
import pytest

from onnx_scatterx.compare.draws.index_bounds import USES
from onnx_scatterx.engine.analysis.domain.call import Call
from onnx_scatterx.engine.analysis.model_analysis import ModelAnalysis, interpret
from onnx_scatterx.engine.analysis.preconditions import PRECONDITIONS, facts_of, first_false
from onnx_scatterx.engine.terms import Facts
from tests.helpers.native_support import RUNTIME
from tests.helpers.pair import rejections
from tests.helpers.support import parse, run, sample

N, MORE = {"N": 2}, {"N": 2, "M": 3}
CASES = [
    # inputs, node, facts, sizes at which it fails, and why
    ("float[N, 4] x", "Gather(x, [2, -5])", "N - 5", N, "out of bounds on axis 0 of size 2: -5"),
    ("float[4] x, int64[N] i", "Gather(x, i)", "", None, ""),
    ("float[N] x, int64[2] i", "Gather(x, i)", "N - 1", {"N": 0}, "axis 0 has no element for"),
    ("float[N, 0] x", "Gather(x, [2])", "N - 3", N, "out of bounds on axis 0 of size 2: 2"),
    (
        "float[N, 2] x, int64[M, 2] i",
        "GatherElements<axis=1>(x, i)",
        "N - M",
        MORE,
        "more indices than data beside axis 1",
    ),
    ("float[N] x", "GatherElements(x, [[0]])", "N - 1", N, "indices are of rank 2, data of rank 1"),
    ("float[N, 3] x", "GatherND(x, [[2, 0], [0, -3]])", "N - 3", N, "axis 0 of size 2: 2"),
    ("float[3, N] x", "GatherND<batch_dims=1>(x, [[2], [0], [0]])", "N - 3", N, "axis 1 of"),
    ("float[3, N] x", "GatherND(x, [[2], [5]])", "", None, ""),  # if N is 0, none is read
    ("float[N] x", "GatherND(x, [[2, 0]])", "N - 3", N, "indices name 2 axes of data of rank 1"),
    (
        "float[N] x, float[2] u",
        "ScatterElements(x, [1, 3], u)",
        "N - 4",
        N,
        "out of bounds on axis 0 of size 2: 3",
    ),
    ("float[N] x, float[1] u", "ScatterND(x, [[-4]], u)", "N - 4", N, "axis 0 of size 2: -4"),
    ("float[N] x, int64[1, 1] i, float[1] u", "ScatterND(x, i, u)", "", {"N": 0}, "no element for"),
    ("int64[N] x, int64[2] i", "ScatterElements(x, i, i)", "", {"N": 0}, "axis 0 has no element"),
    ("float[9] x, float[N] u", "ScatterND(x, [[2]], u)", "", N, "the updates must be of shape [1]"),
    (
        "float[1, N, 2] x, float[1, M, 2] u",
        "TensorScatter(x, u, [1])",
        "N - M - 1",
        MORE,
        "does not fit behind its start on axis 1: 1",
    ),
    ("float[N] x, float[3] u", "Add(x, u)", "", N, "they cannot be broadcast"),
    ("float[N] x", "Expand(x, [3])", "", N, "the first cannot be expanded to the second"),
    ("float[N] x", "Expand(x, Sub(Shape(x), [3]))", "N - 3", N, "a size is negative"),
    ("float[N] x", "ConstantOfShape(Sub(Shape(x), [3]))", "N - 3", N, "a size is negative"),
    ("float[N, 3] x, float[M, 4] u", "MatMul(x, u)", "", {"N": 1, "M": 2}, "3 columns, 2 rows"),
    ("float[3, N] x, float[3, 4] u", "Gemm(x, u)", "", N, "2 columns, 3 rows"),
    ("float[3, 4] x, float[4, N] u", "Gemm<transA=1, transB=1>(x, u)", "", N, "3 columns, 2 rows"),
    ("float[N, 2] x, float[3, 2] u", "Concat<axis=1>(x, u)", "", N, "the sizes beside axis 1"),
    (
        "float[N, 2] x, float[0, 3] u",
        "Concat<axis=0>(x, u)",
        "",
        None,
        "",
    ),  # empty
    ("float[N] x", "Unsqueeze(x, [2])", "", N, "an output of rank 2 has no axis 2"),
    ("float[N] x", "TopK(x, [3])", "N - 3", N, "3 of 2 elements cannot be chosen"),
    ("float[N, 4] x", "Reshape(x, [0, -1])", "N - 1", {"N": 0}, "-1 stands for no size if another"),
    ("float[N, 4] x", "Reshape(x, [3])", "", N, "the numbers of elements differ"),
    ("float[N, 4] x", "Reshape(x, [4, 2, 0])", "", N, "the 0 at position 2 has no dim to copy"),
    ("float[N, 4] x", "Reshape(x, [4, -2])", "", N, "a size is less than -1"),
    ("float[1, 1, N] x, float[1, 1, 3] u", "Conv(x, u)", "N - 3", N, "the window of the convolu"),
]


def _call(inputs: str, node: str, sizes: dict[str, int] | None = None) -> tuple[str, Call]:
    """Return the text of a model at some sizes, and its last node as the interpreter sees it."""
    for name, size in (sizes or {}).items():
        inputs = re.sub(rf"\b{name}\b", str(size), inputs)
    results = "z, k" if node.startswith("TopK") else "z"
    opset = 24 if node.startswith("TensorScatter") else 18
    head = f'<ir_version: 10, opset_import: ["": {opset}]>'
    text = f"{head} g ({inputs}) => (z) {{ {results} = {node} }}"
    model = ir.from_proto(parse(text))
    call = interpret(model).scopes[model.graph].call(model.graph[-1])
    return text, call._replace(facts=Facts())


@pytest.mark.parametrize(("inputs", "node", "facts", "sizes", "why"), CASES)
def test_what_is_learned_is_why_it_fails(
    inputs: str, node: str, facts: str, sizes: dict[str, int] | None, why: str
) -> None:
    _, call = _call(inputs, node)
    assert ", ".join(str(t) for t in facts_of(call) if t.constant is None) == facts
    if sizes is None:
        return
    text, call = _call(inputs, node, sizes)
    broken = first_false(call)
    assert broken is not None
    assert why in broken.told("its inputs")
    if call.version > 18 and RUNTIME < (1, 24):
        return
    model = parse(text)
    feeds = {}
    for given in model.graph.input:
        kind = {1: "float32", 7: "int64"}[given.type.tensor_type.elem_type]
        dims = given.type.tensor_type.shape.dim
        feeds[given.name] = sample(kind, *(d.dim_value for d in dims))
        for d in dims:
            d.dim_param = ""  # the run decides
    with pytest.raises(rejections()):
        run(model, feeds)


@pytest.mark.parametrize(
    ("dims", "facts"), [("N", ["N - z.1"]), ("3, 2", ["-z.1 + 6"]), ("N, 3", [])]
)
def test_how_many_elements_are_true_at_most(dims: str, facts: list[str]) -> None:
    """No product of sizes is learned."""
    assert [str(t) for t in facts_of(_call(f"bool[{dims}] x", "NonZero(x)")[1])] == facts


def test_what_new_nodes_demand_is_not_learned() -> None:
    """A node that was added runs if the original model does, and not the other way round."""
    model = ir.from_proto(parse("g (float[N] x) => (float[N] y) { y = Neg (x) }"))
    (x,) = model.graph.inputs
    analysis = ModelAnalysis(model)
    (n,) = analysis.knowledge.values[x].shape or ()
    node = ir.Node("", "Gather", [x, ir.Value(name="at", const_value=ir.tensor([4]))])
    model.graph.append(node)
    analysis.add([node])
    known = analysis.current()
    assert str(known.values[node.outputs[0]].shape) == "(1,)"
    assert not known.scopes[model.graph].facts.is_nonnegative(n - 5)


def test_every_operator_of_the_list_is_here() -> None:
    here = {node.split("(")[0].split("<")[0] for _, node, *_ in CASES}
    others = {op for op in PRECONDITIONS if PRECONDITIONS[op] != PRECONDITIONS["Add"]} - here
    assert others == {"ConvInteger", "NonZero", "Scatter", "Shape"}


@pytest.mark.parametrize(
    ("inputs", "node"),
    [
        ("float[3, 5] x", "Gather<axis=1>(x, [{}])"),
        ("float[3, 5] x", "GatherElements<axis=-1>(x, [[{}]])"),
        ("float[3, 5] x", "GatherND<batch_dims=1>(x, [[0], [{}], [0]])"),
        ("float[3, 5] x, float[1, 1] u", "ScatterElements<axis=1>(x, [[{}]], u)"),
        ("float[3, 5] x, float[1, 5] u", "ScatterND(x, [[{}]], u)"),
        ("float[1, 5, 2] x, float[1, 2, 2] u", "TensorScatter(x, u, [{}])"),
        ("float[3, 5] x", "TopK(x, [{}])"),
    ],
)
def test_what_is_drawn_is_what_does_not_fail(inputs: str, node: str) -> None:
    """The ends of the range that `verify` draws from hold, and the numbers beside them fail."""
    drawn = _call(inputs, node.format(0))[1].node
    (constraints,) = USES[drawn.op_type](drawn).values()
    ((bound,),) = constraints.values()
    ends = bound.interval({})
    assert ends is not None
    found = [
        first_false(_call(inputs, node.format(n))[1]) is None
        for n in (ends[0] - 1, ends[0], ends[1], ends[1] + 1)
    ]
    assert found == [False, True, True, False]


def test_a_size_at_which_an_index_is_out_of_bounds_is_ruled_out() -> None:
    """With one row, Squeeze would remove its axis; but then the Gather fails, if it runs."""
    for results, shape in (("y", "None"), ("y, w", "(N, 4)")):
        text = f"g (float[N, 4] x) => ({results}) {{ y = Squeeze(x)  w = Gather(x, [1]) }}"
        model = ir.from_proto(parse(text))
        assert str(interpret(model).values[model.graph.outputs[0]].shape) == shape
