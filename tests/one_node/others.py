"""Layers of sequences, numbers that are quantized, tensors that are made."""

from typing import Any

import numpy as np
from onnx import numpy_helper

from tests.one_node.source import Draw, Draws, OneNode, i64


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
    return OneNode([d.any(d.shape()), d.any(d.shape())])


def trilu(d: Draws) -> OneNode:
    k = [d.ints(d.pick([], [1]), -2, 2)] if d.flag() else []
    return OneNode([d.any(d.shape(2), "int64", "float32"), *k], {"upper": d.pick(0, 1)})


def eye_like(d: Draws) -> OneNode:
    return OneNode([d.any([d.extent(), d.extent()], "int64", "float32")], {"k": d.pick(-1, 0, 2)})


def one_hot(d: Draws) -> OneNode:
    shape = d.shape(1, 3)
    depth = i64(d.pick(1, [2], 3))
    return OneNode([d.ints(shape), depth, d.ints([2])], {"axis": d.axis(len(shape) + 1)})


def shape_of(d: Draws) -> OneNode:
    given = {"start": d.pick(-3, 0, 1, 3), "end": d.pick(-2, 0, 1, 4)}
    return OneNode([d.any(d.shape())], {k: v for k, v in given.items() if d.flag()})


def top_k(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis = d.axis(len(shape))
    return OneNode([d.floats(shape), i64([d.rng.randint(0, shape[axis])])], {"axis": axis}, 2)


def range_(d: Draws) -> OneNode:
    dtype = d.pick("int64", "int32", "float32")
    bounds = [np.asarray(d.rng.randint(-3, 5), dtype) for _ in range(2)]
    return OneNode([*bounds, np.asarray(d.pick(1, 2, -1), dtype)])


def constant_of_shape(d: Draws) -> OneNode:
    value = numpy_helper.from_array(np.array([1], d.pick("int64", "float32", "bool")))
    return OneNode([i64(d.shape(0, 3))], {"value": value} if d.flag() else {})


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
