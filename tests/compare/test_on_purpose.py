"""What `verify` hits on purpose: pairs that differ at an end, beside a constant, or at a size."""

import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.compare.draws.constants import Constants, one_sided
from onnx_scatterx.compare.draws.guidance import looked_at
from onnx_scatterx.compare.draws.landmarks import Dealer
from onnx_scatterx.compare.draws.uses import uses_of
from onnx_scatterx.compare.verifying import verify

Pair = tuple[str, str, str]


def model(graph: str, body: str) -> onnx.ModelProto:
    head = '<ir_version: 10, opset_import: ["": 24]>'
    return onnx.parser.parse_model(f"{head} g {graph} {{ {body} }}")


def indexed(data: str, body: str, at: str, first: str = "", kind: str = "int64") -> Pair:
    """Return a graph whose index is moved from a position to its neighbour."""
    shape = "[1]" if "TensorScatter" in body else "[1, 1]"
    graph = f"({data}, {kind}{shape} i) => (float[A, B] y)"
    moved = f"""{first} s = Shape (x) a = Constant <value_int = {AXIS.get(data, 0)}> ()
        n0 = Gather (s, a) n = CastLike (n0, i) one0 = Constant <value_int = 1> ()
        one = CastLike (one0, i) two = Add (one, one) {at} """
    return graph, body.replace("INDEX", "i"), moved + body.replace("INDEX", "j")


ROWS, WIDE, CACHE = "float[900, 2] x", "float[2, 900] x", "float[1, 900, 2] x, float[1, 1, 2] u"
AXIS = {WIDE: 1, CACHE: 1}
LAST = "m = Sub (n, two) j = Min (i, m)"
LEAST = "k = Neg (n) m = Add (k, one) j = Max (i, m)"
FIRST = "z = Sub (one, one) e = Equal (i, z) j = Where (e, one, i)"
BUT_ONE = "m = Sub (n, two) o = Sub (n, one) e = Equal (i, m) j = Where (e, o, i)"
INDEXED = {
    "Gather": indexed(ROWS, "g = Gather (x, INDEX) y = Flatten (g)", LAST),
    "Gather, from the end": indexed(ROWS, "g = Gather (x, INDEX) y = Flatten (g)", LEAST),
    "Gather, the first": indexed(ROWS, "g = Gather (x, INDEX) y = Flatten (g)", FIRST),
    "Gather, the last but one": indexed(ROWS, "g = Gather (x, INDEX) y = Flatten (g)", BUT_ONE),
    "int32": indexed(ROWS, "g = Gather (x, INDEX) y = Flatten (g)", LAST, kind="int32"),
    "GatherND": indexed(ROWS, "y = GatherND (x, INDEX)", LAST),
    "GatherElements": indexed(WIDE, "y = GatherElements <axis = 1> (x, INDEX)", LAST),
    "ScatterND": indexed(f"{ROWS}, float[1, 2] u", "y = ScatterND (x, INDEX, u)", LAST),
    "ScatterElements": indexed(
        f"{ROWS}, float[1, 1] u", "y = ScatterElements (x, INDEX, u)", BUT_ONE
    ),
    "TensorScatter": indexed(CACHE, "t = TensorScatter (x, u, INDEX) y = Flatten (t)", LAST),
    "Slice": indexed(
        ROWS,
        "f = Constant <value_ints = [-1]> () b = Reshape (INDEX, f)"
        " c = Constant <value_ints = [999]> () y = Slice (x, b, c)",
        LAST,
    ),
}


@pytest.mark.parametrize("case", INDEXED)
def test_positions_at_an_end_of_an_axis(case: str) -> None:
    graph, before, after = INDEXED[case]
    assert verify(model(graph, before), model(graph, after)).answer == "different"


def same(kind: str, changed: str, constants: str = "", to: str = "") -> Pair:
    return f"({kind}[n] x) => ({to or kind}[n] y) <{constants}>", "y = Identity (x)", changed


def replaced(kind: str, number: object, by: object, operator: str = "Equal") -> Pair:
    constants = f"{kind} k = {{{number}}}, {kind} r = {{{by}}}"
    return same(kind, f"e = {operator} (x, k) y = Where (e, r, x)", constants)


def narrowed(kind: str, code: int, own: int) -> Pair:
    return same(kind, f"c = Cast <to = {code}> (x) y = Cast <to = {own}> (c)")


