"""Functions of each chosen row alone, for every operator through which a row runs.

What writes the rows back becomes a function of all rows, without the choice.
"""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.operators import OPERATORS, Rows
from tests.helpers.pair import SESSIONS, Pair, agree, rejections
from tests.helpers.support import nodes, parse

TARGET = "standard, avoid = ['NonZero', 'GatherND']"

REDUCTIONS = [
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSumSquare",
]

# The shape of a written row, the lines from the rows r [n, 4] to the updates u [n, ...], and the
# axis of the rows if there is another before the last line.
FUNCTIONS = {
    "Add": ("4", "u = Add (r, v)"),
    "Where": ("4", "c = Greater (r, v) u = Where (c, r, v)"),
    "MatMul": ("3", "u = MatMul (r, w)"),
    "MatMul of a vector": ("", "u = MatMul (r, v)"),
    "MatMul with a batch": ("1,3", "b = Unsqueeze (r, [1]) u = MatMul (b, wb)"),
    "MatMul with rows along M of a batch": (
        "2,3",
        "b = Unsqueeze (r, [0]) c = MatMul (b, wc) u = Transpose <perm = [1, 0, 2]> (c)",
    ),
    "Gemm": ("3", "u = Gemm <alpha = 2.0> (r, w, z)"),
    "Gemm of turned rows": ("3", "t = Transpose (r) u = Gemm <transA = 1> (t, w)"),
    "Gemm with rows added": ("3", "p = MatMul (r, w) u = Gemm (r, w, p)"),
    "Einsum": ("3", 'u = Einsum <equation = "nk,kd->nd"> (r, w)'),
    "Einsum of two": ("4,4", 'u = Einsum <equation = "na,nb->nab"> (r, r)'),
    "Conv": ("2,3", "b = Unsqueeze (r, [1]) u = Conv (b, k)"),
    "MaxPool": ("1,3", "b = Unsqueeze (r, [1]) u = MaxPool <kernel_shape = [2]> (b)"),
    "AveragePool": ("1,3", "b = Unsqueeze (r, [1]) u = AveragePool <kernel_shape = [2]> (b)"),
    "GlobalAveragePool": ("1,1", "b = Unsqueeze (r, [1]) u = GlobalAveragePool (b)"),
    "GlobalMaxPool": ("1,1", "b = Unsqueeze (r, [1]) u = GlobalMaxPool (b)"),
    "GlobalLpPool": ("1,1", "b = Unsqueeze (r, [1]) u = GlobalLpPool (b)"),
    "LpPool": ("1,3", "b = Unsqueeze (r, [1]) u = LpPool <kernel_shape = [2]> (b)"),
    "LRN": ("4,1,1", "b = Unsqueeze (r, [2, 3]) u = LRN <size = 3> (b)"),
    "InstanceNormalization": (
        "1,4",
        "b = Unsqueeze (r, [1]) u = InstanceNormalization (b, one, one)",
    ),
    "GroupNormalization": (
        "4,1",
        "b = Unsqueeze (r, [2]) u = GroupNormalization <num_groups = 2> (b, v, v)",
    ),
    "LayerNormalization": ("4", "u = LayerNormalization <axis = -1> (r, v, v)"),
    "LayerNormalization of axes": (
        "2,2",
        "b = Reshape (r, [-1, 2, 2]) u = LayerNormalization <axis = 1> (b, sq)",
    ),
    "RMSNormalization": ("4", "u = RMSNormalization (r, v)"),
    "Softmax": ("4", "u = Softmax <axis = 1> (r)"),
    "LogSoftmax": ("4", "u = LogSoftmax <axis = -1> (r)"),
    "LpNormalization": ("4", "u = LpNormalization <axis = 1> (r)"),
    "CumSum": ("4", "u = CumSum (r, axis1)"),
    "CumSum before rows": ("4", "t = Transpose (r) c = CumSum (t, axis0) u = Transpose (c)"),
    "ReduceSum": ("1", "u = ReduceSum (r, [1])"),
    "ReduceSum before rows": ("", "t = Transpose (r) u = ReduceSum <keepdims = 0> (t, [0])"),
    **{name: ("", f"u = {name} <keepdims = 0> (r, [1])") for name in REDUCTIONS},
    "root of mean squares": (
        "4",
        "q = Mul (r, r) a = ReduceMean (q, [-1]) b = Sqrt (a) u = Div (r, b)",
    ),
    "columns of extremes": (
        "2",
        "a = ReduceMax (r, [-1]) b = ReduceMin (r, [-1]) u = Concat <axis = 1> (a, b)",
    ),
    "ReduceLogSum": ("", "a = Abs (r) u = ReduceLogSum <keepdims = 0> (a, [1])"),
    "ArgMax": ("", "a = ArgMax <axis = 1, keepdims = 0> (r) u = Cast <to = 1> (a)"),
    "ArgMin": ("1", "a = ArgMin <axis = -1> (r) u = Cast <to = 1> (a)"),
    "TopK": ("2", "u, at = TopK <axis = 1> (r, [2])"),
    "TopK positions": ("2", "best, at = TopK <axis = -1> (r, [2]) u = Cast <to = 1> (at)"),
    "QuantizeLinear": (
        "4",
        "q = QuantizeLinear (r, scale, zero) u = DequantizeLinear (q, scale, zero)",
    ),
    "DequantizeLinear along columns": (
        "4",
        "q = QuantizeLinear <axis = 1> (r, scales) u = DequantizeLinear <axis = 1> (q, scales)",
    ),
    "OneHot": (
        "5",
        """a = ArgMax <axis = 1, keepdims = 0> (r)
        o = OneHot <axis = -1> (a, [5], values) u = Cast <to = 1> (o)""",
    ),
    "OneHot before rows": (
        "5",
        """a = ArgMax <axis = 1, keepdims = 0> (r)
        o = OneHot <axis = 0> (a, [5], values) c = Cast <to = 1> (o) u = Transpose (c)""",
    ),
    "RoiAlign": (
        "2,1,1",
        """a = Abs (r) z1 = ReduceSum <keepdims = 0> (r, [1]) z2 = Mul (z1, none)
        batch = Cast <to = 7> (z2) u = RoiAlign <sampling_ratio = 1> (maps, a, batch)""",
    ),
    "GridSample": (
        "2,1,1",
        """s = Shape <end = 1> (r) s1 = Concat <axis = 0> (s, [2, 5, 5]) m1 = Expand (maps, s1)
        c = Slice (r, [0], [2], [1]) g = Reshape (c, [-1, 1, 1, 2])
        u = GridSample <padding_mode = "reflection"> (m1, g)""",
    ),
    "Transpose": ("2,2", "b = Reshape (r, [0, 2, 2]) u = Transpose <perm = [0, 2, 1]> (b)"),
    "Flatten": ("4", "b = Reshape (r, [0, 2, 2]) u = Flatten <axis = 1> (b)"),
    "Squeeze": ("4", "b = Unsqueeze (r, [0, 2]) u = Squeeze (b, [0, 2])"),
    "Identity": ("4", "u = Identity (r)"),
    "Concat": ("8", "n = Neg (r) u = Concat <axis = 1> (r, n)"),
    "Concat of a fill": (
        "5",
        """s = Shape <end = 1> (r) s1 = Concat <axis = 0> (s, [1])
        o = ConstantOfShape <value = float[1] {2.0}> (s1) u = Concat <axis = 1> (r, o)""",
    ),
    "Expand": (
        "4",
        "s = Shape (r) e = Expand (v, s) u = Mul (e, r)",
    ),
    "Expand of one column": (
        "4",
        "c = Slice (r, [1], [2], [1]) s = Shape (r) u = Expand (c, s)",
    ),
    "Slice": ("2", "u = Slice (r, [3], [0], [1], [-2])"),
    "Split": ("3", "a, u = Split <axis = 1> (r, [1, 3])"),
    "Pad": ("7", "u = Pad (r, [0, 1, 0, 2], fill)"),
    "Gather": ("2", "u = Gather <axis = 1> (r, [3, 0])"),
    "Gather of a table": (
        "4",
        "a = ArgMax <axis = 1, keepdims = 0> (r) u = Gather (table, a)",
    ),
    "Gather of columns of a table": (
        "3",
        """a = ArgMax <axis = 1, keepdims = 0> (r)
        g = Gather <axis = 1> (w34, a) u = Transpose (g)""",
    ),
    "GatherElements": (
        "1",
        "a = ArgMax <axis = 1> (r) u = GatherElements <axis = 1> (r, a)",
    ),
    "GatherND of a table": (
        "4",
        "a = ArgMax <axis = 1, keepdims = 1> (r) u = GatherND (table, a)",
    ),
    "ScatterND to some of the rows": (
        "4",
        """s = ReduceSum <keepdims = 0> (r, [1]) few = Greater (s, none) n2 = NonZero (few)
        i2 = Transpose (n2) r2 = GatherND (r, i2) f = Neg (r2) u = ScatterND (r, i2, f)""",
    ),
    "ScatterElements to some of the rows": (
        "4",
        """s = ReduceMax <keepdims = 0> (r, [1]) few = Less (s, none) n2 = NonZero (few)
        i2 = Squeeze (n2, [0]) r2 = Gather (r, i2) f = Abs (r2) w2 = Unsqueeze (i2, [1])
        s2 = Shape (f) e2 = Expand (w2, s2)
        u = ScatterElements <axis = 0, reduction = "add"> (r, e2, f)""",
    ),
    "Gather of a table for some of the rows": (
        "4",
        """c = Gather <axis = 1> (r, axis0) a = Abs (c) few = Less (a, four) n2 = NonZero (few)
        i2 = Transpose (n2) r2 = GatherND (r, i2) c2 = Gather <axis = 1> (r2, axis0)
        at = Cast <to = 7> (c2) t = Gather (table, at) u = ScatterND (r, i2, t)""",
    ),
    "places": (
        "4",
        """row = Slice (i, [0], [1], [1]) f = Cast <to = 1> (row) u = Add (f, r)""",
    ),
}
CONSTANTS = {
    "v": np.array([3, -1, 2, 1], "f4"),
    "w": np.arange(12).reshape(4, 3) % 5 - 2,
    "w34": np.arange(12).reshape(3, 4) % 5 - 2,
    "wb": np.arange(12).reshape(1, 4, 3) % 7 - 2,
    "wc": np.arange(24).reshape(2, 4, 3) % 7 - 2,
    "z": np.array([1, 2, 3]),
    "k": np.array([[[1, 2]], [[-1, 3]]]),
    "one": np.array([1]),
    "sq": np.array([[1, 2], [3, 4]]),
    "scale": np.array(0.5),
    "scales": np.array([0.5, 1, 2, 4]),
    "fill": np.array(7),
    "none": np.array(0),
    "four": np.array(4),
    "table": np.arange(20).reshape(5, 4),
    "maps": np.arange(50).reshape(1, 2, 5, 5),
}
NUMBERS = {
    "zero": np.array(0, "u1"),
    "axis0": np.array(0),
    "axis1": np.array(1),
    "values": np.array([0, 1]),
}


