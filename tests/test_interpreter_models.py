"""What the interpreter says of whole models: control flow, functions, constants, wrapping numbers."""

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.indexing.interpreter import interpret
from tests.judged import Judged, judge
from tests.support import i64, parse

N_FEEDS = (0, 1, 2, 3, 5, 17)


def known(model: onnx.ModelProto, name: str) -> str:
    """Return shape and content of a value as text."""
    ir_model = ir.from_proto(model)
    knowledge = interpret(ir_model)
    for node in ir_model.graph:
        for value in node.outputs:
            if value.name == name:
                found = knowledge.values[value]
                return f"{found.shape} {found.content}"
    raise AssertionError(name)


def rows(*sizes: int) -> list[dict[str, np.ndarray]]:
    return [{"x": i64(np.arange(n) - 2)} for n in sizes]


@pytest.mark.parametrize("dtype", ["INT32", "INT64", "UINT8", "INT8", "UINT32", "UINT64", "INT16"])
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul"])
def test_numbers_that_leave_their_type(dtype: str, op: str) -> None:
    to = onnx.TensorProto.DataType.Value(dtype)
    limits = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(to))
    accepted = 0
    for number in (limits.max, limits.min, limits.max // 2 + 1, 3):
        model = parse(f"""g (int64[N] x) => (r) {{
            n = Shape(x)
            a = Cast<to = {to}>(x)
            d = Cast<to = {to}>(n)
            c = Constant<value = {dtype.lower()}[1] {{{number}}}>()
            both = Concat<axis = 0>(d, c, a)
            p = {op}(d, c)
            q = {op}(both, c)
            back = Cast<to = 7>(q)
            r = Concat<axis = 0>(back, x)
            s = Cast<to = 6>(r)
        }}""")
        accepted += judge(model, rows(*N_FEEDS))
    assert accepted == 24


def test_sums_of_runtime_numbers_may_wrap() -> None:
    model = parse("""g (int64[N] x) => (r) {
        one = Constant<value_int = 1>()
        y = Add(x, one)
        r = Greater(y, x)
    }""")
    ends = [{"x": i64([2**63 - 1, 0])}, {"x": i64([-(2**63)])}]
    assert judge(model, ends) == 2


@pytest.mark.parametrize("source", ["FLOAT", "DOUBLE", "INT64", "INT32", "UINT8", "BOOL"])
def test_casts_of_constants(source: str) -> None:
    numbers = {
        "FLOAT": "16777217, -1.5, 2147483648, -0.5, 3.99",
        "DOUBLE": "16777217, 0.99999999999, 9007199254740993, -7.5, 1.0004882812501",
        "INT64": "16777217, -1, 9007199254740993, 256, 4294967296",
        "INT32": "16777217, -1, 2147483647, 128, 0",
        "UINT8": "0, 1, 127, 128, 255",
        "BOOL": "0, 1, 1, 0, 1",
    }[source]
    accepted = 0
    for to in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13):
        model = parse(f"""g (int64[N] x) => (r) {{
            a = Constant<value = {source.lower()}[5] {{{numbers}}}>()
            b = Cast<to = {to}>(a)
            c = Cast<to = 11>(b)
            r = Cast<to = 7>(c)
        }}""")
        accepted += judge(model, rows(1))
    assert accepted == 12


LOOPS = {
    "a carried value grows": "vo = Concat<axis = 0>(vi, one)",
    "a carried value is kept": "vo = Identity(vi)",
    "a carried value is replaced": "vo = Identity(x)",
}


@pytest.mark.parametrize("what", LOOPS)
@pytest.mark.parametrize("gathered", ["vi", "one", "i"])
def test_loop(what: str, gathered: str) -> None:
    model = parse(f"""g (int64[N] x, int64 n, bool c, int64[M] v) => (r, s) {{
        one = Constant<value_ints = [1]>()
        r, s = Loop<body = b (int64 i, bool ci, vi) => (bool co, vo, so) {{
            co = Identity(ci)
            {LOOPS[what]}
            so = Identity({gathered})
        }}>(n, c, v)
        shape = Shape(r)
        again = Shape(s)
    }}""".replace("vi) =>", "int64[K] vi) =>"))
    accepted = 0
    for n in (0, 1, 3):
        for trips in (0, 1, 2):
            for go in (False, True):
                feed = {"x": i64(np.arange(n)), "n": i64(trips), "c": np.array(go), "v": i64([4, 5])}
                accepted += judge(model, [feed])
    assert accepted >= 9


def test_loop_that_swaps() -> None:
    model = parse("""g (int64[N] x, int64[M] y, int64 n) => (a, b) {
        go = Constant<value = bool {1}>()
        a, b = Loop<body = l (int64 i, bool ci, int64[P] u, int64[Q] w) => (bool co, p, q) {
            co = Identity(ci)
            p = Identity(w)
            q = Identity(u)
        }>(n, go, x, y)
        sa = Shape(a)
        sb = Shape(b)
    }""")
    feeds = [{"x": i64([1]), "y": i64([1, 2]), "n": i64(n)} for n in range(4)]
    assert judge(model, feeds) == 4


def test_if_branches_that_agree_and_that_differ() -> None:
    model = parse("""g (int64[N] x, int64[M] y, bool c) => (a, b, d) {
        a, b, d = If<then_branch = t () => (a1, b1, d1) {
            a1 = Neg(x)
            b1 = Identity(x)
            d1 = Constant<value_ints = [1, 2]>()
        }, else_branch = e () => (a2, b2, d2) {
            a2 = Abs(x)
            b2 = Identity(y)
            d2 = Constant<value_ints = [1, 3]>()
        }>(c)
        s = Shape(a)
        u = Shape(b)
        v = Reshape(x, d)
    }""")
    feeds = [
        {"x": i64(np.arange(n)), "y": i64(np.arange(4)), "c": np.array(c)}
        for n in (2, 3)
        for c in (False, True)
    ]
    assert judge(model, feeds) == 2
    assert known(model, "s") == "(1,) [N]"


