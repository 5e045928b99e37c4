"""Small modules that write by index, as people write them: what ``benchmarks/followed.py`` exports.

All sizes that can vary do. Each module is one idiom; the last cannot be written without a scatter.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import Tensor, nn

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))

from export import Example
from sources import MaskCopy

TRUE = {
    "cache_write": {"at: nonnegative"},
    "embedding_update": {"ids: nonnegative", "ids: unique"},
    "segment_sum": {"segment: nonnegative"},
    "segment_product": {"segment: nonnegative"},
    "histogram": {"values: nonnegative"},
}
"""What may be promised of the inputs of a module."""


class CacheWrite(nn.Module):
    """Writes the keys of new tokens into a cache, from a position that only the run knows."""

    def forward(self, cache: Tensor, step: Tensor, at: Tensor) -> Tensor:
        return cache.index_copy(1, at + torch.arange(step.shape[1]), step)


class MaskedRows(nn.Module):
    """Sets the rows of padding to zero: a mask of lower rank than the data."""

    def forward(self, hidden: Tensor, padding: Tensor) -> Tensor:
        hidden = hidden.clone()
        hidden[padding] = 0.0
        return hidden


class Boxes(nn.Module):
    """Moves the centres of boxes, and makes their sizes positive."""

    def forward(self, boxes: Tensor, grid: Tensor) -> Tensor:
        boxes = boxes.clone()
        boxes[..., :2] = boxes[..., :2] + grid
        boxes[..., 2:] = boxes[..., 2:].exp()
        return boxes


class TopMask(nn.Module):
    """Keeps the five best classes of each row."""

    def forward(self, scores: Tensor) -> Tensor:
        best = scores.topk(5, -1).indices
        return scores * torch.zeros_like(scores).scatter(-1, best, 1.0)


class SegmentSum(nn.Module):
    """Sums rows by their segment: messages of a graph, points of a pillar."""

    segments = 16

    def forward(self, rows: Tensor, segment: Tensor) -> Tensor:
        return rows.new_zeros(self.segments, rows.shape[1]).index_add(0, segment, rows)


class Letterbox(nn.Module):
    """Puts an image into the corner of a grey canvas."""

    def forward(self, image: Tensor) -> Tensor:
        canvas = image.new_full((image.shape[0], 3, 64, 64), 0.5)
        canvas[:, :, : image.shape[2], : image.shape[3]] = image
        return canvas


class EmbeddingUpdate(nn.Module):
    """Replaces some rows of a table: image features among the tokens of a prompt."""

    def forward(self, table: Tensor, ids: Tensor, rows: Tensor) -> Tensor:
        table = table.clone()
        table[ids] = rows
        return table


class Interleave(nn.Module):
    """Puts two tensors together column by column."""

    def forward(self, even: Tensor, odd: Tensor) -> Tensor:
        out = even.new_zeros(even.shape[0], 2 * even.shape[1])
        out[:, ::2] = even
        out[:, 1::2] = odd
        return out


class Histogram(nn.Module):
    """Counts how often each of 16 values occurs in a row."""

    def forward(self, values: Tensor) -> Tensor:
        zeros = torch.zeros(values.shape[0], 16)
        return zeros.scatter_add(1, values, torch.ones(values.shape))


class SegmentProduct(nn.Module):
    """Multiplies rows by their segment: no other operator multiplies at positions of the run."""

    segments = 16

    def forward(self, rows: Tensor, segment: Tensor) -> Tensor:
        where = segment[:, None].expand_as(rows)
        return rows.new_ones(self.segments, rows.shape[1]).scatter_reduce(0, where, rows, "prod")


def examples() -> dict[str, Example]:
    """Return every example by its file name; the tensors are drawn from one seed."""
    torch.manual_seed(0)
    rows, segment = torch.randn(24, 3), torch.randint(0, 16, (24,))
    return {
        "cache_write": Example(
            CacheWrite,
            {"cache": torch.randn(2, 32, 4), "step": torch.randn(2, 3, 4), "at": torch.tensor([4])},
            sizes={"cache": {0: "batch"}, "step": {0: "batch", 1: "time"}},
        ),
        "masked_rows": Example(
            MaskedRows,
            {"hidden": torch.randn(2, 6, 4), "padding": torch.rand(2, 6) < 0.4},
            sizes={"hidden": {0: "batch", 1: "time"}, "padding": {0: "batch", 1: "time"}},
        ),
        "masked_update": Example(
            MaskCopy,
            {n: torch.randn(2, 6, 4) for n in "xy"} | {"mask": torch.rand(2, 6) < 0.5},
            sizes={n: {0: "batch", 1: "time"} for n in ("x", "y", "mask")},
        ),
        "boxes": Example(
            Boxes,
            {"boxes": torch.randn(2, 6, 4), "grid": torch.randn(6, 2)},
            sizes={"boxes": {0: "batch", 1: "anchors"}, "grid": {0: "anchors"}},
        ),
        "top_mask": Example(
            TopMask,
            {"scores": torch.randn(2, 12)},
            sizes={"scores": {0: "batch", 1: "classes"}},
        ),
        "segment_sum": Example(
            SegmentSum,
            {"rows": rows, "segment": segment},
            sizes={"rows": {0: "points"}, "segment": {0: "points"}},
        ),
        "letterbox": Example(
            Letterbox,
            {"image": torch.randn(2, 3, 24, 40)},
            sizes={"image": {0: "batch", 2: "height", 3: "width"}},
        ),
        "embedding_update": Example(
            EmbeddingUpdate,
            {
                "table": torch.randn(20, 4),
                "ids": torch.tensor([3, 7, 1]),
                "rows": torch.randn(3, 4),
            },
            sizes={"table": {0: "tokens"}, "ids": {0: "count"}, "rows": {0: "count"}},
        ),
        "interleave": Example(
            Interleave,
            {"even": torch.randn(3, 6), "odd": torch.randn(3, 6)},
            sizes={"even": {0: "batch", 1: "time"}, "odd": {0: "batch", 1: "time"}},
        ),
        "histogram": Example(
            Histogram,
            {"values": torch.randint(0, 16, (3, 9))},
            sizes={"values": {0: "batch", 1: "count"}},
        ),
        "segment_product": Example(
            SegmentProduct,
            {"rows": rows, "segment": segment},
            sizes={"rows": {0: "points"}, "segment": {0: "points"}},
        ),
    }
