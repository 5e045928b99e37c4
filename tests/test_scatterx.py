"""Target `scatterx`: what stays a scatter is one ScatterX node, and still the same bits."""

from pathlib import Path

import numpy as np
import onnx
import onnx.helper
import onnx_ir as ir
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.passes import RemoveScatters
from onnx_scatterx.reasons import Reason
from onnx_scatterx.report_entries import Action
from tests.native_support import (
    body,
    check,
    graphs,
    natives,
    operators,
    picks,
    run_native,
    since,
    unique,
)
from tests.support import agree, f32, i64, parse, run, sample

X, Y = sample("float32", 5, 4), sample("float32", 3, 4, seed=1)
I = i64([[4], [0], [-2]])  # noqa: E741 - the theory's own letter
ROWS = """g (float[A, B] x, int64[N, 1] i, float[N, B] y) => (float[A, B] z)
          { z = ScatterND(x, i, y) }"""
FEED = {"x": X, "i": I, "y": Y}


def test_rows() -> None:
    model = check(ROWS, FEED, FEED | {"i": i64([[1], [1], [1]])}, FEED | {"y": Y[:0], "i": I[:0]})
    (node,) = natives(model)
    assert operators(model) == ["ScatterX"]
    assert (picks(node), unique(node)) == (((0,), (1,), (0, 1)), 0)
    assert (node.overload, body(model, node)) == ("ScatterND", ["ScatterND"])
    assert model.ir_version == 10
    assert {o.domain: o.version for o in model.opset_import} == {"": 18, "onnx_scatterx": 1}
    (function,) = model.functions
    assert {o.domain: o.version for o in function.opset_import} == {"": 18}
    assert set(function.attribute) == {"p1", "p2", "p", "reduction", "unique"}


def test_what_slices_is_sliced() -> None:
    text = """g (float[5, 4] x, float[2, 4] y, int64[2, 1] j) => (float[5, 4] z)
              <int64[2, 1] i = {3, 4}> { a = ScatterND(x, i, y)  z = ScatterND(a, j, y) }"""
    model = check(text, {"x": X, "y": Y[:2], "j": i64([[0], [-1]])})
    assert "Concat" in operators(model)
    assert operators(model).count("ScatterX") == 1
    more = (
        text.replace("[5, 4]", "[50, 4]")
        .replace("[2, ", "[20, ")
        .replace("{3, 4}", str({*range(20)}))
    )
    standard = onnx_scatterx.optimize(parse(more), target="standard").model
    assert operators(standard).count("ScatterND") == 1


def test_one_row_is_unique() -> None:
    text = ROWS.replace("[N", "[1")
    (node,) = natives(check(text, {"x": X, "i": i64([[-1]]), "y": Y[:1]}))
    assert unique(node) == 1


def test_reductions() -> None:
    for reduction in ("add", "mul", "min", "max"):
        text = ROWS.replace("ScatterND", f'ScatterND <reduction = "{reduction}">')
        (node,) = natives(check(text, FEED, FEED | {"i": i64([[2], [2], [-3]])}))
        assert node.overload == f"ScatterND_{reduction}"


ELEMENTS = """g (float[A, B] x, int64[M, N] i, float[M, N] y) => (float[A, B] z)
              { z = ScatterElements <axis = 1> (x, i, y) }"""


def test_elements() -> None:
    i = i64([[0, 3], [-1, 1], [2, 2]])
    model = check(ELEMENTS, {"x": X, "i": i, "y": Y[:, :2]}, {"x": X, "i": i[:, :0], "y": Y[:, :0]})
    (node,) = natives(model)
    assert operators(model) == ["Unsqueeze", "ScatterX"]
    assert (picks(node), unique(node)) == (((0, 1), (0,), (1, 0)), 0)
    assert body(model, node) == ["Squeeze", "ScatterElements"]


def test_narrow_indices() -> None:
    text = ELEMENTS.replace("int64", "int32")
    i = np.array([[0, 3], [-1, 1], [2, 2]], np.int32)
    assert natives(check(text, {"x": X, "i": i, "y": Y[:, :2]}))


def test_scatter_of_operator_set_10() -> None:
    text = ELEMENTS.replace("ScatterElements", "Scatter")
    model = check(parse(text, opset=10), {"x": X, "i": i64([[0, 3]]), "y": Y[:1, :2]})
    assert [n.overload for n in natives(model)] == ["Scatter_axis1"]


