"""Ranks that depend on a size: negative axes of tensors without elements, a Squeeze of all ones."""

import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.analysis.domain.call import Call
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.analysis.preconditions import first_false
from tests.helpers.native_support import RUNTIME
from tests.helpers.pair import rejections
from tests.helpers.support import assert_sound, parse, run, sample, scatters

_FAILING = {
    "Add": ("float[N, 0] x, float[3] y", "z = Add(x, y)"),
    "Equal": ("float[2] x, float[3] y", "z = Equal(x, y)"),
    "Where": ("bool[1] c, float[0] x, float[2] y", "z = Where(c, x, y)"),
    "Expand": ("float[0] x", "s = Constant<value_ints=[2]>() z = Expand(x, s)"),
    "GatherElements": ("float[0, 3] x, int64[0] i", "z = GatherElements(x, i)"),
    "ScatterElements": ("float[0, 3] x, int64[0] i, float[0] u", "z = ScatterElements(x, i, u)"),
    "Gather, empty": ("float[0, 3] x, int64 i", "z = Gather(x, i)"),
    "GatherElements, empty": ("float[0, 3] x, int64[1, 3] i", "z = GatherElements(x, i)"),
    "GatherND": ("float[0, 3] x, int64[0, 3] i", "z = GatherND(x, i)"),
    "GatherND, empty": ("float[2, 0, 3] x, int64[2, 1] i", "z = GatherND<batch_dims=1>(x, i)"),
    "ScatterElements, empty": (
        "float[3, 0] x, int64[3, 1] i, float[3, 1] u",
        "z = ScatterElements<axis=1>(x, i, u)",
    ),
    "ScatterND, empty": ("float[0, 0] x, int64[1, 1] i, float[1, 0] u", "z = ScatterND(x, i, u)"),
    "ScatterND, axes": ("float[0] x, int64[0, 2] i, float[0] u", "z = ScatterND(x, i, u)"),
    "ScatterND, rank": ("float[3, 4] x, int64[0, 1] i, float[0] u", "z = ScatterND(x, i, u)"),
    "ScatterND, dim": ("float[3, 4] x, int64[2, 1] i, float[2, 0] u", "z = ScatterND(x, i, u)"),
    "Unsqueeze": ("float x", "k = Constant<value_ints=[1]>() z = Unsqueeze(x, k)"),
    "Unsqueeze, -": ("float x", "k = Constant<value_ints=[-2]>() z = Unsqueeze(x, k)"),
    "TopK": ("float[2, 0] x", "k = Constant<value_ints=[1]>() z, i = TopK(x, k)"),
    "Reshape, -1": ("float[0, 4] x", "s = Constant<value_ints=[0, -1]>() z = Reshape(x, s)"),
    "Reshape, more": (
        "float[0, 4] x, int64[1] n",
        "s = Constant<value_ints=[0, -1]>() t = Concat<axis=0>(s, n) z = Reshape(x, t)",
    ),
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
    assert first_false(call) is not None
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
        (
            "float[0, 4] x, int64[1] n",
            "s = Constant<value_ints=[0]>() t = Concat<axis=0>(s, n) z = Reshape(x, t)",
        ),
        (
            "float[N, 4] x, int64[1] n",
            "s = Constant<value_ints=[0, -1]>() t = Concat<axis=0>(s, n) z = Reshape(x, t)",
        ),
        ("float x", "k = Constant<value_ints=[-1, 0]>() z = Unsqueeze(x, k)"),
        ("float[0, 3] x, int64[N] i", "z = Gather(x, i)"),
        ("float[3, 0] x, int64[2] i", "z = Gather(x, i)"),
        ("float[0, 0] x, int64[1, 1] i", "z = GatherND(x, i)"),
        ("float[0, 3] x, int64[1, 1] i", "z = GatherND<batch_dims=1>(x, i)"),
        ("float[0, 3] x, int64[0, 3] i", "z = GatherElements(x, i)"),
    ],
)
def test_what_may_run_is_not_said_to_fail(inputs: str, nodes: str) -> None:
    model = ir.from_proto(parse(f"g ({inputs}) => (z) {{ {nodes} }}"))
    known = interpret(model)
    node = model.graph[-1]
    facts = known.scopes[model.graph].facts
    call = Call(node, [known.values[v] for v in node.inputs if v is not None], 18, facts)
    assert first_false(call) is None


