"""mask: a write to where a mask is true is a Where."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from tests.helpers.html import Page
from tests.helpers.rules import Case, Golden, Refuses, assert_sound_at, each, row
from tests.helpers.support import parse

NUMBERS = """<int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus = {-1},
     int64[1] four = {4}, int64[2] column = {-1, 1}>"""


def masked(updates: str, *, reduction: str = "none", given: str = "float v") -> str:
    """Return ``x[m] = u``; of the true elements, ``k`` is the count and ``i`` the positions."""
    return f"""g (float[A,4] x, bool[A,4] m, {given}) => (float[A,4] y) {NUMBERS} {{
        n = NonZero (m)
        k = Shape <start = 1> (n)
        i = Transpose (n)
        {updates}
        y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


def rows_masked(updates: str, *, given: str = "float[4] v", mask: str = "bool[A] m") -> str:
    """Return ``x[m] = u`` where the mask chooses rows."""
    return f"""g (float[A,4] x, {mask}, {given}) => (float[A,4] y) {NUMBERS} {{
        w = Unsqueeze (m, minus)
        s = Shape (x)
        b = Expand (w, s)
        n = NonZero (b)
        i = Transpose (n)
        f = NonZero (m)
        k = Shape <start = 1> (f)
        {updates}
        y = ScatterND (x, i, u) }}"""


def masks(*dims: int, sizes: tuple[int, ...] = (0, 1, 3)) -> list[dict[str, Any]]:
    """Return masks of which no element is true, all are, and some; the first dim has every size."""
    rng = np.random.default_rng(0)
    shares = product(sizes, (0.0, 1.1, 0.5))
    return [{"m": rng.random((size, *dims)) < share} for size, share in shares]


FUNCTION = """
    <domain: "local", opset_import: ["" : 18]> Slice (v, start, k) => (u) {
        axis = Constant <value = int64[1] {0}> ()
        back = Constant <value = int64[1] {-1}> ()
        before = Sub (start, back)
        u = Slice (v, k, before, axis, back) }"""
NUMBER = "u = Expand (v, k)"
VECTOR = """shape = Concat <axis = 0> (k, four)
        e = Expand (v, shape)
        u = Reshape (e, minus)"""


COUNTED = """f = Reshape (m, minus)
        c = Cast <to = 7> (f)
        k = ReduceSum <keepdims = 1> (c)"""


@pytest.mark.parametrize("kind", ["float", "double", "float16", "int32"])
@pytest.mark.parametrize("value", [1, -0.0])
def test_a_number_for_as_many_elements_as_are_added_up(kind: str, value: float) -> None:
    text = masked(NUMBER).replace("k = Shape <start = 1> (n)", COUNTED).replace("float", kind)
    assert_sound_at(text, *({**f, "v": value} for f in masks(4)))


def test_a_number_that_is_multiplied() -> None:
    assert_sound_at(masked(NUMBER, reduction="mul"), *masks(4))


def test_a_vector_behind_a_mask_of_two_dims() -> None:
    text = rows_masked(VECTOR).replace("k = Shape <start = 1> (f)", COUNTED)
    text = text.replace("f = NonZero (m)", "").replace("[A", "[A,T")
    assert_sound_at(text, *masks(3))


def test_a_vector_over_an_axis_of_the_mask(refuses: Refuses) -> None:
    """Its n-th true element is not at n mod 4; only its count says which number it gets."""
    text = masked(VECTOR.replace("(k,", "(c,"), given="float[4] v, int64[1] c")
    feed = {"m": [[1, 0, 1, 1], [0, 1, 0, 0]], "c": [1]}
    refuses(text, Reason.UNKNOWN_INDICES, feed, left=0)


SAME_MASK = masked("u = GatherND (z, i)", given="float[A,4] z").replace(
    "k = Shape <start = 1> (n)", ""
)


@pytest.mark.parametrize("kind", ["double", "float16", "int32", "bool"])
def test_a_masked_copy_is_one_where(kind: str) -> None:
    text = SAME_MASK.replace("float", kind)
    made = onnx_scatterx.optimize(parse(text), target="standard").model
    written = [n.op_type for n in made.graph.node]
    assert written == (["Not", "And", "And", "Or"] if kind == "bool" else ["Where"])
    assert_sound_at(text, *masks(4))


@pytest.mark.parametrize(("kind", "named"), [("float", True), ("int32", False), ("bool", False)])
def test_the_report_names_what_a_where_of_floats_writes(kind: str, named: bool) -> None:
    report = onnx_scatterx.inspect(parse(SAME_MASK.replace("float", kind)), target="standard")
    (scatter,) = report.scatters
    assert scatter.selects_floats is scatter.to_dict()["selects_floats"] is named
    told = (
        "y: would become a Where, in which the sign of a zero may change: harmless unless a later"
    )
    assert (told in str(report)) is named
    assert ("is proven but for the sign of a zero" in Page(report.to_html()).said) is named


def test_the_report_tells_apart_two_writes() -> None:
    """One becomes a Where, the other a Concat that reads it."""
    second = """w = ScatterND (x, i, u)
        a = Abs (w)
        row = Constant <value = int64[1,1] {0}> ()
        first = Constant <value = float[1,4] {1.0, 2.0, 3.0, 4.0}> ()
        y = ScatterND (a, row, first)"""
    text = SAME_MASK.replace('y = ScatterND <reduction = "none"> (x, i, u)', second)
    model = parse(text.replace("[A,4]", "[3,4]"))
    report = onnx_scatterx.optimize(model, target="standard").report
    assert [(s.node, s.selects_floats) for s in report.scatters] == [("w", True), ("y", False)]


def test_a_function_whose_last_bits_may_differ() -> None:
    """It is written if the user says so."""
    model = parse(masked("a = GatherND (x, i) u = Log (a)"))
    result = onnx_scatterx.optimize(model, target="standard", last_bits=True)
    kinds = {node.op_type for node in result.model.graph.node}
    assert {"Log", "Where"} <= kinds
    assert "GatherND" not in kinds
    plain = onnx_scatterx.optimize(model, target="standard")
    assert "GatherND" in {node.op_type for node in plain.model.graph.node}


NOT_ALIKE = {
    "a vector as long as the count": "a = GatherND (x, i) u = Mul (a, t)",
    "another order": "a = GatherND (x, i) s = Neg (a) u = Slice (s, minus, ends, zero, minus)",
    "a power of another tensor": "a = GatherND (x, i) b = GatherND (z, i) u = Pow (a, b)",
    "the greater of a number that may be a zero": "a = GatherND (x, i) u = Max (v, a)",
    "other flat positions": """r = Slice (n, zero, one, zero) c = Slice (n, one, two, zero)
        f = Add (r, r) p = Add (f, c) q = Reshape (p, minus) l = Reshape (x, minus)
        a = Gather (l, q) u = Neg (a)""",
    "the greatest of three": "a = GatherND (x, i) b = GatherND (z, i) u = Max (a, b, b)",
    "a last bit that depends on the place": "a = GatherND (x, i) u = Sin (a)",
    "a float that becomes an integer": """a = GatherND (x, i) b = Cast <to = 6> (a)
        u = Cast <to = 1> (b)""",
    "a sum": "a = GatherND (x, i) u = CumSum (a, zero)",
    "what another mask reads": """o = Not (m) p = NonZero (o) j = Transpose (p)
        a = GatherND (x, j) u = Neg (a)""",
}


@pytest.mark.parametrize("how", NOT_ALIKE)
def test_functions_that_are_not_computed_everywhere(how: str, refuses: Refuses) -> None:
    given = "float[K] t, float[A,4] z, float[1] v, int64[1] ends"
    refuses(masked(NOT_ALIKE[how], given=given), Reason.UNKNOWN_INDICES)


ROWS_READ = """g = Transpose (f)
        a = GatherND (z, g)
        e = Reshape (a, minus)
        q = Shape <start = 1> (n)
        u = Slice (e, zero, q, zero)"""


def test_rows_under_a_mask_that_is_not_repeated(refuses: Refuses) -> None:
    """Another mask, or one that says more than its rows."""
    other = rows_masked(ROWS_READ, given="float[A,4] z, bool[A] o")
    refuses(other.replace("f = NonZero (m)", "f = NonZero (o)"), Reason.UNKNOWN_INDICES)
    cut = other.replace("b = Expand (w, s)", "b = And (c, w)").replace("bool[A] o", "bool[A,4] c")
    refuses(cut, Reason.UNKNOWN_INDICES)


def few_integers(text: str) -> str:
    """Return a model whose mask is made of few integers: a table of terms is known of it."""
    text = text.replace("[A,4]", "[3,4]").replace("bool[A] m", "int64[3] j")
    return text.replace("w = Unsqueeze", "m = Greater (j, zero) w = Unsqueeze")


EXTREMES = np.iinfo(np.int64)
FEW = [[0, 0, 0], [1, 1, 1], [1, -1, 0], [-1, 0, 7], [EXTREMES.max, EXTREMES.min, EXTREMES.max]]


def test_rows_under_a_mask_of_few_integers_that_is_not_repeated(refuses: Refuses) -> None:
    """One place says more than its row."""
    given = few_integers(rows_masked(ROWS_READ, given="float[A,4] z, bool[4] o"))
    cut = given.replace("b = Expand (w, s)", "l = Expand (w, s) p = Less (k4, one) b = And (l, p)")
    one = "k4 = Constant <value = int64[4] {0, 0, 0, 7}> () w ="
    refuses(cut.replace("w =", one, 1), Reason.UNKNOWN_INDICES, {"j": np.zeros(3, np.int64)})


def test_a_mask_of_any_size() -> None:
    """It runs as long as nothing is true outside; a Where alone would give the wider shape."""
    rng, feeds = np.random.default_rng(0), []
    for rows in (0, 1, 3):
        for shape in ((0, 4), (1, 4), (2, 6), (5, 1), (5, 0), (rows, 4)):
            m = np.zeros(shape, bool)
            inside = m[:rows, :4]
            inside[...] = rng.random(inside.shape) < 0.5
            feeds.append({"A": rows, "m": m})
    assert_sound_at(masked(NUMBER).replace("bool[A,4] m", "bool[B,C] m"), *feeds)


GOLDEN = {
    "a number": row(*masks(4)),
    "a number that is no negative zero": row(*masks(4)),
    "numbers of a type with one zero": row(*masks(4)),
    "booleans": row(*masks(4)),
    "a number that is added": row(*masks(4)),
    "a vector over the axis behind the mask": row(*masks()),
    "a tensor under a mask that is the same everywhere": row(
        *({"A": a, "flag": flag, "k": [flag]} for a in (1, 3) for flag in (0, 1))
    ),
    "elements of another tensor under the same mask": row(*masks(4)),
    "a function of what the mask reads": row(*masks(4)),
    "a function of two tensors": row(*masks(4)),
    "a function of a number": row(*masks(4)),
    "a function whose first elements are taken": row(*masks(4)),
    # A vector for each row, and a number for each column.
    "a function of rows": row(*masks()),
    # As TorchScript exports ``x[torch.where(m)]``.
    "a read by flat positions": row(*masks(4)),
    "rows of another tensor under the same mask": row(*masks()),
    # As TorchScript exports ``x[m] = z[m]`` with a mask of rows.
    "rows of another tensor under a mask that is repeated": row(*masks()),
    "rows under a mask of few integers": row(*({"j": np.array(j)} for j in FEW)),
    "the first elements of what the mask reads are all": row(*masks(4)),
    "a mask of numbers": row(*masks(4)),
    "a mask that is computed twice": row(*({"A": a, "c": c} for a in (0, 1, 3) for c in (0, 1, 5))),
    # Elsewhere the divisor may be 0.
    "a division of integers": row(*({**f, "z": np.where(f["m"], 3, 0)} for f in masks(4))),
    "a mask of another size is cut and filled up": row(
        *({"A": 3, "m": [[1, 0, 1, 0], *[[0] * 4] * n]} for n in (0, 2, 4))
    ),
}
test_golden = each(GOLDEN, "golden")


SAME_FORMULA = f"""g (float[N,N] x, float[N,N] z, float[A,B] like, int64 c) => (float[N,N] y)
    {NUMBERS} {{
        nil = Constant <value = int64 {{0}}> ()
        unit = Constant <value = int64 {{1}}> ()
        p = Shape (like)
        q = Shape (turned)
        wide = Gather (p, unit)
        tall = Gather (q, unit)
        r = Range (nil, wide, unit)
        e = Expand (r, p)
        m = Less (e, c)
        n = NonZero (m)
        i = Transpose (n)
        r2 = Range (nil, tall, unit)
        e2 = Expand (r2, q)
        m2 = Less (e2, c)
        n2 = NonZero (m2)
        i2 = Transpose (n2)
        u = GatherND (z, i2)
        y = ScatterND (x, i, u) }}""".replace(
    "q = Shape", "turned = Transpose (like)\n        q = Shape"
)


TWICE = "twice = Constant <value = int64[2] {1, 2}> ()"
OUT_OF_ORDER = {
    "the first of a vector": "u = Slice (v, zero, k)",
    "a vector itself": "u = Identity (v)",
    "numbers whose last bit depends on their place": "e = Expand (b, k) u = Log (e)",
    "numbers that are listed": "u = Constant <value = float[3] {1, 2, 3}> ()",
    "the first numbers of a list": """f = Constant <value = float[2] {1, 2}> ()
        u = Slice (f, zero, k)""",
    "of a function that has the name of an operator": """a = GatherND (z, i)
        u = local.Slice (a, zero, k)""",
    "half of what is read, twice": f"""a = GatherND (z, i)
        half = Div (k, two)
        h = Slice (a, zero, half)
        c = Reshape (h, column)
        {TWICE}
        e = Expand (c, twice)
        u = Reshape (e, minus)""",
    "the first half of what is read twice": f"""a = GatherND (z, i)
        c = Reshape (a, column)
        {TWICE}
        e = Expand (c, twice)
        f = Reshape (e, minus)
        u = Slice (f, zero, k)""",
    "what half of the rows read, twice": f"""half = Div (k, two)
        j = Slice (i, zero, half)
        a = GatherND (z, j)
        c = Reshape (a, column)
        {TWICE}
        e = Expand (c, twice)
        u = Reshape (e, minus)""",
    "from the second on": """a = GatherND (z, i)
        f = Reshape (a, minus)
        end = Add (k, one)
        u = Slice (f, one, end)""",
    "from a start that is known at run time": """a = GatherND (z, i)
        f = Reshape (a, minus)
        u = Slice (f, start, k)""",
    "every second": """a = GatherND (z, i)
        f = Concat <axis = 0> (a, a)
        far = Constant <value = int64[1] {9223372036854775807}> ()
        u = Slice (f, zero, far, zero, two)""",
    "what another mask reads": """p = NonZero (o)
        j = Transpose (p)
        u = GatherND (z, j)""",
    "of a tensor of another shape": "u = GatherND (t, i)",
    "of a tensor of unknown rank": "w = Reshape (z, shape) u = GatherND (w, i)",
    "whole rows, of which the first elements": """first = Slice (i, zero, one, one)
        a = GatherND (z, first)
        f = Reshape (a, minus)
        u = Slice (f, zero, k)""",
    "at half of the positions": "j = Div (i, two) u = GatherND (z, j)",
    "at positions that are fed": "j = Transpose (given) u = GatherND (z, j)",
    "at positions of unknown rank": "j = Reshape (given, shape) u = GatherND (z, j)",
    "at positions that are cubes": """c = Unsqueeze (given, zero)
        j = Transpose (c)
        a = GatherND (z, j)
        u = Reshape (a, minus)""",
    "at positions that were floats": "j = Cast <to = 7> (places) u = GatherND (z, j)",
    "of unknown rank, repeated": """w = Reshape (z, shape)
        e = Expand (w, shape)
        u = Reshape (e, minus)""",
    "repeated as the run says": "e = Expand (v, shape) u = Reshape (e, minus)",
}


def out_of_order() -> list[dict[str, Any]]:
    """Return feeds. Each model of `OUT_OF_ORDER` takes at least one of them."""
    found, rng = [], np.random.default_rng(0)
    for count in (0, 2, 3, 4, 16):
        m = rng.permutation(np.arange(16) < count).reshape(4, 4)
        for k in {count, 2}:
            given = {
                "m": m,
                "o": m[::-1],
                "B": 4,
                "start": [0],
                "given": rng.integers(0, 4, (2, k)),
            }
            given["places"] = rng.integers(0, 4, (k, 2))
            found += [given | {"v": rng.random(k), "shape": s} for s in ([4, 4], [k, 2], [k])]
    return found


AT_OTHER_PLACES = {
    "of a tensor of another rank": """first = Slice (i, zero, one, one)
        u = GatherND (line, first)""",
    "columns and rows exchanged": """j = Slice (i, zero, one, one)
        l = Slice (i, one, two, one)
        back = Concat <axis = 1> (l, j)
        u = GatherND (z, back)""",
}


@pytest.mark.parametrize("how", AT_OTHER_PLACES)
def test_updates_at_other_places_of_the_mask(how: str) -> None:
    text = masked(AT_OTHER_PLACES[how], given="float[4,4] z, float[4] line")
    assert_sound_at(text.replace("[A,4]", "[4,4]"), *masks(4, sizes=(4,)), left=0)


def test_columns_that_a_mask_chooses() -> None:
    text = f"""g (float[4,A] x, bool[A] m, float v) => (float[4,A] y) {NUMBERS} {{
        n = NonZero (m)
        k = Shape <start = 1> (n)
        shape = Concat <axis = 0> (four, k)
        u = Expand (v, shape)
        i = Expand (n, shape)
        y = ScatterElements <axis = 1> (x, i, u) }}"""
    assert_sound_at(text, *masks(), left=0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("how", OUT_OF_ORDER)
def test_updates_in_another_order(how: str, refuses: Refuses) -> None:
    given = """float[K] v, float b, float[4,4] z, bool[4,4] o, float[B,4] t, float[4] line,
        int64[1] start, int64[2,K] given, float[K,2] places, int64[R] shape"""
    text = masked(OUT_OF_ORDER[how], given=given).replace("[A,4]", "[4,4]")
    model, feeds = parse(text + FUNCTION), out_of_order()
    refuses(model, Reason.UNKNOWN_INDICES, *feeds, rejected=len(feeds) - 1)


BATCHED = """g (float[A,B] x, float[A,B] z, bool[A] m) => (float[A,B] y)
    { y = local.put <b = 1> (x, z, m) }
    <domain: "local", opset_import: ["" : 18]> put <b> (x, z, m) => (y) {
        column = Constant <value = int64[2] {-1, 1}> ()
        n = NonZero (m)
        i = Transpose (n)
        a = GatherND <batch_dims: int = @b> (z, i)
        c = Reshape (a, column)
        s = Shape (x)
        u = Expand (c, s)
        y = ScatterND (x, i, u) }"""


@pytest.mark.parametrize("batch_dims", [": int = @b", " = 1"])
def test_rows_of_batches(batch_dims: str, refuses: Refuses) -> None:
    # z[k, k] is repeated, which is not z[k, :].
    text = BATCHED.replace(": int = @b", batch_dims)
    feed = {"A": 3, "B": 3, "m": [True] * 3}
    refuses(parse(text), Reason.UNKNOWN_INDICES, feed)


def test_axes_in_another_order_than_the_mask_has_them(golden: Golden) -> None:
    text = masked(f"j = Slice (i, zero, one, one) l = Slice (i, one, two, one) {NUMBER}")
    text = text.replace("y =", "t = Concat <axis = 1> (l, j) y =").replace("(x, i, u)", "(x, t, u)")
    golden(text.replace("bool[A,4]", "bool[4,A]"), {"A": 3})


@pytest.mark.parametrize("shape", ["1,1,1", "1,1,4"])
def test_a_number_of_more_dims_than_the_data(shape: str, refuses: Refuses) -> None:
    """A Where would give its dims to the result."""
    updates = """ones = Constant <value = int64[1] {1}> ()
        shape = Concat <axis = 0> (k, ones, four)
        e = Expand (v, shape)
        u = Reshape (e, minus)"""
    text = rows_masked(updates, given=f"float[{shape}] v")
    refuses(text, Reason.UNKNOWN_INDICES, *masks())


@pytest.mark.parametrize(
    ("kind", "reduction"), [("int16", "none"), ("bool", "max"), ("int16", "max")]
)
def test_element_types_without_kernels(kind: str, reduction: str, refuses: Refuses) -> None:
    text = masked(NUMBER, reduction=reduction).replace("float", kind)
    refuses(text, Reason.NO_KERNEL)


VECTORS = {
    "two numbers in turn for four columns": ("float[2] v", "two", 32),
    "a row of more than one dim": ("float[4,4] v", "four, four", 4),
    "a row that is repeated twice each time": ("float[4] v", "four, four", 4),
    "a row of more dims than the data": ("float[4,4,4] v", "four, four, four", 1),
}


@pytest.mark.parametrize("how", VECTORS)
def test_a_vector_in_another_rhythm(how: str, refuses: Refuses) -> None:
    given, dims, count = VECTORS[how]
    updates = f"""shape = Concat <axis = 0> (count, {dims})
        e = Expand (v, shape)
        u = Reshape (e, minus)"""
    text = rows_masked(updates, given=f"{given}, int64[1] count")
    refuses(text, Reason.UNKNOWN_INDICES, {"m": ROWS, "count": [count]})


ROWS = [1] * 8 + [0] * 4 + [1] * 8


KEPT = {
    "masks of one formula and two shapes": Case(
        SAME_FORMULA, Reason.UNKNOWN_INDICES, {"N": 3, "A": 2, "B": 3, "c": 5}
    ),
    "positions that are no mask": Case(
        """g (float[A,4] x, int64[K,2] i, float[K] u) => (float[A,4] y)
        { y = ScatterND (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
    ),
    "a vector under a mask of numbers": Case(
        rows_masked(VECTOR, mask="float[A] m"), Reason.UNKNOWN_INDICES, {"m": ROWS}
    ),
}
test_kept = each(KEPT, "refuses")


def test_a_vector_under_a_mask_of_another_width(refuses: Refuses) -> None:
    text = rows_masked(
        VECTOR.replace("(k,", "(c,"), given="float[4] v, float[A,B] like, int64[1] c"
    )
    text = text.replace("s = Shape (x)", "s = Shape (like)")
    refuses(text, Reason.UNKNOWN_INDICES, {"m": ROWS, "B": 2, "c": [8]})


UPDATES = {  # the data's other dims, another input, and the updates
    "the first columns of a wider tensor": ("4", "float[K,5] w", "u = Slice (w, zero, four, one)"),
    "a column that is repeated over rows and columns": (
        "2,4",
        "float[2,1] w, int64[1] c",
        """t = Constant <value = int64[2] {2, 4}> ()
        s = Concat <axis = 0> (c, t) u = Expand (w, s)""",
    ),
    "a column of another tensor under the mask": (
        "4",
        "float[A] w",
        """a = GatherND (w, i) c = Reshape (a, column)
        t = Concat <axis = 0> (one, four) u = Expand (c, t)""",
    ),
}


@pytest.mark.parametrize("how", UPDATES)
def test_rows_that_are_not_read_as_they_are_written(how: str) -> None:
    dims, given, updates = UPDATES[how]
    text = f"""g (float[A,{dims}] x, bool[A] m, {given}) => (float[A,{dims}] y) {NUMBERS} {{
        n = NonZero (m)
        k = Shape <start = 1> (n)
        i = Transpose (n)
        {updates}
        y = ScatterND (x, i, u) }}"""
    counted = [(f, int(f["m"].sum())) for f in masks()]
    assert_sound_at(text, *({**f, "K": count, "c": [count]} for f, count in counted))


def test_a_column_of_a_mask_over_an_axis_behind_it() -> None:
    """The mask as it was before it was broadcast would stand for other axes of the data."""
    text = f"""g (float[4,4,4] x, bool[4,1] m, float v) => (float[4,4,4] y) {NUMBERS} {{
        whole = Concat <axis = 0> (four, four)
        b = Expand (m, whole)
        n = NonZero (b)
        k = Shape <start = 1> (n)
        i = Transpose (n)
        t = Concat <axis = 0> (k, four)
        u = Expand (v, t)
        y = ScatterND (x, i, u) }}"""
    assert_sound_at(text, {"m": [[1], [0], [1], [0]]})


@pytest.mark.parametrize(("opset", "reason"), [(9, Reason.OPSET), (12, Reason.NO_KERNEL)])
def test_a_mask_is_cut_and_filled_up_from_operator_set_13_on(
    opset: int, reason: Reason, refuses: Refuses
) -> None:
    text = """g (float[A] x, bool[B] m, float v) => (float[A] y) {
        i = Reshape (NonZero (m), [-1])
        y = Scatter (x, i, Expand (v, Shape (i))) }"""
    refuses(text if opset < 11 else text.replace("Scatter", "ScatterElements"), reason, opset=opset)


def test_a_function_of_rows_is_kept_where_time_counts() -> None:
    """For all rows it takes as many times as long as there are rows for each that is selected."""
    text = """g (float[A, B] x, bool[A] m) => (float[A, B] y) {
        n = NonZero (m)  i = Transpose (n)  r = GatherND (x, i)  u = FUNCTION
        y = ScatterND (x, i, u) }"""
    for function, target, reads in (
        ("Exp (r)", "standard", False),
        ("Exp (r)", "ort-cpu", True),
        ("Identity (r)", "ort-cpu", False),
    ):
        model = parse(text.replace("FUNCTION", function))
        made = onnx_scatterx.optimize(model, target=target).model
        assert ("GatherND" in {node.op_type for node in made.graph.node}) == reads
    whole = parse(text.replace("FUNCTION", "Exp (r)").replace("bool[A] m", "bool[A, B] m"))
    made = onnx_scatterx.optimize(whole, target="ort-cpu").model
    assert [node.op_type for node in made.graph.node] == ["Exp", "Where"]
