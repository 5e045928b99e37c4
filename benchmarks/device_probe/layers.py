"""The operators that networks are made of, and operator sets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.device_probe.rows import (
    I8,
    I32,
    I64,
    U8,
    C,
    D,
    F,
    H,
    In,
    Row,
    a,
    row,
    type_name,
    typed,
)


def layers() -> Iterator[Row]:
    yield row("MatMul", "", In(a(4, 6)), In(a(6, 3)))
    yield from typed(
        "MatMul", lambda k: (In(a(4, 6, dtype=k)), In(a(6, 3, dtype=k))), (F, I64, I32, H, D)
    )
    yield row("MatMul", "constant", In(a(4, 6)), C(a(6, 3), F))
    yield row("MatMul", "batched", In(a(2, 4, 6)), In(a(2, 6, 3)))
    yield row("MatMul", "broadcast", In(a(2, 5, 4, 6)), C(a(6, 3), F))
    yield row("MatMul", "vector", In(a(4, 6)), In(a(6)))
    yield row("Gemm", "", In(a(4, 6)), C(a(6, 3), F), C(a(3), F))
    yield row("Gemm", "transposed", In(a(4, 6)), C(a(3, 6), F), C(a(3), F), transB=1, alpha=0.5)
    yield row("Einsum", "", In(a(4, 6)), In(a(6, 3)), equation="ij,jk->ik")
    yield row("Einsum", "batched", In(a(2, 4, 6)), In(a(2, 3, 6)), equation="bij,bkj->bik")
    yield row("Einsum", "outer", In(a(4)), In(a(6)), equation="i,j->ij")
    image = In(a(1, 3, 6, 6))
    yield row("Conv", "", image, C(a(4, 3, 3, 3) / 8, F), C(a(4), F), pads=[1, 1, 1, 1])
    yield row("Conv", "groups", image, C(a(3, 1, 3, 3) / 8, F), group=3, strides=[2, 2])
    yield row("Conv", "1d", In(a(1, 3, 8)), C(a(4, 3, 3) / 8, F))
    yield row("Conv", "3d", In(a(1, 2, 4, 4, 4)), C(a(2, 2, 3, 3, 3) / 8, F))
    yield row("ConvTranspose", "", image, C(a(3, 2, 3, 3) / 8, F), strides=[2, 2])
    yield row("MaxPool", "", image, kernel_shape=[2, 2], strides=[2, 2])
    yield row("AveragePool", "", image, kernel_shape=[2, 2], strides=[2, 2])
    yield row(
        "AveragePool", "pads", image, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1
    )
    yield row("GlobalAveragePool", "", image)
    yield row("GlobalMaxPool", "", image)
    yield row("LpPool", "", image, kernel_shape=[2, 2], strides=[2, 2])
    scale = C(np.abs(a(3)) + 1, F)
    yield row("BatchNormalization", "", image, scale, scale, scale, scale)
    yield row("InstanceNormalization", "", image, scale, scale)
    yield row("LayerNormalization", "", In(a(4, 6)), C(np.abs(a(6)) + 1, F), C(a(6), F))
    yield row("LpNormalization", "", In(np.abs(a(4, 6)) + 1), axis=1)
    yield row("LRN", "", image, size=3)
    yield row(
        "GroupNormalization",
        "",
        In(a(1, 4, 3, 3)),
        C(np.abs(a(4)) + 1, F),
        C(a(4), F),
        num_groups=2,
        opset=21,
    )
    yield row("RMSNormalization", "", In(a(4, 6)), C(np.abs(a(6)) + 1, F), opset=23)
    yield row("MeanVarianceNormalization", "", image)
    for name in ("Softmax", "LogSoftmax", "Hardmax"):
        yield row(name, "", In(a(4, 6)), axis=1)
        yield row(name, "axis=0", In(a(4, 6)), axis=0)
    sizes = C([1, 1, 2, 2], F)
    yield row(
        "Resize",
        "",
        image,
        None,
        sizes,
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    yield row("Resize", "linear", image, None, sizes, mode="linear")
    yield row(
        "Resize",
        "sizes",
        image,
        None,
        None,
        C([1, 3, 12, 12]),
        mode="nearest",
        coordinate_transformation_mode="asymmetric",
        nearest_mode="floor",
    )
    yield row("Resize", "cubic", image, None, sizes, mode="cubic")
    grid = np.stack(np.meshgrid(np.linspace(-0.9, 0.9, 4), np.linspace(-0.8, 0.8, 4)), -1)[None]
    yield row("GridSample", "", image, In(grid, F))
    yield row(
        "RoiAlign",
        "",
        image,
        C([[0, 0, 4, 4]], F),
        C([0]),
        output_height=2,
        output_width=2,
        opset=16,
    )
    boxes, scores = C([[[0, 0, 1, 1], [0, 0, 1, 1.1], [2, 2, 3, 3]]], F), In([[[0.9, 0.8, 0.7]]], F)
    yield row("NonMaxSuppression", "", boxes, scores, C([3]), C([0.5], F), C([0.0], F))
    h, n = 3, 2
    lstm = (C(a(1, 4 * h, n) / 8, F), C(a(1, 4 * h, h) / 8, F), C(a(1, 8 * h) / 8, F))
    yield row("LSTM", "", In(a(5, 1, n)), *lstm, hidden_size=h, outputs=3)
    gru = (C(a(1, 3 * h, n) / 8, F), C(a(1, 3 * h, h) / 8, F), C(a(1, 6 * h) / 8, F))
    yield row("GRU", "", In(a(5, 1, n)), *gru, hidden_size=h, outputs=2)
    rnn = (C(a(1, h, n) / 8, F), C(a(1, h, h) / 8, F), C(a(1, 2 * h) / 8, F))
    yield row("RNN", "", In(a(5, 1, n)), *rnn, hidden_size=h, outputs=2)
    yield row("Dropout", "", In(a(4, 6)))
    point = C(0.25, F)
    for kind in (U8, I8):
        zero, data = C(3, kind), In(a(4, 6) + 2)
        name = type_name(kind)
        yield row("QuantizeLinear", f"type={name}", data, point, zero)
        yield row("DequantizeLinear", f"type={name}", In(a(4, 6, dtype=kind)), point, zero)
        scales, zeros = C([0.25, 0.5, 0.25, 1.0], F), C([1, 2, 3, 4], kind)
        yield row("QuantizeLinear", f"axis type={name}", data, scales, zeros, axis=0)
        yield row(
            "DequantizeLinear", f"axis type={name}", In(a(4, 6, dtype=kind)), scales, zeros, axis=0
        )
        left, right = In(a(4, 6, dtype=kind)), C(a(6, 3, dtype=kind), kind)
        yield row(
            "QLinearMatMul", f"type={name}", left, point, zero, right, point, zero, C(4.0, F), zero
        )
        yield row("MatMulInteger", f"type={name}", left, right, zero, zero)
    yield row("DynamicQuantizeLinear", "", In(a(4, 6)), outputs=3)
    picture, kernel = In(a(1, 3, 6, 6, dtype=U8)), C(a(2, 3, 3, 3, dtype=U8), U8)
    z = C(3, U8)
    yield row("QLinearConv", "", picture, point, z, kernel, point, z, C(8.0, F), z)
    yield row("ConvInteger", "", picture, kernel, z, z)
    yield row("Col2Im", "", In(a(1, 8, 9)), C([4, 4]), C([2, 2]), opset=18)
    yield row("Attention", "", In(a(1, 2, 3, 4)), In(a(1, 2, 3, 4)), In(a(1, 2, 3, 4)), opset=23)


def versions() -> Iterator[Row]:
    for opset in range(9, 27):
        yield row("(operator set)", f"opset={opset}", In(a(4, 6)), In(a(4, 6)), opset=opset)
    yield row("(sizes)", "dynamic", In(a(4, 6), dims=["n", 6]), In(a(4, 6), dims=["n", 6]))
    yield row("(sizes)", "dynamic one", In(a(4, 6), dims=["n", 6]), In(a(1, 6)))
