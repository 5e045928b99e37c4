"""What to do about scatters and gathers that stay: commands that were tried, or why none helps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Way:
    """A command with which nodes are removed. It was run; ``condition`` is what has to be so."""

    command: str
    condition: str = ""
    rules: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the command, on a line of its own, and what has to be so."""
        return [self.command, *([f"  {self.condition}"] if self.condition else [])]


@dataclass(frozen=True)
class Advice:
    """What removes some nodes of a model that stay for one reason.

    ``why`` is the reason, and ``missing`` what would have to be so. If there are no ``ways``,
    nothing that was tried removes the nodes. Advice about the sizes of the model has no nodes.
    """

    nodes: tuple[str, ...]
    why: str
    missing: str
    ways: tuple[Way, ...] = ()
    become_scatterx: bool = False  # instead of staying

    def lines(self) -> list[str]:
        r"""Return the advice in lines.

        >>> way = Way("onnx-scatterx optimize m.onnx -o o.onnx --fix b=1", "or your own number")
        >>> print(*Advice(("y",), "a size is unknown", "a size", (way,)).lines(), sep="\n")
        y stays: a size is unknown
          removed by:
            onnx-scatterx optimize m.onnx -o o.onnx --fix b=1
              or your own number
        >>> why = "the target npu wants all sizes as numbers"
        >>> print(*Advice((), why, "", (way,)).lines(), sep="\n")
        the target npu wants all sizes as numbers:
          fixed by:
            onnx-scatterx optimize m.onnx -o o.onnx --fix b=1
              or your own number
        >>> print(*Advice(("y", "z"), "two updates collide", "other positions").lines(), sep="\n")
        y, z stay: two updates collide
          no option removes them; missing: other positions
        """
        if not self.nodes:
            added = [f"  {line}" for line in self.way_lines()]
            return [f"{self.why}:", *(added if self.ways else [f"  add {self.missing}"])]
        verb, them = ("stays", "it") if len(self.nodes) == 1 else ("stay", "them")
        if self.become_scatterx:
            verb = "becomes ScatterX" if len(self.nodes) == 1 else "become ScatterX"
        head = f"{', '.join(self.nodes)} {verb}: {self.why}"
        if not self.ways:
            return [head, f"  no option removes {them}; missing: {self.missing}"]
        return [head, *(f"  {line}" for line in self.way_lines())]

    def way_lines(self) -> list[str]:
        """Return the commands that remove the nodes, or that there are none, in lines."""
        if not self.ways:
            return ["no option removes it"]
        lines = []
        for i, way in enumerate(self.ways):
            by = "removed by:" if self.nodes else "fixed by:"
            lines += ["or by:" if i else by, *(f"  {line}" for line in way.lines())]
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        return {
            "nodes": list(self.nodes),
            "become_scatterx": self.become_scatterx,
            "why": self.why,
            "missing": self.missing,
            "ways": [
                {"command": w.command, "condition": w.condition, "rules": list(w.rules)}
                for w in self.ways
            ],
        }


def advice_lines(found: Sequence[Advice]) -> list[str]:
    """Return all advice in lines, under one heading; none if there is none."""
    if not found:
        return []
    return ["what to do next:", *(f"  {line}" for advice in found for line in advice.lines())]
