"""Ranks that tensors without elements would have: ONNX Runtime leaves their negative axes alone."""

import onnx_ir as ir
import pytest

from onnx_scatterx.indexing.call import Call
from onnx_scatterx.indexing.failing import fails
from onnx_scatterx.indexing.interpreter import interpret
from tests.support import assert_sound, f32, i64, parse, rejections, run, sample

_FAILING = {
    "Add": ("float[N, 0] x, float[3] y", "z = Add(x, y)"),
    "Equal": ("float[2] x, float[3] y", "z = Equal(x, y)"),
    "Where": ("bool[1] c, float[0] x, float[2] y", "z = Where(c, x, y)"),
    "Expand": ("float[0] x", "s = Constant<value_ints=[2]>() z = Expand(x, s)"),
    "GatherElements": ("float[0, 3] x, int64[0] i", "z = GatherElements(x, i)"),
    "ScatterElements": ("float[0, 3] x, int64[0] i, float[0] u", "z = ScatterElements(x, i, u)"),
    "GatherND": ("float[0, 3] x, int64[0, 3] i", "z = GatherND(x, i)"),
    "ScatterND, axes": ("float[0] x, int64[0, 2] i, float[0] u", "z = ScatterND(x, i, u)"),
    "ScatterND, rank": ("float[3, 4] x, int64[0, 1] i, float[0] u", "z = ScatterND(x, i, u)"),
    "ScatterND, dim": ("float[3, 4] x, int64[2, 1] i, float[2, 0] u", "z = ScatterND(x, i, u)"),
    "TopK": ("float[2, 0] x", "k = Constant<value_ints=[1]>() z, i = TopK(x, k)"),
    "Reshape, -1": ("float[0, 4] x", "s = Constant<value_ints=[0, -1]>() z = Reshape(x, s)"),
    "Reshape, part": ("float[3] x", "s = Constant<value_ints=[-1, 2]>() z = Reshape(x, s)"),
    "Reshape, other": ("float[0] x", "s = Constant<value_ints=[2]>() z = Reshape(x, s)"),
}


@pytest.mark.parametrize("name", _FAILING)
def test_what_is_said_to_fail_fails(name: str) -> None:
    inputs, nodes = _FAILING[name]
    given = parse(f"g ({inputs}) => (z) {{ {nodes} }}")
    model = ir.from_proto(given)
    known = interpret(model)
    node = model.graph[-1]
    call = Call(
        node,
        [known.values[v] for v in node.inputs if v is not None],
        18,
        known.scopes[model.graph].facts,
    )
    assert fails(call)
    feed = {}
    for i in given.graph.input:
        kind = {1: "float32", 7: "int64", 9: "bool"}[i.type.tensor_type.elem_type]
        feed[i.name] = sample(kind, *(d.dim_value for d in i.type.tensor_type.shape.dim))
        for d in i.type.tensor_type.shape.dim:
            d.dim_param = ""  # the run decides
    with pytest.raises(rejections()):
        run(given, feed)


@pytest.mark.parametrize(
    ("inputs", "nodes"),
    [
        ("float[N, 0] x, float[1] y", "z = Add(x, y)"),
        ("float[N, 3] x, float[M, 1] y", "z = Add(x, y)"),
        ("float[0, 4] x", "s = Constant<value_ints=[-1, 4]>() z = Reshape(x, s)"),
        ("float[N, 4] x", "s = Constant<value_ints=[-1, 8]>() z = Reshape(x, s)"),
        ("float[3, 4] x, int64[K, 1] i, float[2, 4] u", "z = ScatterND(x, i, u)"),
    ],
)
def test_what_may_run_is_not_said_to_fail(inputs: str, nodes: str) -> None:
    model = ir.from_proto(parse(f"g ({inputs}) => (z) {{ {nodes} }}"))
    known = interpret(model)
    node = model.graph[-1]
    facts = known.scopes[model.graph].facts
    assert not fails(Call(node, [known.values[v] for v in node.inputs if v is not None], 18, facts))


