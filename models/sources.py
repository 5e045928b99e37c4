"""What people write in PyTorch that exporters turn into scatters, one small module per idiom.

Each module is the shortest honest form of something found in real networks; `export.py` exports
them. The lines that become scatters are the ones with an index on the left of an assignment; the
last modules read by index.
"""

import torch
from torch import Tensor, nn


class YoloxHead(nn.Module):
    """Decodes a detection head: centres move to their cell, sizes grow from their logarithm."""

    stride = 8

    def __init__(self) -> None:
        super().__init__()
        self.box = nn.Conv2d(4, 4, 1)
        self.score = nn.Conv2d(4, 3, 1)

    def forward(self, features: Tensor) -> Tensor:
        maps = torch.cat([self.box(features), self.score(features).sigmoid()], 1)
        height, width = maps.shape[-2:]
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        grid = torch.stack((columns, rows), 2).reshape(1, -1, 2).to(maps.dtype)
        out = maps.flatten(2).permute(0, 2, 1)
        out[..., :2] = (out[..., :2] + grid) * self.stride
        out[..., 2:4] = torch.exp(out[..., 2:4]) * self.stride
        return out


class RotaryInterleaved(nn.Module):
    """Rotates pairs of neighbours: the half turn is written with two strided writes."""

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x1, x2 = x[..., ::2], x[..., 1::2]
        out = torch.empty_like(x)
        out[..., ::2] = -x2
        out[..., 1::2] = x1
        return x * cos + out * sin


class Letterbox(nn.Module):
    """Pads an image to a fixed canvas by assigning it into the middle of a grey one."""

    def forward(self, image: Tensor) -> Tensor:
        canvas = image.new_full((image.shape[0], 3, 12, 16), 0.5)
        canvas[:, :, 2 : 2 + image.shape[2], 3 : 3 + image.shape[3]] = image
        return canvas


class BoxUpdate(nn.Module):
    """Replaces a box that is cut on two axes: one statement, for dynamo one scatter per axis."""

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = x.clone()
        x[:, 1:-1, 2:] = y[:, 1:-1, 2:]
        return x


class OverlapAdd(nn.Module):
    """Puts overlapping frames back into a signal; dynamo makes two writes of every `+=`."""

    hop = 4

    def forward(self, frames: Tensor) -> Tensor:
        count, width = frames.shape[1:]
        signal = frames.new_zeros(frames.shape[0], self.hop * (count - 1) + width)
        for i in range(count):
            signal[:, i * self.hop : i * self.hop + width] += frames[:, i]
        return signal


class RefineCentres(nn.Module):
    """Adds reference points to the first two columns, as DETR's box head does."""

    def forward(self, boxes: Tensor, reference: Tensor) -> Tensor:
        boxes = boxes * 1.0
        boxes[..., :2] += reference
        return boxes.sigmoid()


class InverseWavelet(nn.Module):
    """Doubles height and width: four sub-bands go to the even and odd rows and columns."""

    def forward(self, bands: Tensor) -> Tensor:
        a, b, c, d = (bands / 2).chunk(4, 1)
        n, channels, height, width = a.shape
        out = a.new_zeros(n, channels, 2 * height, 2 * width)
        out[:, :, 0::2, 0::2] = a - b - c + d
        out[:, :, 1::2, 0::2] = a - b + c - d
        out[:, :, 0::2, 1::2] = a + b - c - d
        out[:, :, 1::2, 1::2] = a + b + c + d
        return out


class SwinShiftMask(nn.Module):
    """Numbers nine regions of an image; windows that mix regions are masked from each other."""

    window, shift = 4, 2

    def forward(self, image: Tensor) -> Tensor:
        height, width = image.shape[-2:]
        size = self.window
        cuts = (slice(0, -size), slice(-size, -self.shift), slice(-self.shift, None))
        regions = image.new_zeros(1, height, width, 1)
        number = 0
        for rows in cuts:
            for columns in cuts:
                regions[:, rows, columns, :] = number
                number += 1
        windows = regions.view(1, height // size, size, width // size, size, 1)
        windows = windows.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size)
        mask = windows.unsqueeze(1) - windows.unsqueeze(2)
        return mask.masked_fill(mask != 0, -100.0)


