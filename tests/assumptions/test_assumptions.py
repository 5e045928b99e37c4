"""Assumptions about the inputs are read, used in proofs, reported, and true of drawn inputs."""

from collections.abc import Sequence

import numpy as np
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.assumptions.assumption import Assumption
from onnx_scatterx.assumptions.clauses import read_clauses
from onnx_scatterx.engine.analysis.domain.tensor import DeclaredDim
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.terms import size
from tests.helpers.assumed import optimized, source_of
from tests.helpers.examples import examples
from tests.helpers.kept_scatters import BEHIND_ROWS, CACHE, EVERY_SIXTEENTH, OPSET, nd
from tests.helpers.pair import assert_same
from tests.helpers.support import parse, scatters

START = f"""{OPSET} g (float[N,2] x, float[3,2] u, KIND p) => (float[N,2] y) {{
        i = Unsqueeze (Add (Cast <to = 7> (p), [0, 1, 2]), [-1])
        y = ScatterND (x, i, u) }}"""
EVERY_SECOND = EVERY_SIXTEENTH.replace("{16}", "{2}")
TWO_ROWS = f"""{OPSET} g (float[N,2] x, float[1,2] u, float[1,2] v, int64 p, int64 q)
    => (float[N,2] z) {{
        y = ScatterND (x, Reshape (p, [1, 1]), u)
        z = ScatterND (y, Reshape (q, [1, 1]), v) }}"""


def reason(text: str, assume: Sequence[str]) -> Reason | None:
    """Return why the last scatter is kept, or None if all are removed."""
    result = optimized(text, assume)
    found: Reason | None = result.report.scatters[-1].reason
    return found


# What follows from each kind of assumption, and which is kept without it


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("assume", "why"),
    [
        ([], Reason.UNKNOWN_INDICES),
        (["pos: nonnegative"], Reason.UNKNOWN_INDICES),
        (["pos: unique, nonnegative"], Reason.UNKNOWN_INDICES),
        (["pos: contiguous"], Reason.UNKNOWN_SIGN),
        (["pos: contiguous", "pos >= -1"], Reason.UNKNOWN_SIGN),
        (["pos: contiguous, nonnegative"], None),
        (["pos: contiguous", "0 <= pos"], None),
        (["pos: contiguous", "0 <= pos < N"], None),
        (["pos: contiguous", "5 <= pos", "S >= 1"], None),
        (["pos: contiguous", "5 <= pos"], Reason.UNKNOWN_SIZE),  # pos may be empty
        (["pos: contiguous, nonnegative", "S == 1"], None),
    ],
)
def test_contiguous(assume: list[str], why: Reason | None) -> None:
    assert reason(CACHE, assume) is why


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["int64", "int32[1]"])
@pytest.mark.parametrize(
    ("assume", "why"),
    [
        ([], {Reason.UNKNOWN_SIGN, Reason.UNKNOWN_INDICES}),
        (["p >= -1", "p <= 99"], {Reason.UNKNOWN_SIGN}),
        (["p != 0", "-9 <= p < N"], {Reason.UNKNOWN_SIGN}),
        (["0 <= p <= 99"], {None}),
        (["p: nonnegative", "p < 99"], {None}),
        (["p == 2"], {None}),
        (["2 <= p < N"], {None}),
        (["-99 <= p < -2", "N >= 100"], {None}),
    ],
)
def test_bounds_of_an_input(kind: str, assume: list[str], why: set[Reason | None]) -> None:
    assert reason(START.replace("KIND", kind), assume) in why


@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_a_sum_that_may_overflow_is_not_followed_then(kind: str) -> None:
    # Without an upper bound, p + 2 may leave 64 bits; but then the original rejects it.
    assert reason(START.replace("KIND", kind), ["p >= 0"]) is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("assume", "why"),
    [
        ([], Reason.MAY_COLLIDE),
        (["N > 3"], Reason.MAY_COLLIDE),
        (["N >= 5"], None),
        (["N > 4"], None),
        (["N != 4", "N >= 4"], Reason.MAY_COLLIDE),  # a number in between is not distinguished
        (["N == 4"], Reason.COLLIDES),
        (["N == 7"], None),
        (["N % 8 == 0", "1 <= N <= 64"], None),
        (["N % 4 == 0", "1 <= N <= 64"], Reason.MAY_COLLIDE),
    ],
)
def test_bounds_of_a_size(assume: list[str], why: Reason | None) -> None:
    assert reason(nd("N,2", "", "2,2", "<int64[2,1] i = {3, -1}>"), assume) is why


