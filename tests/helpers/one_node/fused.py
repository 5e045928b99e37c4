"""The operators that ONNX Runtime's tools write.

Attention and LSTMs of no elements end it, and up to 1.31 products of none whose batch is moved.
"""

import numpy as np

from tests.helpers.one_node import arithmetic, images, others
from tests.helpers.one_node.source import Draw, Draws, OneNode, i64


def with_bias(d: Draws) -> OneNode:
    shape = d.shape(1)
    return OneNode([d.floats(shape), d.floats(shape[-1:])])


def fast_gelu(d: Draws) -> OneNode:
    node = with_bias(d)
    return node if d.flag() else OneNode(node.inputs[:1])


def activation(d: Draws) -> OneNode:
    return OneNode([d.floats(d.shape())])


def normalization(scales: int) -> Draw:
    def draw(d: Draws) -> OneNode:
        b, s, h = d.extent(), d.extent(), d.some()
        x = d.pick([b, s, h], [s, h])
        skip = d.pick(x, x, [1, *x[1:]], x[1:])
        weights = [d.floats([h]) for _ in range(scales)]
        return OneNode([d.floats(x), d.floats(skip), *weights], {}, d.pick(1, 4))

    return draw


def embedding(d: Draws) -> OneNode:
    b, s, h = d.some(), d.some(), d.some()
    words = [d.ints([b, s], 0, 2, "int32"), d.ints([b, s], 0, 1, "int32")]
    tables = [d.floats([n, h]) for n in (3, 4, 2)] + [d.floats([h]), d.floats([h])]
    mask = [d.ints([b, s], 0, 1, "int32")] if d.flag() else []
    return OneNode([*words, *tables, *mask], {}, d.rng.randint(2, 2))


def attention(d: Draws) -> OneNode:
    b, s, n, h = (d.some() for _ in range(4))
    weights = [d.floats([5, 3 * n * h]), d.floats([3 * n * h])]
    return OneNode([d.floats([b, s, 5]), *weights], {"num_heads": n})


def heads(d: Draws) -> OneNode:
    b, s, t, n = (d.some() for _ in range(4))
    h, v = d.pick(2, 4), d.pick(2, 4)
    sides = [[b, s, n * h], [b, t, n * h], [b, t, n * v]]
    return OneNode([d.floats(x) for x in sides], {"num_heads": n})


def grouped(d: Draws) -> OneNode:
    b, n, g, h = d.some(), d.pick(1, 2), d.some(), 8
    total = d.some()
    inputs = [d.floats([b, total, n * g * h]), *(d.floats([b, total, n * h]) for _ in range(2))]
    kept = d.flag()
    past = [d.floats([b, n, 0, h]) if kept else None for _ in range(2)]
    lengths: list[np.ndarray | None] = [
        np.full([b], total - 1, np.int32),
        np.array(total, np.int32),
    ]
    return OneNode(
        [*inputs, *past, *lengths], {"num_heads": n * g, "kv_num_heads": n}, d.pick(1, 3)
    )


def rotary(d: Draws) -> OneNode:
    b, s, n = d.some(), d.some(), d.some()
    shape = d.pick([b, s, 4 * n], [b, n, s, 4])
    caches = [d.floats([5, 2]), d.floats([5, 2])]
    return OneNode(
        [d.floats(shape), i64([0]), *caches], {"num_heads": n} if len(shape) == 3 else {}
    )


def lstm(d: Draws) -> OneNode:
    t, b, i, h = (d.some() for _ in range(4))
    turns = d.pick(1, 2)
    direction = "bidirectional" if turns == 2 else d.pick("forward", "reverse")
    weights = [d.ints([turns, n, 4 * h], -4, 4, "int8") for n in (i, h)]
    scales: list[np.ndarray | None] = [np.ones([turns], np.float32), np.zeros([turns], np.int8)]
    absent: list[np.ndarray | None] = [None] * 5
    return OneNode(
        [d.floats([t, b, i]), *weights, *absent, *scales, *scales],
        {"hidden_size": h, "direction": direction},
        d.rng.randint(1, 3),
        constant=(1, 2, 8, 9, 10, 11),
    )


