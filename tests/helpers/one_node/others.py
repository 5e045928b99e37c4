"""Layers of sequences, numbers that are quantized, tensors that are made."""

from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.helpers.one_node.source import WRAPPING, Draw, Draws, OneNode, f32, i64


def layer_normalization(outputs: int) -> Draw:
    def draw(d: Draws) -> OneNode:
        shape = d.shape(1)
        axis = d.axis(len(shape))
        scale = [d.floats(d.pick(shape[axis:], d.beside(shape[axis:]))) for _ in range(2)]
        count = 1 if outputs == 1 else d.rng.randint(1, 2)
        return OneNode([d.floats(shape), *scale[:count]], {"axis": axis}, d.rng.randint(1, outputs))

    return draw


def recurrent(gates: int, outputs: int) -> Draw:
    def draw(d: Draws) -> OneNode:
        t, b, i, h = (d.some() for _ in range(4))
        directions = d.pick(1, 2)
        attributes: dict[str, Any] = {"hidden_size": h}
        attributes["direction"] = (
            "bidirectional" if directions == 2 else d.pick("forward", "reverse")
        )
        weights = [d.floats([directions, gates * h, n]) for n in (i, h)]
        return OneNode([d.floats([t, b, i]), *weights], attributes, d.rng.randint(1, outputs))

    return draw


def attention(d: Draws) -> OneNode:
    b, h, s, t, e, v = (d.some() for _ in range(6))
    shapes = ([b, h, s, e], [b, h, t, e], [b, h, t, v])
    return OneNode([d.floats(s) for s in shapes])


def rotary_embedding(d: Draws) -> OneNode:
    b, h, s = (d.extent() for _ in range(3))
    return OneNode([d.floats([b, h, s, 4]), d.floats([b, s, 2]), d.floats([b, s, 2])])


def quantize(d: Draws) -> OneNode:
    shape = d.shape()
    axis = d.axis(len(shape))
    extent = [shape[axis]] if shape and d.flag(0.3) else d.pick([], [1])
    attributes = {"axis": axis} if shape else {}
    scale, point = np.ones(extent, np.float32), np.zeros(extent, np.uint8)
    return OneNode([d.floats(shape), scale, *([point] if d.flag() else [])], attributes)


def dequantize(d: Draws) -> OneNode:
    found = quantize(d)
    (x, *rest), attributes = found.inputs, found.attributes
    assert x is not None
    return OneNode([np.asarray(np.abs(x), np.uint8), *rest], attributes)


def dropout(d: Draws) -> OneNode:
    return OneNode([d.floats(d.shape())], {}, d.rng.randint(1, 2))


def cast_like(d: Draws) -> OneNode:
    return OneNode([d.data(), d.data()])


def cast(d: Draws) -> OneNode:
    return OneNode([d.data()], {"to": d.pick(1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13)})


def trilu(d: Draws) -> OneNode:
    k = [d.numbers(d.pick(-7, -2, -1, 0, 1, 2, 7))] if d.flag(0.7) else []
    x, fixed = d.data("int64", "bool", "float32", low=2), d.pick((), (1,))
    return OneNode([x, *k], {"upper": d.pick(0, 1)} if d.flag(0.8) else {}, constant=fixed)


def eye_like(d: Draws) -> OneNode:
    attributes = {"k": d.rng.randint(-2, 2)} | ({"dtype": d.pick(1, 6, 7, 9)} if d.flag() else {})
    return OneNode([d.data(*WRAPPING, "float32", low=2, high=2)], attributes)


def one_hot(d: Draws) -> OneNode:
    x = d.data("int64", low=1, high=3)
    depth = d.numbers(d.pick(1, [2], 3, 4), d.pick("int64", "int64", "float32"))
    pair = d.pick(d.ints([2]), f32([0, 1]), d.numbers([5, 7]))
    return OneNode([x, depth, pair], {"axis": d.axis(x.ndim + 1)})


def shape_of(d: Draws) -> OneNode:
    given = {k: d.rng.randint(-3, 4) for k in ("start", "end") if d.flag()}
    return OneNode([d.data()], given if d.opset >= 15 else {})


def top_k(d: Draws) -> OneNode:
    x = d.data(*WRAPPING, "float32", low=1)
    axis = d.axis(x.ndim)
    count = d.numbers([d.rng.randint(0, x.shape[axis])])
    return OneNode([x, count], {"axis": axis, "largest": d.pick(0, 1)}, 2)


def range_(d: Draws) -> OneNode:
    dtype = d.pick("int64", "int64", "int32", "float32")
    bounds = [np.asarray(d.rng.randint(-3, 9), dtype) for _ in range(2)]
    bounds[d.pick(0, 1)] = d.numbers(d.rng.randint(-3, 5), dtype)
    step = 0.1 if dtype == "float32" and d.flag() else d.pick(1, 2, 3, -1, -2)
    return OneNode([*bounds, np.asarray(step, dtype)])


def constant(d: Draws) -> OneNode:
    kinds = {"value_ints": d.ints([3]).tolist(), "value_floats": [1.0], "value_float": 0.5}
    return OneNode([], dict([d.pick(("value_int", 3), *kinds.items())]))


def constant_of_shape(d: Draws) -> OneNode:
    dtype = d.pick(*WRAPPING, "float32", "bool")
    value = numpy_helper.from_array(np.array([d.pick(0, 1)], dtype))
    return OneNode([d.numbers(d.shape(0, 3))], {"value": value} if d.flag() else {})


def multinomial(d: Draws) -> OneNode:
    return OneNode([np.abs(d.floats([d.extent(), d.pick(1, 3)]))], {"sample_size": d.pick(1, 3)})


def random_tensor(d: Draws) -> OneNode:
    return OneNode([], {"shape": d.shape(1)})


def window_function(d: Draws) -> OneNode:
    return OneNode([i64(d.pick(0, 1, 4))])


def dft(d: Draws) -> OneNode:
    shape = [d.extent() for _ in range(d.rng.randint(1, 3))] + [d.pick(1, 2)]
    inputs: list[np.ndarray | None] = [d.floats(shape)]
    if d.flag():
        inputs.append(i64(d.pick(1, 2, 4)))
    return OneNode(inputs, {"onesided": d.pick(0, 1)})


def stft(d: Draws) -> OneNode:
    signal = d.floats([d.extent(), d.pick(4, 8), 1])
    return OneNode([signal, i64(d.pick(1, 2)), None, i64(4)], {"onesided": d.pick(0, 1)})


def mel_weights(d: Draws) -> OneNode:
    numbers = [i64(n) for n in (d.pick(1, 4), d.pick(8, 16), 8000)]
    edges = [np.array(n, np.float32) for n in (0, 4000)]
    return OneNode([*numbers, *edges])