@pytest.mark.parametrize(
    "keep", ["ReduceMax<keepdims=0>(x, last)", "ArgMax<axis=-1, keepdims=0>(x)"]
)
def test_a_rank_that_only_tensors_with_elements_have_is_not_believed(keep: str) -> None:
    """With no rows, ``r`` has two dims, and the model runs."""
    model = parse(f"""
        g (float[N, 4] x) => (y) <int64[1] last = {{-1}}, int64[1] whole = {{-1}}> {{
            r = {keep}
            f = Cast<to=1>(r)
            zero = Sub(f, f)
            m = Equal(f, zero)
            where = NonZero(m)
            rows = Transpose<perm=[1, 0]>(where)
            picked = GatherND(f, rows)
            u = Neg(picked)
            s = ScatterND(f, rows, u)
            y = Reshape(s, whole)
        }}""")
    feeds = [{"x": sample("float32", n, 4)} for n in (3, 1, 0)]
    assert_sound(model, *feeds)


def test_sizes_at_which_nothing_runs_are_not_asked_about() -> None:
    """Groups of experts: with no rows there would be three dims, and Expand fails."""
    model = parse("""
        g (float[N, 4, 2] x) => (float[N, 4, 2] y)
        <int64[1] last = {-1}, int64[1] two = {2}, float one = {1}, int64[3] whole = {-1, 4, 2}> {
            groups = ReduceSum<keepdims=0>(x, last)
            shape = Shape(groups)
            zeros = ConstantOfShape(shape)
            best, at = TopK(groups, two)
            like = Shape(at)
            ones = Expand(one, like)
            chosen = ScatterElements<axis=1>(zeros, at, ones)
            column = Unsqueeze(chosen, last)
            all = Constant<value_ints=[1, 4, 2]>()
            spread = Expand(column, all)
            y = Mul(x, spread)
        }""")
    feeds = [{"x": sample("float32", n, 4, 2)} for n in (3, 1, 0)]
    assert_sound(model, *feeds, left=0, rejected=1)


def test_a_size_that_a_branch_would_refuse_is_asked_about() -> None:
    """What stands in a branch need not run."""
    model = parse("""
        g (float[N, 4] x, bool b) => (y) <int64[1] last = {-1}> {
            r = ReduceMax<keepdims=0>(x, last)
            zero = Sub(r, r)
            m = Equal(r, zero)
            where = NonZero(m)
            rows = Transpose<perm=[1, 0]>(where)
            picked = GatherND(r, rows)
            u = Neg(picked)
            s = ScatterND(r, rows, u)
            y = If(b) <then_branch = a () => (t) { t = Identity(s) },
                       else_branch = c () => (e) {
                           k = Constant<value_ints=[1]>()
                           v, i = TopK<axis=0>(r, k)
                           e = Identity(v)
                       }>
        }""")
    feeds = [{"x": sample("float32", n, 4), "b": b} for n in (3, 0) for b in (True, False)]
    assert_sound(model, *[{**f, "b": f32(f["b"]).astype(bool)} for f in feeds], left=1, rejected=1)


def test_the_first_true_elements_are_not_all() -> None:
    for updates, more in (
        ("Expand(one, n)", ""),
        ("GatherND(w, rows)", ""),
        ("Identity(w2)", ", float[K] w2"),
    ):
        model = parse(f"""
            g (float[N] x, bool[N] m, float[N] w{more}) => (float[N] y)
            <int64[1] zero = {{0}}, int64[1] two = {{2}}, float one = {{1}}> {{
                found = NonZero(m)
                all = Transpose<perm=[1, 0]>(found)
                rows = Slice(all, zero, two)
                n = Shape<start=0, end=1>(rows)
                u = {updates}
                y = ScatterND(x, rows, u)
            }}""")
        feed = {
            "x": sample("float32", 7),
            "m": i64([1, 1, 0, 1, 0, 1, 0]) > 0,
            "w": sample("float32", 7),
        }
        assert_sound(model, feed | ({"w2": f32([3, 4])} if more else {}))
