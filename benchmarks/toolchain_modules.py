"""Twelve modules that write a part of a tensor, with fixed sizes: what ``toolchains.py`` lowers.

Each has `given`, which draws its inputs, and computes something before and after the write, so that
a partition can end at the write. Weights and inputs are seeded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

MODULES: dict[str, type[nn.Module]] = {}
ROWS = 12  # of the cache


def add(kind: type[nn.Module]) -> type[nn.Module]:
    """Add a module to the table."""
    MODULES[kind.__name__] = kind
    return kind


def seeded(kind: type[nn.Module]) -> tuple[nn.Module, tuple[Any, ...]]:
    """Return a module and its inputs; they are the same in each call."""
    torch.manual_seed(0)
    module = kind().eval()
    return module, module.given()  # type: ignore[operator]


@add
class Shift(nn.Module):
    """slices: the temporal shift of a video network, an eighth of the channels each way."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 16, 3, padding=1), nn.Conv2d(16, 8, 3, padding=1)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw four frames."""
        return (torch.randn(4, 3, 12, 12),)

    def forward(self, frames: Any) -> Any:
        """Shift the frames between two convolutions."""
        x = torch.relu(self.first(frames)).view(1, 4, 16, 12, 12)
        out = torch.zeros_like(x)
        out[:, :-1, :2] = x[:, 1:, :2]
        out[:, 1:, 2:4] = x[:, :-1, 2:4]
        out[:, :, 4:] = x[:, :, 4:]
        return self.last(out.view(4, 16, 12, 12))


@add
class Canvas(nn.Module):
    """a box: a decoded crop goes to its place in a larger canvas, which is refined."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw a crop and a canvas."""
        return torch.randn(1, 3, 10, 10), torch.randn(1, 8, 24, 24)

    def forward(self, crop: Any, canvas: Any) -> Any:
        """Write the box."""
        canvas = canvas * 2
        canvas[:, :, 6:16, 8:18] = torch.relu(self.first(crop))
        return self.last(canvas)


