"""A function of chosen rows, written back, is the function of all rows behind a Where.

The pairs that differ are of the same forms, with one thing changed: each differs in a run.
"""

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_scatterx.proof.assumed import SAME_ROWS, SIGN_OF_ZERO, ZEROS_ADDED
from tests.helpers.equivalence_support import (
    assert_excluded,
    assert_follows,
    assert_possible,
    judged,
)
from tests.helpers.pair import SESSIONS, agree
from tests.helpers.proving import prove
from tests.helpers.support import parse, run
from tests.proof import differing_run
from tests.proof.unproven import unproven

N = 7
SHAPES = {"w": (4, 4), "w2": (4, 4), "up": (4, 6), "down": (6, 4), "bias": (4,), "column": (4, 1)}
CONSTANTS = {
    name: np.random.default_rng(seed).standard_normal(shape).astype("f4")
    for seed, (name, shape) in enumerate(SHAPES.items())
}
CONSTANTS |= {"wb": CONSTANTS["w"][None], "nil": np.zeros((), "f4"), "axis": np.zeros((), "i8")}
CONSTANTS |= {"fill": np.zeros(1, "f4"), "divisor": np.ones((), "i8")}
HEAD = """g (float[N, 4] x, bool[N] m, bool[N] q, float[N, 4] o, float[N, 1] v, int64[N, 4] t,
    float[D] d) => (float[N, 4] y) {{ {} }}"""
CHOSEN = """n = NonZero(m) i = Transpose(n) r = GatherND(x, i) g = GatherND(v, i)
    k = GatherND(t, i) {} y = ScatterND(o, i, u)"""
ALL = """r = Identity(x) g = Identity(v) k = Identity(t) {} c = Unsqueeze(m, [1])
    y = Where(c, u, o)"""
ADDED = CHOSEN.replace("ScatterND", 'ScatterND<reduction = "add">')
ALL_ADDED = ALL.replace("y = Where(c, u, o)", "s = Add(o, u) y = Where(c, s, o)")
PRODUCT = "u = MatMul(r, w)"
SWIGLU = "a = MatMul(r, up) b = Sigmoid(a) e = Mul(a, b) h = MatMul(e, down) u = Mul(h, g)"
FUNCTIONS = {
    "MatMul": PRODUCT,
    "MatMul of a column": "a = MatMul(r, column) u = Mul(a, r)",
    "MatMul of more axes": "a = Unsqueeze(r, [0]) b = MatMul(a, w) u = Squeeze(b, [0])",
    "Gemm": "u = Gemm<alpha = 0.5, transB = 1>(r, w, bias)",
    "Gemm of turned rows": "a = Transpose(r) u = Gemm<transA = 1>(a, w)",
    "Gemm with rows added": "a = MatMul(r, w) u = Gemm<beta = 2.0>(r, w, a)",
    "SwiGLU with weights": SWIGLU,
    "parts of rows": """a = Slice(r, [0], [2], [1]) b = Neg(a) e = Slice(r, [2], [4], [1])
        h = Concat<axis = 1>(b, e) u = MatMul(h, w)""",
    "integers": "a = Div(k, divisor) b = Cast<to = 1>(a) u = MatMul(b, w)",
}


def model(text: str) -> onnx.ModelProto:
    made = parse(HEAD.format(text))
    words = set(text.replace("(", " ").replace(")", " ").replace(",", " ").split())
    for name in sorted(CONSTANTS.keys() & words):
        made.graph.initializer.append(numpy_helper.from_array(CONSTANTS[name], name))
    return made


