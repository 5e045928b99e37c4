"""How many draws a comparison runs: many of small models, few of large ones, none without hope."""

import json

import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.compare.draws.how_many import LEAST_DRAWS, draws_for, steps
from onnx_scatterx.compare.draws.refusals import Farthest, Refusals, numbers_in
from onnx_scatterx.compare.verifying import verify
from tests.compare.first_difference import parse

pytestmark = pytest.mark.sampled(3)
HEAD = '<ir_version: 8, opset_import: ["" : 18]> '
WIDE = "g (float[2, 3, 8, 8] x, float[5, 3, 3, 3] w) => (float[A, B, C, D] y)"


@pytest.mark.parametrize(
    ("text", "sizes", "products"),
    [
        ("g (float[N, 7] x, float[7, 5] w) => (float[N, 5] y) { y = MatMul (x, w) }", (3, 7), 105),
        ("g (float[7, N] x, float[7, 5] w) => (float[N, 5] y) { y = Gemm <transA = 1> (x, w) }",
         (7, 3), 105),
        (f"{WIDE} {{ y = Conv <pads = [1, 1, 1, 1]> (x, w) }}", (2, 3, 8, 8), 2 * 5 * 64 * 27),
        ("g (float[N, 7] x, float[7, 5] w) => (float[N, 5] y) "
         '{ y = Einsum <equation = "ij,jk->ik"> (x, w) }', (3, 7), 105),
        ("g (float[N, 7] x) => (float[N, 7] y) { y = Neg (x) }", (3, 7), 0),
    ],
)  # fmt: skip
def test_the_work_of_a_run(text: str, sizes: tuple[int, ...], products: int) -> None:
    """An element that is written counts as 16 products, at the sizes of the inputs."""
    model = ir.from_onnx_text(HEAD + text)
    written = 2 * 5 * 64 if "Conv" in text else 21 if "Neg" in text else 15
    assert steps(model, {"x": sizes}) == products + 16 * written


def test_the_number_of_draws_follows_from_the_work() -> None:
    assert [draws_for(work) for work in (1, 10**9, 10**10, 10**15)] == [40, 32, 3, LEAST_DRAWS]
    assert draws_for(10**15, least=3) == 3


def heavy(position: str) -> onnx.ModelProto:
    """Return a write at a position, with much work in a branch that is never taken."""
    return parse(
        f"""g (float[1, 4, 6] x, int64[1] i, float[1, 1, 6] u) => (float[1, 4, 6] y)
        <int64[1] one = {{1}}, int64[1] two = {{2}}, int64[3] e = {{1, 1, 6}}, float limit = {{2}},
         float[1] f = {{1}}, int64[2] large = {{40000, 40000}}> {{
        a = Tanh (x)  b = ReduceMax <keepdims = 0> (a)  c = Greater (b, limit)
        t = If (c) <
            then_branch = t () => (float s) {{
                h = Expand (f, large)  v = MatMul (h, h)  s = ReduceMax <keepdims = 0> (v) }},
            else_branch = o () => (float r) {{ r = Identity (limit) }}>
        p = {position}  q = Expand (p, e)  w = ScatterElements <axis = 1> (x, q, u)
        y = Add (w, t) }}"""
    )


def test_few_draws_hit_the_ends_of_an_index() -> None:
    """At an index of one element, each end needs a draw: a fault at the last one is found."""
    model = heavy("Identity (i)")
    same = verify(model, model)
    assert same.same
    assert (same.accepted, same.wanted) == (3, 3)
    assert f"for which {same.wanted} sets are drawn" in str(same)
    assert verify(model, model, samples=5).accepted == 5
    for faulty in ("Min (i, two)", "Max (i, one)"):
        assert verify(model, heavy(faulty)).answer == "different", faulty


# Refusals


def test_no_more_is_drawn_if_a_refusal_cannot_depend_on_it() -> None:
    model = parse(
        """g (float[N, M] x) => (float[A] y) <int64[1] s = {7}, float[6] c = {1, 2, 3, 4, 5, 6}> {
        r = Reshape (c, s)  y = ReduceSum <keepdims = 0> (x)  }"""
    )
    model.graph.node[1].input[0] = "r"
    found = verify(model, model)
    assert (found.answer, found.given_up) == ("not compared", True)
    assert found.draws < 20
    assert "the first model rejected every input, each for the same reason (" in found.shortfall
    assert json.loads(json.dumps(found.to_dict()))["given_up"] is True


def test_refusals_that_name_other_sizes_are_not_final() -> None:
    refusals = Refusals()
    for size in range(9):
        refusals.add(f"cannot be reshaped: {size}", {"N": size})
    assert not refusals.are_final
    for size in range(9):
        refusals.add("cannot be reshaped", {"N": 4, "M": size})
    assert not refusals.are_final


def test_the_numbers_of_a_refusal_lead_to_sizes_that_are_accepted() -> None:
    """A length that must be a multiple of 384, from 1152 on."""
    model = parse(
        """g (float[B, T] x) => (float[A, C, D] y, float[E] z)
        <int64[4] t = {0, -1, 384, 1}, int64[1] k = {1151}, int64[2] f = {0, -1}> {
        r = Reshape (x, t)  f2 = Reshape (r, f)  z0 = Gather <axis = 1> (f2, k)
        z = Squeeze (z0)  y = Squeeze (r) }"""
    )
    found = verify(model, model, samples=2)
    assert found.same, found
    assert min(found.sizes["T"]) >= 1152


def test_the_farthest_refusal_is_followed() -> None:
    farthest = Farthest({"a": 0, "b": 1})
    farthest.add("Name:'a' wants 96", {"N": 3, "M": 4})
    assert next(farthest.proposals()) == {"N": 96, "M": 1}
    farthest.add("Name:'b' fails", {"N": 96, "M": 1})
    assert next(farthest.proposals()) == {"N": 192, "M": 1}
    farthest.add("Name:'a' wants 5", {"N": 7, "M": 7})  # not as far
    assert next(farthest.proposals()) == {"N": 192, "M": 1}


def test_numbers_of_a_refusal_that_may_be_sizes() -> None:
    assert numbers_in("Name:'l.77' 1 of 65535 by 65537, not -1") == [2, 65535, 65536]


def test_dims_of_one_name_may_differ_if_nothing_else_runs() -> None:
    """The answer says so; differences on such inputs count."""
    text = """g (float[b, 4] x, float[b, 4] layers) => (float[A, B] y)
        <int64[1] flat = {4}, int64 k = {31}> {
        r = Reshape (x, flat)  l = Gather (layers, k)  s = %s (r, l)  y = Mul (layers, s) }"""
    found = verify(parse(text % "Add"), parse(text % "Add"), samples=6)
    assert (found.same, found.unequal) == (True, True)
    assert "no set in which all dims of one name are equal" in str(found)
    assert set(found.sizes) == {"b@x", "b@layers"}
    assert verify(parse(text % "Add"), parse(text % "Sub"), samples=6).answer == "different"