NUMBERS = {
    "int8, the least": replaced("int8", -128, -127),
    "uint8, the greatest": replaced("uint8", 255, 254),
    "uint16, the greatest": replaced("uint16", 65535, 65534),
    "int16, the least": replaced("int16", -(2**15), 0),
    "int32, the greatest": replaced("int32", 2**31 - 1, 0),
    "int64, the least": replaced("int64", -(2**63), 0),
    "int64 through int32": narrowed("int64", 6, 7),
    "int64 through int16": narrowed("int64", 5, 7),
    "int64 through uint8": narrowed("int64", 2, 7),
    "int64 through float": narrowed("int64", 1, 7),
    "double through float": narrowed("double", 1, 11),
    "float through float16": narrowed("float", 10, 1),
    "a limit": same("int64", "y = Min (x, k)", "int64 k = {50256}"),
    "a number": replaced("int64", 12345, 0),
    "beside a number": replaced("int64", 12345, 0, "Greater"),
    "a float": replaced("float", 77.5, 0),
    "a limit of floats": same("float", "y = Clip (x, l, h)", "float l = {-60}, float h = {60}"),
    "floats between numbers": same(
        "float",
        "a = Greater (x, k) b = Less (x, h) e = And (a, b) y = Where (e, k, x)",
        "float k = {50}, float h = {100}",
    ),
    "a float behind a product": same(
        "float",
        "a = Mul (x, t) e = Equal (a, k) y = Where (e, k, x)",
        "float t = {4}, float k = {1000}",
    ),
    "an integer behind a sum": same(
        "int64",
        "a = Add (x, t) e = Equal (a, k) y = Where (e, k, x)",
        "int64 t = {9}, int64 k = {999}",
    ),
    "a string": (
        "(string[n] x) => (bool[n] y) <string k = {\"zebra\"}, string w = {\"another\"}>",
        "y = Equal (x, w)",
        "a = Equal (x, w) b = Equal (x, k) y = Or (a, b)",
    ),
    "no listed string": (
        '(string[n] x) => (bool[n] y) <string[6] w = {"", "a", "b", "scatter", "Größe", "0"},'
        " int64[1] one = {-1}, bool[1] t = {1}>",
        "s = Shape (x) y = Expand (t, s)",
        "u = Unsqueeze (x, one) e = Equal (u, w) c = Cast <to = 6> (e) "
        "m = ReduceMax <keepdims = 0> (c, one) y = Cast <to = 9> (m)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers(case: str) -> None:
    graph, before, after = NUMBERS[case]
    found = verify(model(graph, before), model(graph, after))
    assert found.answer == "different", found


COUNTED = """s = Shape (x) z = Constant <value_int = 0> () n = Gather (s, z)
    k = Constant <value_int = {}> () e = {} (n, k) f = Cast <to = 1> (e) y = Add (x, f)"""
SIZES = {
    "a size of 37": ("(float[n, 2] x) => (float[n, 2] y)", COUNTED.format(37, "Equal")),
    "more than 512": ("(float[n, 2] x) => (float[n, 2] y)", COUNTED.format(512, "Greater")),
    "the first of four": (
        "(float[n, b, c, d] x) => (float[n, b, c, d] y)",
        COUNTED.format(37, "Equal"),
    ),
    "rows that are cut at 100": (
        "(float[n, 2] x) => (float[m, 2] y) <int64[1] a = {0}, int64[1] b = {100}>",
        "y = Slice (x, a, b)",
    ),
}


@pytest.mark.parametrize("case", SIZES)
def test_sizes(case: str) -> None:
    graph, after = SIZES[case]
    assert verify(model(graph, "y = Identity (x)"), model(graph, after)).answer == "different"


def test_what_is_hit_on_purpose_is_accepted() -> None:
    """A start before the last valid one, a label out of bounds, and numbers that are refused."""
    label = """(float[6, 2] x, int64[3] i) => (float[3, 2] y) <int64 k = {-100}, int64 z = {0}>"""
    masked = model(label, "e = Equal (i, k) j = Where (e, z, i) y = Gather (x, j)")
    text = (
        "(float[1, n, 2] x, float[1, m, 2] u, int64[1] p) => (float[1, n, 2] y) <int64 k = {500}>"
    )
    shifted = model(text, "j = Min (p, k) y = TensorScatter (x, u, j)")
    for each in (masked, shifted):
        found = verify(each, each)
        assert found.accepted == 40
        assert found.draws < 75, found


def test_what_is_refused_is_dealt_no_more() -> None:
    dealer, marks = Dealer(), [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    assert dealer.deal(marks, 9) == [1, 2, 3, 4]
    dealer.tell(dealer.taken(), False)
    for _ in range(8):
        dealer.deal(marks, 9)
        taken = dealer.taken()
        dealer.tell(taken, "c" not in taken)
    assert [dealer.deal(marks, 1)[0] for _ in range(6)].count(3) == 0


def test_ifs_and_remainders_bound_an_index() -> None:
    known = model(
        "(float[5] x, int64[2] i) => (float[2] y)",
        """s = Shape (x) r = Size (s) z = Constant <value_int = 0> () c = Equal (r, z)
        j = If (c) <then_branch = t () => (int64[2] a) { m = Constant <value_int = 90> ()
            a = Sub (i, m) }, else_branch = e () => (int64[2] b) { b = Identity (i) }>
        y = Gather (x, j)""",
    )
    remainder = model(
        "(float[5] x, int64[2] i, int64 k) => (float[2] y)", "j = Mod (i, k) y = Gather (x, j)"
    )
    (bound,) = uses_of(looked_at(ir.from_proto(known)))["i"].bounds[None]
    assert bound.interval({}) == (-5, 4)
    bounds = uses_of(looked_at(ir.from_proto(remainder)))["i"].bounds[None]
    assert all(bound.whole for bound in bounds)


def test_constants_of_one_model_come_first() -> None:
    one, other = (
        ir.from_proto(
            model(f"(int64[n] x) => (bool[n] y) <int64 a = {{3}}, int64 b = {{{b}}}>", body)
        )
        for b, body in (
            (9, "s = Sub (x, a) y = Less (s, b)"),
            (8, "s = Sub (x, a) y = Less (s, b)"),
        )
    )
    assert one_sided([uses_of(each)["x"].numbers for each in (one, other)]) == (11, 12)
    assert Constants.of(one, other).numbers == (8, 9, 3)