def feed() -> dict[str, np.ndarray]:
    """Return inputs in which a row that is not chosen is no number."""
    rng = np.random.default_rng(1)
    mask = np.array([1, 0, 1, 1, 0, 0, 1], bool)
    x = rng.standard_normal((N, 4)).astype("f4")
    x[1] = np.nan
    return {
        "x": x,
        "m": mask,
        "q": np.array([1, 1, 0, 1, 0, 1, 0], bool),
        "o": rng.standard_normal((N, 4)).astype("f4"),
        "v": rng.random((N, 1)).astype("f4"),
        "t": np.where(mask[:, None], rng.integers(1, 9, (N, 4)), 0),
        "d": rng.standard_normal(9).astype("f4"),
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_rows(name: str) -> None:
    for one, other in ((CHOSEN, ALL), (ADDED, ALL_ADDED)):
        found = prove(model(one.format(FUNCTIONS[name])), model(other.format(FUNCTIONS[name])))
        assert found.proven, found
        assert SAME_ROWS in found.assumed


NEXT = "a = Slice(x, [1], [9], [0]) b = Slice(x, [0], [1], [0]) r = Concat<axis = 0>(a, b)"
EARLIER = "a = Slice(v, [1], [9], [0]) b = Slice(v, [0], [1], [0]) g = Concat<axis = 0>(a, b)"
DIFFERENT = {
    "another mask": (PRODUCT, "Unsqueeze(m", "Unsqueeze(q"),
    "the other rows": (PRODUCT, "c = Unsqueeze(m,", "p = Not(m) c = Unsqueeze(p,"),
    "the other choice": (PRODUCT, "(c, u, o)", "(c, o, u)"),
    "the next rows": (PRODUCT, "r = Identity(x)", NEXT),
    "the weights of other rows": (SWIGLU, "g = Identity(v)", EARLIER),
    "another matrix": (PRODUCT, "(r, w)", "(r, w2)"),
    "a turned matrix": ("u = Gemm<transB = 1>(r, w)", "<transB = 1>", ""),
    "another factor": ("u = Gemm<alpha = 0.5>(r, w, bias)", "0.5", "2.0"),
    "nothing added": ("u = Gemm(r, w, bias)", ", bias", ""),
    "turned columns": (PRODUCT, PRODUCT, "a = MatMul(r, w) u = Gather<axis = 1>(a, [1, 0, 2, 3])"),
    "turned elements": (PRODUCT, PRODUCT, "a = Gather<axis = 1>(r, [1, 0, 2, 3]) u = MatMul(a, w)"),
    "another function": ("a = MatMul(r, w) u = Relu(a)", "Relu", "Neg"),
    "the function of a sum": ("a = Add(r, r) u = MatMul(a, w)", "Add(r, r)", "Add(r, o)"),
    "a product by the mask": (
        PRODUCT,
        "y = Where(c, u, o)",
        "f = Cast<to = 1>(c) h = Mul(u, f) e = Not(c) p = Where(e, o, nil) y = Add(h, p)",
    ),
    "a division that fails": ("a = Div(k, k) b = Cast<to = 1>(a) u = MatMul(b, w)", "", ""),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_function_of_rows(name: str) -> None:
    function, old, new = DIFFERENT[name]
    made = ALL.format(function)
    assert not old or made.count(old) == 1
    differing_run.unproven(
        model(CHOSEN.format(function)), model(made.replace(old, new) if old else made), feed()
    )


def test_an_addition_of_zero_is_not_a_choice() -> None:
    """It changes -0 to 0."""
    zero = "f = Where(c, u, nil) y = Add(o, f)"
    other = ALL.replace("y = Where(c, u, o)", zero).format(PRODUCT)
    given = feed() | {"o": np.full((N, 4), -0.0, "f4")}
    differing_run.unproven(model(ADDED.format(PRODUCT)), model(other), given)


@pytest.mark.parametrize(
    ("change", "of"),
    [
        ("b = Identity(w) u = MatMul(r, b)", "a matrix that is computed"),
        ("a = Unsqueeze(r, [0]) b = MatMul(a, wb) u = Squeeze(b, [0])", "more axes"),
        (
            "a = Cast<to = 11>(r) b = Cast<to = 11>(w) e = MatMul(a, b) u = Cast<to = 1>(e)",
            "double",
        ),
        ("u = Softmax(r)", "another operator"),
    ],
)
def test_rows_whose_bits_may_differ(change: str, of: str) -> None:
    unproven(model(CHOSEN.format(change)), model(ALL.format(change)))


READ = """n = NonZero(m) i = Transpose(n) s = Shape<start = 0, end = 1>(i)
    e = Slice(d, [0], s, [0]) b = Slice(x, [0], [1], [1]) f = Squeeze(b, [1])
    h = ScatterND(f, i, e) a = Unsqueeze(h, [1]) y = Add(a, o)"""
COUNTED = """f0 = Cast<to = 7>(m) p = CumSum<exclusive = 1>(f0, axis) a0 = Concat<axis = 0>(d, fill)
    e = Gather(a0, p) b = Slice(x, [0], [1], [1]) f = Squeeze(b, [1])
    h = Where(m, e, f) a = Unsqueeze(h, [1]) y = Add(a, o)"""
WRONG_COUNTS = {
    "a count with the row": ("<exclusive = 1>", ""),
    "the count of another mask": ("Cast<to = 7>(m)", "Cast<to = 7>(q)"),
    "a fill before": ("(d, fill)", "(fill, d)"),
    "no fill": ("(d, fill)", "(d)"),
}


def test_operands_of_the_chosen_rows() -> None:
    assert prove(model(READ), model(COUNTED)).proven


@pytest.mark.parametrize("what", WRONG_COUNTS)
def test_other_operands_of_the_chosen_rows(what: str) -> None:
    old, new = WRONG_COUNTS[what]
    assert COUNTED.count(old) == 1
    given = feed()
    given["m"][-1] = False  # behind the last of d
    given["d"] = given["d"][: int(given["m"].sum())]
    differing_run.unproven(model(READ), model(COUNTED.replace(old, new)), given)


EXPERTS = """g (float[N, 4] x, float[N, 2] v, float[N, 3] s, int64[N, 2] z) => (float[N, 4] y)
    <int64[1] two = {{2}}, float nil = {{0.0}}> {{
    best, top = TopK(s, two) a = Equal({at}, [1]) m = Transpose(a) {body} }}"""
LOOP = """n = NonZero(m) c = Gather(n, [0]) b = Gather(n, [1]) i = Transpose(b) r = GatherND(x, i)
    k = Concat<axis = 0>(b, c) j = Transpose(k) g0 = GatherND(v, j) g = Unsqueeze(g0, [1])
    p = MatMul(r, w) u = Mul(p, g) y = ScatterND<reduction = "add">(x, i, u)"""
MERGED = """p = MatMul(x, w) t = Transpose(v) e = Where(m, t, nil)
    f = ReduceSum<keepdims = 0>(e, [0]) g = Unsqueeze(f, [1]) u = Mul(p, g) h = Cast<to = 1>(m)
    k = ReduceMax<keepdims = 0>(h, [0]) b = Cast<to = 9>(k) c = Unsqueeze(b, [1]) q = Add(x, u)
    y = Where(c, q, x)"""


def experts(body: str, at: str = "top") -> onnx.ModelProto:
    made = parse(EXPERTS.format(body=body, at=at))
    made.graph.initializer.append(numpy_helper.from_array(CONSTANTS["w"], "w"))
    return made


def routed() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    floats = {
        n: rng.standard_normal((N, k)).astype("f4") for n, k in (("x", 4), ("v", 2), ("s", 3))
    }
    return floats | {"z": np.tile(np.array([[1, 1], [0, 1]]), (4, 1))[:N]}


def test_an_expert_is_chosen_once_for_each_token() -> None:
    found = prove(experts(LOOP), experts(MERGED))
    assert found.proven, found
    assert {SIGN_OF_ZERO, ZEROS_ADDED} <= {*found.assumed}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ReduceMax", "ReduceMin"),
        ("(m, t, nil)", "(m, nil, t)"),
        ("e = Where(m, t, nil)", "l = Not(m) e = Where(l, t, nil)"),
        ("q = Add(x, u)", "q = Add(p, u)"),
        ("q = Add(x, u)", "q = Identity(u)"),
        ("t = Transpose(v)", "l = Gather<axis = 1>(v, [1, 0]) t = Transpose(l)"),
    ],
)
def test_another_merge_of_choices(old: str, new: str) -> None:
    assert MERGED.count(old) == 1
    differing_run.unproven(experts(LOOP), experts(MERGED.replace(old, new)), routed())