@pytest.mark.parametrize(
    "keep", ["ReduceMax<keepdims=0>(x, last)", "ArgMax<axis=-1, keepdims=0>(x)"]
)
def test_a_rank_that_only_tensors_with_elements_have_is_not_believed(keep: str) -> None:
    """With no rows, ``r`` has two dims, and the model runs."""
    model = parse(f"""
        g (float[N, 4] x) => (y) <int64[1] last = {{-1}}> {{
            r = {keep}
            f = Cast<to=1>(r)
            where = NonZero(Equal(f, Sub(f, f)))
            rows = Transpose<perm=[1, 0]>(where)
            s = ScatterND(f, rows, Neg(GatherND(f, rows)))
            y = Reshape(s, [-1]) }}""")
    assert_sound(model, *({"N": n} for n in (3, 1, 0)))


def test_sizes_at_which_nothing_runs_are_not_asked_about() -> None:
    """Groups of experts: with no rows there would be three dims, and Expand fails."""
    model = parse("""
        g (float[N, 4, 2] x) => (float[N, 4, 2] y) <int64[3] whole = {-1, 4, 2}> {
            groups = ReduceSum<keepdims=0>(x, [-1])
            zeros = ConstantOfShape(Shape(groups))
            best, at = TopK(groups, [2])
            chosen = ScatterElements<axis=1>(zeros, at, Expand(float 1, Shape(at)))
            y = Mul(x, Expand(Unsqueeze(chosen, [-1]), Constant<value_ints=[1, 4, 2]>())) }""")
    assert_sound(model, *({"N": n} for n in (3, 1, 0)), left=0, rejected=1)


def test_a_squeeze_of_all_ones_where_it_cannot_take_a_size() -> None:
    """With one row there would be a scalar, and Unsqueeze fails."""
    model = parse("""
        g (float[N, 4] x, float[N, 1] u) => (float[N, 4] y) {
            column = Unsqueeze(Squeeze(u), [1])
            y = ScatterElements<axis=1>(x, Expand(0, Shape(column)), column) }""")
    assert_sound(model, *({"N": n} for n in (3, 1, 0)), left=0, rejected=1)


def _first_column_negated(dim: str) -> onnx.ModelProto:
    return parse(f"""
        g (float[{dim}, 4] x) => (y) {{
            s = Squeeze(x)
            first = Slice(s, [0], [1], [-1])
            u = Neg(first)
            index = Cast<to=7>(ConstantOfShape(Shape(first)))
            y = ScatterElements<axis=-1>(s, index, u) }}""")


@pytest.mark.parametrize(("dim", "left"), [("N", 1), ("2", 0), ("0", 0), ("1", 0)])
def test_a_squeeze_of_all_ones_that_may_take_a_size(dim: str, left: int) -> None:
    """With one row there is one dim, and the model runs."""
    sizes = (3, 2, 1, 0) if dim == "N" else (0,)
    assert_sound(_first_column_negated(dim), *({"N": n} for n in sizes), left=left)


def test_what_would_settle_a_squeeze_is_said() -> None:
    model = _first_column_negated("N")
    (scatter,) = onnx_scatterx.inspect(model).scatters
    assert "N >= 2" in str(scatter.refusal)
    assert not scatters(onnx_scatterx.optimize(model, target="standard", assume="N >= 2").model)


def test_two_sizes_that_only_together_may_be_0() -> None:
    """One alone would give ranks that GatherElements refuses; neither is excluded by that."""
    model = parse("""
        g (float[N, 4] x, float[M, 4] z) => (y) {
            r = ReduceMax<keepdims=0>(x, [-1])
            zeros = ConstantOfShape(Shape(ReduceMax<keepdims=0>(z, [-1])))
            picked = GatherElements(r, Cast<to=7>(zeros))
            rows = Transpose<perm=[1, 0]>(NonZero(Equal(picked, picked)))
            s = ScatterND(picked, rows, Neg(GatherND(picked, rows)))
            y = Reshape(s, [-1]) }""")
    sizes = ((3, 2), (1, 1), (0, 0), (2, 0), (0, 2))
    assert_sound(model, *({"N": n, "M": m} for n, m in sizes), left=1, rejected=2)


@pytest.mark.parametrize(("use", "dim"), [("Mul(r, c)", "S"), ("Neg(r)", "S - 6*[S - 1 >= 0] + 6")])
def test_a_size_that_a_reshape_would_copy_if_it_were_0(use: str, dim: str) -> None:
    """``[B, 1, S, 6]`` has 6 rows where S and B are 0, which cannot be multiplied by S of them."""
    given = parse(f"""
        g (float[B, S, 6] x, float[S, 1] c) => (y) <int64 zero = {{0}}> {{
            t = Concat<axis=0>(Shape<start=0, end=1>(x), [1], Shape<start=1, end=2>(x), [6])
            r = Reshape(x, t)
            m = {use}
            row = Gather<axis=2>(m, [1])
            back = Neg(row)
            y = ScatterElements<axis=2>(m, Expand([1], Shape(row)), back) }}""")
    model = ir.from_proto(given)
    known = interpret(model)
    shape = next(known.values[n.outputs[0]].shape for n in model.graph if n.op_type == "Reshape")
    assert [str(d) for d in shape or ()] == ["B", "1", dim, "6"]
    feeds = ({"B": b, "S": s} for b, s in ((2, 3), (0, 2), (0, 0), (2, 0)))
    assert_sound(given, *feeds, left=0, rejected=2 if "Mul" in use else 1)


