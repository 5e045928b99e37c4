"""Statements of public threads that write where a mask is true, or reduce: one module for each.

The docstrings and ``inputs`` are as in ``benchmarks/field_slices.py``.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn


class MaskCopy(nn.Module):
    """`w[idx] = b[idx]`, idx a mask"""

    inputs: ClassVar = {"w": "float 6 7", "b": "float 6 7", "idx": "mask 6 7"}

    def forward(self, w: Tensor, b: Tensor, idx: Tensor) -> Tensor:
        w = w.clone()
        w[idx] = b[idx]
        return w


class MaskRows(nn.Module):
    """`content[selected] = other[selected]`, selected = mask.any(1)"""

    inputs: ClassVar = {"content": "float 6 5", "other": "float 6 5", "mask": "mask 6 4"}

    def forward(self, content: Tensor, other: Tensor, mask: Tensor) -> Tensor:
        selected = mask.any(dim=1)
        content = content.clone()
        content[selected] = other[selected]
        return content


class MaskFill(nn.Module):
    """`x[occ] = 0`, occ a mask"""

    inputs: ClassVar = {"x": "float 1 9 9", "occ": "mask 1 9 9"}

    def forward(self, x: Tensor, occ: Tensor) -> Tensor:
        x = x.clone()
        x[occ] = 0
        return x


class ConstantMask(nn.Module):
    """`x[mask] = 0`, a constant mask"""

    inputs: ClassVar = {"x": "float 1 3 3"}

    def forward(self, x: Tensor) -> Tensor:
        x = x.clone()
        x[torch.ones((1, 3, 3), dtype=torch.bool)] = 0
        return x


class TwoFills(nn.Module):
    """`m[m != c] = 1; m[m == c] = 0`"""

    inputs: ClassVar = {"m": "index 0:4 5 6"}

    def forward(self, m: Tensor) -> Tensor:
        m = m.clone()
        m[m != 3] = 1
        m[m == 3] = 0
        return m


class FullMasks(nn.Module):
    """`m[where(m.sum(-1) == n)] = False`"""

    inputs: ClassVar = {"m": "mask 4 5 6"}

    def forward(self, m: Tensor) -> Tensor:
        m = m.clone()
        m[torch.where(m.sum(-1) == m.shape[-1])] = False
        return m


class MaskedScatter(nn.Module):
    """`embeds.masked_scatter(mask, features)`"""

    inputs: ClassVar = {"embeds": "float 1 10 8", "image": "mask 1 10", "features": "float 10 8"}

    def forward(self, embeds: Tensor, image: Tensor, features: Tensor) -> Tensor:
        return embeds.masked_scatter(image.unsqueeze(-1).expand_as(embeds), features)


class MaskedScatterHalf(nn.Module):
    """`embeds.masked_scatter(mask, features.half())`, float16"""

    inputs: ClassVar = {"embeds": "half 1 10 8", "image": "mask 1 10", "features": "float 10 8"}

    def forward(self, embeds: Tensor, image: Tensor, features: Tensor) -> tuple[Tensor, Tensor]:
        features = features.half()
        mask = image.unsqueeze(-1).expand_as(embeds)
        return embeds.masked_scatter(mask, features), features


class MaskedScatterFree(nn.Module):
    """`embeds.masked_scatter(mask.unsqueeze(-1), inject) * scale`, a symbolic length"""

    inputs: ClassVar = {"embeds": "float 1 S=8 8", "mask": "mask 1 S=8", "inject": "float 16 8"}

    def forward(self, embeds: Tensor, mask: Tensor, inject: Tensor) -> Tensor:
        return embeds.masked_scatter(mask.unsqueeze(-1), inject) * (torch.arange(8.0) + 1.0)


class MaskedPositions(nn.Module):
    """`position_ids[b][mask] = pos[mask]` in a loop"""

    inputs: ClassVar = {"pos": "index 0:70 3 9", "mask": "mask 3 9"}

    def forward(self, pos: Tensor, mask: Tensor) -> Tensor:
        position_ids = torch.zeros(3, 9, dtype=torch.int64)
        for b in range(3):
            position_ids[b][mask[b]] = pos[b][mask[b]]
        return position_ids


class TwoHalves(nn.Module):
    """`new[leq] = f(outputs[leq]); new[~leq] = g(outputs[~leq])`"""

    inputs: ClassVar = {"outputs": "float 2 18", "op": "float 18"}

    def forward(self, outputs: Tensor, op: Tensor) -> Tensor:
        threshold = op.sigmoid().expand_as(outputs)
        leq = outputs < threshold
        new = torch.zeros_like(outputs)
        new[leq] = outputs[leq] / (threshold[leq] * 2)
        new[~leq] = 1.0 - (1.0 - outputs[~leq]) / ((1 - threshold[~leq]) * 2)
        return new


class MaskedColumn(nn.Module):
    """`r[mask, 0] = R[mask]`"""

    inputs: ClassVar = {"values": "float 4"}

    def forward(self, values: Tensor) -> Tensor:
        r = torch.zeros(4, 2)
        mask = values > 0
        r[mask, 0] = values[mask]
        return r


class ManyRows(nn.Module):
    """`mask[indices] = True`, 25 inputs"""

    inputs: ClassVar = {"indices": "index 0:100 25"}

    def forward(self, indices: Tensor) -> Tensor:
        mask = torch.zeros(100, dtype=torch.bool)
        mask[indices] = True
        return mask


class AddConstantRows(nn.Module):
    """`x.index_add_(0, [1, 3, 1, 7, 3], y)`"""

    inputs: ClassVar = {"x": "float 8 4", "y": "float 5 4"}

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x.index_add(0, torch.tensor([1, 3, 1, 7, 3]), y)


class IndexAdd(nn.Module):
    """`x.index_add_(0, index, y)`, index an input"""

    inputs: ClassVar = {"x": "float 8 4", "index": "index 0:8 5", "y": "float 5 4"}

    def forward(self, x: Tensor, index: Tensor, y: Tensor) -> Tensor:
        return x.index_add(0, index, y)


class AccumulateRows(nn.Module):
    """`A.index_put((index,), B, accumulate=True)`"""

    inputs: ClassVar = {"a": "float 5 3", "index": "index 0:5 5", "b": "float 5 3"}

    def forward(self, a: Tensor, index: Tensor, b: Tensor) -> Tensor:
        return a.index_put((index,), b, accumulate=True)


class IndexFill(nn.Module):
    """`x.index_fill_(1, index, -1)`"""

    inputs: ClassVar = {"x": "float 3 8", "index": "unique 0:8 3"}

    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        return x.index_fill(1, index, -1.0)


class AddAtNonzero(nn.Module):
    """`w.scatter_add(0, nonzero(x < 0), x[nonzero])`"""

    inputs: ClassVar = {"w": "float 12", "x": "float 12"}

    def forward(self, w: Tensor, x: Tensor) -> Tensor:
        idx = torch.nonzero(x < 0).view(-1)
        return w.scatter_add(0, idx, x[idx])


class TwoReductions(nn.Module):
    """`scatter_reduce` amax and sum, 6 into 4"""

    inputs: ClassVar = {"x": "float 4", "index": "index 0:4 6", "src": "float 6"}

    def forward(self, x: Tensor, index: Tensor, src: Tensor) -> tuple[Tensor, Tensor]:
        most = x.scatter_reduce(0, index, src, "amax")
        return most, x.scatter_reduce(0, index, src, "sum")


class MaxOfNeighbours(nn.Module):
    """`x.scatter_reduce(0, index, src, "amax")`, float16, 60 edges into 20 x 4"""

    inputs: ClassVar = {"x": "half 20 4", "index": "index 0:20 60", "src": "half 60 4"}

    def forward(self, x: Tensor, index: Tensor, src: Tensor) -> Tensor:
        return x.scatter_reduce(0, index[:, None].expand(-1, 4), src, "amax")


class MaxOfMessages(nn.Module):
    """`zeros.scatter_reduce(0, target, messages, "amax", include_self=False)`, 300 into 50"""

    inputs: ClassVar = {"messages": "float 300 4", "target": "index 0:50 300"}

    def forward(self, messages: Tensor, target: Tensor) -> Tensor:
        at = target[:, None].expand(-1, 4)
        return torch.zeros(50, 4).scatter_reduce(0, at, messages, "amax", include_self=False)


class MaxOfClusters(nn.Module):
    """`scatter_reduce(x, 0, cluster, x, "amax", include_self=False)`, a symbolic number of rows"""

    inputs: ClassVar = {"x": "float points=12", "cluster": "index 0:points points=12"}

    def forward(self, x: Tensor, cluster: Tensor) -> Tensor:
        return torch.scatter_reduce(x, 0, cluster, x, "amax", include_self=False)


class SegmentMean(nn.Module):
    """the mean by two `scatter_add`, 512 into 2048 cells (TAPAS)"""

    inputs: ClassVar = {"values": "float 512", "index": "index 0:2048 512"}

    def forward(self, values: Tensor, index: Tensor) -> Tensor:
        sums = torch.zeros(2048).scatter_add(0, index, values)
        counts = torch.zeros(2048).scatter_add(0, index, torch.ones(512))
        return sums / counts.clamp(min=1)


class Pairs(nn.Module):
    """`out[:, t[:, 0], t[:, 1]] = x[0, :, 0, :]`, 1000 into 200 x 700, no pair twice"""

    inputs: ClassVar = {"x": "float 1 1 1 1000", "t": "cells 200:700 1000"}

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        out = torch.full((1, 200, 700), -9999999.0)
        out[:, t[:, 0], t[:, 1]] = x[0, :, 0, :]
        return out.amax(2)


class PointLabels(nn.Module):
    """`e[labels == -1] = 0; e[labels == k] += w` (SAM)"""

    inputs: ClassVar = {"e": "float 1 5 8", "labels": "index -1:2 1 5", "w": "float 3 8"}

    def forward(self, e: Tensor, labels: Tensor, w: Tensor) -> Tensor:
        e = e.clone()
        e[labels == -1] = 0.0
        for k in range(-1, 2):
            e[labels == k] += w[k + 1]
        return e


class GlobalAttention(nn.Module):
    """`attn[nonzero] = f(attn[nonzero])` (Longformer)"""

    inputs: ClassVar = {"attn": "float 2 9 8", "is_global": "mask 2 9"}

    def forward(self, attn: Tensor, is_global: Tensor) -> Tensor:
        at = is_global.nonzero(as_tuple=True)
        attn = attn.clone()
        attn[at] = attn[at] * 0.5 + 1.0
        return attn


class RegionLevels(nn.Module):
    """`res.scatter(0, where(levels == l), features)` per level (RoI of torchvision)"""

    inputs: ClassVar = {
        "levels": "index 0:2 8", "low": "float 8 4", "high": "float 8 4",
    }  # fmt: skip

    def forward(self, levels: Tensor, low: Tensor, high: Tensor) -> Tensor:
        res = torch.zeros(8, 4)
        for level, features in enumerate((low, high)):
            at = torch.where(levels == level)[0]
            rows = at.view(-1, 1).expand(at.size(0), 4)
            res = res.scatter(0, rows, features[at] * 2.0)
        return res
