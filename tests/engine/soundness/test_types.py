"""Every element type, opset and IR version that ONNX Runtime runs a scatter in.

What is emitted must exist in the model's opset and have a kernel for the type.
"""

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.domain.overflow import fits
from onnx_scatterx.engine.terms import coord, size
from onnx_scatterx.engine.terms.facts import Facts
from tests.helpers.support import assert_sound, i64, parse

TYPES = ["float", "double", "float16", "bfloat16", "bool", "string"]
TYPES += [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]

# Indices, the shape of updates and the node, for data of shape [4, 6].
FORMS = {
    "rows": ("int64[2,1] i = {1, 2}", "2,6", "ScatterND (x, i, u)"),
    "last rows": ("int64[2,1] i = {-2, -1}", "2,6", "ScatterND (x, i, u)"),
    "strided rows": ("int64[2,1] i = {0, 2}", "2,6", "ScatterND (x, i, u)"),
    "reversed rows": ("int64[4,1] i = {3, 2, 1, 0}", "4,6", "ScatterND (x, i, u)"),
    "every row": ("int64[4,1] i = {0, 1, 2, 3}", "4,6", "ScatterND (x, i, u)"),
    "no row": ("int64[0,1] i = {}", "0,6", "ScatterND (x, i, u)"),
    "one element": ("int64[1,2] i = {2, 3}", "1", "ScatterND (x, i, u)"),
    "a box of elements": (
        "int64[2,2,2] i = {1, 2, 1, 3, 2, 2, 2, 3}",
        "2,2",
        "ScatterND (x, i, u)",
    ),
    "columns": (
        "int64[4,2] i = {2, 3, 2, 3, 2, 3, 2, 3}",
        "4,2",
        "ScatterElements <axis = 1> (x, i, u)",
    ),
    "half a row": ("int32[1,3] i = {1, 1, 1}", "1,3", "ScatterElements <axis = 0> (x, i, u)"),
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", TYPES)
def test_constant_boxes_in_every_type(dtype: str, form: str) -> None:
    indices, shape, node = FORMS[form]
    if dtype == "bfloat16":  # NumPy has none: it is made and read back inside of the model.
        model = parse(f"""g (float[4,6] a, float[{shape}] b) => (float[4,6] c) <{indices}> {{
            x = Cast <to = 16> (a)
            u = Cast <to = 16> (b)
            y = {node}
            c = Cast <to = 1> (y) }}""")
    else:
        model = parse(f"""g ({dtype}[4,6] x, {dtype}[{shape}] u) => ({dtype}[4,6] y) <{indices}> {{
            y = {node} }}""")
    assert_sound(model, {}, {}, left=0)


@pytest.mark.parametrize("dtype", TYPES)
def test_constant_data_in_every_type(dtype: str) -> None:
    # Pad, the natural form for one box on a constant, has no kernel for some of these.
    kind = {"float16": "float", "bfloat16": "float"}.get(dtype, dtype)
    zero = '""' if dtype == "string" else "0"
    code = {"float16": 10, "bfloat16": 16}.get(dtype)
    cast = f"Cast <to = {code}>" if code else "Identity"
    back = "Cast <to = 1>" if code else "Identity"
    model = f"""g ({kind}[3] v) => ({kind}[6] y)
        <{kind}[6] z = {{{", ".join([zero] * 6)}}}, int64[3,1] i = {{2, 3, 4}}> {{
            x = {cast} (z)
            u = {cast} (v)
            t = ScatterND (x, i, u)
            y = {back} (t) }}"""
    assert_sound(model, {}, {}, left=0)


@pytest.mark.parametrize("number", [0.1, -0.0, 0.5, 1e300, np.nan, -np.inf])
def test_a_box_of_doubles_on_a_number(number: float) -> None:
    # Before operator set 11 the number that Pad writes is an attribute, of 32 bits.
    data = onnx.numpy_helper.from_array(np.full((5,), number), "x")
    model = parse(
        """g (double[3] u) => (double[5] y) {
        y = Scatter <axis = 0> (x, [1, 2, 3], u) }""",
        opset=10,
        ir_version=4,
    )
    model.graph.initializer.append(data)
    assert_sound(model, {"u": [1.0, -0.0, 3.0]}, left=0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", TYPES)
def test_masks_in_every_type(dtype: str) -> None:
    # Where has no kernel for bool, bfloat16, int16 and others.
    kind = "float" if dtype == "bfloat16" else dtype
    there, back = ("Cast <to = 16>", "Cast <to = 1>") if dtype == "bfloat16" else ["Identity"] * 2
    model = f"""g ({kind}[N,M] a, {kind}[N,M] b, bool[N,M] m) => ({kind}[N,M] c) {{
        x = {there} (a)
        v = {there} (b)
        i = Transpose <perm = [1, 0]> (NonZero (m))
        y = ScatterND (x, i, GatherND (v, i))
        c = {back} (y) }}"""
    sizes = ((3, 4), (1, 1), (0, 2), (2, 0), (7, 5))
    assert_sound(model, *({"N": n, "M": m} for n, m in sizes))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("opset", "ir_version"),
    list(
        zip(
            (9, 9, 10, 11, 11, 13, 15, 16, 18, 19, 20, 20, 21, 22, 23, 24),
            (3, 4, 5, 3, 6, 7, 8, 8, 8, 9, 9, 10, 10, 10, 11, 11),
            strict=True,
        )
    ),
)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_elements_in_every_opset(opset: int, ir_version: int, axis: int) -> None:
    op = "Scatter" if opset < 11 else "ScatterElements"
    shape, indices = ("2,5", "1,1,1,1,1, 2,2,2,2,2") if axis == 0 else ("4,2", "1,2,1,2,1,2,1,2")
    model = parse(
        f"""g (float[4,5] x, float[{shape}] u) => (float[4,5] y) {{
            i = Constant <value = int64[{shape}] {{{indices}}}> ()
            y = {op} <axis: int = {axis}> (x, i, u) }}""",
        opset,
        ir_version,
    )
    assert_sound(model, left=0)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("opset", "ir_version"), [(11, 3), (11, 6), (13, 7), (16, 8), (18, 8), (21, 10), (24, 11)]
)
@pytest.mark.parametrize("rows", ["1,2", "0,2", "3,1", "0,1,2,3", "-1,0"])
def test_rows_in_every_opset(opset: int, ir_version: int, rows: str) -> None:
    count = len(rows.split(","))
    model = parse(
        f"""g (float[4,5] x, float[{count},5] u) => (float[4,5] y) {{
            i = Constant <value = int64[{count},1] {{{rows}}}> ()
            y = ScatterND (x, i, u) }}""",
        opset,
        ir_version,
    )
    assert_sound(model, left=0)


