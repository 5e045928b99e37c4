"""Statements of public threads that write at positions of the run, one small module for each.

The docstrings and ``inputs`` are as in ``benchmarks/field_slices.py``. ``promises`` are what a
thread says of its inputs, as ``--assume`` takes it; what is drawn keeps them.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn


class TopBoxes(nn.Module):
    """`oboxes[b] = boxes[b, keep[b]]` in a loop, after TopK"""

    inputs: ClassVar = {
        "boxes": "float 2 50 1 4", "confs": "float 2 50 80", "confidence": "float 2 50",
    }  # fmt: skip

    def forward(self, boxes: Tensor, confs: Tensor, confidence: Tensor) -> tuple[Tensor, Tensor]:
        keep = torch.topk(confidence, 30, dim=1)[1]
        oboxes, oconfs = torch.zeros(2, 30, 1, 4), torch.zeros(2, 30, 80)
        for b in range(2):
            oboxes[b, :, :, :] = boxes[b, keep[b], :, :]
            oconfs[b, :, :] = confs[b, keep[b], :]
        return oboxes, oconfs


class SegmentSum(nn.Module):
    """`zeros.scatter_add(0, index, e)`, 3000 x 32 into 500 x 32"""

    inputs: ClassVar = {"e": "float 3000 32", "index": "index 0:500 3000"}

    def forward(self, e: Tensor, index: Tensor) -> Tensor:
        return torch.zeros(500, 32).scatter_add(0, index.unsqueeze(-1).expand(-1, 32), e)


class OneSegment(nn.Module):
    """`data.scatter_add(0, index, x)`, more rows than the data has: 2 x 5 into 1 x 5"""

    inputs: ClassVar = {"data": "float 1 5", "index": "index 0:1 2 5", "x": "float 2 5"}

    def forward(self, data: Tensor, index: Tensor, x: Tensor) -> Tensor:
        return data.scatter_add(0, index, x)


class MoreUpdates(nn.Module):
    """`data.scatter(0, index, x)`, more updates than data: 24 into 2"""

    inputs: ClassVar = {"data": "float 2", "index": "index 0:2 24", "x": "float 24"}

    def forward(self, data: Tensor, index: Tensor, x: Tensor) -> Tensor:
        return data.scatter(0, index, x)


class AddAlongRows(nn.Module):
    """`t.scatter_add_(2, idx[:, :, k], x[:, :, k])`, twice"""

    inputs: ClassVar = {"t": "float 1 4 32", "idx": "index 0:32 1 4 2 64", "x": "float 1 4 2 64"}

    def forward(self, t: Tensor, idx: Tensor, x: Tensor) -> Tensor:
        for k in range(2):
            t = t.scatter_add(2, idx[:, :, k, :], x[:, :, k, :])
        return t


class AddVector(nn.Module):
    """`data.scatter_add(0, idx, u)`, 2000 into 1000"""

    inputs: ClassVar = {"data": "float 1000", "idx": "index 0:1000 2000", "u": "float 2000"}

    def forward(self, data: Tensor, idx: Tensor, u: Tensor) -> Tensor:
        return data.scatter_add(0, idx, u)


class MarkArgmax(nn.Module):
    """`tensor_scatter_nd_update(t, [arange, argmax], 1)`"""

    inputs: ClassVar = {"t": "float 6 9", "scores": "float 6 9"}

    def forward(self, t: Tensor, scores: Tensor) -> Tensor:
        t = t.clone()
        t[torch.arange(6), scores.argmax(1)] = 1.0
        return t


class Canvas(nn.Module):
    """`canvas[:, flat] = voxels.t()`, 30000 into 512 x 512, no position twice"""

    inputs: ClassVar = {"voxels": "float 30000 2", "flat": "unique 0:262144 30000"}
    promises = ("flat: unique", "flat: nonnegative")

    def forward(self, voxels: Tensor, flat: Tensor) -> Tensor:
        canvas = torch.zeros(2, 512 * 512)
        canvas[:, flat] = voxels.t()
        return canvas.view(1, 2, 512, 512)


class Pillars(nn.Module):
    """`canvas[:, y * nx + x] = features.t()`, 6000 into 496 x 432, no position twice"""

    inputs: ClassVar = {"features": "float 6000 2", "cells": "cells 496:432 6000"}

    def forward(self, features: Tensor, cells: Tensor) -> Tensor:
        canvas = torch.zeros(2, 496 * 432)
        canvas[:, cells[:, 0] * 432 + cells[:, 1]] = features.t()
        return canvas.view(1, 2, 496, 432)


class ScatterValue(nn.Module):
    """`x.scatter(1, index, 7.0)`"""

    inputs: ClassVar = {"x": "float 1 2 3", "index": "index 0:2 1 1 3"}

    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        return x.scatter(1, index, 7.0)


class CacheAt(nn.Module):
    """`k_cache[:, :, pos] = k`"""

    inputs: ClassVar = {"k_cache": "float 1 2 16 8", "pos": "index 0:16 1", "k": "float 1 2 1 8"}

    def forward(self, k_cache: Tensor, pos: Tensor, k: Tensor) -> Tensor:
        k_cache = k_cache.clone()
        k_cache[:, :, pos] = k
        return k_cache


class TopMask(nn.Module):
    """`mask.scatter_(-1, topk, 1)`, 24 of 48"""

    inputs: ClassVar = {"attention": "float 1 2 48 48"}

    def forward(self, attention: Tensor) -> Tensor:
        mask = torch.zeros(1, 2, 48, 48)
        top = torch.topk(attention, 24, dim=-1)[1]
        return torch.where(mask.scatter(-1, top, 1.0) > 0, attention, torch.tensor(-1e30))


class RefinePatches(nn.Module):
    """`ref.scatter_(1, topk, 1)`, then `x[n, h, w] = y`, 200 patches (BackgroundMattingV2)"""

    inputs: ClassVar = {"error": "float 1 1024", "x": "float 1 32 32 8", "y": "float 200 8"}

    def forward(self, error: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        top = error.topk(200, dim=1)[1]
        ref = torch.zeros(1, 1024).scatter(1, top, 1.0)
        x = x.clone()
        x[torch.zeros(200, dtype=torch.int64), top[0] // 32, top[0] % 32] = y
        return ref.view(1, 1, 32, 32), x


class TopSoftmax(nn.Module):
    """`zeros.scatter(1, topk indices, softmax)`, 10 of 200"""

    inputs: ClassVar = {"scores": "float 1 200"}

    def forward(self, scores: Tensor) -> Tensor:
        values, at = torch.topk(scores, 10, dim=1)
        return torch.zeros(1, 200).scatter(1, at, torch.softmax(values, 1))


class PutRows(nn.Module):
    """`a[idx] = b`, idx an input"""

    inputs: ClassVar = {"a": "float 8 5", "idx": "unique 0:8 3", "b": "float 3 5"}

    def forward(self, a: Tensor, idx: Tensor, b: Tensor) -> Tensor:
        a = a.clone()
        a[idx] = b
        return a


class OneHot(nn.Module):
    """`zeros.scatter_(1, index, 1)`"""

    inputs: ClassVar = {"index": "index 0:9 1 1 6 6"}

    def forward(self, index: Tensor) -> Tensor:
        return torch.zeros(1, 9, 6, 6).scatter(1, index, 1.0)


class Alignment(nn.Module):
    """`aln[indices, arange(n)] = 1`"""

    inputs: ClassVar = {"indices": "index 0:12 20"}

    def forward(self, indices: Tensor) -> Tensor:
        aln = torch.zeros(12, 20)
        aln[indices, torch.arange(20)] = 1
        return aln


class PagedCache(nn.Module):
    """`cache[slots // 4, slots % 4] = src`, no slot twice"""

    inputs: ClassVar = {"cache": "float 6 4 8", "slots": "unique 0:24 5", "src": "float 5 8"}
    promises = ("slots: nonnegative", "slots: unique", "slots >= 0", "slots < 24")

    def forward(self, cache: Tensor, slots: Tensor, src: Tensor) -> Tensor:
        cache = cache.clone()
        cache[slots // 4, slots % 4] = src
        return cache


class Hough(nn.Module):
    """`accum.index_put_((n, c, angle, rho), values, accumulate=True)`, constant positions"""

    inputs: ClassVar = {"img": "float 1 2 8 8"}

    def forward(self, img: Tensor) -> Tensor:
        accum = torch.zeros(1, 2, 6, 23)
        ys, xs = (t.flatten() for t in torch.meshgrid(*[torch.arange(8)] * 2, indexing="ij"))
        angles = torch.arange(6) * (torch.pi / 6)
        rho = torch.cos(angles)[:, None] * xs + torch.sin(angles)[:, None] * ys
        rho = rho.round().long() + 11
        rows = torch.arange(6)[:, None].expand(6, 64)
        for c in range(2):
            at = (torch.tensor(0), torch.tensor(c), rows, rho)
            accum = accum.index_put(at, img[0, c].flatten().expand(6, 64), accumulate=True)
        return accum


class ColumnAt(nn.Module):
    """`y[:, position] = val`, position an input, integers, 2 x 2"""

    inputs: ClassVar = {"y": "index 0:9 2 2", "position": "index 0:2 1", "val": "index 0:9 1"}

    def forward(self, y: Tensor, position: Tensor, val: Tensor) -> Tensor:
        y = y.clone()
        y[:, position] = val
        return y


class Experts(nn.Module):
    """`zeros.scatter_add(0, routed tokens, rows)`, a mixture of experts"""

    inputs: ClassVar = {"rows": "float 32 16", "tokens": "index 0:16 32"}

    def forward(self, rows: Tensor, tokens: Tensor) -> Tensor:
        return torch.zeros(16, 16).scatter_add(0, tokens[:, None].expand(-1, 16), rows)


class Degrees(nn.Module):
    """degrees by `scatter_add`, 13264 edges into 2708 nodes (Cora)"""

    inputs: ClassVar = {"weight": "float 13264", "target": "index 0:2708 13264"}

    def forward(self, weight: Tensor, target: Tensor) -> Tensor:
        return torch.zeros(2708).scatter_add(0, target, weight)


class GraphSoftmax(nn.Module):
    """`scatter_reduce` amax without self, `scatter_add`: a softmax over 300 edges into 50 nodes"""

    inputs: ClassVar = {"logits": "float 300 4", "target": "index 0:50 300"}

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        at = target[:, None].expand(-1, 4)
        most = torch.zeros(50, 4).scatter_reduce(0, at, logits, "amax", include_self=False)
        weight = (logits - most[target]).exp()
        return weight / (torch.zeros(50, 4).scatter_add(0, at, weight)[target] + 1e-16)


class CrossWrite(nn.Module):
    """`x[i, :, j] = v`, i and j inputs"""

    inputs: ClassVar = {
        "x": "float 5 3 6", "i": "unique 0:5 2", "j": "index 0:6 2", "v": "float 2 3",
    }  # fmt: skip

    def forward(self, x: Tensor, i: Tensor, j: Tensor, v: Tensor) -> Tensor:
        x = x.clone()
        x[i, :, j] = v
        return x
