"""What a node of an operator needs beside its schema: shapes that fit, indices, required
attributes.

A case has values for inputs and attributes. The key is the place of an input, or the name of an
input or of an attribute: what is an attribute in one version may be an input in another. A tuple is
a shape, and its elements are drawn; a list or a number holds the elements; an array also fixes the
type. The first case of an operator is varied by types, attributes and absent inputs; the others are
taken as they are.
"""

# ruff: noqa: RUF024  the cases are read only

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper, parser

Case = dict[Any, Any]


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


ELEMENTWISE: list[Case] = [{0: (2, 3)}, {0: ()}, {0: (0, 3)}, {0: (1,)}, {0: (2, 1, 3, 5, 1)}]
PAIR: list[Case] = [
    {0: (2, 3), 1: (2, 3)}, {0: (2, 1, 3), 1: (4, 1)}, {0: (), 1: (3,)}, {0: (0, 3), 1: (1,)},
]  # fmt: skip
OF_AXES: list[Case] = [
    {0: (2, 3, 4), "axis": 1}, {0: (2, 3, 4)}, {0: (2, 3, 4), "axis": 0}, {0: (2, 3, 4), "axis": 2},
    {0: (2, 3, 4), "axis": -1}, {0: (2, 3, 4), "axis": -2}, {0: (3,), "axis": 0}, {0: (2, 0, 3)},
    {0: (0, 2, 3)}, {0: (2, 3, 0)}, {0: (2, 3, 2, 2), "axis": 2}, {0: (1, 3, 1, 1)}, {0: (4, 1)},
    {0: (2, 3, 0, 2), "axis": 1}, {0: (2, 3)}, {0: (5, 2, 70)},
]  # fmt: skip
REDUCED: list[Case] = [
    {0: (2, 3, 4), "axes": [1]}, {0: (2, 3, 4)}, {0: (2, 3, 4), "axes": [0, -1], "keepdims": 0},
    {0: (3,), "axes": [-1]}, {0: (2, 3, 4), "axes": [2, 0, 1], "keepdims": 0}, {0: ()},
    {0: (1, 1), "axes": [1]}, {0: (2, 0, 3), "axes": [0]}, {0: (2, 0, 3), "axes": [1]},
    {0: (7, 130), "axes": [1]}, {0: (130, 7), "axes": [0]}, {0: (0,), "keepdims": 0},
    {0: (2, 3), "noop_with_empty_axes": 1}, {0: (2, 3), "axes": [], "noop_with_empty_axes": 1},
    {0: (2, 3), "axes": []},
]  # fmt: skip
IMAGE = (1, 2, 6, 7)
POOLED: list[Case] = [
    {0: IMAGE, "kernel_shape": [3, 2]},
    {0: IMAGE, "kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]},
    {0: IMAGE, "kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1], "ceil_mode": 1},
    {0: IMAGE, "kernel_shape": [2, 2], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1},
    {0: IMAGE, "kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1},
    {0: (1, 1, 4, 4), "kernel_shape": [1, 1], "strides": [2, 2], "ceil_mode": 1},
    {0: IMAGE, "kernel_shape": [3, 2], "dilations": [2, 2]},
    {0: IMAGE, "kernel_shape": [3, 2], "dilations": [1, 1]},
    {0: IMAGE, "kernel_shape": [3, 3], "auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {0: IMAGE, "kernel_shape": [2, 2], "auto_pad": "SAME_LOWER", "strides": [2, 3]},
    {0: IMAGE, "kernel_shape": [2, 2], "auto_pad": "VALID", "strides": [2, 3]},
    {0: IMAGE, "kernel_shape": [3, 2], "count_include_pad": 1, "pads": [1, 1, 1, 1]},
    {0: IMAGE, "kernel_shape": [3, 2], "count_include_pad": 1, "pads": [1, 1, 1, 1],
     "ceil_mode": 1, "strides": [2, 2]},
    {0: (1, 3, 9), "kernel_shape": [3]}, {0: (2, 3, 9, 15), "kernel_shape": [3, 3]},
    {0: (1, 2, 4, 4, 4), "kernel_shape": [2, 2, 3]}, {0: (0, 2, 6, 7), "kernel_shape": [3, 2]},
    {0: (1, 3, 9), "kernel_shape": [3], "p": 1, "out": 2},
    {0: IMAGE, "kernel_shape": [3, 2], "storage_order": 1, "out": 2},
    {0: IMAGE, "kernel_shape": [3, 2], "p": 3},
]  # fmt: skip
CONVOLVED: list[Case] = [
    {0: (1, 2, 5, 6), 1: (4, 2, 3, 2), 2: (4,)},
    {0: (1, 2, 5, 6), 1: (4, 1, 3, 2), 2: (4,), "group": 2},
    {0: (1, 2, 5, 6), 1: (4, 2, 3, 2), "auto_pad": "SAME_UPPER", "strides": [2, 2]},
    {0: (1, 2, 5, 6), 1: (4, 2, 3, 2), "auto_pad": "SAME_LOWER", "strides": [2, 3]},
    {0: (1, 2, 5, 6), 1: (4, 2, 3, 2), "auto_pad": "VALID"},
    {0: (1, 2, 5, 6), 1: (4, 2, 3, 2), "pads": [1, 0, 2, 1], "dilations": [2, 1]},
    {0: (1, 2, 5), 1: (4, 2, 3), "kernel_shape": [3]}, {0: (1, 2, 3, 4, 5), 1: (4, 2, 3, 2, 1)},
    {0: (0, 2, 5, 6), 1: (4, 2, 3, 2)},
]  # fmt: skip
TURNED: list[Case] = [
    {0: (1, 2, 5, 6), 1: (2, 3, 3, 2), 2: (3,)},
    {0: (1, 2, 5, 6), 1: (2, 3, 3, 2), "strides": [2, 3], "output_padding": [1, 2]},
    {0: (1, 2, 5, 6), 1: (2, 3, 3, 2), "strides": [2, 2], "output_shape": [10, 12]},
    {0: (1, 2, 5, 6), 1: (2, 3, 4, 3), "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    {0: (1, 2, 5, 6), 1: (2, 3, 4, 3), "strides": [2, 2], "auto_pad": "SAME_LOWER"},
    {0: (1, 2, 5, 6), 1: (2, 3, 3, 3), "strides": [2, 2], "auto_pad": "SAME_UPPER"},
    {0: (1, 2, 5, 6), 1: (2, 3, 4, 3), "strides": [2, 2], "auto_pad": "SAME_UPPER",
     "output_shape": [11, 13]},
    {0: (1, 2, 5, 6), 1: (2, 3, 3, 2), "strides": [2, 2], "output_shape": [11, 12]},
    {0: (1, 2, 5, 6), 1: (2, 2, 3, 2), "group": 2}, {0: (1, 2, 5), 1: (2, 3, 3)},
    {0: (1, 2, 5, 6), 1: (2, 3, 3, 2), "pads": [1, 0, 0, 1], "dilations": [2, 1]},
]  # fmt: skip
GRIDS = ("asymmetric", "half_pixel", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric",
         "tf_crop_and_resize", "tf_half_pixel_for_nn")  # fmt: skip
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
SCALES = ((1, 1, 2, 2), (1, 1, 1.5, 1.5), (1, 1, 0.6, 0.4), (1, 1, 2.7, 0.3), (1, 1, 1, 1),
          (1, 1, 3, 0.5), (2, 1, 1.3, 1), (1, 1, 0.5, 0.5))  # fmt: skip
RESIZED: list[Case] = [
    {0: (1, 1, 4, 5), "scales": f32(1, 1, 2, 1.5)},
    *({0: (1, 2, 4, 5), "scales": f32(*s), "mode": m}
      for s in SCALES for m in ("nearest", "linear")),
    *({0: (1, 1, 4, 5), "scales": f32(1, 1, *s), "coordinate_transformation_mode": g,
       "nearest_mode": n, "roi": f32(0, 0, 0.1, 0.2, 1, 1, 0.8, 0.9)}
      for s in ((1.6, 2.3), (0.7, 0.4)) for g in GRIDS for n in NEAREST),
    *({0: (1, 1, 4, 5), "scales": f32(1, 1, *s), "coordinate_transformation_mode": g, "mode": m,
       "roi": f32(0, 0, 0.1, 0.2, 1, 1, 0.8, 0.9)}
      for s in ((1.6, 2.3), (0.7, 0.4)) for g in GRIDS for m in ("linear", "cubic")),
    *({0: (1, 1, 4, 5), "sizes": i64(1, 1, 7, 3), "mode": m} for m in ("nearest", "linear",
        "cubic")),
    {0: (1, 1, 4, 5), "sizes": i64(1, 1, 7, 3), "mode": "cubic", "exclude_outside": 1},
    {0: (1, 1, 4, 5), "sizes": i64(1, 1, 7, 3), "mode": "cubic", "cubic_coeff_a": -0.5},
    {0: (1, 1, 4, 5), "sizes": i64(1, 1, 3, 3), "mode": "linear", "antialias": 1},
    {0: (1, 1, 4, 5), "sizes": i64(3, 3), "mode": "linear", "axes": [2, 3]},
    {0: (1, 1, 4, 5), "sizes": i64(7, 9), "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"},
    {0: (4, 5), "scales": f32(2, 2), "mode": "linear"}, {0: (4,), "scales": f32(2.5)},
    {0: (1, 1, 3, 4, 5), "scales": f32(1, 1, 2, 2, 2), "mode": "linear"},
    {0: (0, 1, 4, 5), "scales": f32(1, 1, 2, 2)},
]  # fmt: skip
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def recurrent(op: str) -> list[Case]:
    gates = GATES[op]
    base = {0: (3, 2, 4), 1: (1, gates * 5, 4), 2: (1, gates * 5, 5), 3: (1, 2 * gates * 5),
            4: np.array([3, 2], np.int32), 5: (1, 2, 5), "hidden_size": 5, "out": 2}  # fmt: skip
    plain = {key: value for key, value in base.items() if key not in (4, 5)}
    both = {**plain, 1: (2, gates * 5, 4), 2: (2, gates * 5, 5), 3: (2, 2 * gates * 5)}
    swapped = {**base, 0: (2, 3, 4), 5: (2, 1, 5), "layout": 1}
    if op == "LSTM":
        base |= {6: (1, 2, 5), 7: (1, 15), "out": 3}
        swapped |= {6: (2, 1, 5)}
    return [
        base, plain, {**both, "direction": "bidirectional"}, {**plain, "direction": "reverse"},
        {**plain, "clip": 0.5}, {**plain, "linear_before_reset": 1}, swapped, {**plain,
            "layout": 0},
        {**plain, "activations": {1: ["Relu"], 3: ["HardSigmoid", "Relu"],
                                  4: ["HardSigmoid", "Relu", "Tanh"]}[gates]},
    ]  # fmt: skip


def body(text: str) -> Any:
    return parser.parse_graph(text)


def typed(kind: int) -> Any:
    return helper.make_tensor_type_proto(kind, None)


X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5
SEQUENCE = [X, X[:2], X[:, 1:]]
ROIS = f32(0, 0, 3, 3, 1, 0.5, 2.5, 4).reshape(2, 4)
BOXES = f32(0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 2, 1, 3).reshape(1, 3, 4)
STATE = (
    "(int64 i, bool c, float s) => (bool d, float t, float o) "
    "{ two = Constant <value: tensor = int64 {2}> () d = Less (i, two) t = Add (s, s) o = Neg (s) }"
)
"""It ends without a number of iterations, too."""
QUANTIZED: list[Case] = [
    {0: (2, 3), 1: np.array(0.5, np.float32), 2: 3},
    {0: (2, 3), 1: f32(0.5, 0.25, 2), 2: [3, 1, 2], "axis": 1},
    {0: (2, 3), 1: f32(0.5, 0.25), 2: [3, 1], "axis": 0}, {0: (2, 3), 1: f32(0.5), 2: [1]},
    {0: (2, 3), 1: f32(0.5, 0.25, 2), 2: [3, 1, 2], "axis": -1}, {0: (), 1: np.float32(0.1)},
    {0: (2, 4), 1: f32(0.5, 0.25, 2, 1).reshape(2, 2), "block_size": 2},
    {0: (0, 3), 1: np.float32(0.1), 2: 3}, {0: (2, 3), 1: np.float32(0.1), "output_dtype": 3},
    {0: (2, 3), 1: np.float32(0.1), "precision": 1}, {0: (2, 3), 1: np.float32(0.01),
        "saturate": 0},
]  # fmt: skip
RECIPES: dict[str, list[Case]] = {
    "AffineGrid": [{0: (2, 2, 3), 1: i64(2, 3, 4, 5)}, {0: (1, 3, 4), 1: i64(1, 2, 2, 3, 4)}],
    **dict.fromkeys(("ArgMax", "ArgMin"), [
        {0: (2, 3, 4), "axis": 1}, {0: (2, 3), "keepdims": 0}, {0: (4,), "axis": -1},
        {0: [[1, 1, 0], [0, 2, 2]], "axis": 1}, {0: [[1, 1], [1, 1]], "select_last_index": 1},
        {0: (2, 3), "select_last_index": 0}, {0: (0, 3), "axis": 1}]),
    "Attention": [
        {0: (1, 2, 4, 8), 1: (1, 2, 6, 8), 2: (1, 2, 6, 8), 3: (4, 6)},
        {0: (1, 2, 4, 8), 1: (1, 2, 6, 8), 2: (1, 2, 6, 8)},
        {0: (2, 3, 4, 8), 1: (2, 3, 6, 8), 2: (2, 3, 6, 10), "is_causal": 1},
        {0: (2, 4, 24), 1: (2, 6, 24), 2: (2, 6, 24), "q_num_heads": 3, "kv_num_heads": 3},
        {0: (2, 3, 4, 8), 1: (2, 3, 6, 8), 2: (2, 3, 6, 8), "softcap": 2.0, "scale": 0.1},
        {0: (2, 3, 4, 8), 1: (2, 3, 6, 8), 2: (2, 3, 6, 8), 4: (2, 3, 5, 8), 5: (2, 3, 5, 8),
            "out": 3},
        {0: (2, 9, 4, 8), 1: (2, 3, 6, 8), 2: (2, 3, 6, 8), "out": 4, "qk_matmul_output_mode": 3},
        {0: (2, 9, 4, 8), 1: (2, 3, 6, 8), 2: (2, 3, 6, 8), "left_window_size": 2}],
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), POOLED),
    "BatchNormalization": [
        {0: (2, 3, 4), 1: (3,), 2: (3,), 3: (3,), 4: f32(1, 0.5, 2)},
        {0: (2, 3), 1: (3,), 2: (3,), 3: (3,), 4: f32(1, 0.5, 2)},
        {0: (2, 3, 4, 5), 1: (3,), 2: (3,), 3: (3,), 4: f32(1, 0.5, 2), "momentum": 0.5},
        {0: (2, 3, 4), 1: (3,), 2: (3,), 3: (3,), 4: f32(1, 0.5, 2), "training_mode": 1, "out": 3},
        {0: (2, 3, 4), 1: (3,), 2: (3,), 3: (3,), 4: f32(1, 0.5, 2), "out": 5}],
    "Bernoulli": [{0: f32(0.1, 0.5, 0.9, 0.4), "seed": 2.0}],
    "BitCast": [{0: (2, 3), "to": 6}],
    "BitShift": [{0: [1, 200, 7], 1: [1, 3, 0], "direction": "LEFT"},
                 {0: [1, 200, 7], 1: [1, 3, 0], "direction": "RIGHT"},
                 {0: [1, 200, 7], 1: [8, 64, 99], "direction": "RIGHT"},
                 {0: [1, 200, 7], 1: [8, 64, 99], "direction": "LEFT"}],
    **dict.fromkeys(("BlackmanWindow", "HammingWindow", "HannWindow"), [{0: 6}, {0: 1}, {0: 0}]),
    "Cast": [{0: (2, 3), "to": 1},
             *({0: (2, 3), "to": k} for k in (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)),
             {0: f32(np.nan, np.inf, -np.inf, 1e9, -0.0, 300, 0.1), "to": 7},
             {0: f32(np.nan, np.inf, -np.inf, 1e9, -0.0, 300, 0.1), "to": 8},
             {0: f32(np.nan, np.inf, -np.inf, 1e9, -0.0, 300, 0.1), "to": 10},
             {0: np.array(["1.5", "nan", "-INF", "7"], object), "to": 1},
             *({0: f32(np.nan, np.inf, -np.inf, 1e9, -0.0, 300, 0.1), "to": k, "saturate": s}
               for k in (17, 18, 19, 20) for s in (0, 1))],
    "CastLike": [{0: (2, 3), 1: (1,)}, {0: f32(1e9, 0.5, -1), 1: i64(0)}],
    "CausalConvWithState": [{0: (2, 3, 6), 1: (3, 1, 4), 2: (3,), 3: (2, 3, 3), "out": 2},
                            {0: (2, 3, 6), 1: (3, 1, 4), "out": 2, "activation": "silu"}],
    "CenterCropPad": [{0: (5, 4), 1: i64(3, 6)}, {0: (5, 4), 1: i64(3), "axes": [-1]}],
    "Clip": [{0: (2, 3), "min": -0.5, "max": 0.5}, {0: (2, 3)}, {0: (2, 3), "min": 0.25},
             {0: f32(np.nan, np.inf, -np.inf, -0.0, 1), "min": 0.0}, {0: (0,), "max": 1},
             {0: f32(np.nan, np.inf, -np.inf, -0.0, 1)}, {0: (3,), "min": 2, "max": 1}],
    "Col2Im": [{0: (1, 5, 5), 1: i64(5, 5), 2: i64(1, 5)},
               {0: (1, 8, 4), 1: i64(3, 3), 2: i64(2, 2)}],
    "Compress": [{0: (3, 4), 1: np.array([1, 0, 1], bool), "axis": 0},
                 {0: (3, 4), 1: np.array([1, 0, 1], bool)},
                 {0: (3, 4), 1: np.array([0, 1], bool), "axis": -1}],
    "Concat": [{0: (2, 3), 1: (2, 1), 2: (2, 0), "axis": 1}, {0: (2, 3), 1: (1, 3), "axis": -2}],
    "ConcatFromSequence": [{0: [X, X[:2]], "axis": 0}, {0: [X, X], "axis": 1, "new_axis": 1}],
    "Constant": [{"value": helper.make_tensor("v", 1, [2], [1.0, 2.0])}, {"value_int": 3},
                 {"value_ints": [1, 2]}, {"value_float": 0.5}, {"value_floats": [0.5, 1.5]},
                 {"value_string": "a"}, {"value_strings": ["a", "b"]},
                 {"value": helper.make_tensor("v", 7, [], [4])}],
    "ConstantOfShape": [{0: i64(2, 3), "value": helper.make_tensor("v", 7, [1], [4])},
                        {0: i64(2, 3)}, {0: i64()}, {0: i64(0, 3)},
                        *({0: i64(2), "value": helper.make_tensor("v", k, [1], [1])}
                          for k in (2, 3, 4, 5, 6, 9, 10, 11, 12, 13))],
    "Conv": CONVOLVED, "ConvTranspose": TURNED,
    "ConvInteger": [{0: (1, 2, 5, 6), 1: (4, 2, 3, 2), 2: 1, 3: 2}],
    **dict.fromkeys(("CumProd", "CumSum"), [
        {0: (2, 3), 1: 1}, {0: (4,), 1: -1, "exclusive": 1, "reverse": 1}, {0: (0, 2), 1: 0}]),
    "DFT": [{0: (1, 4, 6, 1), "dft_length": 4}, {0: (1, 5, 1)}, {0: (1, 5, 2), "inverse": 1},
            {0: (1, 4, 6, 1), "axis": 2}, {0: (1, 4, 6, 1), "onesided": 1, "axis": 1},
            {0: (2, 3, 4, 2), "axis": -2}, {0: (2, 3, 4, 2), "axis": -3}],
    "DeformConv": [{0: (1, 2, 4, 4), 1: (2, 2, 2, 2), 2: (1, 8, 3, 3), 3: (2,), 4: (1, 4, 3, 3)}],
    "DepthToSpace": [{0: (1, 8, 2, 3), "blocksize": 2}, {0: (1, 8, 2, 3), "blocksize": 2,
        "mode": "CRD"}],
    "SpaceToDepth": [{0: (1, 2, 4, 6), "blocksize": 2}, {0: (1, 2, 4, 6), "blocksize": 2,
        "mode": "CRD"}],
    "DequantizeLinear": QUANTIZED, "QuantizeLinear": QUANTIZED,
    "Det": [{0: (2, 3, 3)}, {0: (2, 2)}],
    "Dropout": [{0: (2, 3), "ratio": 0.3}, {0: (2, 3), "out": 2}, {0: (0, 3), "ratio": 0.3,
        "out": 2},
                {0: (), "out": 2}],
    "Einsum": [{0: (2, 3), 1: (3, 4), "equation": "ij,jk->ik"}, {0: (3, 3), "equation": "ii->i"}],
    "Expand": [{0: (3, 1), 1: i64(2, 1, 4)}, {0: (3, 1), 1: i64(0, 1, 4)}],
    "EyeLike": [{0: (3, 4), "dtype": 7, "k": 1}, {0: (3, 4)}],
    "Flatten": OF_AXES,
    **dict.fromkeys(("GRU", "LSTM", "RNN"), []), **{op: recurrent(op) for op in GATES},
    "Gather": [{0: (3, 4), 1: i64(2, 0, -1), "axis": 1}, {0: (3, 4), 1: i64(-3)}, {0: (3,),
        1: i64()}],
    "GatherElements": [{0: (3, 4), 1: i64(2, 0, -1).reshape(1, 3), "axis": 1}],
    "GatherND": [{0: (3, 4), 1: i64(2, 0, 1, 3).reshape(2, 2)},
                 {0: (2, 4), 1: i64(-1, 1).reshape(2, 1), "batch_dims": 1},
                 {0: (2, 4), 1: i64(-1, 1).reshape(2, 1), "batch_dims": 0}],
    "Gemm": [{0: (2, 3), 1: (3, 4), 2: (2, 4)}, {0: (2, 3), 1: (3, 4), 2: (4,), "alpha": 0.5},
             {0: (3, 2), 1: (4, 3), 2: (1,), "transA": 1, "transB": 1, "beta": 0.5},
             {0: (0, 3), 1: (3, 4), 2: (4,)}],
    **dict.fromkeys(("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "LRN"),
                    [{0: (1, 3, 4, 5), "size": 3}, {0: (2, 3, 4), "size": 3}, {0: (1, 2, 7, 9),
                        "p": 1, "size": 1}]),
    "GridSample": [*({0: (1, 2, 4, 5), 1: (1, 3, 2, 2), "mode": m, "padding_mode": p,
        "align_corners": a}
                     for a in (0, 1) for p in ("zeros", "border", "reflection")
                     for m in ("bilinear", "linear", "nearest", "bicubic", "cubic")),
                   {0: (1, 2, 4, 5), 1: (1, 3, 2, 2)}, {0: (1, 1, 2, 3, 4), 1: (1, 2, 2, 2, 3)}],
    "GroupNormalization": [{0: (2, 4, 3), 1: (2,), 2: (2,), "num_groups": 2},
                           {0: (2, 4, 3), 1: (4,), 2: (4,), "num_groups": 2},
                           {0: (2, 4, 3, 3), 1: (4,), 2: (4,), "num_groups": 4, "epsilon": 0.1}],
    **dict.fromkeys(("Hardmax", "LogSoftmax", "Softmax", "LpNormalization"), OF_AXES),
    "Identity": [*ELEMENTWISE, {0: SEQUENCE}],
    "If": [{0: np.array(True), "out": 1,
            "then_branch": body("t () => (float y) { y = Constant <value = float {1.0}> () }"),
            "else_branch": body("e () => (float z) { z = Constant <value = float {2.0}> () }")}],
    "InstanceNormalization": [{0: (2, 3, 4), 1: (3,), 2: (3,)}, {0: (1, 3, 4, 5), 1: (3,),
        2: (3,)}],
    "LayerNormalization": [{0: (2, 3, 4), 1: (4,), 2: (4,), "out": 3}, {0: (2, 3), 1: (3,)}],
    "LinearAttention": [{0: (2, 3, 8), 1: (2, 3, 8), 2: (2, 3, 8), "q_num_heads": 2,
                         "kv_num_heads": 2, "out": 2}],
    "Loop": [{0: np.array(3, np.int64), 1: np.array(True), 2: np.array(2, np.float32), "out": 2,
              "body": body(f"b {STATE}")}],
    "MatMul": [{0: (2, 3), 1: (3, 4)}, {0: (3,), 1: (2, 3, 4)}, {0: (0, 3), 1: (3, 4)}],
    "MatMulInteger": [{0: (2, 3), 1: (3, 4), 2: 1, 3: 2}],
    **dict.fromkeys(("Max", "Min", "Mean", "Sum"), [
        {0: (2, 3), 1: (3,), 2: (1, 1)}, {0: (2, 3)}, {0: (0, 3), 1: (3,)},
        {0: f32(np.nan, 1, -0.0, 0.0), 1: f32(0, np.nan, 0.0, -0.0)}]),
    "MaxRoiPool": [{0: (1, 2, 6, 6), 1: f32(0, 0, 0, 3, 3).reshape(1, 5), "pooled_shape": [2, 2]}],
    "MaxUnpool": [{0: (1, 1, 2, 2), 1: i64(0, 3, 9, 14).reshape(1, 1, 2, 2), "kernel_shape": [2, 2],
                   "strides": [2, 2]},
                  {0: (1, 1, 2, 2), 1: i64(0, 3, 9, 14).reshape(1, 1, 2, 2), 2: i64(1, 1, 5, 5),
                   "kernel_shape": [2, 2], "strides": [2, 2]}],
    "MeanVarianceNormalization": [{0: (2, 3, 4, 5)}, {0: (2, 3, 4, 5), "axes": [1]}],
    "MelWeightMatrix": [{0: 4, 1: 16, 2: 8000, 3: np.float32(0), 4: np.float32(4000)}],
    "Mod": [{0: [7, -7, 5], 1: [3, 3, -3], "fmod": 1}, {0: i64(7, -7, 5), 1: i64(3, 3, -3)},
            {0: f32(7.5, -7, np.inf, -0.0, np.nan, 4), 1: f32(3, 3, 2, 1, 2, np.inf), "fmod": 1},
            {0: f32(7.5, -7, np.inf, -0.0, np.nan, 4), 1: f32(3, 3, 2, 1, 2, -np.inf)},
            {0: i64(7, -7, 5), 1: i64(3, 3, -3), "fmod": 1}],
    "Multinomial": [{0: (2, 3), "seed": 1.0, "sample_size": 4}],
    **dict.fromkeys(("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"), [
        {0: (3, 4), 1: i64(1, 0, 3), 2: (4,)}, {0: (3, 4), 1: i64(1, 0, 3), "reduction": "none"},
        {0: (3, 4, 2), 1: i64(1, 0, 3, 1, 1, 2).reshape(3, 2), "reduction": "sum",
            "ignore_index": 1}]),
    "NonMaxSuppression": [{0: BOXES, 1: f32(0.9, 0.8, 0.7).reshape(1, 1, 3), 2: i64(3), 3: f32(0.5),
        4: f32(0.1)}],
    "OneHot": [{0: [1, 0, 2], 1: 3, 2: [5, 7]}, {0: i64(-1, -3, -4, 3, 5), 1: 3, 2: [5, 7],
        "axis": 0},
               {0: i64(-1, 2), 1: 3, 2: [5, 7], "axis": -1}],
    "Optional": [{0: (2, 3)}, {"type": typed(1)}],
    **dict.fromkeys(("OptionalGetElement", "OptionalHasElement"), [{0: ("optional",)}, {0: (2, 3)},
        {}]),
    "Pad": [{0: (3, 4), "pads": [1, 0, 2, 1], "constant_value": 1.5, "value": 1.5},
            *({0: (3, 4), "pads": [1, 0, 2, 1], "mode": m} for m in ("edge", "reflect", "wrap")),
            {0: (3, 4), "pads": [-1, 0, 2, 1]}, {0: (3, 4), "pads": [1, 0, 0, 0], "value": -0.0},
            {0: (0, 4), "pads": [1, 0, 2, 1]}, {0: (3, 4), "pads": [1, 2], "axes": [-1]},
            {0: (3, 4), "pads": [1, 2, 0, 1], "axes": [1, 0], "mode": "edge"}],
    "PRelu": [{0: (2, 3), 1: (3,)}, {0: (2, 3), 1: (1,)}],
    "Pow": [{0: [0.5, 2.0, 3.0], 1: [2.0, 3.0, 0.5]}, {0: [0.5, 2.0, 3.0], 1: [2.0]},
            {0: f32(-2, np.nan, 0.0, -0.0), 1: f32(3, 0, -1, -1)}, {0: f32(2, 3), 1: i64(2, 3)},
            {0: i64(2, 3), 1: f32(0.5, 3)}, {0: [1.5, 2.5], 1: [3.0]}],
    "QLinearConv": [{0: (1, 2, 5, 6), 1: np.float32(0.5), 2: 1, 3: (4, 2, 3, 2),
        4: np.float32(0.25),
                     5: 2, 6: np.float32(0.5), 7: 1, 8: np.arange(4, dtype=np.int32)}],
    "QLinearMatMul": [{0: (2, 3), 1: 0.5, 2: 1, 3: (3, 4), 4: 0.25, 5: 2, 6: 0.5, 7: 1}],
    "RMSNormalization": [{0: (2, 3, 4), 1: (4,)}, {0: (2, 3, 4), 1: (3, 4), "axis": 1}],
    **dict.fromkeys(("RandomNormal", "RandomUniform"), [{"shape": [2, 3], "seed": 1.0}]),
    **dict.fromkeys(("RandomNormalLike", "RandomUniformLike"), [{0: (2, 3), "seed": 1.0,
        "dtype": 1}]),
    "Range": [{0: 1, 1: 9, 2: 2}, {0: np.float32(0), 1: np.float32(2), 2: np.float32(0.1)}, {0: 5,
        1: 0, 2: -1}],
    **{f"Reduce{name}": REDUCED for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean",
        "Min",
                                             "Prod", "Sum", "SumSquare")},
    "RegexFullMatch": [{0: (2,), "pattern": "a.*"}],
    "Reshape": [{0: (2, 6), 1: i64(3, -1)}, {0: (2, 6), 1: i64(0, 3, 2)}, {0: (0, 6), 1: i64(0, 3),
        "allowzero": 1},
                {0: (2, 6), 1: i64(12), "allowzero": 1}, {0: (0, 6), 1: i64(0, 3, 2),
                    "allowzero": 0}],
    "Resize": RESIZED, "Upsample": RESIZED[:17],
    "ReverseSequence": [{0: (4, 3), 1: i64(1, 4, 2)}, {0: (3, 4), 1: i64(1, 4, 2), "time_axis": 1,
        "batch_axis": 0}],
    "RoiAlign": [*({0: (1, 2, 6, 6), 1: ROIS, 2: i64(0, 0), "output_height": 2, "output_width": 3,
        "mode": m}
                   for m in ("avg", "max")),
                 *({0: (1, 2, 6, 6), 1: ROIS, 2: i64(0, 0), "output_height": 2, "sampling_ratio": 2,
                    "coordinate_transformation_mode": c} for c in ("half_pixel",
                        "output_half_pixel"))],
    "RotaryEmbedding": [{0: (2, 3, 4, 8), 1: (50, 4), 2: (50, 4), 3: i64(*range(8)).reshape(2, 4)},
                        {0: (2, 3, 4, 8), 1: (2, 4, 4), 2: (2, 4, 4), "interleaved": 1}],
    "STFT": [{0: (1, 16, 1), 1: 2, 2: (4,), 3: 4}, {0: (1, 16, 1), 1: 2, 2: (4,), "onesided": 0}],
    "Scan": [{0: np.array(2, np.float32), 1: (3,), "num_scan_inputs": 1, "out": 2, "body": body(
        "b (float s, float x) => (float t, float o) { t = Add (s, x) o = Mul (s, x) }")}],
    **dict.fromkeys(("Scatter", "ScatterElements"), [
        {0: (3, 4), 1: i64(2, 0, 1).reshape(1, 3), 2: (1, 3), "axis": 1},
        {0: (3, 4), 1: i64(-1, 0).reshape(1, 2), 2: (1, 2)},
        *({0: (3,), 1: i64(2, 0), 2: (2,), "reduction": r} for r in ("none", "add", "mul", "max",
            "min"))]),
    "ScatterND": [{0: (3, 4), 1: i64(2, 0).reshape(2, 1), 2: (2, 4)},
                  {0: (3, 4), 1: i64(-1).reshape(1, 1), 2: (1, 4)},
                  *({0: (3,), 1: i64(2, 0).reshape(2, 1), 2: (2,), "reduction": r}
                    for r in ("none", "add", "mul", "max", "min"))],
    "SequenceAt": [{0: SEQUENCE, 1: 1}, {0: SEQUENCE, 1: -1}],
    "SequenceConstruct": [{0: (2, 3), 1: (1,)}],
    "SequenceEmpty": [{}],
    "SequenceErase": [{0: SEQUENCE, 1: 1}, {0: SEQUENCE}],
    "SequenceInsert": [{0: SEQUENCE, 1: X, 2: 1}, {0: SEQUENCE, 1: X}],
    "SequenceLength": [{0: SEQUENCE}],
    "SequenceMap": [{0: SEQUENCE,
        "body": body("b (float[...] x) => (float[...] y) { y = Identity (x) }".replace("[...]",
            ""))}],
    "Shape": [*ELEMENTWISE, {0: (2, 3, 4), "start": 1}, {0: (2, 3, 4), "end": -1}, {0: (2, 3),
        "start": 0}],
    "Slice": [{0: (4, 5), "starts": [1, 0], "ends": [3, 4], "axes": [0, 1]},
              {0: (4, 5), "starts": [1], "ends": [99]}, {0: (4, 5), "starts": [-3], "ends": [-1],
                  "axes": [1]},
              {0: (4, 5), "starts": [-3], "ends": [2**63 - 1], "axes": [-1], "steps": [1]},
              {0: (4, 5), "starts": [3], "ends": [0], "axes": [-1], "steps": [-2]}],
    "Split": [{0: (2, 4), "split": [1, 3], "axis": 1, "out": 2}, {0: (2, 4), "axis": 1, "out": 2},
              {0: (2, 4), "axis": -1, "out": 2, "num_outputs": 2}, {0: (2, 5), "axis": 1, "out": 3,
                  "num_outputs": 3},
              {0: (4,), "out": 1, "num_outputs": 1}, {0: (0, 2), "out": 2, "num_outputs": 2}],
    "SplitToSequence": [{0: (4, 2), 1: 2, "axis": 0}, {0: (4, 2), "keepdims": 0, "axis": 1}, {0: (4,
        2), 1: i64(1, 3)}],
    "Squeeze": [{0: (1, 3, 1), "axes": [0]}, {0: (1, 3, 1)}, {0: (1, 3, 1), "axes": [-1]}, {0: (1,
        0), "axes": [0]}],
    "StringConcat": [{0: (2,), 1: (2,)}], "StringNormalizer": [{0: (2,),
        "case_change_action": "UPPER"}],
    "StringSplit": [{0: (2,), "delimiter": "b", "out": 2}],
    "SwiGLU": [{0: (2, 3), 1: (2, 3)}, {0: (2, 3), 1: (2, 3), "alpha": 1.7}, {0: (2, 3), 1: (3,)}],
    "TensorScatter": [{0: (2, 4, 3), 1: (2, 2, 3), 2: i64(1, 0), "axis": 1},
                      {0: (2, 4, 3), 1: (2, 2, 3), 2: i64(3, 3), "axis": 1, "mode": "circular"}],
    "TfIdfVectorizer": [{0: i64(1, 1, 3, 3, 3, 7), "mode": "TF", "min_gram_length": 1,
        "max_gram_length": 1,
                         "max_skip_count": 0, "ngram_counts": [0], "ngram_indexes": [0, 1, 2],
                             "pool_int64s": [1, 3, 7]}],
    "Tile": [{0: (2, 3), 1: i64(2, 1)}, {0: (2, 3), 1: i64(0, 1)}],
    "TopK": [{0: (3, 4), "k": 2, "K": [2], "out": 2}, {0: (3, 4), "k": 1, "K": [1], "axis": 0,
        "out": 2},
             {0: (3, 4), "k": 2, "K": [2], "largest": 0, "out": 2}, {0: (3, 4), "k": 2, "K": [2],
                 "sorted": 0, "out": 2},
             {0: [1, 1, 0, 1, 2], "k": 3, "K": [3], "out": 2},
             {0: f32(np.nan, 1, np.inf, 0), "k": 3, "K": [3], "out": 2}],
    "Transpose": [{0: (2, 3, 4), "perm": [1, 2, 0]}, {0: (2, 3)}, {0: ()}],
    "Trilu": [{0: (3, 4), 1: i64(1).reshape(())}, {0: (3, 4), "upper": 0}],
    "Unique": [{0: [2, 1, 1, 3], "out": 4}, {0: [[2, 1], [2, 1]], "axis": 0, "sorted": 0,
        "out": 4}],
    "Unsqueeze": [{0: (2, 3), "axes": [1]}, {0: (2, 3), "axes": [0, 3]}, {0: (2, 3), "axes": [-1]},
        {0: (), "axes": [0]}],
    "Where": [{0: np.array([[True], [False]]), 1: (2, 3), 2: (3,)}, {0: np.array(True), 1: (0,),
        2: (1,)}],
}  # fmt: skip
"""By operator: its cases. Others are elementwise."""

ATTRIBUTES: dict[str, list[Any]] = {
    "training_mode": [], "approximate": ["tanh"], "detect_negative": [0], "detect_positive": [0],
        "fmod": [0],
    "activation": ["none", "silu"], "case_change_action": ["LOWER", "NONE"], "dtype": [7, 10, 11],
    "output_datatype": [10, 11], "saturate": [0], "round_mode": ["down"], "stash_type": [10, 11],
    "direction": [], "mode": [], "padding_mode": [], "body": [], "then_branch": [],
        "else_branch": [],
    "to": [], "kernel_shape": [], "num_groups": [], "equation": [], "seed": [3.0], "p": [1, 3],
    "auto_pad": ["SAME_UPPER", "SAME_LOWER", "VALID"], "nearest_mode": [], "size": [], "value": [],
    "coordinate_transformation_mode": [], "keep_aspect_ratio_policy": [], "reduction": ["sum",
        "none"],
    "axis": [0, 1, 2, -1, -2], "perm": [], "blocksize": [1], "k": [-1], "update_rule": [],
    "output_dtype": [2, 3, 10], "activation_alpha": [], "activation_beta": [], "activations": [],
}  # fmt: skip
"""By name: other values than those of the first case. An attribute that is missing is guessed."""
KINDS = TensorProto.DataType