@pytest.mark.parametrize(
    ("assume", "why"),
    [
        ([], Reason.UNKNOWN_BOUNDS),
        (["T >= 3"], Reason.UNKNOWN_BOUNDS),
        (["T >= 4"], None),
        (["N >= 1"], None),
        (["T > N", "N >= 3"], None),
    ],
)
def test_writes_that_may_lie_outside(assume: list[str], why: Reason | None) -> None:
    assert reason(BEHIND_ROWS, assume) is why


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "assume", [["p >= 0", "q >= 0"], ["0 <= p < 5", "q >= 4"], ["0 <= p < 5", "q >= 5"], ["q < 0"]]
)
def test_the_order_of_two_writes(assume: list[str]) -> None:
    optimized(TWO_ROWS, assume, wanted=12)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("assume", [[], ["T % 2 == 0"], ["T % 4 == 2"], ["T % 2 == 1"]])
def test_divisors(assume: list[str]) -> None:
    plain = optimized(EVERY_SECOND, []).report.nodes_after
    found = optimized(EVERY_SECOND, assume).report
    assert found.removed == 1
    even = assume in (["T % 2 == 0"], ["T % 4 == 2"])
    assert (found.nodes_after < plain) == even


@pytest.mark.parametrize(
    ("assume", "unique"),
    [
        ([], "unknown"),
        (["pos: unique"], "unknown"),  # -1 and N - 1 are one place
        (["pos: nonnegative"], "unknown"),
        (["pos: unique, nonnegative"], "proven"),
        (["pos: unique", "pos < 0"], "proven"),
    ],
)
def test_unique(assume: list[str], unique: str) -> None:
    model = parse(CACHE)
    result = onnx_scatterx.optimize(model, assume=assume)
    (scatter,) = result.report.scatters
    (node,) = [n for n in result.model.graph.node if n.op_type == "ScatterX"]
    told = next(a.i for a in node.attribute if a.name == "unique")
    assert (scatter.unique, told) == (unique, int(unique == "proven"))
    assert (scatter.duplicates is None) == (unique == "proven")


def test_an_assumption_about_elements_says_nothing_of_an_empty_input() -> None:
    text = "g (float[N] x, int64[K] idx, int64 p) => (float[N] y) { y = Neg (x) }"
    model = ir.from_proto(parse(text))
    n, k = (size(s, DeclaredDim(s)) for s in "NK")
    for assume, nonempty in (
        (["0 <= idx < N"], False),
        (["0 <= idx < N", "K >= 1"], True),
        (["0 <= p < N"], True),
    ):
        known = interpret(model, assumed=read_clauses(assume))
        facts = known.scopes[model.graph].facts
        idx = known.values[model.graph.inputs[1]].index_map
        assert idx is not None
        assert facts.is_nonnegative(n - 1) == (nonempty and "p" in assume[0])
        assert facts.is_nonnegative(idx) == ("idx" in assume[0])
        assert facts.is_nonnegative(n - 1 - idx) == ("K >= 1" in assume)
        assert facts.is_nonnegative(k - 1) == ("K >= 1" in assume)


