"""Statements of public threads that write slices, one small module for each.

The first line of a docstring is the statement. ``inputs`` are what ``field_inputs.draw`` draws, by
name. All sizes are those of a thread, or small. ``benchmarks/field_threads.txt`` names the threads.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn


class Keypoints(nn.Module):
    """`kps[..., ::2] += xs; kps[..., 1::2] += ys`"""

    inputs: ClassVar = {"kps": "float 1 100 34", "xs": "float 1 100 1", "ys": "float 1 100 1"}

    def forward(self, kps: Tensor, xs: Tensor, ys: Tensor) -> Tensor:
        kps = kps.clone()
        kps[..., ::2] += xs.expand(1, 100, 17)
        kps[..., 1::2] += ys.expand(1, 100, 17)
        return kps


class YoloHead(nn.Module):
    """`y[..., 0:2] = ...; y[..., 2:4] = ...`, the head of YOLOv5"""

    inputs: ClassVar = {"x": "float 1 3 8 8 12", "grid": "float 1 1 8 8 2"}

    def forward(self, x: Tensor, grid: Tensor) -> Tensor:
        y = x.sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 - 0.5 + grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * torch.tensor([10.0, 13.0])
        return y.reshape(1, -1, 12)


class YoloHeadFree(nn.Module):
    """the head of YOLOv5, with symbolic sizes"""

    inputs: ClassVar = {"x": "float batch=2 3 height=6 width=8 12"}

    def forward(self, x: Tensor) -> Tensor:
        rows, columns = torch.arange(x.shape[2]), torch.arange(x.shape[3])
        grid = torch.stack(torch.meshgrid(columns, rows, indexing="xy"), 2).float()
        y = x.sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 - 0.5 + grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * torch.tensor([10.0, 13.0])
        return y


class Yolo3Head(nn.Module):
    """`io[..., :2] = ...; io[..., 2:4] = ...; io[..., :4] *= stride`, the head of YOLOv3"""

    inputs: ClassVar = {"p": "float 1 3 8 8 12", "grid": "float 1 1 8 8 2"}

    def forward(self, p: Tensor, grid: Tensor) -> Tensor:
        io = p.clone()
        io[..., :2] = torch.sigmoid(io[..., :2]) + grid
        io[..., 2:4] = torch.exp(io[..., 2:4]) * torch.tensor([1.25, 1.625])
        io[..., :4] *= 32
        return io


class EvenOdd(nn.Module):
    """`features[:, even] = ref; features[:, odd] = zeros`, 64 channels, constant positions"""

    inputs: ClassVar = {"ref": "float 1 32 100 160"}

    def forward(self, ref: Tensor) -> Tensor:
        features, target = torch.zeros(1, 64, 100, 160), torch.zeros(1, 32, 100, 160)
        features[:, torch.arange(0, 64, 2), :, :] = ref
        features[:, torch.arange(1, 64, 2), :, :] = target
        return features


class Columns(nn.Module):
    """`a[:, :2] = b[:, :2]`"""

    inputs: ClassVar = {"a": "float 4 6", "b": "float 4 6"}

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        a = a.clone()
        a[:, :2] = b[:, :2]
        return a


class Normalize(nn.Module):
    """`p[..., 0] /= w; p[..., 1] /= h`, five dims"""

    inputs: ClassVar = {"p": "float 1 2 3 4 2", "w": "float 1", "h": "float 1"}

    def forward(self, p: Tensor, w: Tensor, h: Tensor) -> Tensor:
        p = p.clone()
        p[..., 0] /= w.abs() + 1
        p[..., 1] /= h.abs() + 1
        return p


class TemporalShift(nn.Module):
    """`out[:, :-1, :fold] = x[:, 1:, :fold]` and two more, five dims (TSM)"""

    inputs: ClassVar = {"x": "float 8 16 4 4"}

    def forward(self, x: Tensor) -> Tensor:
        x = x.view(1, 8, 16, 4, 4)
        out = torch.zeros_like(x)
        out[:, :-1, :2] = x[:, 1:, :2]
        out[:, 1:, 2:4] = x[:, :-1, 2:4]
        out[:, :, 4:] = x[:, :, 4:]
        return out.view(8, 16, 4, 4)


class CacheSlot(nn.Module):
    """`cache[:, :, 7:8, :] = new`"""

    inputs: ClassVar = {"cache": "float 1 4 16 8", "new": "float 1 4 1 8"}

    def forward(self, cache: Tensor, new: Tensor) -> Tensor:
        cache = cache.clone()
        cache[:, :, 7:8, :] = new
        return cache


class MaskBorder(nn.Module):
    """`m[:, :b] = 0; m[:, -b:] = 0` on three axes (LoFTR)"""

    inputs: ClassVar = {"m": "float 1 6 6 6"}

    def forward(self, m: Tensor) -> Tensor:
        m = m.clone()
        for axis in (1, 2, 3):
            lead = (slice(None),) * axis
            m[(*lead, slice(None, 2))] = 0
            m[(*lead, slice(-2, None))] = 0
        return m


class AddChannels(nn.Module):
    """`out[:, 0:6] += x` (ReXNet)"""

    inputs: ClassVar = {"out": "float 1 9 5 5", "x": "float 1 6 5 5"}

    def forward(self, out: Tensor, x: Tensor) -> Tensor:
        out = out.clone()
        out[:, 0:6] += x
        return out


class YoloxHead(nn.Module):
    """`outputs[..., :2] = (outputs[..., :2] + grids) * strides; outputs[..., 2:4] = ...`"""

    inputs: ClassVar = {
        "outputs": "float 1 21 15", "grids": "float 1 21 2", "strides": "float 1 21 1",
    }  # fmt: skip

    def forward(self, outputs: Tensor, grids: Tensor, strides: Tensor) -> Tensor:
        outputs = outputs.clone()
        outputs[..., :2] = (outputs[..., :2] + grids) * strides
        outputs[..., 2:4] = torch.exp(outputs[..., 2:4]) * strides
        return outputs


class PrunedChannels(nn.Module):
    """`out[:, kept] = conv(x)`, constant channels"""

    inputs: ClassVar = {"x": "float 1 3 6 6"}

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 5, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        out = torch.zeros(1, 9, 6, 6)
        out[:, torch.tensor([0, 2, 3, 6, 8])] = self.conv(x)
        return out


class CornersOfBoxes(nn.Module):
    """`boxes[:, :2] -= boxes[:, 2:] / 2; boxes[:, 2:] += boxes[:, :2]`"""

    inputs: ClassVar = {"boxes": "float 20 4"}

    def forward(self, boxes: Tensor) -> Tensor:
        boxes = boxes.clone()
        boxes[:, :2] -= boxes[:, 2:] / 2
        boxes[:, 2:] += boxes[:, :2]
        return boxes


class ClampBoxes(nn.Module):
    """`boxes[:, :, k] = clamp(boxes[:, :, k])`, k = 0..3"""

    inputs: ClassVar = {"boxes": "float 1 20 4"}

    def forward(self, boxes: Tensor) -> Tensor:
        boxes = boxes.clone()
        for k in range(4):
            boxes[:, :, k] = torch.clamp(boxes[:, :, k], 0, (0.5, 0.75)[k % 2])
        return boxes


class ShiftRight(nn.Module):
    """`s[:, 1:] = ids[:, :-1]; s[:, 0] = start`"""

    inputs: ClassVar = {"ids": "index 0:99 2 7"}

    def forward(self, ids: Tensor) -> Tensor:
        shifted = ids.new_zeros(ids.shape)
        shifted[:, 1:] = ids[:, :-1].clone()
        shifted[:, 0] = 2
        return shifted


class NoisyRow(nn.Module):
    """`rad[:, 0, :] = rad[:, 0, :] + noise`, twice, float16"""

    inputs: ClassVar = {"rad": "half 1 3 9", "noise": "half 1 9"}

    def forward(self, rad: Tensor, noise: Tensor) -> Tensor:
        rad = rad.clone()
        rad[:, 0, :] = rad[:, 0, :] + noise
        rad[:, 1, :] = rad[:, 1, :] * noise
        return rad


class TwoPatches(nn.Module):
    """`x[:, :, 0:2, 0:2] = 1; x[:, :, 4:8, 4:8] = y`"""

    inputs: ClassVar = {"x": "float 1 3 8 8", "y": "float 1 3 4 4"}

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = x.clone()
        x[:, :, 0:2, 0:2] = 1
        x[:, :, 4:8, 4:8] = y
        return x


class SliceScatter(nn.Module):
    """`a.slice_scatter(b, dim=1, start=2, end=6, step=2)`"""

    inputs: ClassVar = {"a": "float 8 8", "b": "float 8 2"}

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a.slice_scatter(b, dim=1, start=2, end=6, step=2)


class WholeSliceScatter(nn.Module):
    """`slice_scatter(x, a, 3, 0, INT64_MAX)`"""

    inputs: ClassVar = {"x": "float 1 2 3 4", "a": "float 1 2 3 4"}

    def forward(self, x: Tensor, a: Tensor) -> Tensor:
        return torch.slice_scatter(x, a, 3, 0, 2**63 - 1) * 2


class FirstRows(nn.Module):
    """`x[:y.size(0), 0, :] = y`, 22 rows into 56"""

    inputs: ClassVar = {"x": "float 56 6 256", "y": "float 22 256"}

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = x.clone()
        x[: y.size(0), 0, :] = y
        return x


class Repeated(nn.Module):
    """`a = x.repeat([3, 2]); a[:2] = x * 2`"""

    inputs: ClassVar = {"x": "index 0:10 2 1"}

    def forward(self, x: Tensor) -> Tensor:
        a = x.repeat([3, 2])
        a[:2] = x * 2
        return a


class Scales(nn.Module):
    """`x[:, 2:4] = exp(x[:, 2:4]) * stride` on three scales"""

    inputs: ClassVar = {f"x{i}": f"float 1 7 {n} {n}" for i, n in enumerate((8, 4, 2))}

    def forward(self, x0: Tensor, x1: Tensor, x2: Tensor) -> Tensor:
        flat = []
        for x, stride in ((x0, 8.0), (x1, 16.0), (x2, 32.0)):
            y = x.clone()
            y[:, 2:4] = torch.exp(y[:, 2:4]) * stride
            flat.append(y.flatten(2))
        return torch.cat(flat, 2)
