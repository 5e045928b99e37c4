"""What to do about a result that is not as the target asks for it: commands that were tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from onnx_scatterx.text import middle, plain_fields

_NAMED, _LETTERS = 2, 200  # nodes that a line names, if they are many, and letters of each
_FEW = 2  # of what would be left out: so many are told after all


@dataclass(frozen=True)
class Way:
    """A command that removes nodes. It was run; it is right if ``condition`` is true.

    ``added`` are the operators that the command adds to the target.
    """

    command: str
    condition: str = ""
    rules: tuple[str, ...] = field(default=(), compare=False)
    added: tuple[str, ...] = field(default=(), compare=False)

    def lines(self) -> list[str]:
        """Return the command, on a line of its own, and its condition."""
        return [self.command, *([f"  {self.condition}"] if self.condition else [])]

    def to_dict(self) -> dict[str, Any]:
        """Return the command as plain data."""
        return plain_fields(self, "command condition rules")


@dataclass(frozen=True)
class Advice:
    """The commands that remove some nodes, which are kept for one reason.

    ``why`` is the reason, and ``missing`` the missing fact. If ``ways`` is empty, no tried command
    removes the nodes. In advice about the sizes of the model, ``nodes`` is empty. ``is_violation``
    says that the nodes are other ones, which the target does not take. ``is_taken`` says that the
    target takes the kept nodes. ``verb`` says what the commands do: the nodes are removed, the
    sizes fixed, the result is smaller. ``too_large`` are commands that write a dense form with a
    larger tensor than the target allows: they are known, and not proposed. ``is_together`` says
    that the command removes nodes for which other advice has a command, too. ``instead`` is what to
    write in the module, for those who cannot do what the commands ask for. ``is_fatal`` says that
    the model runs on no input, so that no command helps. ``untried`` are changes that were not
    tried, if the advice is about these. ``at_sizes`` says that ``why`` is so with sizes that the
    user did not give.
    """

    nodes: tuple[str, ...]
    why: str
    missing: str
    ways: tuple[Way, ...] = ()
    is_violation: bool = False
    verb: str = "removed"
    is_taken: bool = False
    too_large: tuple[Way, ...] = ()
    is_together: bool = False
    instead: str = ""
    is_fatal: bool = False
    untried: tuple[str, ...] = ()
    at_sizes: bool = False

    @classmethod
    def about_untried(cls, changes: Sequence[str]) -> Advice:
        """Return that changes were not tried; each is told whole, so that it can be pasted.

        >>> advice = Advice.about_untried([f"--fix n={i}" for i in range(5)])
        >>> advice.why.endswith("--fix n=2; --fix n=3; --fix n=4")
        True
        >>> advice.brief().why
        'changes that were not tried (5): --fix n=0; --fix n=1; and 3 more: -v prints them'
        """
        told = f"changes that were not tried ({len(changes)}): {'; '.join(changes)}"
        return cls((), told, "", untried=tuple(changes))

    def brief(self) -> Advice:
        """Return the advice with the first of the changes that were not tried, if they are many."""
        left = len(self.untried) - _NAMED
        if left <= _FEW:
            return self
        cut = self.why.removesuffix("; ".join(self.untried)) + "; ".join(self.untried[:_NAMED])
        return replace(self, why=f"{cut}; and {left} more: -v prints them")

    @property
    def has_action(self) -> bool:
        """Whether there is something to do: a command, or options to add."""
        return not self.is_taken and bool(self.ways or (not self.nodes and self.missing))

    @property
    def is_idle(self) -> bool:
        """Whether it says no more than the table of nodes, and the list of what is not taken."""
        return not self.ways and (self.is_taken or self.is_violation)

    def lines(self) -> list[str]:
        r"""Return the advice in lines.

        >>> way = Way("onnx-scatterx optimize m.onnx -o o.onnx --fix b=1", "or your own number")
        >>> print(*Advice(("y",), "a size is unknown", "a size", (way,)).lines(), sep="\n")
        y is kept: a size is unknown
          removed by:
            onnx-scatterx optimize m.onnx -o o.onnx --fix b=1
              or your own number
        >>> why = "the target npu wants all sizes as numbers"
        >>> print(*Advice((), why, "", (way,), verb="fixed").lines(), sep="\n")
        the target npu wants all sizes as numbers:
          fixed by:
            onnx-scatterx optimize m.onnx -o o.onnx --fix b=1
              or your own number
        >>> print(*Advice(("y", "z"), "two updates collide", "other positions").lines(), sep="\n")
        y, z are kept: two updates collide
          no option that was tried removes them; missing: other positions
        >>> both = Advice(("y", "z"), "one command", "", (way,), is_together=True)
        >>> print(*both.lines(), sep="\n")
        y, z together:
          removed by:
            onnx-scatterx optimize m.onnx -o o.onnx --fix b=1
              or your own number
        >>> none = Advice(("y",), "unknown", "a size", instead="in place of b: a")
        >>> print(*none.lines(), sep="\n")
        y is kept: unknown
          no option that was tried removes it; missing: a size
          or in the module, in place of b: a
        >>> text = refused_text("Erf", "npu takes no Erf", ("y", "z"))
        >>> print(*Advice(("y", "z"), text, "a compiler", is_violation=True).lines(), sep="\n")
        not taken: npu takes no Erf (2): y, z
          no option that was tried removes them; missing: a compiler
        """
        if not self.nodes:
            added = [f"  {line}" for line in self.way_lines()]
            more = added if self.ways else [f"  add {self.missing}"] if self.missing else []
            return [f"{self.why}{':' * bool(more)}", *more]
        if self.is_together:
            return [f"{named(self.nodes)} together:", *(f"  {line}" for line in self.way_lines())]
        verb, them = ("is kept", "it") if len(self.nodes) == 1 else ("are kept", "them")
        taken = f", and the target takes {them}" if self.is_taken else ""
        subject = "not taken" if self.is_violation else f"{named(self.nodes)} {verb}{taken}"
        missing = "" if self.ways or self.too_large else f"; missing: {self.missing}"
        first, *more = self.way_lines(them)
        return [f"{subject}: {self.why}", f"  {first}{missing}", *(f"  {line}" for line in more)]

    def way_lines(self, them: str = "it") -> list[str]:
        """Return the commands that remove the nodes, or the answer that none does, in lines."""
        if self.too_large and not self.ways:
            return [
                f"only a dense form above the limit of the target removes {them}: "
                f"{self.too_large[0].condition}",
                f"keep {them} on the host, or use fewer positions or updates",
            ]
        instead = [f"or in the module, {self.instead}"] if self.instead else []
        if not self.ways:
            return [f"no option that was tried removes {them}", *instead]
        lines = []
        for i, way in enumerate(self.ways):
            lines += ["or by:" if i else f"{self.verb} by:", *(f"  {line}" for line in way.lines())]
        return lines + instead

    def to_dict(self) -> dict[str, Any]:
        """Return the advice as plain data."""
        behind = "is_violation is_taken too_large is_together instead"
        return plain_fields(self, f"nodes why missing ways {behind}")


def without_parts(advice: Sequence[Advice]) -> list[Advice]:
    """Return advice without commands for nodes that one command for several nodes removes, too."""
    covered = {node for each in advice if each.is_together for node in each.nodes}
    return [a for a in advice if a.is_together or not a.nodes or not covered.issuperset(a.nodes)]


def refused_text(op: str, why: str, nodes: Sequence[str]) -> str:
    """Return which nodes of an operator a target does not take, and why.

    >>> refused_text("Erf", "npu takes no Erf", ["y"])
    'y (Erf): npu takes no Erf'
    """
    return counted(why, nodes) if len(nodes) > 1 else f"{nodes[0]} ({op}): {why}"


def counted(text: str, nodes: Sequence[str]) -> str:
    """Return what is said of nodes, their number, and the names of the first two.

    >>> counted("Erf", "abcdef")
    'Erf (6): a, b and 4 more'
    """
    return f"{text} ({len(nodes)}): {named(nodes)}"


def named(nodes: Sequence[str]) -> str:
    """Return the names of the first two nodes, and how many more there are; of few nodes all.

    >>> named("abcde"), named("abcd"), named("ab")
    ('a, b and 3 more', 'a, b, c, d', 'a, b')
    """
    shown = len(nodes) if len(nodes) <= _NAMED + _FEW else _NAMED
    names = ", ".join(middle(name, _LETTERS) for name in nodes[:shown])
    return names if shown == len(nodes) else f"{names} and {len(nodes) - shown} more"