def test_choices_that_are_not_of_a_topk_may_repeat() -> None:
    differing_run.unproven(experts(LOOP, "z"), experts(MERGED, "z"), routed())


@pytest.mark.parametrize("op", ["Max", "Min", "Sum"])
def test_a_reduction_of_a_few_floats(op: str) -> None:
    text = f"""g (bool[2, A] m, float[2, A] x) => (float[A] y) <float nil = {{0.0}}> {{
        BODY y = Reduce{op}<keepdims = 0>(f, [0]) }}"""
    mask, x = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], bool), np.array([[3, 1e-44, 1, 2]] * 2, "f4")
    literals = "f = Cast<to = 1>(m)" if op != "Sum" else "n = Not(m) f = Where(n, nil, x)"
    if op == "Sum":
        assert "an order" in judged(parse(text.replace("BODY", literals)), {"m": mask, "x": x})
        literals = """a, b = Split<axis = 0>(m, [1, 1]) c = Not(a) e = And(b, c)
            h = Concat<axis = 0>(a, e) f = Where(h, x, nil)"""
    assert_follows(text.replace("BODY", literals), {"m": mask, "x": x})


@pytest.mark.parametrize("largest", [0, 1])
def test_a_topk_names_each_position_once(largest: int) -> None:
    """No fact excludes a run, also if elements are equal or no numbers."""
    text = f"""g (float[A, B] x) => (float[A, 3] best, int64[A, 3] y) <int64[1] k = {{3}}> {{
        best, y = TopK<largest = {largest}>(x, k) }}"""
    for x in (np.zeros((2, 3)), np.full((2, 4), np.nan), np.array([[np.nan, np.inf, 1, np.nan]])):
        given = {"x": x.astype(np.float32)}
        best, y = run(parse(text), given)
        assert all(len(set(row)) == 3 for row in y.tolist())
        assert_possible(text, given, [best, y])


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_the_position_of_an_extreme_of_a_vector(op: str) -> None:
    """Its result is a scalar, which has no axis."""
    text = f"g (float[A] x) => (int64 y) {{ y = {op}<axis = 0, keepdims = 0>(x) }}"
    given = {"x": np.array([2, 1, 3], "f4")}
    assert_possible(text, given, run(parse(text), given))


