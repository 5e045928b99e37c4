"""Real sizes of what hurts: modules of ``benchmarks/real_rows.py``, as people write them.

Each is the part of a known network that scatters, with just enough around it that the scatter's
input is computed and its output used.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from export import Example
from sources import Letterbox, RotaryInterleaved, SwinShiftMask


class YoloxDecode(nn.Module):
    """Decodes the maps of three strides, with 80 classes: two writes to 8400 or 33600 boxes."""

    strides = (8, 16, 32)

    def forward(self, fine: Tensor, middle: Tensor, coarse: Tensor) -> Tensor:
        maps, grids, strides = (fine, middle, coarse), [], []
        for level, stride in zip(maps, self.strides, strict=True):
            height, width = level.shape[-2:]
            rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            grid = torch.stack((columns, rows), 2).reshape(1, -1, 2)
            grids.append(grid.to(level.dtype))
            strides.append(torch.full((1, grid.shape[1], 1), stride, dtype=level.dtype))
        out = torch.cat([level.flatten(2) for level in maps], 2).permute(0, 2, 1)
        out[..., :2] = (out[..., :2] + torch.cat(grids, 1)) * torch.cat(strides, 1)
        out[..., 2:4] = torch.exp(out[..., 2:4]) * torch.cat(strides, 1)
        return out


class PoseDecode(nn.Module):
    """Decodes 17 keypoints of every anchor, x, y and a score interleaved: strided writes."""

    def forward(self, points: Tensor, anchors: Tensor, strides: Tensor) -> Tensor:
        y = points.clone()
        y[:, 2::3] = y[:, 2::3].sigmoid()
        y[:, 0::3] = (y[:, 0::3] * 2.0 + (anchors[0] - 0.5)) * strides
        y[:, 1::3] = (y[:, 1::3] * 2.0 + (anchors[1] - 0.5)) * strides
        return y


class CacheStep(nn.Module):
    """Writes new keys and values into caches at given positions, and attends to the keys."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, at: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys = keys.index_copy(2, at, key)
        values = values.index_copy(2, at, value)
        weights = (query @ keys.transpose(2, 3)).softmax(-1)
        return weights @ values, keys, values


class CacheWrite(nn.Module):
    """Writes a prompt's keys and values to the front of the caches."""

    def forward(
        self, key: Tensor, value: Tensor, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor]:
        keys, values = keys.clone(), values.clone()
        keys[:, :, : key.shape[2]] = key
        values[:, :, : value.shape[2]] = value
        return keys, values


class PillarCanvas(nn.Module):
    """Spreads the features of pillars over a bird's-eye canvas."""

    height, width = 496, 432

    def forward(self, pillars: Tensor, coordinates: Tensor) -> Tensor:
        canvas = pillars.new_zeros(pillars.shape[1], self.height * self.width)
        canvas[:, coordinates[:, 0] * self.width + coordinates[:, 1]] = pillars.t()
        return canvas.view(1, -1, self.height, self.width)


class Experts(nn.Module):
    """Adds the outputs of eight experts back to their tokens."""

    def forward(self, hidden: Tensor, tokens: Tensor, weights: Tensor) -> Tensor:
        out = torch.zeros_like(hidden)
        for expert in range(8):
            chosen = tokens[expert]
            out.index_add_(0, chosen, hidden[chosen] * weights[expert][:, None])
        return out


class MaskedPooling(nn.Module):
    """Averages hidden states, with padded steps emptied by a row mask."""

    def forward(self, hidden: Tensor, padding: Tensor) -> Tensor:
        hidden = hidden * 1.0
        hidden[padding] = 0.0
        return hidden.sum(1) / (~padding).sum(1, keepdim=True)


class SegmentSums(nn.Module):
    """Sums edge features into nodes, as graph networks do."""

    def forward(self, edges: Tensor, target: Tensor, nodes: Tensor) -> Tensor:
        out = torch.zeros_like(nodes)
        return out.scatter_add(0, target[:, None].expand_as(edges), edges)


class BigLetterbox(Letterbox):
    """Puts an image of 2160 x 3840 into the middle of a grey canvas."""

    def forward(self, image: Tensor) -> Tensor:
        canvas = image.new_full((image.shape[0], 3, 2304, 3840), 0.5)
        canvas[:, :, 72 : 72 + image.shape[2], : image.shape[3]] = image
        return canvas


class SwinMask(SwinShiftMask):
    """The mask of windows of 7, shifted by 3."""

    window, shift = 7, 3