@pytest.mark.parametrize(("shape", "p1"), [((3, 1), (0,)), ((1, 4), (1,)), ((4,), (1,))])
def test_broadcast_indices_shrink(shape: tuple[int, ...], p1: tuple[int, ...]) -> None:
    text = f"""g (float[5, 4] x, int64[{", ".join(map(str, shape))}] v, float[3, 4] y)
               => (float[5, 4] z) <int64[2] s = {{3, 4}}>
               {{ i = Expand(v, s)  z = ScatterElements <axis = 0> (x, i, y) }}"""
    v = np.random.default_rng(0).integers(-5, 5, shape)
    model = check(text, {"x": X, "v": v, "y": Y}, {"x": X, "v": np.zeros_like(v), "y": Y})
    (node,) = natives(model)
    assert "Expand" not in operators(model)
    assert picks(node) == (p1, (1,), (0, 1))
    assert body(model, node)[-2:] == ["Expand", "ScatterElements"]


def test_constant_indices_shrink() -> None:
    text = """g (float[5, N] x, float[2, 2] y) => (float[5, N] z)
              <int64[2, 2] i = {3, 3, 3, 3}>
              { z = ScatterElements <axis = 0, reduction = "add"> (x, i, y) }"""
    model = check(text, {"x": X, "y": Y[:2, :2]}, {"x": X[:, :1], "y": Y[:2, :2]}, rejected=1)
    (node,) = natives(model)
    assert operators(model) == ["ScatterX"]
    assert picks(node) == ((), (1,), (0, 1))


def test_columns_that_count_become_dims() -> None:
    """TorchScript's x[:, v] = y: the indices are a Concat of a Range and of v, both expanded."""
    text = """g (float[A, 4, C] x, int64[N] v, float[A, N, C] y) => (float[A, 4, C] z)
      <int64 zero = {0}, int64 one = {1}, int64[1] last = {-1}, int64[1] first = {0},
       int64[1] second = {1}>
      { s = Shape(x)  a = Gather <axis = 0> (s, zero)  r = Range(zero, a, one)
        t = Shape(v)  h = Gather <axis = 0> (s, first)  w = Concat <axis = 0> (h, t)
        u = Unsqueeze(r, second)  p = Expand(u, w)  q = Expand(v, w)
        pp = Unsqueeze(p, last)  qq = Unsqueeze(q, last)  i = Concat <axis = -1> (pp, qq)
        z = ScatterND(x, i, y) }"""
    x, y = sample("float32", 2, 4, 3), sample("float32", 2, 3, 3, seed=2)
    feeds = [{"x": x, "v": i64(v), "y": y} for v in ([0, 3, 1], [2, -2, 2])]
    model = check(text, *feeds, {"x": x[:0], "v": i64([1]), "y": y[:0, :1]})
    (node,) = natives(model)
    assert operators(model) == ["Unsqueeze", "ScatterX"]
    assert picks(node) == ((1,), (0, 2), (1, 0, 2))
    assert body(model, node)[-2:] == ["Concat", "ScatterND"]


CACHE = """g (float[B, S, D] x, int64[N, 1] i, float[B, N, D] y) => (float[B, S, D] z)
           { xt = Transpose <perm = [1, 0, 2]> (x)  yt = Transpose <perm = [1, 0, 2]> (y)
             zt = ScatterND(xt, i, yt)  z = Transpose <perm = [1, 0, 2]> (zt) }"""
CACHES = sample("float32", 2, 5, 3), sample("float32", 2, 2, 3, seed=3)


def test_transposes_fold() -> None:
    """dynamo's cache update is one ScatterX on the cache as it is."""
    x, y = CACHES
    feeds = [{"x": x, "i": i64([[a], [b]]), "y": y} for a, b in ((0, 3), (4, 4), (-1, 2))]
    model = check(CACHE, *feeds)
    (node,) = natives(model)
    assert operators(model) == ["ScatterX"]
    assert list(node.input) == ["x", "i", "y"]
    assert picks(node) == ((1,), (0, 2), (1, 0, 2))
    assert body(model, node) == ["Transpose", "Transpose", "ScatterND", "Transpose"]