def test_one_hot() -> None:
    text = """g (int64[A] i, int64 d, float[2] v) => (float[B, C] y) {
        y = OneHot<axis = 0>(i, d, v) }"""
    given = {"i": np.array([0, -1, 2, 3, -3, -4]), "v": np.array([5, 7], "f4")}
    assert_follows(text, given | {"d": np.array(3)})
    assert_excluded(text, given | {"d": np.array(0)})


@pytest.mark.parametrize("op", ["MatMul", "Gemm<transA = 1>", "Gemm<transB = 1>"])
def test_a_product_runs_if_its_matrices_fit(op: str) -> None:
    text = f"""g (float[A, B] x) => (float[C, D] y) <float[2, 3] w = {{1, 2, 3, 4, 5, 6}}> {{
        y = {op}(x, w) }}"""
    ran = 0
    for shape in ((2, 3), (3, 2), (2, 2), (0, 2), (2, 0), (3, 0), (0, 3), (1, 1)):
        given = {"x": np.ones(shape, np.float32)}
        if differing_run.outcome(parse(text), given):
            ran += 1
            assert judged(parse(text), given).startswith(("follows", "y is"))
        else:
            assert_excluded(text, given)
    assert 1 < ran < 8


@pytest.mark.parametrize("op", ["MatMul", "Gemm<transB = 1>", "Gemm<alpha = 0.5>"])
@pytest.mark.parametrize(("k", "n"), [(1, 5), (3, 1), (17, 33), (200, 64)])
def test_a_row_has_the_same_bits_at_any_place(op: str, k: int, n: int) -> None:
    """Rows in several shapes, alone and among others, by a matrix that is stored."""
    rng = np.random.default_rng(k)
    shape = (n, k) if "transB" in op else (k, n)
    axes = "A, B, K" if op == "MatMul" else "B, K"
    made = parse(f"g (float[{axes}] x) => (float y) {{ y = {op}(x, w) }}")
    stored = rng.standard_normal(shape).astype("f4")
    made.graph.initializer.append(numpy_helper.from_array(stored, "w"))
    rows = rng.standard_normal((24, k)).astype("f4")
    rows[5] = np.nan
    for open_session in SESSIONS:
        session = open_session(made)
        (whole,) = session.run(None, {"x": rows[None] if op == "MatMul" else rows})
        whole = whole.reshape(24, n)
        for count in (1, 2, 3, 4, 6, 12):
            for start in range(0, 24, 2 * count):
                part = rows[start : start + count]
                shapes = [(count, k)] if op != "MatMul" else [(1, count, k), (count, 1, k)]
                for given in shapes:
                    (y,) = session.run(None, {"x": part.reshape(given)})
                    assert agree([whole[start : start + count]], [y.reshape(count, n)])