@add
class Rotary(nn.Module):
    """steps: a rotary embedding on even and odd channels, then scores."""

    def __init__(self) -> None:
        super().__init__()
        self.query, self.key = nn.Linear(32, 32), nn.Linear(32, 32)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw tokens, and the cosines and sines of their positions."""
        return torch.randn(1, 8, 32), torch.rand(8, 16), torch.rand(8, 16)

    def forward(self, x: Any, cos: Any, sin: Any) -> Any:
        """Rotate pairs of channels."""

        def rotated(x: Any) -> Any:
            out = torch.empty_like(x)
            out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
            out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
            return out

        return rotated(self.query(x)) @ rotated(self.key(x)).transpose(1, 2)


@add
class Phases(nn.Module):
    """steps on two axes: four convolutions give the four phases of an upsampled image."""

    def __init__(self) -> None:
        super().__init__()
        self.phases = nn.ModuleList(nn.Conv2d(4, 4, 3, padding=1) for _ in range(4))
        self.last = nn.Conv2d(4, 3, 3, padding=1)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw an image."""
        return (torch.randn(1, 4, 8, 8),)

    def forward(self, x: Any) -> Any:
        """Write every second pixel of every second row, four times."""
        out = x.new_zeros(1, 4, 16, 16)
        for k, phase in enumerate(self.phases):
            out[:, :, k // 2 :: 2, k % 2 :: 2] = phase(x)
        return self.last(out)


@add
class SelfLoops(nn.Module):
    """a diagonal: a graph layer sets the self-loops of an adjacency that it computes."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = nn.Linear(16, 16), nn.Linear(16, 16)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw the nodes."""
        return (torch.randn(10, 16),)

    def forward(self, x: Any) -> Any:
        """Compute the adjacency, and mix neighbours."""
        near = torch.sigmoid(self.left(x) @ x.t())
        near.diagonal().fill_(1.0)
        return torch.relu((near / near.sum(1, keepdim=True)) @ self.right(x))


@add
class Masked(nn.Module):
    """a mask: masked frames of speech get one learnt vector, then a layer of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 16)
        self.vector = nn.Parameter(torch.randn(32))

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw frames and the mask."""
        return torch.randn(1, 20, 16), torch.rand(1, 20) < 0.3

    def forward(self, frames: Any, mask: Any) -> Any:
        """Write the vector at the mask."""
        x = self.first(frames)
        x[mask] = self.vector
        return self.last(torch.relu(x))


@add
class Merge(nn.Module):
    """a merge by a mask: the rows of an image take the places of image tokens, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.image, self.last = nn.Linear(8, 16), nn.Linear(16, 16)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw embedded tokens, the rows of the image, and where they go."""
        places = torch.zeros(1, 12, 1, dtype=torch.bool)
        places[:, 3:8] = True
        return torch.randn(1, 12, 16), torch.randn(5, 8), places

    def forward(self, tokens: Any, patches: Any, places: Any) -> Any:
        """Merge both."""
        merged = tokens.masked_scatter(places.expand_as(tokens), self.image(patches))
        return self.last(merged)


@add
class Cache(nn.Module):
    """a cache at a position: keys and values of a token go to their row, then attention."""

    def __init__(self) -> None:
        super().__init__()
        self.three, self.last = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("keys", torch.zeros(1, 2, ROWS, 8))
        self.register_buffer("values", torch.zeros(1, 2, ROWS, 8))

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw a token, and its position."""
        return torch.randn(1, 1, 16), torch.tensor([5])

    def forward(self, token: Any, position: Any) -> Any:
        """Write to both caches, and read them."""
        q, k, v = self.three(token).view(1, 1, 3, 2, 8).permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        later = torch.arange(ROWS) > position
        scores = (q @ self.keys.transpose(2, 3)).masked_fill(later, -1e4)
        mixed = torch.softmax(scores, -1) @ self.values
        return self.last(mixed.transpose(1, 2).reshape(1, 1, 16))


@add
class Window(nn.Module):
    """a window of a cache: rows move up by one, and the newest is written at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(16, 16), nn.Linear(16, 16)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw a token and the window."""
        return torch.randn(1, 16), torch.randn(1, 8, 16)

    def forward(self, token: Any, window: Any) -> Any:
        """Move the window, and read it."""
        moved = window.clone()
        moved[:, :-1] = window[:, 1:]
        moved[:, -1] = self.first(token)
        return self.last(moved.mean(1)), moved


@add
class Swin(nn.Module):
    """a Swin block: windows that are shifted, with the mask that forward computes by slices."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.three, self.last = nn.LayerNorm(16), nn.Linear(16, 48), nn.Linear(16, 16)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw an image of tokens."""
        return (torch.randn(1, 8, 8, 16),)

    @staticmethod
    def windows(x: Any) -> Any:
        """Cut an image into windows of 4 x 4."""
        x = x.view(1, 2, 4, 2, 4, x.shape[-1])
        return x.permute(0, 1, 3, 2, 4, 5).reshape(4, 16, x.shape[-1])

    def forward(self, x: Any) -> Any:
        """Attend within each window."""
        areas = torch.zeros(1, 8, 8, 1)
        cuts = slice(0, -4), slice(-4, -2), slice(-2, None)
        for number, (a, b) in enumerate((a, b) for a in cuts for b in cuts):
            areas[:, a, b, :] = number
        area = self.windows(areas).squeeze(-1)
        mask = (area.unsqueeze(1) != area.unsqueeze(2)).float() * -100.0
        rolled = torch.roll(self.norm(x), (-2, -2), (1, 2))
        q, k, v = self.three(self.windows(rolled)).chunk(3, -1)
        mixed = torch.softmax(q @ k.transpose(1, 2) * 0.25 + mask, -1) @ v
        mixed = self.last(mixed).view(1, 2, 2, 4, 4, 16).permute(0, 1, 3, 2, 4, 5)
        return x + torch.roll(mixed.reshape(1, 8, 8, 16), (2, 2), (1, 2))


@add
class Detector(nn.Module):
    """a detector's head: centres and sizes of boxes are computed in place, as YOLOv5 does."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(8, 3 * 7, 1)
        rows, columns = torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij")
        self.register_buffer("grid", torch.stack((columns, rows), -1).view(1, 1, 6, 6, 2))
        self.register_buffer("anchors", torch.rand(1, 3, 1, 1, 2) * 9)

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw features."""
        return (torch.randn(1, 8, 6, 6),)

    def forward(self, x: Any) -> Any:
        """Return the boxes."""
        y = self.first(x).view(1, 3, 7, 6, 6).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        y[..., 0:2] = (y[..., 0:2] * 2 - 0.5 + self.grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchors
        return y.view(1, -1, 7)


@add
class Mixture(nn.Module):
    """a mixture of experts: the weights of the two best go to their places among all experts."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(16, 4)
        self.experts = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    @staticmethod
    def given() -> tuple[Any, ...]:
        """Draw tokens."""
        return (torch.randn(6, 16),)

    def forward(self, x: Any) -> Any:
        """Compute all experts, and weigh them."""
        scores = self.router(x)
        best, places = torch.topk(scores, 2, dim=-1)
        weights = torch.zeros_like(scores).scatter_(1, places, torch.softmax(best, -1))
        return sum(weights[:, i : i + 1] * expert(x) for i, expert in enumerate(self.experts))
