"""Reshapes between writes: whole axes are split and merged with the writes, others are left."""

import itertools
import random

import numpy as np
import onnx
import pytest

from tests.helpers.examples import scaled
from tests.helpers.judged import Judged, judge
from tests.helpers.pair import SESSIONS, Feed
from tests.helpers.support import assert_sound, f32, i64, optimize, parse


def test_an_axis_is_split_between_two_writes() -> None:
    model = """g (float[4,6] x, float[2,6] u, float[1,2,3] v) => (float[4,2,3] y) {
        y = ScatterND (Reshape (ScatterND (x, [[1], [2]], u), [4, 2, 3]), [[0]], v) }"""
    assert_sound(model, {}, {}, left=0)
    nodes = [n.op_type for n in optimize(parse(model)).graph.node]
    assert nodes.count("Concat") == 1, nodes


def test_an_axis_that_is_cut_is_not_merged() -> None:
    model = """g (float[4,6] x, float[2,6] u, float[3] w) => (float[24] y) {
        y = ScatterND (Reshape (ScatterND (x, [[1], [2]], u), [-1]), [[7], [8], [9]], w) }"""
    assert_sound(model, left=0)


@pytest.mark.parametrize(
    ("shape", "move"),
    [
        ("3,3,3", "Slice (x, minus, far, zero, minus)"),
        ("5,3,3", "Slice (x, zero, three, zero)"),
        ("3,3,3", "Transpose <perm = [1, 0, 2]> (x)"),
    ],
)
def test_axes_that_are_merged_are_no_axes_of_the_source(shape: str, move: str) -> None:
    """Rows that are reversed, cut out or transposed before they are merged."""
    model = f"""g (float[{shape}] x, float[3,3,1] u, float[9,1] v) => (float[9,3] y)
        <int64[3,3,1] i = {{1, 1, 1, 1, 1, 1, 1, 1, 1}},
         int64[9,1] j = {{0, 0, 0, 0, 0, 0, 0, 0, 0}}, int64[1] zero = {{0}},
         int64[1] three = {{3}}, int64[1] minus = {{-1}}, int64[1] far = {{-9}}> {{
        a = {move}
        b = ScatterElements <axis = 2> (a, i, u)
        y = ScatterElements <axis = 1> (Reshape (b, [9, 3]), j, v) }}"""
    assert_sound(model, {}, left=0)


@pytest.mark.parametrize("moved", ["data", "updates"])
def test_axes_of_data_and_updates_are_both_merged(moved: str) -> None:
    """The other one is not transposed, so its axes could be merged."""
    shapes = ["[6,4]" if name == moved else "[4,6]" for name in ("data", "updates")]
    other = "updates" if moved == "data" else "data"
    model = f"""g (float{shapes[0]} data, float{shapes[1]} updates, float[3] w) => (float[24] y) {{
        t_{moved} = Transpose ({moved})
        t_{other} = Identity ({other})
        a = ScatterND <reduction = "add"> (t_data, [[0], [1], [2], [3]], t_updates)
        y = ScatterND (Reshape (a, [-1]), [[7], [8], [9]], w) }}"""
    assert_sound(model, left=0)


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("reduction", ["none", "add"])
def test_sizes_that_are_fed(opset: int, reduction: str) -> None:
    reduces = f'<reduction = "{reduction}">' if opset > 15 else ""
    model = f"""g (float[B,T,6] x, float[B,T,2] u, float[B,T,3] v) => (float[B,T,2,3] y)
        <int64[1] minus = {{-1}}> {{
        p = Transpose <perm = [2, 0, 1]> (x)
        q = Transpose <perm = [2, 0, 1]> (u)
        a = ScatterND {reduces} (p, [[0], [1]], q)
        b = Transpose <perm = [1, 2, 0]> (a)
        s = Shape (x)
        zero = Constant <value = int64[1] {{0}}> ()
        two = Constant <value = int64[1] {{2}}> ()
        c = Reshape (b, Concat <axis = 0> (Slice (s, zero, two), [2, 3]))
        e = ScatterND (Transpose <perm = [2, 0, 1, 3]> (c), [[1]], Unsqueeze (v, zero))
        y = Transpose <perm = [1, 2, 0, 3]> (e) }}"""
    found = [{"B": b, "T": t} for b, t in ((1, 1), (2, 3), (0, 2), (3, 0))]
    assert_sound(parse(model, opset), *found, rejected=2)


def test_updates_are_seen_in_the_shape_that_the_scatter_demands() -> None:
    # A size in the shape of a Reshape copies another dim where it is 0.
    model = """g (float[B,3,H,W] x, float[B,H,W] u) => (float[B,3,H,W] y) {
        s = Shape (x)
        rows = Reshape (Range (0, Gather <axis = 0> (s, 0), 1), [-1, 1])
        k = Shape (Add (rows, [1]))
        j = Expand ([1], k)
        idx = Concat <axis = -1> (Unsqueeze (Expand (rows, k), [-1]), Unsqueeze (j, [-1]))
        w = Reshape (u, Concat <axis = 0> (k, Slice (s, [2], [MAX])))
        y = ScatterND (x, idx, w) }"""
    feeds = [
        {"B": b, "H": h, "W": w}
        for b, h, w in [(2, 4, 5), (1, 1, 1), (0, 2, 3), (2, 3, 0), (2, 0, 3), (0, 0, 2), (1, 0, 0)]
    ]
    # Of the sizes that are 0 the original accepts B alone.
    assert_sound(model, *feeds, left=0, rejected=4)
    nodes = sorted(n.op_type for n in optimize(parse(model)).graph.node)
    assert nodes == ["Concat", "Slice", "Slice", "Unsqueeze"], nodes


