"""Random nodes that slide a window, or resize."""

from typing import Any

from tests.helpers.random_chains import Chain, Drawn


def window(c: Chain) -> Drawn:
    first = c.node("Unsqueeze", ["f", c.constant([0])])
    attributes: dict[str, Any] = {"strides": [c.rng.randint(1, 3)]} if c.flag() else {}
    if c.flag():
        attributes["pads"] = c.ints(2, 0, 1)
    if c.rng.random() < 0.2:
        attributes["auto_pad"] = c.rng.choice(["VALID", "SAME_UPPER"])
        attributes.pop("pads", None)
    turned = c.node("Transpose", first, perm=[0, 2, 1])
    return turned, attributes | {"kernel_shape": [c.rng.randint(1, 3)]}, 1


def conv(c: Chain) -> Drawn:
    x, attributes, _ = window(c)
    (kernel,) = attributes.pop("kernel_shape")
    if c.flag():
        attributes["dilations"] = [c.rng.randint(1, 2)]
    return [*x, c.constant(c.array(2, 3, kernel), "float32")], attributes, 1


def max_pool(c: Chain) -> Drawn:
    x, attributes, _ = window(c)
    return x, attributes | ({"ceil_mode": 1} if c.flag() else {}), c.rng.choice([1, 1, 2])


def resize(c: Chain) -> Drawn:
    x = c.some("float32", "int32", ranks=(1, 2, 3))
    rank = c.values[x].ndim
    attributes: dict[str, Any] = {"mode": "nearest"}
    if c.opset >= 18 and c.flag():
        attributes["axes"] = c.rng.sample(range(-rank, 0), c.rng.randint(1, rank))
    if c.opset >= 18 and c.rng.random() < 0.2:
        attributes["keep_aspect_ratio_policy"] = "not_larger"
    count = len(attributes.get("axes", range(rank)))
    roi = c.constant([], "float32")
    if c.flag():
        scales = [c.rng.choice([0.3, 0.5, 1, 1.7, 2]) for _ in range(count)]
        return [x, roi, c.constant(scales, "float32")], attributes, 1
    none = c.constant([], "float32") if c.opset < 13 else ""
    return [x, roi, none, c.vector(count, c.ints(count, 1, 5))], attributes, 1