def test_other_readers_keep_their_transposes() -> None:
    text = CACHE.replace("(float[B, S, D] z)", "(float[B, S, D] z, float[D, B, S] w)").replace(
        "z = Transpose", "w = Transpose <perm = [2, 1, 0]> (zt)  z = Transpose"
    )
    model = check(text, {"x": CACHES[0], "i": i64([[0], [3]]), "y": CACHES[1]})
    assert sorted(operators(model)) == ["ScatterX", "Transpose"]


def test_a_transposed_scatter_that_is_read_itself_stays_transposed() -> None:
    text = CACHE.replace("(float[B, S, D] z)", "(float[B, S, D] z, float[S, B, D] zt)")
    model = check(text, {"x": CACHES[0], "i": i64([[0], [3]]), "y": CACHES[1]})
    assert sorted(operators(model)) == ["ScatterX", "Transpose", "Transpose"]


def test_transposed_updates_that_may_meet_keep_their_order() -> None:
    text = """g (float[4] x, int64[2, 3, 1] i, float[3, 2] y) => (float[4] z)
              { yt = Transpose <perm = [1, 0]> (y)  z = ScatterND(x, i, yt) }"""
    i = i64([[0, 1, 2], [2, 1, 0]]).reshape(2, 3, 1)
    y = sample("float32", 3, 2, seed=5)
    model = check(text, {"x": X[0], "i": i, "y": y}, {"x": X[0], "i": 0 * i, "y": y})
    assert operators(model) == ["Transpose", "ScatterX"]


def test_constant_rows_that_differ() -> None:
    text = """g (float[5, N] x, float[3, N] y) => (float[5, N] z)
              <int64[3, 1] i = {4, 0, %s}> { z = ScatterND <reduction = "add"> (x, i, y) }"""
    original = [parse(text % last) for last in (2, 4)]
    found = []
    for model in original:
        result = onnx_scatterx.optimize(model, target="scatterx", rules=[])
        for way in (run, run_native):
            assert agree(run(model, {"x": X, "y": Y}), way(result.model, {"x": X, "y": Y}))
        found.append(unique(natives(result.model)[0]))
    assert found == [1, 0]


def test_rows_of_a_mask_differ() -> None:
    text = """g (float[5, 4] x, bool[5, 4] m, float[N] y) => (float[5, 4] z)
              { n = NonZero(m)  i = Transpose <perm = [1, 0]> (n)  z = ScatterND(x, i, y) }"""
    m = np.random.default_rng(1).random((5, 4)) < 0.5
    (node,) = natives(check(text, {"x": X, "m": m, "y": sample("float32", int(m.sum()))}))
    assert (picks(node), unique(node)) == (((0,), (), (0, 1)), 1)


def test_some_rows_of_a_mask_may_meet() -> None:
    text = """g (float[5, 4] x, bool[5, 2] m, float[N, 4] y) => (float[5, 4] z)
              <int64[1] a = {0}, int64[1] b = {1}>
              { n = NonZero(m)  t = Transpose <perm = [1, 0]> (n)  i = Slice(t, a, b, b)
                z = ScatterND(x, i, y) }"""
    m = np.ones((5, 2), bool)
    (node,) = natives(check(text, {"x": X, "m": m, "y": sample("float32", 10, 4)}))
    assert unique(node) == 0


@since(1, 25, "TensorScatter")
@pytest.mark.parametrize("count", [1, 3])
def test_tensor_scatter(count: int) -> None:
    text = f"""g (float[2, 5, 4] x, float[2, {count}, 4] y, int64[2] w) => (float[2, 5, 4] z)
               {{ z = TensorScatter(x, y, w) }}"""
    x, y = sample("float32", 2, 5, 4), sample("float32", 2, count, 4, seed=1)
    feeds = [{"x": x, "y": y, "w": i64(w)} for w in ([0, 2], [1, 1])]
    model = check(parse(text, opset=24, ir_version=10), *feeds)
    (node,) = natives(model)
    assert (picks(node), unique(node)) == (((0, 1), (0, 2), (1, 0, 2)), 1)
    assert body(model, node)[-1] == "TensorScatter"


@since(1, 25, "TensorScatter")
def test_a_circular_tensor_scatter_stays() -> None:
    text = """g (float[2, 5, 4] x, float[2, 3, 4] y, int64[2] w) => (float[2, 5, 4] z)
              { z = TensorScatter <mode = "circular"> (x, y, w) }"""
    feed = {"x": sample("float32", 2, 5, 4), "y": sample("float32", 2, 3, 4), "w": i64([4, 1])}
    assert not natives(check(parse(text, opset=24, ir_version=10), feed))


