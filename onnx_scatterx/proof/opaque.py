"""Nodes that are unknown functions of the values that they read, and which of them are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from onnx_scatterx.proof.core.reading import Node
from onnx_scatterx.proof.core.tensor import Tensor

Equal = Callable[[Tensor, Tensor], bool]

Read = tuple[Tensor | None, ...]

Key = tuple[Any, tuple[int, ...], tuple[int, ...]]
"""A kind of nodes, and the values that a node reads and captures."""


@dataclass
class Opaque:
    """A node that is an unknown function of its inputs and of the values that it captures.

    ``stored`` says which of these values are constants of the model: a runtime may pack constants.
    ``reason`` says why the node is not modelled; empty if each row of its output is modelled as an
    unknown function of a row.
    """

    node: Node
    read: tuple[Tensor | None, ...]
    outputs: list[Tensor]
    reason: str
    stored: tuple[bool, ...]

    @property
    def key(self) -> Key:
        """The kind of the node, and which values it reads."""
        count = len(self.read) - len(self.node.captured)
        ids = tuple(map(id, self.read))
        return self.node.kind, ids[:count], ids[count:]


def like(
    node: Node, read: Read, nodes: Iterable[Opaque], equal: Equal, stored: set[int]
) -> Opaque | None:
    """Return a node of the same kind that reads equal values; ``stored`` are constants by id."""
    same = (o for o in nodes if o.node.kind == node.kind)
    return next((o for o in same if _alike(o.read, read, equal, stored)), None)


def _alike(one: Read, other: Read, equal: Equal, stored: set[int]) -> bool:
    """Return whether two nodes read equal values. Different constants that are stored differ."""
    pairs = list(zip(one, other, strict=False))
    if len(one) != len(other) or any(a is not b and {id(a), id(b)} <= stored for a, b in pairs):
        return False
    return all(a is b or (a is not None and b is not None and equal(a, b)) for a, b in pairs)
