"""What `verify` draws: sizes that an original accepts, indices in bounds, telling floats."""

from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.assumptions.assumption import Assumption
from onnx_scatterx.compare.draws.landmarks import Aims
from onnx_scatterx.compare.draws.sampler import FLAVOURS, InputSampler
from onnx_scatterx.compare.draws.sizes import SizeSearch, SizeSymbol
from onnx_scatterx.compare.draws.uses import uses_of
from onnx_scatterx.compare.interface import Input, Interface
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.fitting.inference import inferred

HEAD = '<ir_version: 10, opset_import: ["": 21, "local": 1]>'


# The search for sizes, against originals made of a condition


@pytest.mark.parametrize(
    "accepts",
    [
        lambda b, h, w: True,
        lambda b, h, w: b >= 1 and h >= 5 and w >= 3,
        lambda b, h, w: h % 32 == 0 and w % 32 == 0 and h * w > 0,
        lambda b, h, w: w == h - 2,
        lambda b, h, w: b > 0 and h == 2 * w and h > 3,
    ],
    ids=["all", "at least", "divisible", "two less", "twice"],
)
def test_accepted_sizes_are_found(accepts: Callable[..., bool]) -> None:
    search = SizeSearch([SizeSymbol(s) for s in "bhw"], lambda _: True, np.random.default_rng(1))
    for _ in range(300):
        combination = search.next()
        search.tell(combination, accepts(**combination))
        if len(search.accepted) == 25:
            break
    assert len(search.accepted) == 25
    assert all(accepts(**combination) for combination in search.accepted)
    for symbol in "bhw":
        assert len({combination[symbol] for combination in search.accepted}) >= 3
    assert any(min(combination.values()) >= 2 for combination in search.accepted)
    if accepts(0, 0, 0) and accepts(1, 1, 1):
        for symbol in "bhw":
            assert {0, 1, 2} <= {combination[symbol] for combination in search.accepted}


@pytest.mark.parametrize(
    ("accepts", "most"),
    [
        (lambda b, h, w: True, 1),
        (lambda b, h, w: h % 8 == 0 and w % 8 == 0 and h * w > 0, 10),
        (lambda b, h, w: b == 3, 15),
        (lambda b, h, w: b == 1, 40),
        (lambda b, h, w: h >= b + 40, 30),
        (lambda b, h, w: w == h + 1, 1),
        (lambda b, h, w: w == h - 1, 2),
        (lambda b, h, w: b == 1 and h % 32 == 0 and w % 32 == 0 and h * w > 0, 60),
    ],
    ids=["all", "divisible", "fixed", "one", "far", "one more", "one less", "one and divisible"],
)
def test_sizes_differ_where_they_can(accepts: Callable[..., bool], most: int) -> None:
    """Else a program that takes one for the other would be right."""
    symbols = [SizeSymbol(s) for s in "bhw"]
    search = SizeSearch(symbols, lambda _: True, np.random.default_rng(1))
    for _ in range(most):
        combination = search.next()
        search.tell(combination, accepts(**combination))
    assert any(len(set(accepted.values())) == 3 for accepted in search.accepted)


def test_equal_sizes_are_made_different_one_by_one() -> None:
    """Two that must be equal do not keep the others from it."""
    search = SizeSearch([SizeSymbol(s) for s in "hwbt"], lambda _: True, np.random.default_rng(1))
    for _ in range(80):
        combination = search.next()
        search.tell(combination, combination["h"] == combination["w"])
    distinct = [c for c in search.accepted if len(set(c.values())) == 3 and min(c.values()) > 1]
    assert len(distinct) > 10


# The bounds of integer inputs


def drawn(graph: str, name: str, sizes: dict[str, int], count: int = 60) -> list[np.ndarray]:
    model = ir.from_proto(onnx.parser.parse_model(HEAD + graph))
    uses = uses_of(inferred(model))
    source = next(i for i in Interface.of(model).inputs if i.name == name)
    rng = np.random.default_rng(0)
    sampler = InputSampler(source, uses[name].bounds)
    return [sampler.draw(rng, sizes, FLAVOURS[k % len(FLAVOURS)]) for k in range(count)]


INDEXED = {
    "Gather": ("int64[4] i", "{ y = Gather <axis = 1> (x, i) }", -5, 4),
    "GatherElements": ("int32[N, T] i", "{ y = GatherElements <axis = 1> (x, i) }", -5, 4),
    "a cast and a shift": (
        "int32[4] i",
        "{ c = Cast <to = 7> (i) k = Constant <value_int = 2> () j = Add(c, k)"
        " y = Gather <axis = 1> (x, j) }",
        -7,
        2,
    ),
    "a weight": (
        "int64[4] i",
        "<float[9, 1] w = {1, 2, 3, 4, 5, 6, 7, 8, 9}> { y = Gather(w, i) }",
        -9,
        8,
    ),
    "in a function": ("int64[4] i", "{ y = local.f (x, i) }", -5, 4),
    "in a branch": (
        "int64[4] i, bool c",
        "{ y = If (c) <then_branch = t () => (float[A, B] p) { p = Gather <axis = 1> (x, i) },"
        " else_branch = e () => (float[A, B] q) { q = Identity(x) }> }",
        -5,
        4,
    ),
    "write_indices": (
        "int64[N] i, float[N, 2] u",
        "{ y = TensorScatter <axis = 1> (x, u, i) }",
        0,
        3,
    ),
    "one hot": (
        "int64[4] i",
        "{ d = Constant <value_ints = [7]> () v = Constant <value_floats = [0.0, 1.0]> ()"
        " y = OneHot(i, d, v) }",
        -7,
        6,
    ),
}


