"""Target `scatterx`: a kept scatter becomes one ScatterX node, with the same bits."""

import numpy as np
import onnx
import onnx.helper
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.passes import RemoveScatters
from onnx_scatterx.tell.entries import Action
from tests.engine.native.row_writes import CACHE, FEED, ROWS, I, X, Y
from tests.helpers.native_support import (
    body,
    check,
    fallback,
    natives,
    operators,
    picks,
    since,
    unique,
)
from tests.helpers.pair import assert_same
from tests.helpers.support import i64, parse, sample


def test_rows() -> None:
    model = check(ROWS, FEED, FEED | {"i": [[1], [1], [1]]}, FEED | {"y": Y[:0], "i": I[:0]})
    (node,) = natives(model)
    assert operators(model) == ["ScatterX"]
    assert (picks(node), unique(node)) == (((0,), (1,), (0, 1)), 0)
    assert (fallback(model, node).doc_string, body(model, node)) == ("ScatterND", ["ScatterND"])
    assert model.ir_version == 8
    assert {o.domain: o.version for o in model.opset_import} == {"": 18, "onnx_scatterx": 1}
    (function,) = model.functions
    assert {o.domain: o.version for o in function.opset_import} == {"": 18}
    assert set(function.attribute) == {"p1", "p2", "p", "reduction", "unique"}


