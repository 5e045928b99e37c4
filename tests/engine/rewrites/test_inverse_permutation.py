"""permutation: a write to all positions in a computed order is a Gather in the inverse order."""

import pytest

from onnx_scatterx import Reason
from tests.helpers.rules import Case, Refuses, assert_sound_at, each, row, sizes
from tests.helpers.support import parse


def sorted_write(count: str, reduction: str = "none", keys: str = "S", kind: str = "float") -> str:
    """Return a write in the order of the greatest of some keys, row by row."""
    return f"""g (float[B,{keys}] keys, {kind}[B,S,3] x, {kind}[B,{count},3] u) => ({kind}[B,S,3] y)
    <int64[1] last = {{-1}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64[1] four = {{4}}> {{
        s = Shape (x)
        all = Slice (s, one, two)
        values, i = TopK <axis = 1> (keys, {"all" if count == "S" else "four"})
        j = Unsqueeze (i, last)
        like = Shape (u)
        e = Expand (j, like)
        y = ScatterElements <axis = 1, reduction = "{reduction}"> (x, e, u) }}"""


FOR_ALL = """g (float[N] keys, float[N,3] x, float[N,3] u) => (float[N,3] y)
    <int64[1] last = {-1}> {
        k = Shape (keys)
        values, i = TopK (keys, k)
        j = Unsqueeze (i, last)
        y = ScatterND (x, j, u) }"""


def test_numbers_that_are_compared() -> None:
    assert_sound_at(sorted_write("S", "max"), *sizes(B=(0, 1, 3), S=(1, 2, 9)))


GOLDEN = {
    "an order for each row": row(*sizes(B=(0, 1, 3), S=(1, 2, 9))),
    "one order for all": row(*sizes(N=(0, 1, 9))),
    "numbers that are added": row(*sizes(B=(0, 1, 3), S=(1, 2, 9))),
    "operator set 11": row(opset=11),
}
test_golden = each(GOLDEN, "golden")


REFUSED = {
    "positions on two axes": """g (float[A,B] x, int64[K,2] i, float[K] u) => (float[A,B] y)
        { y = ScatterND (x, i, u) }""",
    "updates of two dims": """g (float[A] x, int64[B,C,1] i, float[B,C] u) => (float[A] y)
        { y = ScatterND (x, i, u) }""",
    "another operator": FOR_ALL.replace("values, i = TopK (keys, k)", "i = Cast <to = 7> (keys)"),
    "an order along another axis": """
        g (float[N,N] keys, float[N,N] x, float[N,N] u) => (float[N,N] y) {
        s = Shape <end = 1> (keys)
        values, i = TopK <axis = 0> (keys, s)
        y = ScatterElements <axis = 1> (x, i, u) }""",
}


@pytest.mark.parametrize("model", REFUSED.values(), ids=REFUSED)
def test_what_is_no_inverse_of_an_order(model: str, refuses: Refuses) -> None:
    refuses(model, Reason.UNKNOWN_INDICES)


def test_keys_that_may_be_fewer_than_the_positions(refuses: Refuses) -> None:
    text = sorted_write("S", keys="T").replace("s = Shape (x)", "s = Shape (keys)")
    feeds = sizes(B=(0, 1, 3), S=(12,), T=(9,))
    refuses(text.replace("[B,S,3] u", "[B,T,3] u"), Reason.UNKNOWN_INDICES, *feeds, left=1)


@pytest.mark.parametrize(
    "moved",
    [
        "h = Add (i, last)",
        "d = Add (i, i) h = Sub (d, k)",  # every other position, from the end and from the start
        "c = Constant <value_ints = [0, 0, 1, 1]> () h = Gather (i, c)",
    ],
)
def test_an_order_that_is_moved_on(moved: str, refuses: Refuses) -> None:
    text = FOR_ALL.replace("[N", "[4").replace("Unsqueeze (i", "Unsqueeze (h")
    text = text.replace("j =", f"{moved} j =")
    refuses(text, Reason.UNKNOWN_INDICES, {}, {"keys": [2, 0, 3, 1]})


KEPT = {
    "all positions in their own order": Case(
        """g (float[2,N] x, float[2,N] u) => (float[2,N] y) { y = ScatterND (x, [[0], [1]], u) }""",
        Reason.NO_RULE,
    ),
    "some of the positions": Case(
        sorted_write("4"), Reason.UNKNOWN_INDICES, *sizes(B=(0, 1, 3), S=(12,)), left=1
    ),
    "the values of a sort": Case(
        FOR_ALL.replace("float[N] keys", "int64[N] keys").replace("values, i", "i, order"),
        Reason.UNKNOWN_INDICES,
        {"keys": [3, 1, 0, 2]},
        {"keys": [2, 0, 2, 1]},
        left=1,
    ),
    "a diagonal of orders": Case(
        """g (float[4,4] k, float[4] x, float[4] u) => (float[4] y) {
            v, i = TopK (k, [4])
            j = GatherND (i, [[0, 0], [1, 1], [2, 2], [3, 3]])
            y = ScatterElements <axis = 0> (x, j, u) }""",
        Reason.UNKNOWN_INDICES,
        *({} for _ in range(3)),
    ),
    "an axis that the caller chooses": Case(
        parse("""g (float[N,N] keys, float[N,N] x, float[N,N] u) => (float[N,N] y)
        { y = local.put <a = 1> (keys, x, u) }
        <domain: "local", opset_import: ["" : 18]> put <a> (keys, x, u) => (y) {
        s = Shape <end = 1> (keys)
        values, i = TopK <axis: int = @a> (keys, s)
        y = ScatterElements <axis = 1> (x, i, u) }"""),
        Reason.UNKNOWN_INDICES,
    ),
    "element types without kernels": Case(sorted_write("S", kind="complex64"), Reason.NO_KERNEL),
    "a reduction without a kernel": Case(sorted_write("S", "max", kind="bool"), Reason.NO_KERNEL),
    "sorting upwards needs operator set 11": Case(
        """g (float[4] keys, float[4] x, float[4] u) => (float[4] y) {
            values, i = TopK (keys, [4])
            y = Scatter (x, i, u) }""",
        Reason.UNKNOWN_INDICES,
        {},
        opset=10,
    ),
}
test_kept = each(KEPT, "refuses")