@pytest.mark.parametrize("case", INDEXED)
def test_indices_stay_in_bounds_and_use_them(case: str) -> None:
    inputs, body, low, high = INDEXED[case]
    graph = f"g (float[N, T] x, {inputs}) => (float[A, B] y) {body}"
    if "local.f" in body:
        graph += (
            '<domain: "local", opset_import: ["": 21]> f (d, k) => (r)'
            "{ r = Gather <axis = 1> (d, k) }"
        )
    values = np.concatenate([a.ravel() for a in drawn(graph, "i", {"N": 3, "T": 5})])
    assert (values.min(), values.max()) == (low, high)


def test_columns_of_scatter_nd_have_their_own_bounds() -> None:
    graph = (
        "g (float[N, T] x, int64[6, 2] i, float[6] u) => (float[N, T] y) { y = ScatterND(x, i, u) }"
    )
    values = np.stack(drawn(graph, "i", {"N": 2, "T": 50}))
    assert set(np.unique(values[..., 0])) == {-2, -1, 0, 1}
    assert values[..., 1].max() > 30
    assert values[..., 1].min() < -30


def test_overwriting_indices_are_distinct_where_they_can_be() -> None:
    graph = (
        "g (float[N, T] x, int64[4, 1] i, float[4, T] u) => (float[N, T] y)"
        "{ y = ScatterND(x, i, u) }"
    )
    for array in drawn(graph, "i", {"N": 20, "T": 1}):
        assert len(np.unique(array)) == 4


def test_an_empty_axis_still_gives_an_array() -> None:
    graph = "g (float[N] x, int64[K] i) => (float[K] y) { y = Gather(x, i) }"
    assert drawn(graph, "i", {"N": 0, "K": 2}, 1)[0].shape == (2,)


# The values


def test_floats_have_everything_in_some_draws_and_nothing_in_others() -> None:
    sampler = InputSampler(Input("x", ir.DataType.FLOAT, ("N",)), {})
    rng = np.random.default_rng(0)
    arrays = [sampler.draw(rng, {"N": 200}, flavour) for flavour in FLAVOURS * 3]
    together = np.concatenate(arrays)
    assert np.isnan(together).any()
    assert {np.inf, -np.inf} <= set(together.tolist())
    zeros = together[together == 0]
    assert set(np.signbit(zeros).tolist()) == {True, False}
    tiny = np.abs(together)
    assert ((tiny > 0) & (tiny < np.finfo(np.float32).smallest_normal)).any()
    assert sum(bool(np.isfinite(a).all()) for a in arrays) >= len(arrays) // 2


def test_masks_are_empty_and_full_and_between() -> None:
    sampler = InputSampler(Input("m", ir.DataType.BOOL, (8, 8)), {})
    rng = np.random.default_rng(0)
    sums = {int(sampler.draw(rng, {}, "plain").sum()) for _ in range(60)}
    assert {0, 64} <= sums
    assert len(sums) > 10


def test_contiguous_unique_and_nonnegative() -> None:
    properties: dict[str, Callable[[np.ndarray], bool]] = {
        "contiguous": lambda a: bool((np.diff(a) == 1).all()),
        "unique": lambda a: len(np.unique(a)) == 5,
        "nonnegative": lambda a: bool((a >= 0).all()),
        "nondecreasing": lambda a: bool((np.diff(a) >= 0).all()),
        "nondecreasing, >= 2, <= 4": lambda a: bool((np.diff(a) >= 0).all() and a.min() >= 2),
        "increasing": lambda a: bool((np.diff(a) > 0).all()),
        "increasing, < 60": lambda a: bool((np.diff(a) > 0).all() and a.max() < 60),
        ">= 2, <= 4": lambda a: bool(((a >= 2) & (a <= 4)).all()),
    }
    for text, holds in properties.items():
        sampler = InputSampler(
            Input("i", ir.DataType.INT64, (5,)), {}, Aims((-100,)), Assumption.parse(text, "i")
        )
        rng = np.random.default_rng(0)
        assert all(holds(sampler.draw(rng, {}, "plain", n)) for n in range(40)), text


@pytest.mark.parametrize("length", [0, 1, 5])
def test_contiguous_numbers_end_within_the_type(length: int) -> None:
    assumed = Assumption.parse(f"contiguous, >= {2**63 - 1}", "i")
    sampler = InputSampler(Input("i", ir.DataType.INT64, (2, length)), {}, Aims(), assumed)
    drawn = sampler.draw(np.random.default_rng(0), {}, "plain", 0)
    assert (np.diff(drawn) == 1).all()


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("int8", "y = DequantizeLinear (i, s)"),
        ("uint16", "y = Cast <to = 1> (i)"),
        ("int64", "r = Reshape (i, flat) y = Mul (r, r)"),
    ],
)
def test_numbers_are_drawn_from_the_whole_type(kind: str, body: str) -> None:
    graph = (
        f"g ({kind}[N] i) => (float[N] y) <float s = {{1}}, int64[1] flat = {{-1}}> {{ {body} }}"
    )
    values = np.concatenate(drawn(graph, "i", {"N": 8}))
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    assert values.min() < low + (high - low) // 8
    assert values.max() > high - (high - low) // 8


def test_a_number_that_is_an_index_too_stays_in_bounds() -> None:
    graph = """g (float[N] x, int64[M] i) => (float[M] y, float[M] z)
        { y = Gather (x, i) z = Cast <to = 1> (i) }"""
    values = np.concatenate(drawn(graph, "i", {"N": 8, "M": 3}))
    assert values.min() >= -8
    assert values.max() < 8


def test_an_empty_array_may_be_too_large() -> None:
    huge = Input("x", ir.DataType.FLOAT, (0, 1 << 40, 1 << 40))
    with pytest.raises(VerifyError, match="too large for NumPy"):
        InputSampler(huge, {})
