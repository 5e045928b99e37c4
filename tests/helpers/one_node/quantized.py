"""ONNX Runtime's own quantized operators: every operand has a scale and a zero point."""

from typing import Any

import numpy as np

from tests.helpers.one_node import arithmetic, images
from tests.helpers.one_node.source import Draw, Draws, OneNode, f32

Arrays = list[np.ndarray | None]


def integers(d: Draws, shape: list[int]) -> np.ndarray:
    return d.ints(shape, 0, 9, "uint8")


def beside(d: Draws) -> Arrays:
    """Return a scale and a zero point."""
    return [f32(0.5), np.array(d.rng.randint(0, 9), np.uint8)]


def quantize(d: Draws) -> OneNode:
    kind = d.pick("uint8", "int8", "uint16", "int16")
    return OneNode([d.floats(d.shape()), f32(0.5), np.zeros((), kind)])


def dequantize(d: Draws) -> OneNode:
    kind = d.pick("uint8", "int8", "uint16", "int16", "int32")
    return OneNode([d.ints(d.shape(), 0, 9, kind), f32(0.5), np.zeros((), kind)])


def activation(**attributes: Any) -> Draw:
    def draw(d: Draws) -> OneNode:
        return OneNode([integers(d, d.shape(1)), *beside(d), *beside(d)], attributes)

    return draw


def softmax(d: Draws) -> OneNode:
    shape = [d.some() for _ in range(d.rng.randint(1, 3))]
    attributes = {"axis": d.axis(len(shape)), "opset": 13}
    result = [f32(1 / 256), np.zeros((), np.uint8)]
    return OneNode([integers(d, shape), *beside(d), *result], attributes)


def binary(d: Draws) -> OneNode:
    shape = d.shape()
    operands = [integers(d, s) for s in (shape, d.beside(shape))]
    return OneNode([x for o in operands for x in (o, *beside(d))] + beside(d))


def where(d: Draws) -> OneNode:
    shape = d.shape()
    condition = d.any(d.beside(shape), "bool")
    x, y = integers(d, shape), integers(d, d.beside(shape))
    # ONNX Runtime's process ends if some scales are constants, and others are not.
    scales = (2, 3, 5, 6, 7, 8)
    return OneNode([condition, x, *beside(d), y, *beside(d), *beside(d)], constant=scales)


def concat(d: Draws) -> OneNode:
    shape = d.shape(1)
    axis = d.axis(len(shape))
    inputs = beside(d)
    for _ in range(d.rng.randint(1, 3)):
        shape[axis] = d.extent()
        inputs += [integers(d, list(shape)), *beside(d)]
    return OneNode(inputs, {"axis": axis})


def with_scales(draw: Draw) -> Draw:
    """Quantize the only input of a node, and its output."""

    def quantized(d: Draws) -> OneNode:
        node = draw(d)
        (x,) = node.inputs
        assert x is not None
        found = np.abs(x).astype(np.uint8)
        return OneNode([found, *beside(d), *beside(d)], node.attributes)

    return quantized


def global_pool(d: Draws) -> OneNode:
    x = integers(d, images.image(d))
    return OneNode([x, *beside(d), *beside(d)], {"channels_last": d.pick(0, 0, 1)})


def gemm(d: Draws) -> OneNode:
    m, k, n = (d.some() for _ in range(3))
    turned = [d.pick(0, 1) for _ in range(2)]
    a = integers(d, [k, m] if turned[0] else [m, k])
    b = integers(d, [n, k] if turned[1] else [k, n])
    inputs = [a, *beside(d), b, *beside(d), None]
    result = beside(d) if d.flag() else []
    attributes = {"transA": turned[0], "transB": turned[1], "alpha": 1.0}
    return OneNode([*inputs, *result], attributes)


def integers_to_floats(d: Draws) -> OneNode:
    a, b = arithmetic.matmul(("uint8", "uint8"))(d).inputs
    return OneNode([a, b, f32(0.5), f32(0.25)])


def dynamic_matmul(d: Draws) -> OneNode:
    a, b = arithmetic.matmul(("uint8", "uint8"))(d).inputs
    assert a is not None
    return OneNode([a.astype(np.float32), b, f32(0.25)])


def matmul_of_bits(d: Draws) -> OneNode:
    rows, k, n = d.shape(1, 3), 32, d.rng.randint(1, 3)
    packed = integers(d, [n, 2, 8])
    scales = np.ones(d.pick([2 * n], [n, 2]), np.float32)
    attributes = {"K": k, "N": n, "bits": 4, "block_size": 16}
    return OneNode([d.floats([*rows, k]), packed, scales], attributes)


DRAWS: dict[str, Draw] = {
    "DequantizeLinear": dequantize,
    "QuantizeLinear": quantize,
    "QLinearLeakyRelu": activation(alpha=0.5),
    "QLinearSigmoid": activation(),
    "QLinearSoftmax": softmax,
    "QLinearAdd": binary,
    "QLinearMul": binary,
    "DynamicQuantizeMatMul": dynamic_matmul,
    "MatMulIntegerToFloat": integers_to_floats,
    "MatMulNBits": matmul_of_bits,
    "QGemm": gemm,
    "QLinearAveragePool": with_scales(images.pool()),
    "QLinearConcat": concat,
    "QLinearConv": images.qlinear_conv,
    "QLinearGlobalAveragePool": global_pool,
    "QLinearWhere": where,
}