class Decoder(nn.Module):
    """A step of 24 small layers, each with caches that come in and go out."""

    layers, heads, width = 24, 8, 64

    def __init__(self) -> None:
        super().__init__()
        size = self.heads * self.width
        self.projections = nn.ModuleList(nn.Linear(size, 3 * size) for _ in range(self.layers))
        self.outputs = nn.ModuleList(nn.Linear(size, size) for _ in range(self.layers))

    def forward(self, hidden: Tensor, at: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        written = []
        for layer in range(self.layers):
            parts = self.projections[layer](hidden).view(1, 1, 3, self.heads, self.width)
            query, key, value = (parts[:, :, i].transpose(1, 2) for i in range(3))
            keys = caches[2 * layer].index_copy(2, at, key)
            values = caches[2 * layer + 1].index_copy(2, at, value)
            weights = (query @ keys.transpose(2, 3) / 8.0).softmax(-1)
            hidden = hidden + self.outputs[layer]((weights @ values).reshape(1, 1, -1))
            written += [keys, values]
        return hidden, *written


def maps(size: int) -> dict[str, Tensor]:
    """Return the three maps of a YOLOX head for square images."""
    levels = zip(("fine", "middle", "coarse"), (8, 16, 32), strict=True)
    return {name: torch.randn(1, 85, size // s, size // s) for name, s in levels}


def cache_step(new: int) -> dict[str, Tensor]:
    """Return the inputs of a step of 32 heads with caches of 4096 positions."""
    one = (1, 32, new, 128)
    cache = (1, 32, 4096, 128)
    inputs = {name: torch.randn(one) for name in ("query", "key", "value")}
    inputs |= {name: torch.randn(cache) for name in ("keys", "values")}
    return inputs | {"at": torch.arange(1000, 1000 + new)}


def pose(size: int) -> dict[str, Tensor]:
    """Return the inputs of a pose head for square images."""
    anchors = sum((size // s) ** 2 for s in (8, 16, 32))
    shapes = {"points": (1, 51, anchors), "anchors": (2, anchors), "strides": (1, anchors)}
    return {name: torch.rand(shape) for name, shape in shapes.items()}


def examples() -> dict[str, Example]:
    """Return the models by name; the tensors are drawn anew from one seed."""
    torch.manual_seed(0)
    image = {0: "batch", 2: "height", 3: "width"}
    written = ("keys_out", "values_out")
    attended = ("attended", *written)
    prompt = cache_step(512)
    cells = torch.randperm(PillarCanvas.height * PillarCanvas.width)[:12000]
    coordinates = torch.stack((cells // PillarCanvas.width, cells % PillarCanvas.width), 1)
    caches = {
        f"{what}_{i}": torch.randn(1, Decoder.heads, 1024, Decoder.width)
        for i in range(Decoder.layers)
        for what in ("keys", "values")
    }
    pooled = {"hidden": torch.randn(8, 512, 768), "padding": torch.rand(8, 512) < 0.4}
    steps = {0: "batch", 1: "time"}
    kept = ("key", "value", "keys", "values")
    return {
        "yolox_640": Example(YoloxDecode, maps(640), sizes=dict.fromkeys(maps(32), image)),
        "yolox_1280": Example(YoloxDecode, maps(1280)),
        "pose_640": Example(PoseDecode, pose(640)),
        "pose_1280": Example(PoseDecode, pose(1280)),
        "cache_step": Example(CacheStep, cache_step(1), attended),
        "prefill": Example(CacheWrite, {n: prompt[n] for n in kept}, written),
        "swin_mask": Example(
            SwinMask,
            {"image": torch.randn(1, 3, 112, 168)},
            sizes={"image": {2: "height", 3: "width"}},
        ),
        "rotary": Example(
            RotaryInterleaved,
            {"x": torch.randn(1, 32, 2048, 128)}
            | {name: torch.randn(2048, 128) for name in ("cos", "sin")},
            sizes={"x": {0: "batch", 2: "time"}, "cos": {0: "time"}, "sin": {0: "time"}},
        ),
        "pillars": Example(
            PillarCanvas, {"pillars": torch.randn(12000, 64), "coordinates": coordinates}
        ),
        "experts": Example(
            Experts,
            {"hidden": torch.randn(4096, 1024), "tokens": torch.randint(0, 4096, (8, 1024))}
            | {"weights": torch.rand(8, 1024)},
        ),
        "masked_pooling": Example(MaskedPooling, pooled, sizes=dict.fromkeys(pooled, steps)),
        "segment_sums": Example(
            SegmentSums,
            {"edges": torch.randn(100_000, 64), "target": torch.randint(0, 5000, (100_000,))}
            | {"nodes": torch.randn(5000, 64)},
        ),
        "letterbox_4k": Example(
            BigLetterbox, {"image": torch.rand(1, 3, 2160, 3840)}, sizes={"image": {0: "batch"}}
        ),
        "decoder": Example(
            Decoder,
            {"hidden": torch.randn(1, 1, 512), "at": torch.tensor([700])} | caches,
            outputs=("hidden_out", *(f"{name}_out" for name in caches)),
        ),
    }