def text_of(name: str, sizes: str, where: str = "") -> str:
    """Return a model that writes a function of chosen rows to the rows of the same mask."""
    row, lines = FUNCTIONS[name]
    dims = ",".join(filter(None, (sizes, row)))
    return f"""g (float[{sizes},4] h, bool[{sizes}] m, float[{dims}] x) => (float[{dims}] y) {{
        nz = NonZero (m) i = Transpose (nz) r = GatherND (h, i) {where}
        {lines}
        y = ScatterND (x, i, u) }}"""


def model_of(name: str, sizes: str) -> onnx.ModelProto:
    text = text_of(name, sizes)
    model = parse(text, 23 if "RMS" in name else 21 if "Group" in name else 18, 10)
    for key, value in {**CONSTANTS, **NUMBERS}.items():
        if f" {key}" in text.replace("(", " ").replace(",", " ") or f"({key}" in text:
            kind = value.dtype if key in NUMBERS else np.float32
            made = ir.to_proto(ir.tensor(value.astype(kind), name=key))
            model.graph.initializer.append(made)
    return model


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("sizes", ["6", "A,B"])
def test_no_choice_is_left(name: str, sizes: str) -> None:
    model = model_of(name, sizes)
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True)
    left = {node.op_type for node in nodes(result.model)}
    assert left.isdisjoint({"NonZero", "GatherND", "ScatterND"}), str(result.report)
    pairs = [[open_(m) for open_ in SESSIONS] for m in (model, result.model)]
    rng = np.random.default_rng(0)
    shape = [{"A": 4, "B": 3}.get(n) or int(n) for n in sizes.split(",")]
    rest = [int(n) for n in FUNCTIONS[name][0].split(",") if n]
    for share in (0.0, 1.1, 0.5, 0.3):
        mask = rng.random(shape) < share
        h = rng.integers(-9, 9, [*shape, 4]).astype("f4")
        h[~mask] = rng.choice([np.nan, np.inf, 3e38, 1], h[~mask].shape)
        feed = {"h": h, "m": mask, "x": rng.normal(size=[*shape, *rest]).astype("f4")}
        for before, after in zip(*pairs, strict=True):
            try:
                expected = before.run(None, feed)
            except rejections():  # of no rows
                assert not mask.any()
                continue
            assert agree(expected, after.run(None, feed), zeros=True, close=True), share


