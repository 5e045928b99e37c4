"""What the interpreter says of whole models: control flow, functions, constants, overflow."""

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.engine.analysis.known import N_FEEDS, known
from tests.helpers.judged import Judged, judge
from tests.helpers.native_support import RUNTIME
from tests.helpers.support import i64, parse


def rows(*sizes: int) -> list[dict[str, np.ndarray]]:
    return [{"x": i64(np.arange(n) - 2)} for n in sizes]


@pytest.mark.sampled(3)
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
            r = Concat<axis = 0>(Cast<to = 7>(q), x)
            s = Cast<to = 6>(r) }}""")
        accepted += judge(model, rows(*N_FEEDS))
    assert accepted == 24


def test_sums_of_runtime_numbers_may_wrap() -> None:
    model = parse("""g (int64[N] x) => (r) {
        r = Greater(Add(x, Constant<value_int = 1>()), x) }""")
    ends = [{"x": i64([2**63 - 1, 0])}, {"x": i64([-(2**63)])}]
    assert judge(model, ends) == 2


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
def test_unsigned_scalars_are_not_sizes(dtype: str) -> None:
    # A size is less than 2**31, and 64-bit arithmetic on sizes is assumed not to overflow.
    model = parse(f"""g ({dtype} u) => (r) {{
        narrow = Cast<to = 6>(u)
        wide = Cast<to = 7>(u)
        square = Mul(wide, wide)
        r = Greater(Add(square, wide), square) }}""")
    numbers = [5, 2**31, 2**32 - 1, *([2**63, 2**64 - 1] if dtype == "uint64" else [])]
    assert judge(model, [{"u": np.array(n, dtype)} for n in numbers]) == len(numbers)


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
            r = Cast<to = 7>(Cast<to = 11>(Cast<to = {to}>(a))) }}""")
        accepted += judge(model, rows(1))
    assert accepted == 12


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
            d = f.Outer<k = 7>(y, zero) }"""
        + FUNCTION,
        ir_version=9,
    )
    ones = [np.ones((m, 2), np.int64) for m in (1, 2)]
    feeds = [{"x": i64(np.arange(n)), "y": y} for n in (1, 3) for y in ones]
    assert judge(model, feeds) == 4
    assert known(model, "b") == "(2,) [5 5]"
    ir_model = ir.from_proto(model)
    knowledge = interpret(ir_model)
    for function in ir_model.functions.values():
        for node in function:
            found = knowledge.values[node.outputs[0]]
            if node.op_type == "Constant":
                assert found.constant is None, "the callers differ in k"
            if node.op_type == "Shape":
                assert found.constant is None, "the callers differ in the shape"


def test_wrong_declarations_have_no_influence() -> None:
    text = """g (int64[N] x) => (int64[M] r) <int64[N] s, int64[7] t> {
        one = Constant<value_ints = [1]>()
        t = Neg(Slice(x, one, Constant<value_ints = [9223372036854775807]>()))
        r = Abs(t) }"""
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


@pytest.mark.parametrize(
    ("nodes", "n", "shape"),
    [
        ("r = ReduceSum<keepdims = 0>(x, minus)", 0, (0,) if RUNTIME < (1, 32) else ()),
        ("r = ReduceSum<keepdims = 1>(x, minus)", 0, (0,) if RUNTIME < (1, 32) else (1,)),
        ("r = ReduceSum<keepdims = 1>(x, minus)", 4, (1,)),
        ("r = Slice(x, minus, near, zero, minus)", 4, (4,)),
        ("r = Slice(x, far, far, zero, minus)", 4, (1,)),
        ("y = Unsqueeze(x, zero)  r = Squeeze(y, none)", 4, (4,)),
        ("k = Shape(x)  t = Sub(k, one)  r = Reshape(x, t)", 0, (0,)),
    ],
)
def test_where_onnxruntime_has_its_own_mind(nodes: str, n: int, shape: tuple[int, ...]) -> None:
    model = parse(f"""g (int64[N] x) => (r) {{
            minus = Constant<value_ints = [-1]>()
            near = Constant<value_ints = [9223372036854775807]>()
            far = Constant<value_ints = [-9]>()
            zero = Constant<value_ints = [0]>()
            one = Constant<value_ints = [1]>()
            none = Constant<value = int64[0] {{}}>()
            {nodes.replace("  r =", chr(10) + " r =").replace("  t =", chr(10) + " t =")}
        }}""")
    judged = Judged(model)
    assert judged.session is not None
    found = judged.session.run(["r"], {"x": i64(np.arange(n))})[0]
    assert found.shape == shape
    assert judge(model, rows(*N_FEEDS)) >= 2


def test_a_scalar_without_new_axes_is_a_scalar() -> None:
    model = parse("""g (int64[N] x) => (r, s) {
        none = Constant <value = int64[0] {}> ()
        t = Unsqueeze (Gather (Shape (x), 0), none)
        c = Unsqueeze (1, none)
        r = Sub (t, c)
        s = Range (0, r, c) }""")
    assert judge(model, rows(*N_FEEDS)) >= 2
    assert known(model, "r") == "() N - 1"


@pytest.mark.parametrize("dtype", ["int32", "int64", "int16", "uint32"])
@pytest.mark.parametrize("offset", [0, 2**31 - 2**15])
def test_the_largest_ends_of_a_slice_may_come_at_run_time(dtype: str, offset: int) -> None:
    # The largest number of 32 bits is an end beyond the first element, when it goes backwards.
    model = parse(f"""g (int64[N] x, {dtype}[1] e) => (r) {{
        four = Constant<value_ints = [4]>()
        zero = Constant<value_ints = [0]>()
        minus = Constant<value_ints = [-1]>()
        offset = Constant<value_ints = [{offset}]>()
        r = Slice(x, four, Add(Cast<to = 7>(e), offset), zero, minus) }}""")
    ends = [2, -3, 2**15 - 1, 2**31 - 1]
    ends = [e for e in ends if np.iinfo(dtype).min <= e <= np.iinfo(dtype).max]
    feeds = [{"x": i64(np.arange(7)), "e": np.array([e], dtype)} for e in ends]
    assert judge(model, feeds) == len(ends)


@pytest.mark.parametrize(
    ("node", "shapes"),
    [
        ("MaxPool<auto_pad = 'SAME_UPPER', dilations = [2], kernel_shape = [2]>(x)", [(1, 2, 5)]),
        ("LpPool<auto_pad = 'SAME_LOWER', dilations = [2], kernel_shape = [2]>(x)", [(1, 2, 5)]),
        ("LpPool<ceil_mode = 1, strides = [3], kernel_shape = [1]>(x)", [(1, 2, 5)]),
        (
            "ConvTranspose<auto_pad = 'SAME_UPPER', strides = [2], output_padding = [1]>(x, y)",
            [(1, 2, 5), (2, 3, 2)],
        ),
        ("ConvTranspose<output_shape = [3]>(x, y)", [(1, 2, 5), (2, 3, 2)]),
        ("Einsum<equation = 'ij,ij->ij'>(x, y)", [(1, 3), (4, 3)]),
        ("Einsum<equation = 'ij,ij'>(x, y)", [(1, 3), (4, 3)]),
        ("PRelu(x, y)", [(1, 3), (4, 3)]),
    ],
)
def test_shapes_that_onnx_infers_otherwise(node: str, shapes: list[tuple[int, ...]]) -> None:
    pairs = zip("xy", shapes, strict=False)
    declared = ", ".join(f"float[{', '.join(map(str, s))}] {n}" for n, s in pairs)
    model = parse(f"g ({declared}) => (r) {{ r = {node} }}".replace("'", '"'), opset=22)
    feed = {n: np.ones(s, np.float32) for n, s in zip("xy", shapes, strict=False)}
    assert judge(model, [feed]) == 1


def test_an_empty_tensor_may_be_joined_to_any_other() -> None:
    model = parse("""g (int64[N, M] x, int64[K, L] y) => (r) {
        r = Concat<axis = 0>(x, y)
        s = Shape(r) }""")
    judged = Judged(model)
    x, y = np.ones((0, 5), np.int64), np.ones((2, 3), np.int64)
    assert judged.session.run(["r"], {"x": x, "y": y})[0].shape == (2, 3)
    assert known(model, "r").startswith("(N + K, r.1)")


def test_only_what_some_values_depend_on() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18, "own": 1]>
        g (float[N, 4] x, bool c) => (int64[k] y, float[N, 4] z) {
            z = Neg(x)
            n = Shape<start = 0, end = 1>(x)
            n2 = own.twice(n)
            y = If(c) <then_branch = a () => (int64[1] p) { p = Add(n2, n) },
                       else_branch = b () => (int64[1] q) { q = Identity(n2) }>
            w = Abs(z) }
        <domain: "own", opset_import: ["" : 18]> twice (i) => (o) { o = Add(i, i) }"""
    model = ir.from_onnx_text(text)
    z, _n, n2, y, _w = model.graph
    whole = interpret(model)
    part = interpret(model, of=y.outputs)
    for node in (n2, y):
        assert str(part.values[node.outputs[0]]) == str(whole.values[node.outputs[0]])
    assert z.outputs[0] not in part.values
    (function,) = model.functions.values()
    assert function.graph in whole.scopes
    assert function.graph not in part.scopes
    assert interpret(model, of=[]).values.keys().isdisjoint(z.outputs)
    read = interpret(model, of=function.graph.inputs).values
    assert {v: str(known) for v, known in read.items()} == {
        v: str(known) for v, known in whole.values.items()
    }