def test_writes_of_slices_become_slices() -> None:
    text = """g (float[5, 4] x, float[2, 4] y, int64[2, 1] j) => (float[5, 4] z)
              <int64[2, 1] i = {3, 4}> { a = ScatterND(x, i, y)  z = ScatterND(a, j, y) }"""
    model = check(text, {"x": X, "y": Y[:2], "j": [[0], [-1]]})
    assert "Concat" in operators(model)
    assert operators(model).count("ScatterX") == 1
    more = (
        text.replace("[5, 4]", "[500, 4]")
        .replace("[2, ", "[200, ")
        .replace("{3, 4}", str({*range(200)}))
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
        model = check(text, FEED, FEED | {"i": i64([[2], [2], [-3]])})
        (node,) = natives(model)
        assert fallback(model, node).doc_string == f"ScatterND_{reduction}"


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
    assert [fallback(model, n).doc_string for n in natives(model)] == ["Scatter_axis1"]


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
        { z = ScatterElements <axis = 0, reduction = "add"> (x, [[3, 3], [3, 3]], y) }"""
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
    model = check(text, *feeds, {"x": x[:0], "v": [1], "y": y[:0, :1]})
    (node,) = natives(model)
    assert operators(model) == ["Unsqueeze", "ScatterX"]
    assert picks(node) == ((1,), (0, 2), (1, 0, 2))
    assert body(model, node)[-2:] == ["Concat", "ScatterND"]


def test_narrow_columns() -> None:
    """ScatterX takes a column of int32 as it is; the ScatterND of its body takes int64 only."""
    text = """g (float[A, 4] x, int32[A] v, float[A] y) => (float[A, 4] z) {
        s = Shape (v)  a = Squeeze (s)  r = Range (0, a, 1)  w = Cast <to = 7> (v)
        i = Concat <axis = -1> (Unsqueeze (r, [-1]), Unsqueeze (w, [-1]))
        z = ScatterND (x, i, y) }"""
    v = np.array([3, -1, 0, 2, 2], np.int32)
    model = check(text, {"x": X, "v": v, "y": Y[0, :1].repeat(5)})
    (node,) = natives(model)
    assert operators(model) == ["Unsqueeze", "ScatterX"]
    assert body(model, node)[-4:] == ["Cast", "Unsqueeze", "Concat", "ScatterND"]


def test_constant_rows_that_differ() -> None:
    text = """g (float[5, N] x, float[3, N] y) => (float[5, N] z)
              <int64[3, 1] i = {4, 0, %s}> { z = ScatterND <reduction = "add"> (x, i, y) }"""
    original = [parse(text % last) for last in (2, 4)]
    found = []
    for model in original:
        result = onnx_scatterx.optimize(model, target="scatterx", rules=[])
        assert_same(model, result.model, [{"x": X, "y": Y}], library=True)
        found.append(unique(natives(result.model)[0]))
    assert found == [1, 0]


def test_rows_of_a_mask_differ() -> None:
    text = """g (float[5, 4] x, bool[5, 4] m, float[N] y) => (float[5, 4] z)
              { n = NonZero(m)  i = Transpose <perm = [1, 0]> (n)  z = ScatterND(x, i, y) }"""
    m = np.random.default_rng(1).random((5, 4)) < 0.5
    (node,) = natives(check(text, {"N": int(m.sum()), "x": X, "m": m}))
    assert (picks(node), unique(node)) == (((0,), (), (0, 1)), 1)


def test_some_rows_of_a_mask_may_meet() -> None:
    text = """g (float[5, 4] x, bool[5, 2] m, float[N, 4] y) => (float[5, 4] z)
              <int64[1] a = {0}, int64[1] b = {1}>
              { n = NonZero(m)  t = Transpose <perm = [1, 0]> (n)  i = Slice(t, a, b, b)
                z = ScatterND(x, i, y) }"""
    m = np.ones((5, 2), bool)
    (node,) = natives(check(text, {"N": 10, "x": X, "m": m}))
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
@pytest.mark.parametrize("mode", ["linear", "circular"])
def test_a_tensor_scatter_of_any_sizes(mode: str) -> None:
    text = f"""g (float[B, S, 4] x, float[B, N, 4] y, int64[B] w) => (float[B, S, 4] z)
              {{ z = TensorScatter <mode = "{mode}"> (x, y, w) }}"""
    top = (2, 4) if mode == "circular" else (0, 2)
    feeds = [
        {"B": b, "S": s, "N": n, "w": i64(top[:b])}
        for b, s, n in ((2, 5, 3), (2, 5, 1), (1, 5, 5), (1, 3, 0), (0, 5, 3))
    ]
    model = check(parse(text, opset=24, ir_version=10), *feeds)
    (node,) = natives(model)
    assert body(model, node)[-1] == "TensorScatter"


KINDS = [f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@pytest.mark.parametrize("dtype", [*KINDS, "float32", "float64", "float16", "bool", "string"])
def test_types(dtype: str, reduction: str) -> None:
    """Every element type is native, except strings with a reduction."""
    name = {"float32": "float", "float64": "double"}.get(dtype, dtype)
    text = ELEMENTS.replace("float", name).replace(
        "axis = 1", f'axis = 1, reduction = "{reduction}"'
    )
    feed = {"x": sample(dtype, 5, 4), "i": i64([[0, 3], [2, 2]]), "y": sample(dtype, 2, 2, seed=1)}
    model = check(text, feed, rejected=1)
    assert bool(natives(model)) == (dtype != "string" or reduction == "none")


def test_a_type_without_kernel_is_kept() -> None:
    text = ROWS.replace("float", "complex64")
    result = onnx_scatterx.optimize(parse(text), target="scatterx")
    assert [s.action for s in result.report.scatters] == [Action.KEPT]
    assert "complex64" in str(result.report.scatters[0].refusal)
    assert result.model.ir_version == 8


def test_initializers_that_are_inputs_are_still_constants() -> None:
    """Before IR version 4 they could not be overridden; from then on they could."""
    text = """g (float[5, 4] x, int64[3, 1] i, float[3, 4] y) => (float[5, 4] z)
              { z = ScatterND(x, i, y) }"""
    model = parse(text, opset=11, ir_version=3)
    model.graph.initializer.append(onnx.numpy_helper.from_array(Y, "y"))
    optimized = check(model, {"x": X, "i": I})
    assert optimized.ir_version == 8
    assert [v.name for v in optimized.graph.input] == ["x", "i"]
    assert [v.name for v in optimized.graph.initializer] == ["y"]
    assert len(natives(optimized)) == 1


def test_overridable_initializers_are_still_overridable() -> None:
    model = parse(ROWS)
    model.graph.initializer.append(onnx.numpy_helper.from_array(I, "i"))
    check(model, FEED, {"x": X, "y": Y}, FEED | {"i": i64([[1], [1], [2]])})


def test_subgraphs() -> None:
    text = """g (bool c, float[5, 4] x, int64[3, 1] i, float[3, 4] y) => (float[5, 4] z)
              { z = If (c) <
                  then_branch = t () => (float[5, 4] a) { a = ScatterND(x, i, y) },
                  else_branch = e () => (float[5, 4] b) { b = Neg(x) }> }"""
    feeds = [{"c": np.array(c), **FEED} for c in (True, False)]
    assert len(natives(check(text, *feeds))) == 1


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
    assert (scatter.action, scatter.rules) == (Action.NATIVE, ("scatterx",))
    assert (result.report.removed, result.report.native) == (0, 1)
    assert "becomes ScatterX" in str(result.report)
    assert dict(result.report.ops_after) == {"ScatterX": 1}


def test_the_pass_takes_the_target() -> None:
    model = ir.from_proto(parse(ROWS))
    result = RemoveScatters(target="scatterx")(model)
    assert result.modified
    assert [n.op_type for n in result.model.graph] == ["ScatterX"]


def test_a_row_becomes_a_where_only_if_asked() -> None:
    """One row at an unknown place is moved by ScatterX, not by a Where over all the data."""
    model = parse(ROWS.replace("[N", "[1"))
    asked = onnx_scatterx.optimize(model, target="scatterx", rules=["one_per_row"]).model
    assert operators(onnx_scatterx.optimize(model).model) == ["ScatterX"]
    assert "Where" in operators(asked)
    assert not natives(asked)


def test_a_mask_that_is_a_constant_once_its_scatter_is_gone() -> None:
    """Its NonZero is folded, and what is told of the other scatter asks for it."""
    text = """g (float[2, 3] x) => (float[2, 3] y)
        <int64[2, 1] all = {0, -1}, float[2, 3] k = {0, 1, 2, 3, 4, 5}, float zero = {0}>
        { y = ScatterND(x, all, k)  m = Less(y, zero)  n = NonZero(m)
          i = Transpose <perm = [1, 0]> (n)  u = GatherND(y, i)  w = Abs(u)
          unread = ScatterND(y, i, w) }"""
    found = onnx_scatterx.optimize(parse(text), target="qnn").report
    assert [s.node for s in found.scatters] == ["y", "unread"]