def test_every_operator_of_rows_is_tried() -> None:
    texts = " ".join(itertools.chain(*FUNCTIONS.values()))
    known = {
        name for name, row in OPERATORS.items() if row.rows not in (Rows.UNKNOWN, Rows.BROADCAST)
    }
    assert {name for name in known if f" {name} " not in f" {texts} "} <= {
        "MatMulInteger",
        "Reshape",
    }


@pytest.mark.parametrize(
    "line",
    [
        "u = MatMul (a, w)",
        "u = Gather <axis = 1> (a, far)",
        "b = Concat <axis = 1> (a, a, a, a) u = Add (b, v)",
    ],
)
def test_what_may_run_only_if_no_row_is_chosen_is_kept(line: str) -> None:
    """Older versions of ONNX Runtime reduce no negative axis of an empty tensor."""
    text = """g (float[6,4] h, bool[6] m, float[P,3] w, float[V] v, float[6,3] x) => (float[6,3] y)
        <int64[3] far = {2, 0, 0}> {
        nz = NonZero (m) i = Transpose (nz) r = GatherND (h, i) a = ReduceMax (r, [-1])
        LINE  y = ScatterND (x, i, u) }"""
    model = parse(text.replace("LINE", line))
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True).model
    assert "NonZero" in {n.op_type for n in nodes(result)}