def test_facts_of_a_branch_stay_in_it() -> None:
    model = parse("""g (int64[N] x, bool c) => (r) {
        three = Constant<value_int = 3>()
        a = If<then_branch = t () => (a1) { a1 = Gather(x, three) },
               else_branch = e () => (a2) { a2 = Constant<value_int = 0>() }>(c)
        one = Constant<value_ints = [1]>()
        far = Constant<value_ints = [4]>()
        r = Slice(x, one, far)
    }""")
    feeds = [{"x": i64(np.arange(n)), "c": np.array(False)} for n in N_FEEDS]
    assert judge(model, feeds) == len(feeds)


def test_scan() -> None:
    model = parse("""g (int64[N] v, int64[T, M] xs) => (r, s) {
        r, s = Scan<num_scan_inputs = 1, body = b (int64[P] vi, int64[Q] xi) => (vo, so) {
            vo = Neg(vi)
            so = Identity(xi)
        }>(v, xs)
        shape = Shape(r)
        again = Shape(s)
    }""")
    feeds = [{"v": i64([1, 2]), "xs": np.ones((t, 3), np.int64)} for t in (1, 2, 5)]
    assert judge(model, feeds) == 3


FUNCTION = """
<domain: "f", opset_import: ["" : 18, "f" : 1]>
Rows<k> (x, i) => (r) {
    s = Shape(x)
    c = Constant<value_int: int = @k>()
    g = Gather(x, i)
    t = Add(s, c)
    r = Sub(t, s)
}
<domain: "f", opset_import: ["" : 18, "f" : 1]>
Outer<k> (x, i) => (r) { r = f.Rows<k: int = @k>(x, i) }
"""


def test_functions_called_twice() -> None:
    model = parse(
        """g (int64[N] x, int64[M, 2] y) => (a, b, d) {
            zero = Constant<value_int = 0>()
            a = f.Rows<k = 2>(x, zero)
            b = f.Rows<k = 5>(y, zero)
            d = f.Outer<k = 7>(y, zero)
        }"""
        + FUNCTION,
        ir_version=9,
        more=', "f" : 1',
    )
    feeds = [{"x": i64(np.arange(n)), "y": np.ones((m, 2), np.int64)} for n in (1, 3) for m in (1, 2)]
    assert judge(model, feeds) == 4
    assert known(model, "b") == "(2,) [5 5]"
    ir_model = ir.from_proto(model)
    knowledge = interpret(ir_model)
    for function in ir_model.functions.values():
        for node in function:
            found = knowledge.values[node.outputs[0]]
            if node.op_type == "Constant":
                assert found.known is None, "the callers differ in k"
            if node.op_type == "Shape":
                assert found.known is None, "the callers differ in the shape"


def test_wrong_declarations_have_no_influence() -> None:
    text = """g (int64[N] x) => (int64[M] r) <int64[N] s, int64[7] t> {
        one = Constant<value_ints = [1]>()
        far = Constant<value_ints = [9223372036854775807]>()
        s = Slice(x, one, far)
        t = Neg(s)
        r = Abs(t)
    }"""
    model = parse(text)
    assert judge(model, rows(*N_FEEDS)) == len(N_FEEDS)
    assert known(model, "r").startswith("(N - 1 + max(0, -N + 1),)") or "max(0" in known(model, "r")


def overridable(ir_version: int) -> onnx.ModelProto:
    model = parse(
        """g (int64[N] x, int64[1] c) => (r) <int64[1] c = {2}> { r = Add(c, c) }""",
        ir_version=ir_version,
    )
    assert [i.name for i in model.graph.input] == ["x", "c"]
    assert [i.name for i in model.graph.initializer] == ["c"]
    return model


def test_initializers_that_callers_may_override_are_not_constants() -> None:
    judged = Judged(overridable(8))
    assert judged.accepts({"x": i64([1]), "c": i64([7])})
    assert known(overridable(8), "r") != "(1,) [4]"
    assert known(overridable(3), "r") == "(1,) [4]"


def test_negative_declared_dims_are_any_size() -> None:
    model = parse("g (int64[N] x) => (r) { r = Shape(x) }")
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = -1
    assert judge(model, rows(*N_FEEDS)) == len(N_FEEDS)


def test_a_loop_in_a_function_that_is_called_twice() -> None:
    model = parse(
        """g (int64[N] x, int64 n, int64 m) => (a, b) {
            a = f.Grow(x, n)
            b = f.Grow(x, m)
            p = Shape(a)
            q = Shape(b)
            e = Equal(p, q)
        }
        <domain: "f", opset_import: ["" : 18]>
        Grow (x, n) => (r) {
            go = Constant<value = bool {1}>()
            one = Constant<value_ints = [1]>()
            r = Loop<body = b (int64 i, bool ci, int64[K] vi) => (bool co, vo) {
                co = Identity(ci)
                vo = Concat<axis = 0>(vi, one)
            }>(n, go, x)
        }""",
        ir_version=9,
        more=', "f" : 1',
    )
    feeds = [{"x": i64([1]), "n": i64(n), "m": i64(m)} for n in (0, 2) for m in (0, 1)]
    assert judge(model, feeds) == 4
