"""Nodes on images: windows that slide, sizes that change, regions."""

from typing import Any

import numpy as np

from tests.helpers.one_node.source import Draw, Draws, OneNode, f32, i64


def windows(d: Draws, n: int) -> dict[str, Any]:
    attributes: dict[str, Any] = {}
    if d.flag():
        attributes["strides"] = [d.rng.randint(1, 3) for _ in range(n)]
    if d.flag(0.3):
        attributes["dilations"] = [d.rng.randint(1, 2) for _ in range(n)]
    if d.flag(0.2):
        attributes["auto_pad"] = d.pick("SAME_UPPER", "SAME_LOWER", "VALID")
    elif d.flag():
        attributes["pads"] = [d.rng.randint(0, 2) for _ in range(2 * n)]
    return attributes


def image(d: Draws, low: int = 1) -> list[int]:
    """Return a batch, channels and some axes, some of them long enough for a window."""
    sizes = [d.pick(d.extent(), 3, 4, 5) for _ in range(d.rng.randint(low, 2))]
    return [d.extent(), d.some(), *sizes]


def pool(outputs: int = 1, *, ceil: bool = True, **more: Any) -> Draw:
    def draw(d: Draws) -> OneNode:
        x = d.image(image(d))
        n = x.ndim - 2
        attributes = windows(d, n) | {"kernel_shape": [d.rng.randint(1, 3) for _ in range(n)]}
        if ceil and d.flag(0.3):
            attributes["ceil_mode"] = 1
        return OneNode([x], attributes | more, d.rng.randint(1, outputs))

    return draw


def conv(dtype: str = "float32", *, turned: bool = False) -> Draw:
    def draw(d: Draws) -> OneNode:
        x = d.image(image(d), dtype)
        n, channels = x.ndim - 2, x.shape[1]
        group = d.pick(1, max(channels, 1))
        kernel = [d.rng.randint(1, 3) for _ in range(n)]
        out = d.extent() * (group if not turned else 1)
        weight = [channels, out, *kernel] if turned else [out, channels // group, *kernel]
        attributes = windows(d, n) | {"group": group}
        if turned and d.flag(0.2):
            attributes["output_padding"] = [d.rng.randint(0, 1) for _ in range(n)]
        if turned and d.flag(0.2):
            attributes["output_shape"] = [d.rng.randint(1, 6) for _ in range(n)]
        return OneNode([x, d.any(weight, dtype)], attributes)

    return draw


def qlinear_conv(d: Draws) -> OneNode:
    node = conv("uint8")(d)
    scale, point = f32(d.pick(1, [1])), np.zeros(d.pick([], [1]), np.uint8)
    x, w = node.inputs
    return OneNode([x, scale, point, w, scale, point, scale, point], node.attributes)


def deform_conv(d: Draws) -> OneNode:
    n, channels, out = d.extent(), d.some(), d.some()
    x, w = d.floats([n, channels, 4, 4]), d.floats([out, channels, 2, 2])
    return OneNode([x, w, d.floats([n, 8, 3, 3])])


def batch_normalization(d: Draws) -> OneNode:
    shape = image(d, 0)
    return OneNode([d.floats(shape), *(d.floats([shape[1]]) for _ in range(4))])


def instance_normalization(d: Draws) -> OneNode:
    shape = [max(n, 1) for n in image(d)]
    return OneNode([d.floats(shape), *(d.floats([shape[1]]) for _ in range(2))])


def group_normalization(d: Draws) -> OneNode:
    """One scale for a channel; up to set 20 one for a group, which must divide the channels."""
    batch, *rest = image(d)
    channels = d.pick(0, 1, 2, 4)
    groups = d.pick(1, 2, max(channels, 1))
    fit = groups if d.opset < 21 else channels
    scales = [d.pick(fit, fit, fit, d.pick(1, 2)) for _ in range(2)]
    x = d.floats([batch, channels, *rest[1:]])
    return OneNode([x, *(d.floats([n]) for n in scales)], {"num_groups": groups})


def resize(d: Draws) -> OneNode:
    x = d.data("float32", "int32", low=1)
    attributes: dict[str, Any] = {"mode": "nearest"}
    count = x.ndim
    if d.opset >= 18 and d.flag():
        axes = d.some_axes(x.ndim, 1)
        attributes["axes"], count = axes, len(axes)
    if d.opset >= 18 and d.flag(0.2):
        attributes["keep_aspect_ratio_policy"] = "not_larger"
    roi = f32([]) if d.opset < 13 or d.flag() else None
    if d.flag():
        return OneNode(
            [x, roi, f32([d.pick(0.3, 0.5, 1, 1.7, 2) for _ in range(count)])], attributes
        )
    none = f32([]) if d.opset < 13 else None
    return OneNode([x, roi, none, d.numbers(d.ints([count], 0, 5))], attributes)


def upsample(d: Draws) -> OneNode:
    shape = d.shape(1)
    return OneNode([d.floats(shape), f32([d.pick(1, 1, 2) for _ in shape])], {"mode": "nearest"})


def max_unpool(d: Draws) -> OneNode:
    n, c, h = d.extent(), d.pick(1, 2), d.pick(1, 2)
    x = d.floats([n, c, h, h])
    index = np.arange(h * h, dtype=np.int64).reshape(1, 1, h, h) * 2
    index = np.broadcast_to(index, x.shape).copy()
    return OneNode([x, index], {"kernel_shape": [2, 2], "strides": [2, 2]})


def grid_sample(d: Draws) -> OneNode:
    n, c, h, w, a, b = (d.extent() for _ in range(6))
    return OneNode([d.floats([n, c, h, w]), d.floats([n, a, b, 2]) / np.float32(4)])


def affine_grid(d: Draws) -> OneNode:
    n = d.extent()
    return OneNode([d.floats([n, 2, 3]), i64([n, d.extent(), d.extent(), d.extent()])])


def roi_align(d: Draws) -> OneNode:
    n, c, rois = d.extent(), d.extent(), d.extent()
    inputs = [d.floats([n, c, 4, 4]), np.abs(d.floats([rois, 4])), d.ints([rois], 0, 0)]
    return OneNode(inputs, {"output_height": d.pick(1, 2), "output_width": d.pick(1, 2)})


def max_roi_pool(d: Draws) -> OneNode:
    n, c, rois = d.extent(), d.extent(), d.extent()
    boxes = np.abs(d.floats([rois, 5]))
    boxes[:, 0] = 0
    return OneNode([d.floats([n, c, 4, 4]), boxes], {"pooled_shape": [d.pick(1, 2), 2]})


def non_max_suppression(d: Draws) -> OneNode:
    b, n, c = (d.extent() for _ in range(3))
    return OneNode([d.floats([b, n, 4]), d.floats([b, c, n]), i64([d.pick(0, 2)])])


def col2im(d: Draws) -> OneNode:
    n, c = d.extent(), d.extent()
    return OneNode([d.floats([n, c * 4, 4]), i64([3, 3]), i64([2, 2])])


def blocks(op: str) -> Draw:
    def draw(d: Draws) -> OneNode:
        size = d.pick(1, 2)
        n, c, h, w = (d.extent() for _ in range(4))
        if op == "DepthToSpace":
            c = c * size * size
            return OneNode(
                [d.floats([n, c, h, w])], {"blocksize": size, "mode": d.pick("DCR", "CRD")}
            )
        return OneNode([d.floats([n, c, h * size, w * size])], {"blocksize": size})

    return draw