@pytest.mark.parametrize(
    "lines",
    [
        "t = Reshape (r, [4, -1]) u = Transpose (t)",
        "a = Concat <axis = 0> (r, r) b = Reshape (a, [-1, 8]) u = Slice (b, [0], [4], [1])",
        "a = Reshape (r, [2, -1, 2]) u0 = Transpose <perm = [1, 0, 2]> (a) "
        "u = Reshape (u0, [-1, 4])",
        "f = Reshape (r, [-1]) s = Shape (r) t = Transpose (r) u0 = Reshape (t, s) u = Add (u0, r)",
    ],
)
def test_reshapes_that_mix_rows_keep_the_choice(lines: str) -> None:
    model = parse(f"""g (float[6,4] h, bool[6] m, float[6,4] x) => (float[6,4] y) {{
        nz = NonZero (m) i = Transpose (nz) r = GatherND (h, i)
        {lines} y = ScatterND (x, i, u) }}""")
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True).model
    assert "NonZero" in {n.op_type for n in nodes(result)}
    pair = Pair(model, result)
    h, x = np.arange(24, dtype="f4").reshape(6, 4), np.ones((6, 4), "f4")
    for mask in ([1, 0, 1, 0, 0, 0], [0, 1, 1, 0, 1, 1], [1] * 6):
        assert pair.accepts({"h": h, "x": x, "m": np.array(mask, bool)})


def test_elements_at_tuples_of_places_and_indices() -> None:
    """``p[rows, e[rows]]``: an index is any number where no row is chosen."""
    model = parse("""g (float[N,4] p, int64[N,1] e, bool[N] m, float[N] x) => (float[N] y) {
        nz = NonZero (m) i = Transpose (nz) r = GatherND (e, i) j = Concat <axis = 1> (i, r)
        u = GatherND (p, j) y = ScatterND (x, i, u) }""")
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['NonZero']").model
    assert "NonZero" not in {n.op_type for n in nodes(result)}
    pair, rng = Pair(model, result), np.random.default_rng(0)
    for size, share in ((5, 0.5), (4, 0), (3, 1), (1, 1), (0, 0)):
        mask = rng.random(size) < share
        e = np.where(mask[:, None], rng.integers(-4, 4, (size, 1)), -(2**62))
        p, x = rng.normal(size=(size, 4)).astype("f4"), np.ones(size, "f4")
        assert pair.accepts({"p": p, "e": e, "m": mask, "x": x})