@examples(60)
@given(
    st.lists(st.tuples(st.sampled_from([2, 3, 4, 8]), st.integers(0, 7)), max_size=2),
    st.integers(0, 9),
    st.integers(0, 30),
    st.tuples(*[st.integers(-6, 6)] * 3),
    st.integers(1, 4),
)
def test_proofs_about_one_size(
    moduli: list[tuple[int, int]], low: int, most: int, claim: tuple[int, int, int], d: int
) -> None:
    """Whatever is proven on assumptions is true of every number that they allow."""
    high = low + most
    said = [f"n >= {low}", *(f"n % {m} == {r % m}" for m, r in moduli)]
    if most < 25:
        said.append(f"n <= {high}")
    model = ir.from_proto(parse("g (float[n] x) => (float[n] y) { y = Neg (x) }"))
    allowed = [
        v
        for v in range(low, 400)
        if Assumption.parse(", ".join(s[2:] for s in said), "n").allows(v)
    ]
    if not allowed:
        return
    facts = interpret(model, assumed=read_clauses(said)).scopes[model.graph].facts
    n = size("n", DeclaredDim("n"))
    a, b, c = claim
    term = a * n + b * ((n + c) // d) + c
    if facts.is_nonnegative(term):
        assert all(a * v + b * ((v + c) // d) + c >= 0 for v in allowed)


def test_verify_draws_what_the_second_model_assumes() -> None:
    model = parse(CACHE)
    result = onnx_scatterx.optimize(model, target="standard", assume="pos: contiguous, nonnegative")
    assert scatters(result.model) == 0
    verification = onnx_scatterx.verify(model, result.model, samples=25)
    assert verification
    assert verification.assumed == ("pos: contiguous", "pos: nonnegative")
    assert verification.stated == verification.assumed
    assert "states it: pos: contiguous; pos: nonnegative" in str(verification)
    del result.model.metadata_props[:]
    assert not onnx_scatterx.verify(model, result.model, samples=25)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "assume",
    [
        ["idx: unique", "0 <= idx < N"],
        ["idx: contiguous", "0 <= idx < N"],
        ["idx: contiguous, nonnegative"],
        ["-3 <= idx < -1"],
        ["idx % 4 == 1", "idx <= 9"],
        ["idx: unique", "idx % 2 == 0", "0 <= idx"],
        ["idx >= 2000"],
        ["idx < 2*N - 1", "N >= 3"],
        ["N < K"],
        ["N == K", "N % 4 == 0"],
    ],
)
def test_all_that_is_drawn_obeys(assume: list[str]) -> None:
    text = "g (float[N] x, int64[K, N] idx) => (float[N] y) { y = Neg (x) }"
    model = parse(text)
    said = {
        name: Assumption.parse(
            ", ".join(c.condition for c in read_clauses(assume) if c.name == name), ""
        )
        for name in {c.name for c in read_clauses(assume)}
    }
    seen = 0
    source = source_of(model, assume)
    for number in range(80):
        found = source.draw(number)
        if found is None:
            continue
        feed, numbers, _ = found[0].feeds, *found[1:]
        source.tell(numbers, True)
        (k, n), idx = feed["idx"].shape, feed["idx"]
        sizes = {"N": n, "K": k}
        assert all(a.allows(sizes[s], sizes) for s, a in said.items() if s in sizes)
        mine = said.get("idx", Assumption())
        assert mine.holds(idx, sizes)
        if "contiguous" in mine.properties and n:
            assert (np.diff(idx, axis=-1) == 1).all()
        seen += idx.size > 0
    assert seen > 5


@pytest.mark.parametrize("dtype", ["int64", "uint64", "uint8"])
def test_the_greatest_number_comes_before_none(dtype: str) -> None:
    ends, contiguous = np.iinfo(dtype), Assumption.parse("contiguous", "i")
    assert contiguous.holds(np.array([ends.max - 1, ends.max], dtype), {})
    assert contiguous.holds(np.array([2**63 - 1, 2**63], np.uint64), {})
    assert not contiguous.holds(np.array([ends.max, ends.min], dtype), {})


# A promise that says which number every element is


@pytest.mark.parametrize(
    ("promise", "y", "z"),
    [
        ("i == 1", "1", "N"),
        ("0 < i < 2", "1", "N"),
        ("i == -3", "-3", "-3*N"),
        ("0 <= i < 2", "i[x0, x1]", "z[x0, x1]"),
        ("i % 2 == 1", "i[x0, x1]", "z[x0, x1]"),
        (f"i == {2**52}", str(2**52), "z[x0, x1]"),  # ONNX Runtime would round the sum of many
    ],
)
def test_one_number(promise: str, y: str, z: str) -> None:
    text = f"""{OPSET} g (int64[N, 2] i) => (int64[N, 2] y, int64[1, 2] z)
        <int64[1] first = {{0}}> {{ y = Identity (i)  z = ReduceSum (y, first) }}"""
    model = ir.from_proto(parse(text))
    knowledge = interpret(model, assumed=read_clauses([promise]))
    found = {v.name: str(knowledge.values[v].content) for v in model.graph.outputs}
    assert found == {"y": y, "z": z}


@examples(30)
@given(st.data())
def test_one_number_is_what_runs_find(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(["int64", "int32"]))
    number, size = data.draw(st.integers(-3, 3)), data.draw(st.integers(0, 4))
    keeps, axes = data.draw(st.integers(0, 1)), data.draw(st.sampled_from(["0", "1", "0, 1"]))
    more = data.draw(st.sampled_from(["", "N == 3", "N >= 1"]))
    model = parse(f"""{OPSET} g ({kind}[N, 2] i) => ({kind}[N, 2] y, {kind}[A, B] z, bool[N, 2] e)
        <int64[{axes.count(",") + 1}] axes = {{{axes}}}, {kind} one = {{1}}> {{
            y = Add (i, i)  z = ReduceSum <keepdims = {keeps}> (i, axes)  e = Equal (i, one) }}""")
    target = "standard, avoid = ['Equal', 'ReduceSum', 'Add']"
    promises = [f"i == {number}", *([more] if more else [])]
    result = onnx_scatterx.optimize(model, target=target, assume=promises)
    size = 3 if more == "N == 3" else max(size, bool(more))
    feed = {"i": np.full((size, 2), number, kind)}
    assert_same(model, result.model, [feed])
