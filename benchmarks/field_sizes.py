"""Statements of public threads that write slices at symbolic sizes, in caches, masks and windows.

The docstrings and ``inputs`` are as in ``benchmarks/field_slices.py``.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn


class EmptySlice(nn.Module):
    """`x[1:-1] = 0`, an empty slice"""

    inputs: ClassVar = {"x": "float 2"}

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x[1:-1] = 0
        return x


class SlidingCache(nn.Module):
    """`next[i, :, :, :-k] = cache[i, :, :, k:]; next[i, :, :, -k:] = x`"""

    inputs: ClassVar = {"cache": "float 2 1 4 9", "x": "float 1 4 3"}

    def forward(self, cache: Tensor, x: Tensor) -> Tensor:
        following = torch.zeros(2, 1, 4, 9)
        following[1, :, :, :-3] = cache[1, :, :, 3:]
        following[1, :, :, -3:] = x
        return following


class Middle(nn.Module):
    """`x.at[:, 5:-5, 5:-5].set(y)`, float64, 256 x 256 into 266 x 266"""

    inputs: ClassVar = {"x": "double 5 266 266 1", "y": "double 5 256 256 1"}

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = x.clone()
        x[:, 5:-5, 5:-5] = y
        return x


class Pose(nn.Module):
    """`y[:, 0::3] = ...; y[:, 1::3] = ...; y[:, 2::3] = sigmoid(...)`, the head of YOLO pose"""

    inputs: ClassVar = {"kpts": "float 1 51 20", "anchors": "float 2 20"}

    def forward(self, kpts: Tensor, anchors: Tensor) -> Tensor:
        y = kpts.clone()
        y[:, 2::3] = y[:, 2::3].sigmoid()
        y[:, 0::3] = (y[:, 0::3] * 2.0 + (anchors[0] - 0.5)) * 8
        y[:, 1::3] = (y[:, 1::3] * 2.0 + (anchors[1] - 0.5)) * 8
        return y


class CausalFill(nn.Module):
    """`mask[..., :n] = fill`, both sizes symbolic"""

    inputs: ClassVar = {"mask": "float 2 total=9", "fill": "float 2 n=5"}
    promises = ("n <= total",)

    def forward(self, mask: Tensor, fill: Tensor) -> Tensor:
        mask = mask.clone()
        mask[..., : fill.shape[-1]] = fill
        return mask


class PhiMask(nn.Module):
    """`mask[..., :n] = mask[..., :n].masked_fill(padding, lowest)` (Phi)"""

    inputs: ClassVar = {"mask": "float 1 1 7 9", "attention": "index 0:2 1 7"}

    def forward(self, mask: Tensor, attention: Tensor) -> Tensor:
        mask = mask.clone()
        n = attention.shape[-1]
        padding = mask[..., :n].eq(0.0) * attention[:, None, None, :].eq(0.0)
        mask[..., :n] = mask[..., :n].masked_fill(padding, -1e30)
        return mask


class SwinMask(nn.Module):
    """`img_mask[:, h, w, :] = cnt`, nine times, symbolic sizes (Swin)"""

    inputs: ClassVar = {"x": "float 1 2 height=14 width=21"}
    promises = ("height >= 7", "width >= 7")

    def forward(self, x: Tensor) -> Tensor:
        img_mask = torch.zeros(1, x.shape[2], x.shape[3], 1)
        cuts = (slice(0, -7), slice(-7, -3), slice(-3, None))
        for count, (h, w) in enumerate((h, w) for h in cuts for w in cuts):
            img_mask[:, h, w, :] = count
        return x + img_mask[..., 0]


class WarpGrid(nn.Module):
    """`vgrid[:, 0] = ...; vgrid[:, 1] = ...`, then grid_sample"""

    inputs: ClassVar = {"x": "float 1 3 6 8", "flow": "float 1 2 6 8"}

    def forward(self, x: Tensor, flow: Tensor) -> Tensor:
        vgrid = flow.clone()
        vgrid[:, 0] = 2.0 * vgrid[:, 0] / 7 - 1.0
        vgrid[:, 1] = 2.0 * vgrid[:, 1] / 5 - 1.0
        return torch.nn.functional.grid_sample(x, vgrid.permute(0, 2, 3, 1), align_corners=True)


class Steps(nn.Module):
    """`out[step] = c[step]` in a loop (VisionLAN)"""

    inputs: ClassVar = {"c": "float 6 2 9"}

    def forward(self, c: Tensor) -> Tensor:
        out = torch.zeros(6, 2, 9)
        for step in range(6):
            out[step] = c[step]
        return out


class ShapeTable(nn.Module):
    """`shapes = torch.empty(levels, 2); shapes[l, 0] = h; shapes[l, 1] = w`, of symbolic sizes"""

    inputs: ClassVar = {"a": "float 1 3 h0=8 w0=6", "b": "float 1 3 h1=4 w1=3"}

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        shapes = torch.zeros(2, 2, dtype=torch.int64)
        for level, source in enumerate((a, b)):
            shapes[level, 0] = source.shape[2]
            shapes[level, 1] = source.shape[3]
        starts = torch.cat((shapes.new_zeros(1), shapes.prod(1).cumsum(0)[:-1]))
        return torch.cat([a.flatten(2), b.flatten(2)], 2).index_select(2, starts)


class PointGrid(nn.Module):
    """`coords[:, :, 0] = ...; coords[:, :, 1] = ...` of top positions (PointRend)"""

    inputs: ClassVar = {"uncertainty": "float 2 64"}

    def forward(self, uncertainty: Tensor) -> Tensor:
        at = uncertainty.topk(10, dim=1)[1]
        coords = torch.zeros(2, 10, 2)
        coords[:, :, 0] = 0.0625 + (at % 8).float() * 0.125
        coords[:, :, 1] = 0.0625 + (at // 8).float() * 0.125
        return coords


class OneElement(nn.Module):
    """`w[0, 0] = x`"""

    inputs: ClassVar = {"w": "float 2 2", "x": "float 1"}

    def forward(self, w: Tensor, x: Tensor) -> Tensor:
        w = w.clone()
        w[0, 0] = x[0]
        return (w * 3).sum(1)


class Chunks(nn.Module):
    """blocks of an attention band and two masked corners (Longformer)"""

    inputs: ClassVar = {"chunked": "float 2 3 8 9"}

    def forward(self, chunked: Tensor) -> Tensor:
        w = 4
        band = chunked.new_zeros(2, 4, w, 2 * w + 1)
        band[:, :-1, :, w:] = chunked[:, :, :w, : w + 1]
        band[:, -1, :, w:] = chunked[:, -1, w:, : w + 1]
        band[:, 1:, :, :w] = chunked[:, :, -(w + 1) : -1, w + 1 :]
        band[:, 0, 1:w, 1:w] = chunked[:, 0, : w - 1, 1 - w :]
        band = band.view(2, 1, 4 * w, 2 * w + 1).transpose(2, 1)
        corner = chunked.new_ones(w, w + 1).tril().flip(0)[None, :, None, :].bool()
        head, tail = band[:, :w, :, : w + 1], band[:, -w:, :, -(w + 1) :]
        band = band.clone()
        band[:, :w, :, : w + 1] = head.masked_fill(corner, -1e30)
        band[:, -w:, :, -(w + 1) :] = tail.masked_fill(corner.flip(1, 3), -1e30)
        return band


class OverlapAdd(nn.Module):
    """`out.index_add_(1, frame, x)` of unfolded frames (Conv-TasNet)"""

    inputs: ClassVar = {"frames": "float 2 10 4"}

    def forward(self, frames: Tensor) -> Tensor:
        at = torch.arange(22).unfold(0, 4, 2).reshape(-1)
        out = torch.zeros(2, 22)
        return out.index_add(1, at, frames.reshape(2, -1))


class OverlapScatter(nn.Module):
    """overlap and add by `scatter_add`"""

    inputs: ClassVar = {"frames": "float 1 6 8"}

    def forward(self, frames: Tensor) -> Tensor:
        at = torch.arange(28).unfold(0, 8, 4).reshape(1, -1)
        return torch.zeros(1, 28).scatter_add(1, at, frames.reshape(1, -1))


class OverlapScatterFree(nn.Module):
    """overlap and add by `scatter_add`, a symbolic number of frames"""

    inputs: ClassVar = {"frames": "float 1 count=6 8"}

    def forward(self, frames: Tensor) -> Tensor:
        size = (frames.shape[1] - 1) * 4 + 8
        at = torch.arange(size).unfold(0, 8, 4).reshape(1, -1)
        return torch.zeros(1, size).scatter_add(1, at, frames.reshape(1, -1))


class CopyRows(nn.Module):
    """`out.index_copy_(0, arange(rows), x)`, a symbolic number of rows"""

    inputs: ClassVar = {"x": "float rows=6 4"}

    def forward(self, x: Tensor) -> Tensor:
        out = torch.zeros(x.shape[0], 4)
        return out.index_copy(0, torch.arange(x.shape[0]), x)


class Spline(nn.Module):
    """`d[..., 0] = c; d[..., -1] = c; out[outside] = x[outside]` (a spline of VITS)"""

    inputs: ClassVar = {"x": "float 1 4 20", "d": "float 1 4 20 9"}

    def forward(self, x: Tensor, d: Tensor) -> Tensor:
        d = d.clone()
        d[..., 0] = 0.54
        d[..., -1] = 0.54
        inside = (x >= -1) & (x <= 1)
        out = torch.zeros_like(x)
        out[~inside] = x[~inside]
        out[inside] = x[inside] * d.sum(-1)[inside]
        return out


class Running(nn.Module):
    """`y[..., i] = y[..., i - 1] + x[..., i]` in a loop"""

    inputs: ClassVar = {"x": "float 1 3 7"}

    def forward(self, x: Tensor) -> Tensor:
        y = x.clone()
        for i in range(1, 7):
            y[..., i] = y[..., i - 1] + x[..., i]
        return y