def test_a_size_beside_a_zero_that_is_one() -> None:
    """[2B, -1] is [0, 8] at B = 0, where ONNX Runtime leaves zeros out, and else [2B, 4]."""
    model = """g (float[B,2,4] x, float[9] z, float[M] u) => (float[9] y) {
        t = Concat <axis = 0> (Mul (Shape <start = 0, end = 1> (x), [2]), [-1])
        k = Squeeze (Shape <start = 1> (Reshape <allowzero = 1> (x, t)), [0])
        y = ScatterND (z, Unsqueeze (Range (0, k, 1), [-1]), u) }"""
    feeds = [{"B": b, "M": k, "z": f32(range(9))} for b, k in itertools.product((0, 1, 3), (4, 8))]
    assert_sound(model, *feeds, left=0, rejected=3)


def test_a_size_beside_sizes_that_both_shapes_have() -> None:
    """[B, T, -1] of [B, T, 6] is [B, T, 6], also where B or T are 0: nothing is left open."""
    model = """g (float[B,T,6] x, float[B,T,2] u) => (float[B,T,6] y) {
        v = Reshape <allowzero = 1> (x, Concat <axis = 0> (Shape <end = 2> (x), [-1]))
        p = Transpose <perm = [2, 0, 1]> (v)
        a = ScatterND (p, [[0], [1]], Transpose <perm = [2, 0, 1]> (u))
        y = Transpose <perm = [1, 2, 0]> (a) }"""
    sizes = itertools.product((0, 1, 2), (0, 3))
    assert_sound(model, *({"B": b, "T": t} for b, t in sizes), left=0)
    nodes = [n.op_type for n in optimize(parse(model)).graph.node]
    assert nodes[-1] == "Concat", nodes


def test_the_size_that_is_left_beside_a_zero() -> None:
    """[N, -1] of [N, M] is [N, M] if N is not 0; else the zeros of both shapes are left out."""
    model = parse("""g (float[N,M] x) => (float[A,B] y) {
        y = Reshape <allowzero = 1> (x, Concat <axis = 0> (Shape <end = 1> (x), [-1])) }""")
    feeds = [{"x": f32(np.zeros(sizes))} for sizes in itertools.product((0, 1, 3), repeat=2)]
    assert judge(model, feeds) == len(feeds)


def _drawn(rng: random.Random) -> onnx.ModelProto:
    """Draw a Reshape between shapes that have sizes, multiples of them, 0 and -1 in common."""
    dims = [rng.choice(["A", "B", "C", "1", "2", "4", "0"]) for _ in range(rng.randint(1, 4))]
    named = [d for d, n in enumerate(dims) if not n.isdigit()]
    parts, lines = [], []
    for k in range(rng.randint(1, 4)):
        kind = rng.choice(["size", "size", "multiple", "number", "minus"])
        if kind == "minus" and "minus" in parts:
            kind = "number"
        parts.append(f"p{k}" if kind != "minus" else "minus")
        if kind in ("size", "multiple") and named:
            d = rng.choice(named)
            lines.append(f"s{k} = Shape <start = {d}, end = {d + 1}> (x)")
            factor = rng.choice([2, 4]) if kind == "multiple" else 1
            other = rng.choice([f"c{factor}", f"s{rng.randint(0, k)}"])
            known = any(line.startswith(f"{other} =") for line in lines)
            other = other if known or other[0] == "c" else f"c{factor}"
            lines.append(f"p{k} = Mul (s{k}, {other})")
        elif kind != "minus":
            number = rng.choice([0, 0, 1, 2, 4])
            lines.append(f"p{k} = Constant <value = int64[1] {{{number}}}> ()")
    allow = rng.randint(0, 1)
    return parse(f"""g (int64[{", ".join(dims)}] x) => (int64[N] n)
        <int64[1] minus = {{-1}}, int64[1] c1 = {{1}}, int64[1] c2 = {{2}}, int64[1] c4 = {{4}}> {{
        {" ".join(lines)}
        y = Reshape <allowzero = {allow}> (x, Concat <axis = 0> ({", ".join(parts)}))
        n = Shape (y) }}""")


def _fed(model: onnx.ModelProto, rng: random.Random) -> Feed:
    sizes = {name: rng.choice([0, 0, 1, 2, 3]) for name in "ABC"}
    (x,) = model.graph.input
    shape = [sizes.get(d.dim_param, d.dim_value) for d in x.type.tensor_type.shape.dim]
    return {"x": i64(np.arange(np.prod(shape, dtype=int)).reshape(shape))}


@pytest.mark.slow
def test_any_reshape_has_the_shape_that_is_known_of_it() -> None:
    accepted = [0, 0]
    for seed in range(scaled(500)):
        rng = random.Random(seed)
        model = _drawn(rng)
        judged = Judged(model, SESSIONS[seed % 2])
        allow = next(n.attribute[0].i for n in model.graph.node if n.op_type == "Reshape")
        for _ in range(8):
            feed = _fed(model, rng)
            try:
                accepted[allow] += judged.accepts(feed)
            except AssertionError as error:
                text = onnx.printer.to_text(model)
                raise AssertionError(f"{error}, x {feed['x'].shape}\n{text}") from error
    assert min(accepted) > scaled(333), accepted