@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("where", ["", ", w"])
@pytest.mark.parametrize("at", [(0, 0), (3, 3), (1, 4)])
def test_tensor_scatter(mode: str, where: str, at: tuple[int, int]) -> None:
    model = parse(
        f"""g (float[2,3,6,2] x, float[2,3,2,2] u) => (float[2,3,6,2] y)
            <int64[2] w = {{{at[0]}, {at[1]}}}> {{
                y = TensorScatter <mode: string = "{mode}", axis: int = -2> (x, u{where}) }}""",
        opset=24,
        ir_version=11,
    )
    assert_sound(model)


def test_tensor_scatter_at_positions_that_are_fed() -> None:
    for mode, positions in (("linear", (0, 4)), ("circular", (0, 5))):
        model = parse(
            f"""g (float[B,6,2] x, float[B,T,2] u, int64[B] w) => (float[B,6,2] y) {{
                y = TensorScatter <mode: string = "{mode}", axis = 1> (x, u, w) }}""",
            opset=24,
            ir_version=11,
        )
        feeds = [
            {"B": b, "T": t, "w": np.resize(i64(positions), b)} for b, t in ((1, 1), (2, 2), (3, 1))
        ]
        assert_sound(model, *feeds)


def test_positions_in_32_bits() -> None:
    """A position is less than the 2**31 - 1 elements that an axis may have: one more still fits."""
    assert fits(coord(0) + 1, ir.DataType.INT32, Facts())
    assert not fits(coord(0) + 2, ir.DataType.INT32, Facts())
    assert not fits(size("n") + 1, ir.DataType.INT32, Facts())
    model = parse("""g (float[N, 3] x) => (float[N, 3] y) {
        s = Shape (x) k = Cast <to = 6> (s) n = Gather (k, 0) r = Range (int32 1, n, int32 1)
        m = Mul (r, int32 1) rows = Cast <to = 7> (m) i = Unsqueeze (rows, [-1])
        u = Slice (x, [0], [-1], [0]) y = ScatterND (x, i, u) }""")
    assert_sound(model, *({"N": n} for n in (0, 1, 2, 5)), left=0)
