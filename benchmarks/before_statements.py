"""Forty statements of PyTorch that exporters turn into scatters, with the shapes of their tensors.

A size is a number, or the name of one that varies in a dynamic export. `x` is a copy of the first
input; `m` is a mask, `i` are indices and `p` is a position.
"""

from __future__ import annotations

from dataclasses import dataclass

SIZES = {"B": 3, "T": 9, "S": 4, "N": 5, "K": 2, "H": 6, "W": 7}


@dataclass(frozen=True)
class Statement:
    """Lines of Python, and the sizes of each tensor by its name."""

    text: str
    shapes: dict[str, str]

    @property
    def title(self) -> str:
        return self.text.replace("\n", "; ")


def _statement(text: str, **shapes: str) -> Statement:
    return Statement(text, shapes)


STATEMENTS = (
    _statement("x[:, 2:4] = v", x="B T", v="B 2"),
    _statement("x[..., :2] += v", x="B T", v="B 2"),
    _statement("x[:, 2:-2] = 0.5", x="B T"),
    _statement("x[:, -1] = 0", x="B T"),
    _statement("x[:, -3:-1] = v", x="B T", v="B 2"),
    _statement("x[:, 0] = v", x="B T", v="B"),
    _statement("x[:, 2] += v", x="B T", v="B"),
    _statement("x[:, 1:] = v[:, :-1]\nx[:, 0] = 2", x="B T", v="B T"),
    _statement("x[:, :2] = v\nx[:, 2:] = w", x="B 6", v="B 2", w="B 4"),
    _statement("x[..., ::2] = -v[..., 1::2]\nx[..., 1::2] = v[..., ::2]", x="B T 8", v="B T 8"),
    _statement("x[:, ::2] = v", x="B 8", v="B 4"),
    _statement("x[:, 1:8:3] = v", x="B 10", v="B 3"),
    _statement("x[:, ::3] = 0", x="B T"),
    _statement("x[:, :v.shape[1]] = v", x="B T", v="B S"),
    _statement("x[:, x.shape[1] // 2:] = 0", x="B T"),
    _statement("x[:, 5:3] = 7", x="B T"),
    _statement("x[:, -100:100] = v", x="B T", v="B T"),
    _statement("x[:] = v", x="B T", v="B T"),
    _statement("x[:, 1:3, 2:4] = v", x="B H W", v="B 2 2"),
    _statement("x[:, 1:-1, 2:] = v[:, 1:-1, 2:]", x="B H W", v="B H W"),
    _statement("x = x.new_full((x.shape[0], 8, 10), 0.5)\nx[:, 1:6, 2:9] = v", x="B", v="B 5 7"),
    _statement("for k in range(3): x[:, 2 * k : 2 * k + 4] += v[:, k]", x="B 8", v="B 3 4"),
    _statement("x[:, :-2] = 1\nx[:, -2:] = 2\nx[:, 3] = 3", x="B T"),
    _statement("x[:, 1:3] = v\nx = x[:, 1:2] * 2", x="B T", v="B 2"),
    _statement("x.t()[1:3] = v", x="B T", v="2 B"),
    _statement("x.narrow(1, 2, 3).mul_(2)", x="B T"),
    _statement("x.diagonal().copy_(v)", x="N N", v="N"),
    _statement("x.diagonal(1, 1, 2).add_(1)", x="B 4 5"),
    _statement("x[x > 0] = 0", x="B T"),
    _statement("x[m] = v[m]", x="B T", v="B T", m="B T"),
    _statement("x[m] = x[m] * 2 + 1", x="B T", m="B"),
    _statement("x[m] = torch.exp(x[m])", x="B T", m="B T"),
    _statement("x.masked_scatter_(m, v)", x="B T", v="B T", m="B T"),
    _statement("x[:, [0, 3]] = v", x="B T", v="B 2"),
    _statement("x[:, torch.arange(2, 5)] = v", x="B T", v="B 3"),
    _statement("x[torch.arange(x.shape[0]), i] = v", x="B T", v="B", i="B"),
    _statement("x[i] = v", x="B T", v="K T", i="K"),
    _statement("x.index_copy_(1, i, v)", x="B T 4", v="B K 4", i="K"),
    _statement("x[:, :, p] = v", x="B 2 T 4", v="B 2 1 4", p="1"),
    _statement("k = p.item()\nx[:, k : k + 2] = v", x="B T", v="B 2", p="1"),
)
