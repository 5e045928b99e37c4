"""Whether a compiler has the faults that its profile avoids: each pattern without its form."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import onnx.parser

import onnx_scatterx
from onnx_scatterx.lab.devices.checking import check
from onnx_scatterx.lab.devices.consumer import Consumer
from onnx_scatterx.targets.catalogue import target_of

_HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
_STEPS = 400
_LOOP = (
    f"(float[1, {_STEPS}, 8] x, float[1, 8] s0) => (float[1, {_STEPS}, 8] y) <int64[1] one = {{1}}"
    + "".join(f", int64 i{t} = {{{t}}}" for t in range(_STEPS))
    + "> {"
    + "".join(
        f" g{t} = Gather <axis = 1> (x, i{t})  s{t + 1} = Add (s{t}, g{t})  d{t} = Sigmoid (s{t})"
        f"  q{t} = Div (s{t + 1}, d{t})  u{t} = Unsqueeze (q{t}, one)"
        for t in range(_STEPS)
    )
    + f" y = Concat <axis = 1> ({', '.join(f'u{t}' for t in range(_STEPS))}) }}"
)
"""A loop of so few steps is right: look at the time, and at the memory."""
_SMALL = {
    **dict.fromkeys(("one_division", "slices_of_gathers"), _LOOP),
    "elements_of_gathers": """(float[9, 4] x, int64[5] i, int64[5] j) => (float[5, 4] y) {
            a = Gather (x, i)  b = Gather (x, j)  y = Sub (a, b) }""",
    "expand_for_and": """(float[1, 4] f, float[1, 2, 4] s, float[1, 3, 4] t)
            => (float[1, 2, 4] y, float[1, 3, 4] z)
        <bool[1, 2, 1] a = {1, 1}, bool[1, 3, 1] b = {1, 1, 1}, int64[1] d = {1},
         float no = {0}, float low = {-9}> {
            m = Cast <to = 9> (f)  u = Unsqueeze (m, d)
            c = And (a, u)  w = Where (c, no, low)  y = Add (s, w)
            e = And (b, u)  x = Where (e, no, low)  z = Add (t, x) }""",
    "few_channels": """(float[1, 64, 16, 16] x) => (float[1, 64, 4, 4] y)
        <float[1] c = {0.3}, int64[4] s = {64, 1, 3, 3}> {
            w = Expand (c, s)
            y = Conv <group = 64, strides = [4, 4], pads = [1, 1, 1, 1]> (x, w) }""",
    "flat_indices": """(float[1, 4, 3, 3] x) => (float[1, 1, 1, 4] y)
        <float[4, 4, 1, 1] w = {1, 2, 0, 1, 0, 1, 1, 2, 3, 0, 1, 1, 1, 0, 0, 2}, int64[1] s = {-1},
         int64[1, 4, 1, 1] i = {3, 1, 2, 0}> {
            c = Conv (x, w)  a = GlobalAveragePool (c)  v = Reshape (a, s)  g = Gather (v, i)
            y = Transpose <perm = [0, 2, 3, 1]> (g) }""",
    "forget_names": """(bool[1, 8] m, float[1, 8, 4] x) => (float[C, 4] y)
        <float[u0, 4] a, float[u1, 4] b> {
            n = NonZero (m)  i = Transpose (n)  a = GatherND (x, i)  e = Neg (x)
            b = GatherND (e, i)  y = Add (a, b) }""",
    "leaky_relu_of_groups": """(float[1, 4, 6, 6] x) => (float[1, 4, 6, 6] y)
        <float[4, 1, 1, 1] w = {1, -2, 3, 5}, int64[4] i = {2, 0, 3, 1}> {
            c = Conv <group = 4> (x, w)  y = Gather <axis = 1> (c, i) }""",
    # The weights of the Conv take 256 GiB.
    "gather_as_rows": """(float[262144] x) => (float[32768, 8] y)
        <int64[2] n = {32768, 1}, int64[8] row = {0, 1, 2, 3, 4, 5, 6, 7}> {
            c = ConstantOfShape <value = int64[1] {8}> (n)  i = Add (c, row)  g = Gather (x, i)
            y = Neg (g) }""",
    # A model as small as this one is right: only whole ones show the fault.
    "images_as_channels": """(float[1, 4, 32] x) => (float[1, 2, 4, 16] y)
        <float[16, 1, 1, 1] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
         int64[4] q = {1, 4, 2, 16}, int64[4] r = {2, 2, 2, 16}, int64[4] t = {1, 2, 16, 4}> {
            a = Reshape (x, q)  b = Transpose <perm = [0, 2, 1, 3]> (a)  c = Reshape (b, r)
            d = Transpose <perm = [0, 3, 1, 2]> (c)  e = Conv <group = 16> (d, w)
            f = Reshape (e, t)  h = Transpose <perm = [0, 1, 3, 2]> (f)  m = MatMul (h, f)
            p = Softmax (m)  y = MatMul (p, h) }""",
    "many_divisors": """(int64[2, 4] x) => (int64[2, 4] y) <int64 four = {4}, int64 odd = {-13}> {
            a = Mul (x, odd)  y = Div (a, four) }""",
    "many_scales": """(float[1, 8, 16] x) => (float[1, 8, 16] y)
        <int64[4] s = {1, 8, -1, 4}, int64[3] t = {1, 8, 16}, float[1] c = {0.1}, float two = {2},
         int64[2] k = {16, 16}> {
            w = Expand (c, k)  a = MatMul (x, w)  q = Reshape (a, s)
            b = Transpose <perm = [0, 2, 1, 3]> (q)  d = MatMul (x, w)  e = Reshape (d, s)
            f = Transpose <perm = [0, 2, 3, 1]> (e)  h = MatMul (x, w)  i = Reshape (h, s)
            j = Transpose <perm = [0, 2, 1, 3]> (i)  m = MatMul (b, f)  n = Div (m, two)
            p = Softmax (n)  r = MatMul (p, j)  u = Transpose <perm = [0, 2, 1, 3]> (r)
            y = Reshape (u, t) }""",
    # Only a large square takes all memory; this one is right.
    "apart_from_constant": """(float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y)
        <float[4] a = {1, 2, 3, 4}, float[4, 1] c = {0, 1, 3, 7}> {
            s = Add (x, a)  y = Add (s, c) }""",
    "sum_for_difference": """(float[2, 3] x) => (float[2, 3] y) <float k = {3}, float c = {7}> {
            d = Sub (x, k)  y = Sub (c, d) }""",
    "apart_from_conv": """(float[1, 8, 16, 16] x) => (float[1, 8, 16, 16] y)
        <float[1] c = {0.01}, int64[4] s = {8, 8, 3, 3}> {
            w = Expand (c, s)  p = Conv <pads = [1, 1, 1, 1]> (x, w)  y = Tanh (p) }""",
    "apart_from_matmul": """(float[1, 8, 256] x) => (float[1, 8, 64] y)
        <float[1] c = {0.01}, int64[2] s = {256, 64}> {
            w = Expand (c, s)  p = MatMul (x, w)  y = Tanh (p) }""",
    "square_of_sine": """(float[1, 16, 64] x) => (float[1, 16, 64] y)
        <float c = {2}, float few = {0.1}> {
            a = Mul (x, few)  b = Sin (a)  y = Pow (b, c) }""",
    "merged_with_constants": """(float[3, 2, 2, 2, 2] x) => (float[3, 2, 2, 2, 2] y)
        <float[3, 1, 1, 1, 2] c = {1, 2, 3, 4, 5, 6}> { y = Add (x, c) }""",
    "norm_of_images": """(float[1, 5, 8] x) => (float[1, 5, 8] y)
        <float[1] c = {0.3}, int64[2] k = {8, 8}, int64[2] s = {5, 8}, int64[3] t = {1, 5, 8},
         float[8] a = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] b = {8, 7, 6, 5, 4, 3, 2, 1}> {
            w = Expand (c, k)  m = MatMul (x, w)  r = Reshape (m, s)
            n = BatchNormalization (r, a, b, b, a)  y = Reshape (n, t) }""",
    "no_idle_output": """(float[2, 3] x) => (float[2, 3] y) <int64[2] s = {2, 3}> {
            a = Relu (x)  y = Reshape (a, s) }""",
    "one_axis_in_front": """(float[2, 4, 4] x) => (float[8, 4] y) <int64[2] s = {8, 4}> {
            a = Neg (x)  y = Reshape (a, s) }""",
    "split_before_slice": """(float[2, 3, 4, 5] x) => (float[2, 1, 2, 2] y, float[2, 3, 2, 2] z)
        <int64[3] a = {1, 0, 2}, int64[3] b = {2, 2, 4}, int64[3] c = {1, 2, 3},
         int64[2] d = {1, 2}, int64[2] e = {3, 4}, int64[2] f = {2, 3}> {
            g = Relu (x)  h = Slice (g, a, b, c)  i = Slice (g, d, e, f)  y = Neg (h)
            z = Neg (i) }""",
    "relu_of_many_images": """(float[1, 3, 2, 4] x) => (float[3, 2, 4] y)
        <float[2, 4] a = {1, 2, 3, 4, 5, 6, 7, 8}, int64[3] u = {3, 2, 4}, float h = {0.7071067811},
         float[4, 4] b = {1, 2, 0, 1, 0, 1, 1, 2, 3, 0, 1, 1, 1, 0, 0, 2},
         float[4, 4] c = {0, 1, 1, 2, 1, 0, 2, 1, 1, 1, 1, 0, 3, 0, 0, 1},
         float[4, 4] d = {2, 1, 0, 0, 0, 2, 1, 3, 1, 0, 0, 1, 1, 2, 2, 1},
         float[4, 4] e = {1, 0, 2, 0, 0, 1, 0, 2, 1, 1, 0, 0, 0, 3, 1, 1},
         int64[4] t = {3, 2, 2, 2}> {
            f = Add (x, a)  g = Reshape (f, u)  i = MatMul (g, b)  j = Reshape (i, t)
            k = Transpose <perm = [0, 2, 1, 3]> (j)  l = MatMul (g, c)  m = Reshape (l, t)
            n = Transpose <perm = [0, 2, 3, 1]> (m)  o = MatMul (g, d)  p = Reshape (o, t)
            q = Transpose <perm = [0, 2, 1, 3]> (p)  r = MatMul (k, n)  s = Mul (r, h)
            v = Softmax (s)  w = MatMul (v, q)  z = Transpose <perm = [0, 2, 1, 3]> (w)
            aa = Reshape (z, u)  y = MatMul (aa, e) }""",
    "relu_of_one_query": """(float[1, 9, 8] x) => (float[1, 1, 8] y)
        <float[1] c = {0.3}, int64[2] k = {8, 8}, int64[1] zero = {0}, int64[1] one = {1},
         float[8] b = {1, 2, 3, 4, 5, 6, 7, 8}, int64[4] s = {1, 1, 2, 4}, int64[3] u = {1, 1, 8},
         int64[4] t = {1, 9, 2, 4}, float h = {0.5}> {
            w = Expand (c, k)  f = Slice (x, zero, one, one)  g = Squeeze (f, one)
            d = Gemm (g, w, b)  e = Unsqueeze (d, one)  i = Reshape (e, s)
            j = Transpose <perm = [0, 2, 1, 3]> (i)  l = MatMul (x, w)  m = Add (l, b)
            n = Reshape (m, t)  o = Transpose <perm = [0, 2, 3, 1]> (n)  a = MatMul (x, w)
            p = Add (a, b)  q = Reshape (p, t)  r = Transpose <perm = [0, 2, 1, 3]> (q)
            v = Mul (j, h)  z = MatMul (v, o)  aa = Softmax (z)  bb = MatMul (aa, r)
            cc = Transpose <perm = [0, 2, 1, 3]> (bb)  dd = Reshape (cc, u)  ee = MatMul (dd, w)
            y = Add (ee, b) }""",
    "relu_behind_softmax": """(float[1, 2, 8, 6] k, float[1, 2, 6, 4] v) => (float[1, 2, 6, 4] y)
        <int64[4] s = {1, 2, 6, 8}, float[1] c = {0.3}, float two = {2}> {
            q = Expand (c, s)  w = MatMul (q, k)  p = Softmax (w)  m = MatMul (p, v)
            y = Mul (m, two) }""",
    "rows_of_products": """(float[4, 2, 2, 2] x) => (float[1, 4, 4, 2] y)
        <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {1, 2}, int64[5] s = {2, 2, 2, 2, 2},
         int64[4] t = {1, 4, 4, 2}> {
            m = MatMul (x, w)  a = Add (m, b)  c = Reshape (a, s)
            d = Transpose <perm = [0, 2, 1, 3, 4]> (c)  y = Reshape (d, t) }""",
    "scale_as_vector": """(float[1, 2, 4] x) => (float[1, 2, 4] y) <float scale = {0.3}> {
            s = Mul (x, scale)  y = Softmax <axis = 1> (s) }""",
    "shapes_of_scatters": """(float[6, 4] x, int64[3, 1] i, float[3, 4] u, float[3, 4] v)
            => (float[6, 4] y) {
            a = ScatterND (x, i, u)  b = ScatterND (x, i, v)  y = Sub (a, b) }""",
    "short_lines": """(float[1, 1, 64000] x) => (float[1, 8, 12799] y)
        <float[1] c = {0.3}, int64[3] s = {8, 1, 10}> {
            w = Expand (c, s)  y = Conv <strides = [5]> (x, w) }""",
    # A model as small as this one is read at once: look at the time of one with 16384 nodes.
    "short_names": "(float[2] x) => (float[2] y) { a_value_with_a_long_name = Neg (x)"
    "  y = Neg (a_value_with_a_long_name) }",
    "slice_before_reshape": """(float[1, 16, 4, 20] x) => (float[1, 2, 20] y)
        <float[1, 16, 1, 1] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
         int64[3] s = {1, 4, 20}, int64[1] zero = {0}, int64[1] two = {2}, int64[1] four = {4},
         int64[1] one = {1}> {
            p = Softmax <axis = 1> (x)  m = Conv (p, w)  r = Reshape (m, s)
            a = Slice (r, zero, two, one)  b = Slice (r, two, four, one)  y = Sub (a, b) }""",
    "slices_without_steps": """(float[1, 8, 12] x) => (float[1, 8, 12] y)
        <int64[1] zero = {0}, int64[1] one = {1}, int64[1] three = {3}, int64[1] end = {8}> {
            a = Slice (x, three, end, one, one)  b = Slice (x, zero, three, one, one)
            y = Concat <axis = 1> (a, b) }""",
    "stored_constants": """(float[2, 3] x) => (int64[2, 3] y) {
            c = Constant <value_float = 8.0> ()  a = Mul (x, c)  b = Cast <to = 7> (a)
            k = Constant <value_int = 8> ()  y = Add (b, k) }""",
    "table_of_angles": """(int64[8] x) => (float[8, 4] y)
        <float[4] f = {1, 0.3, 0.1, 0.03}, int64 many = {700}, int64[1] last = {1}> {
            a = Mul (x, many)  b = Cast <to = 1> (a)  c = Unsqueeze (b, last)  d = Mul (c, f)
            y = Cos (d) }""",
    "transpose_of_equal_sizes": """(float[4, 4] x) => (float[4, 4] y) {
            a = Neg (x)  b = Transpose <perm = [1, 0]> (a)  y = Neg (b) }""",
    "turned_rotation": """(float[1, 2, 4, 8] x, float[1, 1, 4, 8] c, float[1, 1, 4, 8] s)
            => (float[1, 2, 4, 8] y)
        <int64[1] zero = {0}, int64[1] four = {4}, int64[1] end = {8}, int64[1] last = {3}> {
            l = Slice (x, zero, four, last)  h = Slice (x, four, end, last)  n = Neg (h)
            t = Concat <axis = 3> (n, l)  a = Mul (x, c)  b = Mul (t, s)  y = Add (a, b) }""",
    "weight_behind_norm": """(float[1, 2, 4] x) => (float[1, 2, 4] y)
        <float[4] w = {1, 2, 3, 4}, float two = {2}, float low = {0.001}, int64[1] last = {-1}> {
            p = Pow (x, two)  m = ReduceMean (p, last)  a = Add (m, low)  s = Sqrt (a)
            r = Reciprocal (s)  n = Mul (x, r)  y = Mul (w, n) }""",
}


def told(consumer: Consumer, models: Sequence[Path], python: str | None) -> Iterator[str]:
    """Yield what a compiler says of each model, without the form that avoids a fault."""
    target = target_of(consumer.name)
    for fault in target.faults:
        others = replace(target, faults=tuple(f for f in target.faults if f is not fault))
        small = onnx.parser.parse_model(_HEAD + _SMALL[fault.form])
        yield f"{fault.form}, small: {check(small, consumer, python=python)}"
        for path in models:
            with tempfile.TemporaryDirectory() as directory:
                out = Path(directory, path.name)
                onnx_scatterx.optimize(path, target=others).save(out)
                yield f"{fault.form}, {path.name}: {check(out, consumer, python=python)}"