def test_operators_that_the_target_lacks_anyway_stay() -> None:
    model = parse("""g (float[6,4] h, bool[6] m, float[6,4] x) => (float[6,4] y) {
        nz = NonZero (m) i = Transpose (nz) r = GatherND (h, i) e = Erf (r)
        u = Mul (e, r) y = ScatterND (x, i, u) }""")
    lacking = "standard, avoid = ['NonZero', 'Erf']"
    result = onnx_scatterx.optimize(model, target=lacking).model
    assert {n.op_type for n in nodes(result)} == {"Erf", "Mul", "Unsqueeze", "Where"}


def test_nodes_that_nothing_needs_keep_no_choice() -> None:
    model = parse("""g (float[6,4] h, bool[6] m, float[6,4] x) => (float[6,4] y) {
        nz = NonZero (m) i = Transpose (nz) r = GatherND (h, i) u = Neg (r)
        unread = Sub (r, u) also = Relu (unread) other = Neg (h)
        y = ScatterND (x, i, u) }""")
    result = onnx_scatterx.optimize(model, target=TARGET).model
    assert {n.op_type for n in nodes(result)} == {"Neg", "Unsqueeze", "Where"}
    assert "other" in {n.output[0] for n in nodes(result)}  # it reads no choice


BESIDE = {
    "one column": "r = GatherND (x, i) u = Neg (r) y = ScatterND (x, i, u)",
    "one column, added": 'r = GatherND (h, i) y = ScatterND <reduction = "add"> (x, i, r)',
    "one number": "s1 = Shape <end = 1> (i0) u = Expand (five, s1) y = ScatterND (x, i, u)",
    "a function of rows": """r = GatherND (h, i0) u = ReduceSum <keepdims = 0> (r, one)
        y = ScatterND (x, i, u)""",
    "one row": """t = Transpose (x) j = Concat <axis = 1> (c, i0) r = GatherND (t, j)
        u = Neg (r) z = ScatterND (t, j, u) y = Transpose (z)""",
}


@pytest.mark.parametrize("lines", BESIDE.values(), ids=BESIDE)
@pytest.mark.parametrize("size", ["6", "N"])
def test_constant_positions_beside_a_mask(lines: str, size: str) -> None:
    model = parse(f"""g (float[{size},4] x, float[{size},4] h, bool[{size}] m) =>
        (float[{size},4] y)
        <int64[1,1] two = {{2}}, float[1] five = {{5.0}}, int64[1] one = {{1}}> {{
        nz = NonZero (m) i0 = Transpose (nz) s = Shape (i0) c = Expand (two, s)
        i = Concat <axis = 1> (i0, c) {lines} }}""")
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True).model
    left = {n.op_type for n in nodes(result)}
    assert left.isdisjoint({"NonZero", "GatherND", "ScatterND"})
    assert len(nodes(result)) <= 11
    pair = Pair(model, result)
    for share in (0.0, 0.5, 1.1):
        rng = np.random.default_rng(7)
        x, h = (rng.integers(-9, 9, (6, 4)).astype("f4") for _ in range(2))
        assert pair.accepts({"x": x, "h": h, "m": rng.random(6) < share})


CHOICES = {
    "a mask and its complement": """n1 = NonZero (m) i1 = Transpose (n1) r1 = GatherND (x, i1)
        u1 = Neg (r1) y1 = ScatterND (x, i1, u1) k = Not (m) n2 = NonZero (k)
        i2 = Transpose (n2) r2 = GatherND (x, i2) u2 = Abs (r2) y = ScatterND (y1, i2, u2)""",
    "the same mask written twice": """n1 = NonZero (m) i1 = Transpose (n1) r1 = GatherND (x, i1)
        k = Not (m) j = Not (k) n2 = NonZero (j) i2 = Transpose (n2) r2 = GatherND (x, i2)
        u = Mul (r1, r2) y = ScatterND (x, i1, u)""",
    "a column of one-hot": """a = ArgMax <axis = 1, keepdims = 0> (x)
        hot = OneHot <axis = -1> (a, [4], ends) t = Transpose (hot)
        one = Gather <axis = 0> (t, two) n1 = NonZero (one) i1 = Transpose (n1)
        r1 = GatherND (x, i1) w1 = GatherND (x, i1) u = Mul (r1, w1)
        y = ScatterND <reduction = "add"> (x, i1, u)""",
}