KINDS = [f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)]


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@pytest.mark.parametrize("dtype", [*KINDS, "float32", "float64", "float16", "bool", "string"])
def test_types(dtype: str, reduction: str) -> None:
    """Every element type is native, but for strings that are reduced."""
    name = {"float32": "float", "float64": "double"}.get(dtype, dtype)
    text = ELEMENTS.replace("float", name).replace(
        "axis = 1", f'axis = 1, reduction = "{reduction}"'
    )
    feed = {"x": sample(dtype, 5, 4), "i": i64([[0, 3], [2, 2]]), "y": sample(dtype, 2, 2, seed=1)}
    model = check(text, feed, rejected=1)
    assert bool(natives(model)) == (dtype != "string" or reduction == "none")


def test_a_type_without_kernel_stays() -> None:
    text = ROWS.replace("float", "complex64")
    result = onnx_scatterx.optimize(parse(text), target="scatterx")
    assert [s.action for s in result.report.scatters] == [Action.KEPT]
    assert "complex64" in str(result.report.scatters[0].refusal)
    assert result.model.ir_version == 8


def test_initializers_that_are_inputs_stay_constants() -> None:
    """Before IR version 4 they could not be overridden; from then on they could."""
    text = """g (float[5, 4] x, int64[3, 1] i, float[3, 4] y) => (float[5, 4] z)
              { z = ScatterND(x, i, y) }"""
    model = parse(text, opset=11, ir_version=3)
    model.graph.initializer.append(onnx.numpy_helper.from_array(Y, "y"))
    optimized = check(model, {"x": X, "i": I})
    assert optimized.ir_version == 10
    assert [v.name for v in optimized.graph.input] == ["x", "i"]
    assert [v.name for v in optimized.graph.initializer] == ["y"]
    assert len(natives(optimized)) == 1


def test_overridable_initializers_stay_overridable() -> None:
    model = parse(ROWS)
    model.graph.initializer.append(onnx.numpy_helper.from_array(I, "i"))
    check(model, FEED, {"x": X, "y": Y}, FEED | {"i": i64([[1], [1], [2]])})


def test_equal_bodies_are_one_function() -> None:
    text = """g (float[A, B] x, int64[N, 1] i, float[N, B] y) => (float[A, B] z)
              { a = ScatterND(x, i, y)  b = ScatterND(a, i, y)
                c = ScatterND <reduction = "add"> (b, i, y)
                t = Transpose <perm = [1, 0]> (c)  u = Transpose <perm = [1, 0]> (y)
                j = Transpose <perm = [1, 0]> (t)  z = ScatterND(j, i, y) }"""
    model = check(text, FEED)
    assert [n.overload for n in natives(model)].count("ScatterND") == 3
    assert [(f.domain, f.overload) for f in model.functions] == [
        ("onnx_scatterx", "ScatterND"),
        ("onnx_scatterx.2", "ScatterND_add"),
    ]
    assert {(n.domain, n.overload) for n in natives(model)} == {
        (f.domain, f.overload) for f in model.functions
    }


def test_more_bodies_than_the_library_has_domains() -> None:
    """What is in a domain that the library does not know runs by its fallback."""
    steps = "  ".join(
        f'x{n + 1} = ScatterElements <axis = {n % 5}, reduction = "{reduction}"> (x{n}, i, y)'
        for n, reduction in enumerate(r for r in ("none", "add", "max") for _ in range(5))
    )
    text = f"""g (float[3, 3, 3, 3, 3] x0, int64[2, 2, 2, 2, 2] i, float[2, 2, 2, 2, 2] y)
               => (float[3, 3, 3, 3, 3] x15) {{ {steps} }}"""
    i = np.random.default_rng(0).integers(-3, 3, (2,) * 5)
    feed = {"x0": sample("float32", *(3,) * 5), "i": i, "y": sample("float32", *(2,) * 5)}
    model = check(text, feed)
    assert len({n.domain for n in natives(model)}) == len(natives(model)) == 15


