"""Which values of the second model may be those of the first: guesses, which only cost time.

No name of an inner value counts. Values are numbered from the inputs up: nodes of one kind on
equal numbers have one number. From the outputs down, the makers of a pair of values are compared:
if they are nodes of one kind, their inputs are pairs. So the ends of a part that was rewritten are
pairs, and each pair is a question of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from onnx_scatterx.judges.equivalence.core.reading import Graph, Node, constant_of

Maker = tuple[Node, int]


class _Side:
    """One model: which node makes a value, and the number of a value."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.makers = {o: (n, k) for n in graph.nodes for k, o in enumerate(n.outputs) if o}
        self.numbers: dict[str, Hashable] = {"": ""}
        for one in graph.inputs:
            self.numbers[one.name] = ("input", one.name)
        for name, content in graph.constants.items():
            self.numbers[name] = content

    def reads(self, node: Node) -> tuple[str, ...]:
        """Return all values that a node reads."""
        return (*node.inputs, *node.captured)

    def number(self, node: Node, table: dict[Hashable, int]) -> None:
        """Number the outputs of a node."""
        content = constant_of(node)
        if content is not None:
            self.numbers[node.outputs[0]] = content
            return
        key = (node.kind, tuple(self.numbers.get(n, ("unknown", n)) for n in self.reads(node)))
        own = table.setdefault(key, len(table))
        for k, name in enumerate(node.outputs):
            if name:
                self.numbers[name] = (own, k)


def paired(first: Graph, second: Graph) -> dict[str, str]:
    """Return pairs: for values of the second model, a value of the first."""
    one, other = _Side(first), _Side(second)
    table: dict[Hashable, int] = {}
    for node in first.nodes:
        one.number(node, table)
    names: dict[Hashable, str] = {}
    for name, number in one.numbers.items():
        names.setdefault(number, name)
    pairs: dict[str, str] = {}
    for node in second.nodes:
        other.number(node, table)
        for name in node.outputs:
            if name and other.numbers[name] in names:
                pairs[name] = names[other.numbers[name]]
    waiting = [(name, name) for name in second.outputs if name in one.makers]
    while waiting:
        mine, theirs = waiting.pop()
        if mine in other.makers and pairs.setdefault(mine, theirs) == theirs:
            waiting += _upwards(one.makers.get(theirs), other.makers[mine], pairs)
    return pairs


def _upwards(theirs: Maker | None, mine: Maker, pairs: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of what the makers of a pair read."""
    if theirs is None or theirs[1] != mine[1] or theirs[0].kind != mine[0].kind:
        return
    a, b = theirs[0], mine[0]
    for old, new in zip((*a.inputs, *a.captured), (*b.inputs, *b.captured), strict=False):
        if old and new and new not in pairs:
            yield new, old