class ShiftRight(nn.Module):
    """Turns labels into a decoder's inputs: one step to the right, a start token in front."""

    start, pad = 2, 0

    def forward(self, labels: Tensor) -> Tensor:
        shifted = labels.new_zeros(labels.shape)
        shifted[:, 1:] = labels[:, :-1].clone()
        shifted[:, 0] = self.start
        return shifted.masked_fill(shifted == -100, self.pad)


class MaskFill(nn.Module):
    """Empties the hidden states of padded steps with a boolean row mask."""

    def forward(self, hidden: Tensor, padding: Tensor) -> Tensor:
        hidden = hidden * 2.0
        hidden[padding] = 0.0
        return hidden


class MaskCopy(nn.Module):
    """Takes elements of y where a mask of full shape is true."""

    def forward(self, x: Tensor, y: Tensor, mask: Tensor) -> Tensor:
        x = x.clone()
        x[mask] = y[mask]
        return x


class KeyValueCache(nn.Module):
    """Writes the new keys and values of a decoder step into static caches, then attends."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, keys: Tensor, values: Tensor, at: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        keys = keys.index_copy(2, at, key)
        values = values.index_copy(2, at, value)
        weights = (query @ keys.transpose(2, 3) / 2.0).softmax(-1)
        return weights @ values, keys, values


class FlipTest(nn.Module):
    """Swaps left and right joints with a constant list, then moves the flipped maps by a pixel."""

    left_right = (0, 2, 1, 4, 3)

    def forward(self, maps: Tensor) -> Tensor:
        swapped = torch.zeros_like(maps)
        swapped[:, self.left_right] = maps.flip(-1)
        swapped[..., 1:] = swapped[..., :-1].clone()
        return swapped


class ReverseChannels(nn.Module):
    """Writes channels in the opposite order: BGR to RGB by assignment."""

    def forward(self, image: Tensor) -> Tensor:
        out = image.clone()
        out[:, [2, 1, 0]] = image
        return out


class FaceKeypoints(nn.Module):
    """Moves x and y of interleaved keypoints by the centres of their anchors."""

    def forward(self, points: Tensor, centres: Tensor) -> Tensor:
        points = points * 8.0
        points[..., 0::2] += centres[..., 0:1]
        points[..., 1::2] += centres[..., 1:2]
        return points


class OneHotLabels(nn.Module):
    """Marks one class per row with `scatter_` on zeros, then smooths the labels."""

    def forward(self, labels: Tensor) -> Tensor:
        target = torch.zeros(labels.shape[0], 5).scatter_(1, labels.unsqueeze(1), 1.0)
        return target * 0.9 + 0.02


class ReadChannels(nn.Module):
    """Takes channels by a list: the first three of RGBA, and the last two the other way round."""

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        return image[:, [0, 1, 2]], image[:, [3, 2]]


class LearntPositions(nn.Module):
    """Adds the embedding of each position: rows 0 .. time - 1 of a table, fetched by arange."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(16, 4)

    def forward(self, tokens: Tensor) -> Tensor:
        return tokens + self.table(torch.arange(tokens.shape[1]))


class ReadSteps(nn.Module):
    """Reads time steps by index: every second one, all backwards, all in order."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        time = x.shape[1]
        halved = x.index_select(1, torch.arange(0, time, 2))
        backwards = x[:, torch.arange(time - 1, -1, -1)]
        return halved, backwards, x[:, torch.arange(time)]


class TakeAlong(nn.Module):
    """Takes the same three positions of every row, with indices that are broadcast."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("at", torch.tensor([4, 5, 6]).reshape(1, 3, 1))

    def forward(self, x: Tensor) -> Tensor:
        return torch.take_along_dim(x, self.at, 1)


class GatherRows(nn.Module):
    """Takes positions of every row with gather, its indices expanded by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("at", torch.tensor([1, 3, 5]).reshape(1, 3, 1))

    def forward(self, x: Tensor) -> Tensor:
        return x.gather(1, self.at.expand(x.shape[0], 3, x.shape[2]))


class ReadBack(nn.Module):
    """Reads rows of a cache that were just written, and one row that was not."""

    def forward(self, cache: Tensor, step: Tensor) -> tuple[Tensor, Tensor]:
        cache = cache.clone()
        cache[:, 2:4] = step
        return cache[:, [2, 3]] * 2.0, cache[:, 5]