def test_functions_that_are_there_keep_their_domains() -> None:
    """A model that has ScatterX nodes already gets new ones beside them."""
    once = onnx_scatterx.optimize(parse(ROWS), target="scatterx").model
    node = onnx.helper.make_node("ScatterElements", ["z", "j", "y"], ["w"], axis=0)
    once.graph.node.append(node)
    once.graph.input.append(onnx.helper.make_tensor_value_info("j", 7, ["N", "B"]))
    once.graph.output[0].name = "w"
    model = check(once, FEED | {"j": i64(np.zeros((3, 4)))})
    assert [n.domain for n in natives(model)] == ["onnx_scatterx", "onnx_scatterx.2"]


def test_subgraphs() -> None:
    text = """g (bool c, float[5, 4] x, int64[3, 1] i, float[3, 4] y) => (float[5, 4] z)
              { z = If (c) <
                  then_branch = t () => (float[5, 4] a) { a = ScatterND(x, i, y) },
                  else_branch = e () => (float[5, 4] b) { b = Neg(x) }> }"""
    feeds = [{"c": np.array(c), **FEED} for c in (True, False)]
    assert len(natives(check(text, *feeds))) == 1


def test_functions_keep_their_scatters() -> None:
    text = """g (float[5, 4] x, int64[3, 1] i, float[3, 4] y) => (float[5, 4] z)
              { z = own.put(x, i, y) }
              <domain: "own", opset_import: ["" : 18]>
              put (a, b, c) => (d) { d = ScatterND(a, b, c) }"""
    model = check(parse(text, more=', "own" : 1'), FEED)
    assert not natives(model)
    result = onnx_scatterx.inspect(parse(text, more=', "own" : 1'), target="scatterx")
    assert [s.reason for s in result.scatters] == [Reason.IN_FUNCTION]


def test_a_second_time_changes_nothing() -> None:
    once = check(CACHE)
    for target in ("scatterx", "standard"):
        again = onnx_scatterx.optimize(once, target=target)
        assert again.model.SerializeToString(deterministic=True) == once.SerializeToString(
            deterministic=True
        )
        assert not again.report.scatters


def test_report() -> None:
    result = onnx_scatterx.optimize(parse(ROWS), target="scatterx")
    (scatter,) = result.report.scatters
    assert (scatter.action, scatter.forms) == (Action.NATIVE, ("scatterx",))
    assert (result.report.removed, result.report.native) == (0, 1)
    assert "becomes ScatterX" in str(result.report)
    assert dict(result.report.ops_after) == {"ScatterX": 1}


def test_the_pass_takes_the_target() -> None:
    model = ir.from_proto(parse(ROWS))
    result = RemoveScatters(target="scatterx")(model)
    assert result.modified
    assert [n.op_type for n in result.model.graph] == ["ScatterX"]


TWO_BODIES = """g (float[B, S, D] x, int64[N, 1] i, float[N, S, D] y, int64[N, S, D] j)
    => (float[B, S, D] z) { a = ScatterND(x, i, y)  z = ScatterElements <axis = 2> (a, j, y) }"""