@pytest.mark.parametrize("lines", CHOICES.values(), ids=CHOICES)
def test_choices_by_masks_that_are_computed(lines: str) -> None:
    model = parse(f"""g (float[N,4] x, bool[N] m) => (float[N,4] y)
        <int64[2] ends = {{0, 1}}, int64 two = {{2}}> {{ {lines} }}""")
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True).model
    assert {n.op_type for n in nodes(result)}.isdisjoint({"NonZero", "GatherND", "ScatterND"})
    pair = Pair(model, result)
    for size, share in ((1, 1.1), (5, 0.0), (6, 0.5)):
        rng = np.random.default_rng(size)
        x = rng.integers(-9, 9, (size, 4)).astype("f4")
        assert pair.accepts({"x": x, "m": rng.random(size) < share})


@pytest.mark.parametrize("position", [-5, -4, -1, 3, 4])
def test_constant_positions_beside_a_mask_from_the_end_and_outside(position: int) -> None:
    """A read outside of the tensor runs if no row is chosen."""
    model = parse(f"""g (float[N,4] x, bool[N] m) => (float[N,4] y)
        <int64[1,1] at = {{{position}}}, int64[1,1] two = {{2}}> {{
        nz = NonZero (m) i = Transpose (nz) s = Shape (i) a = Expand (at, s) b = Expand (two, s)
        j = Concat <axis = 1> (i, a) k = Concat <axis = 1> (i, b)
        r = GatherND (x, j) u = Neg (r) y = ScatterND (x, k, u) }}""")
    result = onnx_scatterx.optimize(model, target=TARGET).model
    assert "ScatterND" not in {n.op_type for n in nodes(result)}
    pair = Pair(model, result)
    x = np.arange(12, dtype="f4").reshape(3, 4)
    for mask in ([False] * 3, [True, False, True]):
        inside = -4 <= position < 4
        assert pair.accepts({"x": x, "m": np.array(mask)}) == (inside or not any(mask))


POOLED = "float[N,C,S] x, float[N,C,1] y0"
REGIONS = "float[N,4] x, float[N,C,1,1] y0, float[B,C,2,2] maps, int64[N] at"


@pytest.mark.parametrize(
    ("inputs", "line"),
    [
        (POOLED, "u = GlobalMaxPool (r)"),
        (POOLED, "u = AveragePool <kernel_shape = [1]> (r)"),
        (REGIONS, "b = GatherND (at, i) u = RoiAlign (maps, r, b)"),
    ],
)
def test_empty_tensors_that_nodes_of_no_rows_take(inputs: str, line: str) -> None:
    """Without a row the node runs, but with rows ONNX Runtime refuses these sizes."""
    out = inputs.split(", ")[1].replace("y0", "y")
    model = parse(f"""g ({inputs}, bool[N] m) => ({out}) {{
        nz = NonZero (m) i = Transpose (nz) r = GatherND (x, i) {line}
        y = ScatterND (y0, i, u) }}""")
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True).model
    sizes = {"N": 2, "C": 0 if "S" in inputs else 1, "S": 1, "B": 0}
    feeds: dict[str, np.ndarray] = {"m": np.zeros(2, bool)}
    for value in model.graph.input[:-1]:
        dims = value.type.tensor_type.shape.dim
        shape = [sizes.get(d.dim_param, d.dim_value) for d in dims]
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        feeds[value.name] = np.zeros(shape, kind)
    assert Pair(model, result).accepts(feeds)


def test_convolution_whose_kernel_may_be_empty() -> None:
    """ONNX Runtime does not end with rows and such a kernel, so this runs nothing."""
    model = parse("""g (float[N,C,S] x, float[N,O,Q] y0, float[O,I,K] w, bool[N] m)
        => (float[N,O,Q] y) { nz = NonZero (m) i = Transpose (nz) r = GatherND (x, i)
        u = Conv (r, w) y = ScatterND (y0, i, u) }""")
    result = onnx_scatterx.optimize(model, target=TARGET, last_bits=True).model
    (conv,) = (n for n in nodes(result) if n.op_type == "Conv")
    assert conv.input[0] != "x"