def test_a_reshape_to_a_factor_of_what_it_would_copy() -> None:
    """Where B is 0, so is ``B * S``."""
    model = ir.from_proto(
        parse("""
        g (float[B, S] x) => (y) {
            t = Concat<axis=0>(Shape<start=0, end=1>(x), [1], Shape<start=1, end=2>(x))
            y = Reshape(Reshape(x, [-1]), t) }""")
    )
    found = interpret(model).values[model.graph.outputs[0]].shape
    assert [str(d) for d in found or ()] == ["B", "1", "S"]


def test_a_size_that_a_branch_would_refuse_is_asked_about() -> None:
    """What stands in a branch need not run."""
    model = parse("""
        g (float[N, 4] x, bool b) => (y) {
            r = ReduceMax<keepdims=0>(x, [-1])
            m = Equal(r, Sub(r, r))
            rows = Transpose<perm=[1, 0]>(NonZero(m))
            s = ScatterND(r, rows, Neg(GatherND(r, rows)))
            y = If(b) <then_branch = a () => (t) { t = Identity(s) },
                       else_branch = c () => (e) {
                           k = Constant<value_ints=[1]>()
                           v, i = TopK<axis=0>(r, k)
                           e = Identity(v)
                       }>
        }""")
    feeds = ({"N": n, "b": b} for n in (3, 0) for b in (True, False))
    assert_sound(model, *feeds, left=1, rejected=1)


def test_the_first_true_elements_are_not_all() -> None:
    for updates, more in (
        ("Expand(one, n)", ""),
        ("GatherND(w, rows)", ""),
        ("Identity(w2)", ", float[K] w2"),
    ):
        model = parse(f"""
            g (float[N] x, bool[N] m, float[N] w{more}) => (float[N] y) <float one = {{1}}> {{
                rows = Slice(Transpose<perm=[1, 0]>(NonZero(m)), [0], [2])
                n = Shape<start=0, end=1>(rows)
                u = {updates}
                y = ScatterND(x, rows, u) }}""")
        assert_sound(model, {"m": [1, 1, 0, 1, 0, 1, 0], "K": 2})


@pytest.mark.parametrize(
    ("a", "b", "axis", "dims"),
    [
        ("2, 1", "N, 0, 1", -1, "(2, 1)"),
        ("N, 1", "0, 5, 1", -1, "(N, 6)"),  # the first one, with elements or without
        ("0, 1", "N, 0, 1", 1, "(0, 1)"),
        ("0, 5, 1", "2, 3", -1, "(2, 8)"),
        ("0, 5, 1", "0, 3", 1, "(0, 8, 1)"),
        ("0, 5, 1", "N, 3", -1, "None"),  # which of them it is
        ("0, 2", "5", 1, "None"),  # no such dim
    ],
)
def test_inputs_without_elements_are_joined_whatever_their_rank(
    a: str, b: str, axis: int, dims: str
) -> None:
    def model(a: str, b: str) -> onnx.ModelProto:
        return parse(f"g (float[{a}] x, float[{b}] y) => (z) {{ z = Concat<axis={axis}>(x, y) }}")

    known = ir.from_proto(model(a, b))
    shape = interpret(known).values[known.graph.outputs[0]].shape
    assert str(shape) == dims
    if shape is None:
        return
    feeds = {k: sample("float32", *eval(f"[{v}]", {"N": 2})) for k, v in (("x", a), ("y", b))}
    shown = model(a, b)
    for value in shown.graph.input:
        value.type.tensor_type.ClearField("shape")  # with ranks that differ it is not loaded
    try:
        (found,) = run(shown, feeds)
    except rejections():
        assert RUNTIME >= (1, 32), "up to 1.31 every one of them runs"
    else:
        assert found.shape == eval(dims, {"N": 2})


def test_lengths_by_a_negative_axis_beside_the_rows() -> None:
    """With no column to add up there would be three dims, and the updates do not fit."""
    model = parse("""
        g (int64[2, S] mask, float[2, 9] x, float[2] u) => (float[2, 9] y) {
            column = Unsqueeze(Sub(ReduceSum<keepdims=0>(mask, [-1]), 1), [-1])
            y = ScatterND(x, Concat<axis=-1>([[0], [1]], column), u) }""")
    assert_sound(model, *({"mask": [[1] * s] * 2} for s in (0, 1, 4, 9)), left=0, rejected=1)