@pytest.mark.parametrize("text", [CACHE, TWO_BODIES])
def test_saved_and_loaded(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    result = onnx_scatterx.optimize(parse(text), target="scatterx")
    result.save(path)
    assert len(result.model.functions) == (2 if text is TWO_BODIES else 1)
    feed = {"x": CACHES[0], "i": i64([[1], [0]])}
    if text is TWO_BODIES:
        feed |= {"y": sample("float32", 2, 5, 3), "j": i64(np.ones((2, 5, 3)))}
    else:
        feed["y"] = CACHES[1]
    expected = run(parse(text), feed)
    loaded = onnx.load(path)
    onnx.checker.check_model(loaded, full_check=True)
    for model in (loaded, ir.to_proto(ir.load(path))):
        assert agree(expected, run(model, feed))
        assert agree(expected, run_native(model, feed))
    assert agree(expected, list(onnx_scatterx.session(path).run(None, feed)))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_random_transposes_around_a_scatter(data: st.DataObject) -> None:
    """Data, output and updates in any order, with indices that collide: the same bits."""
    rank, reduction = data.draw(st.integers(1, 4)), data.draw(st.sampled_from(["none", "add"]))
    depth, index_rank = data.draw(st.integers(1, rank)), data.draw(st.integers(0, 2))
    orders = [tuple(data.draw(st.permutations(range(rank)))) for _ in range(2)]
    shape = tuple(data.draw(st.integers(1, 3)) for _ in range(rank))
    lead = tuple(data.draw(st.integers(0, 3)) for _ in range(index_rank))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    i = np.stack([rng.integers(-n, n, lead) for n in shape[:depth]], axis=-1)
    updates = (*lead, *shape[depth:])
    order = tuple(data.draw(st.permutations(range(len(updates)))))
    inverse = np.argsort(orders[0])
    x_shape = tuple(shape[d] for d in inverse)
    y_shape = tuple(updates[d] for d in np.argsort(order))
    back = data.draw(st.sampled_from([tuple(map(int, inverse)), orders[1]]))
    symbolic = data.draw(st.booleans())

    def dims(name: str, sizes: tuple[int, ...]) -> str:
        return ", ".join(f"{name}{d}" if symbolic else str(n) for d, n in enumerate(sizes))

    types = f"float[{dims('X', x_shape)}] x, int64[{', '.join(map(str, i.shape))}] i"
    steps = f"xt = Transpose <perm = {list(orders[0])}> (x)"
    y = "y"
    if order:
        y, steps = "yt", steps + f"  yt = Transpose <perm = {list(order)}> (y)"
    text = f"""g ({types}, float[{dims("Y", y_shape)}] y) => (float[{dims("Z", shape)}] z)
               {{ {steps}  zt = ScatterND <reduction = "{reduction}"> (xt, i, {y})
                  z = Transpose <perm = {list(back)}> (zt) }}"""
    feed = {"x": sample("float32", *x_shape), "i": i, "y": sample("float32", *y_shape, seed=1)}
    check(text, feed)


def test_random_transposes_do_fold() -> None:
    """The property test above is about something: in these cases every Transpose goes."""
    for perm in ([1, 0, 2], [2, 0, 1], [1, 2, 0]):
        back = [int(d) for d in np.argsort(perm)]
        text = CACHE.replace("z = Transpose <perm = [1, 0, 2]>", f"z = Transpose <perm = {back}>")
        text = text.replace("xt = Transpose <perm = [1, 0, 2]>", f"xt = Transpose <perm = {perm}>")
        text = text.replace("[B, S, D]", "[A, E, F]").replace("[B, N, D]", "[G, N, H]")
        assert [n.op_type for n in graphs(check(text))] == ["ScatterX"]


def test_a_row_becomes_a_where_only_if_asked() -> None:
    """One row at an unknown place is moved by ScatterX, not by a Where over all the data."""
    model = parse(ROWS.replace("[N", "[1"))
    asked = onnx_scatterx.optimize(model, target="scatterx", rules=["row"]).model
    assert operators(onnx_scatterx.optimize(model).model) == ["ScatterX"]
    assert "Where" in operators(asked)
    assert not natives(asked)


ONE_ROW = "int64[3, 1] i, float[3, 4] y"
NESTED = {
    "loop": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}) => (float[5, 4] z)
        {{ z = Loop (n, c, x) <body = b (int64 k, bool go, float[5, 4] a)
            => (bool on, float[5, 4] o) {{ on = Identity(go)  t = ScatterND(a, i, y)
                                          o = ScatterND <reduction = "add"> (t, i, y) }}> }}""",
    "scan": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}, float[2, 3, 4] ys, int64[2, 3, 1] js)
        => (float[5, 4] z, float[2, 5, 4] all)
        {{ z, all = Scan <num_scan_inputs = 2,
            body = b (float[5, 4] a, float[3, 4] u, int64[3, 1] j)
            => (float[5, 4] o, float[5, 4] p) {{ o = ScatterND(a, j, u)  p = Neg(o) }}>
            (x, ys, js) }}""",
    "if in loop": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}) => (float[5, 4] z)
        {{ one = Constant <value_int = 1> ()
          z = Loop (n, , x) <body = b (int64 k, bool go, float[5, 4] a)
            => (bool on, float[5, 4] o) {{
                on = Identity(go)  early = Less(k, one)
                o = If (early) <
                  then_branch = s () => (float[5, 4] p) {{ p = ScatterND(a, i, y) }},
                  else_branch = e () => (float[5, 4] q) {{
                    m = ScatterND <reduction = "mul"> (a, i, y)
                    q = If (c) <
                      then_branch = s2 () => (float[5, 4] p2) {{ p2 = ScatterND(m, i, y) }},
                      else_branch = e2 () => (float[5, 4] q2) {{ q2 = Neg(m) }}> }}> }}> }}""",
    "loop in scan in if": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}, float[2, 3, 4] ys)
        => (float[5, 4] z)
        {{ z = If (c) <
            then_branch = s () => (float[5, 4] p) {{
              p = Scan <num_scan_inputs = 1, body = b (float[5, 4] a, float[3, 4] u)
                => (float[5, 4] o) {{
                  o = Loop (n, , a) <body = b2 (int64 k, bool go, float[5, 4] d)
                    => (bool on, float[5, 4] w) {{ on = Identity(go)  w = ScatterND(d, i, u) }}> }}>
                (x, ys) }},
            else_branch = e () => (float[5, 4] q) {{ q = ScatterND(x, i, y) }}> }}""",
    "a body's own indices": f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW}) => (float[5, 4] z)
        <int64 five = {{5}}>
        {{ z = Loop (n, , x) <body = b (int64 k, bool go, float[5, 4] a)
            => (bool on, float[5, 4] o) {{
                on = Identity(go)  j = Add(i, k)  w = Mod(j, five)
                at = Transpose <perm = [1, 0]> (a)  ab = Transpose <perm = [1, 0]> (at)
                o = ScatterND(ab, w, y) }}> }}""",
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_bodies(name: str) -> None:
    """In bodies of Loop, Scan and If, and of one in another: run often, and not at all."""
    rng = np.random.default_rng(0)
    base = FEED | {
        "ys": sample("float32", 2, 3, 4, seed=2),
        "js": rng.integers(-5, 5, (2, 3, 1)),
    }
    model = parse(NESTED[name])
    names = {value.name for value in model.graph.input}
    feeds = [
        {
            k: v
            for k, v in (base | {"n": np.array(n), "c": np.array(c), "i": i}).items()
            if k in names
        }
        for n, c, i in ((3, True, I), (2, False, I), (0, True, I), (4, True, i64([[1], [-4], [1]])))
    ]
    optimized = check(model, *feeds)
    before = [n for n in graphs(model) if n.op_type == "ScatterND"]
    assert len(natives(optimized)) == len(before)
    assert not [n for n in graphs(optimized) if n.op_type == "ScatterND"]
    with_threads = onnx_scatterx.session(optimized)  # ONNX Runtime's own optimizations on
    for feed in feeds:
        assert agree(run(model, feed), list(with_threads.run(None, feed)))


def test_a_body_writes_no_outer_value() -> None:
    """What a body reads from outside is not updated in place: every turn finds it as it was."""
    text = f"""g (int64 n, bool c, float[5, 4] x, {ONE_ROW})
        => (float[A, 5, 4] all, float[5, 4] after)
        {{ outer = Neg(x)
          all = Loop (n, c) <body = b (int64 k, bool go) => (bool on, float[5, 4] o) {{
              on = Identity(go)  s = CastLike(k, y)  u = Add(y, s)
              o = ScatterND <reduction = "add"> (outer, i, u) }}>
          after = Abs(outer) }}"""
    feed = {
        "n": np.array(4),
        "c": np.array(True),
        "x": f32(np.arange(20).reshape(5, 4)),
        "i": I,
        "y": f32(np.ones((3, 4))),
    }
    optimized = check(text, feed)
    assert len(natives(optimized)) == 1
    for _ in range(2):
        together = onnx_scatterx.session(optimized).run(None, feed)
        assert agree(run(parse(text), feed), list(together))


def test_random_loops() -> None:
    """Whatever the state, updates and indices of a loop: the same bits."""
    text = """g (int64 n, float[A, B] x, int64[N, 1] i, float[N, B] y)
        => (float[A, B] z, float[T, A, B] all)
        { z, all = Loop (n, , x) <body = b (int64 k, bool go, float[P, Q] a)
            => (bool on, float[P, Q] o, float[P, Q] seen) { on = Identity(go)
                t = ScatterND <reduction = "REDUCTION"> (a, i, y)
                o = ScatterND(t, i, y)  seen = Sub(o, t) }> }"""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows, width, count = rng.integers(1, 6, 3)
        feed = {
            "n": np.array(rng.integers(0, 4)),
            "x": sample("float32", rows, width, seed=seed),
            "i": rng.integers(-rows, rows, (count, 1)),
            "y": sample("float32", count, width, seed=seed + 1),
        }
        reduction = ("add", "mul", "min", "max")[seed % 4]
        optimized = check(text.replace("REDUCTION", reduction), feed)
        assert len(natives(optimized)) == 2