def matmul(d: Draws) -> OneNode:
    node = arithmetic.matmul(("float32", "float32"))(d)
    batches = d.flag()
    if batches:
        lead, inner = [d.some() for _ in range(d.pick(1, 2))], d.some()
        shapes = [d.some(), inner], [inner, d.some()]
        node = OneNode([d.floats([d.pick(n, n, n, 1) for n in lead] + s) for s in shapes])
    attributes: dict[str, int] = {}
    for i, name in enumerate("AB"):
        x = node.inputs[i]
        assert x is not None
        turned, moved = d.pick(0, 1), batches and d.pick(0, 1)
        if turned and x.ndim > 1:
            x = x.swapaxes(-1, -2)
        if moved:
            x = np.moveaxis(x, -2, 0)
        node.inputs[i] = np.ascontiguousarray(x)
        attributes |= {f"trans{name}": turned, f"transBatch{name}": int(moved)}
    return OneNode(node.inputs, attributes)


def turned_matmul(d: Draws) -> OneNode:
    node = arithmetic.matmul(("float32", "float32"))(d)
    attributes = {}
    for i, name in enumerate(("transA", "transB")):
        x = node.inputs[i]
        assert x is not None
        attributes[name] = d.pick(0, 1)
        if attributes[name] and x.ndim > 1:
            node.inputs[i] = np.ascontiguousarray(x.swapaxes(-1, -2))
    return OneNode(node.inputs, attributes)


def distances(d: Draws) -> OneNode:
    k = d.some()
    a, b = (d.floats([d.extent(), k]) for _ in range(2))
    return OneNode([a, b], {"metric": d.pick("euclidean", "sqeuclidean")})


def inverse(d: Draws) -> OneNode:
    n = d.extent()
    return OneNode([d.floats([*d.shape(0, 2), n, n]) + 9 * np.eye(n, dtype=np.float32)])


def experts(d: Draws) -> OneNode:
    lead, h, inner, n = d.pick([2], [1, 3]), 2, 4, 3
    rows = int(np.prod(lead))
    weights = [[n, inner, h], [n, inner], [n, h, inner], [n, h]]
    return OneNode([d.floats(s) for s in ([*lead, h], [rows, n], *weights)], {"k": 1})


def quantized_attention(d: Draws) -> OneNode:
    b, s, n, h = (d.some() for _ in range(4))
    x, weight = (d.ints(shape, 0, 9, "uint8") for shape in ([b, s, 5], [5, 3 * n * h]))
    scale = np.full([1], 0.5, np.float32)
    return OneNode([x, weight, d.floats([3 * n * h]), scale, scale], {"num_heads": n})


def rows_of_blocks(d: Draws) -> OneNode:
    rows, blocks, bits = d.some(), d.some(), d.pick(4, 8)
    table = d.ints([rows, blocks * 16 * bits // 8], 0, 9, "uint8")
    indices = d.ints(d.shape(0, 2), 0, rows - 1)
    scales = np.ones([rows, blocks], np.float32)
    return OneNode([table, indices, scales], {"block_size": 16, "bits": bits}, constant=(0, 2))


def gemm(d: Draws) -> OneNode:
    node = arithmetic.gemm(d)
    return OneNode(node.inputs, node.attributes | {"activation": "Relu"})


def conv(d: Draws) -> OneNode:
    node = images.conv()(d)
    return OneNode(node.inputs, node.attributes | {"activation": "Relu"})


DRAWS: dict[str, Draw] = {
    "Attention": attention,
    "BiasGelu": with_bias,
    "CDist": distances,
    "DynamicQuantizeLSTM": lstm,
    "EmbedLayerNormalization": embedding,
    "FastGelu": fast_gelu,
    "FusedConv": conv,
    "FusedGemm": gemm,
    "FusedMatMul": matmul,
    "GatherBlockQuantized": rows_of_blocks,
    "Gelu": activation,
    "GridSample": images.grid_sample,
    "GroupQueryAttention": grouped,
    "Inverse": inverse,
    "MoE": experts,
    "MultiHeadAttention": heads,
    "QAttention": quantized_attention,
    "QuickGelu": activation,
    "RotaryEmbedding": rotary,
    "SkipLayerNormalization": normalization(2),
    "SkipSimplifiedLayerNormalization": normalization(1),
    "TransposeMatMul": turned_matmul,
    "Trilu": others.trilu,
}
