"""What the nodes of a model say of the elements of its inputs: bounds, and numbers that decide.

One pass goes backwards over the nodes, and carries what is said of results to the operands. The
operator of `Gather (x, Add (i, 2))` bounds i + 2, and so i. A comparison, a limit or a remainder
decides at its constant: `Less (Add (x, 5), 9)` at x = 4.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import onnx_ir as ir

from onnx_scatterx.compare.draws.constants import MOST, Number, exact, reduced
from onnx_scatterx.compare.draws.index_bounds import (
    SMALL,
    UNKNOWN,
    USES,
    WHOLE,
    Bound,
    Bounds,
    IndexConstraints,
    constant_of,
    extent_of,
    rank_of,
    shifted,
)
from onnx_scatterx.graphs import graphs_of
from onnx_scatterx.operators import Decides, Passing, described, element_type

_PASSED = (Passing.ALIKE, Passing.ELSEWHERE, Passing.SPLICED)


@dataclass
class Uses:
    """What is said of a value's elements: their bounds, and at which numbers a node decides."""

    bounds: IndexConstraints = field(default_factory=dict)
    numbers: dict[Number, None] = field(default_factory=dict)

    def bound(self, bounds: IndexConstraints) -> None:
        """Add bounds."""
        for position, more in bounds.items():
            if more:
                self.bounds[position] = self.bounds.get(position, frozenset()) | more

    def decide(self, numbers: Iterable[Number]) -> None:
        """Add numbers, unless there are many."""
        if len(self.numbers) < MOST:
            self.numbers.update(dict.fromkeys(numbers))


def uses_of(model: ir.Model) -> dict[str, Uses]:
    """Return what is said of the elements of each graph input; functions must be inlined.

    >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[N] x, int64[M] i) => (float[M] y, bool[N] z)
    ...     <int64 k = {2}, float h = {9}> {
    ...         j = Add (i, k)  y = Gather (x, j)  z = Less (x, h) }'''
    >>> uses = uses_of(ir.from_onnx_text(text))
    >>> [bound] = uses["i"].bounds[None]
    >>> bound.interval({"N": 9}), list(map(int, uses["x"].numbers))
    ((-11, 6), [9])
    """
    pass_ = _Backwards()
    for value in model.graph.outputs:
        pass_.uses[value].bound({None: WHOLE})
    pass_.graph(model.graph)
    return {value.name or "": pass_.uses[value] for value in model.graph.inputs}


class _Backwards:
    def __init__(self) -> None:
        self.uses: dict[ir.Value | None, Uses] = defaultdict(Uses)

    def graph(self, graph: ir.Graph) -> None:
        for node in reversed(graph):
            if graphs_of(node):
                self.bodies(node)
            elif node.domain == "":
                self.node(node)
            else:
                self.all(node.inputs, UNKNOWN)

    def all(self, values: Iterable[ir.Value | None], bounds: Bounds) -> None:
        for value in values:
            self.uses[value].bound({None: bounds})

    def bodies(self, node: ir.Node) -> None:
        is_known = node.op_type in ("If", "Loop") and node.domain == ""
        if not is_known:
            self.all(node.inputs, UNKNOWN)
        for body in graphs_of(node):
            results = body.outputs[node.op_type == "Loop" :]
            for inner, outer in zip(results, node.outputs, strict=False):
                self.uses[inner].bound(self.uses[outer].bounds if is_known else {None: UNKNOWN})
                self.uses[inner].decide(self.uses[outer].numbers)
            self.graph(body)
            for fed, own in zip(node.inputs[2:], body.inputs[2:], strict=False):
                self.uses[fed].bound(self.uses[own].bounds)
                self.uses[fed].decide(self.uses[own].numbers)
        if node.op_type == "Loop":
            self.uses[node.inputs[0]].bound({None: SMALL})

    def node(self, node: ir.Node) -> None:
        use = USES.get(node.op_type)
        if use is not None:
            for position, bounds in use(node).items():
                if position < len(node.inputs):
                    self.uses[node.inputs[position]].bound(bounds)
        if not node.outputs or not node.inputs:
            return
        row, after = described(node), self.uses[node.outputs[0]]
        carry = _CARRIES.get(node.op_type, _CARRIED.get(row.passes))
        computes = _computes(node)
        if row.compares:
            self.all(node.inputs, WHOLE)
        elif computes:
            anything = _takes_anything(node, after.bounds) or node.op_type == "Mod"
            if anything or carry is None:
                read = node.inputs[: 1 if use is not None else None]
                self.all(read, WHOLE if anything else UNKNOWN)
        if carry is not None:
            for value, bounds in carry(node, after.bounds):
                self.uses[value].bound(bounds)
        elif use is None and not computes and not row.compares:
            self.all(node.inputs, UNKNOWN)
        for value, numbers in _decisive(node, after.numbers):
            self.uses[value].decide(numbers)


_Bounded = Iterator[tuple[ir.Value | None, IndexConstraints]]


def _alike(node: ir.Node, asked: IndexConstraints) -> _Bounded:
    return ((value, asked) for value in _moved(node))


def _elsewhere(node: ir.Node, asked: IndexConstraints) -> _Bounded:
    yield node.inputs[0], _anywhere(asked)


def _sum(node: ir.Node, asked: IndexConstraints) -> _Bounded:
    sign = 1 if node.op_type == "Add" else -1
    for position, value in enumerate(node.inputs[:2]):
        constant = constant_of(node.inputs[1 - position])
        if constant is None or constant.size != 1 or sign < 0 < position:
            yield value, asked
        else:
            yield value, shifted(asked, sign * int(constant.ravel()[0]))


def _unsqueezed(node: ir.Node, asked: IndexConstraints) -> _Bounded:
    value, made = node.inputs[0], node.outputs[0]
    alike = value is None or rank_of(made) is None or rank_of(value) is None
    kept = alike or extent_of(value, -1) == extent_of(made, -1)
    yield value, asked if kept else _anywhere(asked)


def _joined(node: ir.Node, asked: IndexConstraints) -> _Bounded:
    rank, axis = rank_of(node.outputs[0]), node.attributes.get_int("axis", 0)
    extents = [extent_of(value, -1) for value in node.inputs]
    if rank is None or axis not in (-1, rank - 1) or None in extents:
        yield from ((value, _anywhere(asked)) for value in node.inputs)
        return
    start = 0
    for value, extent in zip(node.inputs, extents, strict=True):
        size = extent if isinstance(extent, int) else 0
        mine: IndexConstraints = {
            position if position is None else position - start: bounds
            for position, bounds in asked.items()
            if position is None or start <= position < start + size
        }
        yield value, _anywhere(mine) if size == 1 else mine
        start += size


_CARRIES: dict[str, Callable[[ir.Node, IndexConstraints], _Bounded]] = {
    "Add": _sum,
    "Concat": _joined,
    "Sub": _sum,
    "Unsqueeze": _unsqueezed,
}
_CARRIED = {Passing.ALIKE: _alike, Passing.ELSEWHERE: _elsewhere}
"""How bounds of results become bounds of operands, by operator, or by what its row says."""


def _decisive(
    node: ir.Node, numbers: Iterable[Number]
) -> Iterator[tuple[ir.Value | None, list[Number]]]:
    """Yield numbers at which a node decides about its operands, or one behind it does."""
    row, after = described(node), list(numbers)
    if Decides.AT_OPERANDS in row.decides:
        own = [n for value in node.inputs for n in _numbers_of(value)]
        yield from ((value, own) for value in node.inputs)
    elif Decides.AT_ZERO in row.decides:
        yield node.inputs[0], [0]
    if row.passes in _PASSED:
        yield from ((value, after) for value in _moved(node))
        if node.op_type in ("Abs", "Neg"):
            yield node.inputs[0], [-n for n in after]
    elif Decides.AT_RESULTS in row.decides:
        yield node.inputs[0], after
    elif node.op_type in ("Add", "Sub", "Mul", "Div") and len(node.inputs) == 2:
        for position in (0, 1):
            for known in _numbers_of(node.inputs[1 - position])[:4]:
                solved = (_solved(node.op_type, position, known, n) for n in after)
                yield node.inputs[position], [n for n in solved if n is not None]


def _moved(node: ir.Node) -> list[ir.Value]:
    """Return the inputs that pass to the results of a node, but for a limit or a sign."""
    row = described(node)
    places = row.moves or row.chooses or (0,)
    return [v for place, v in enumerate(node.inputs) if place in places and v is not None]


def _numbers_of(value: ir.Value | None) -> list[Number]:
    array = constant_of(value)
    return [] if array is None else list(dict.fromkeys(exact(array.ravel().tolist())))


def _solved(operator: str, position: int, known: Number, result: Number) -> Number | None:
    """Return the operand at a position with which an operation gives a result."""
    if operator == "Add":
        return result - known
    if operator == "Sub":
        return result + known if position == 0 else known - result
    if operator == "Mul":
        return reduced(Fraction(result) / known) if known else None
    if position == 0:
        return result * known
    return reduced(Fraction(known) / result) if result else None


def _computes(node: ir.Node) -> bool:
    """Return whether a node computes with integers, or casts them to floats or booleans."""
    if node.op_type == "Cast":
        to = element_type(node.attributes.get_int("to", 1))
        return to.is_floating_point() or to == ir.DataType.BOOL
    return described(node).passes is Passing.COMPUTED


def _takes_anything(node: ir.Node, asked: IndexConstraints) -> bool:
    """Return whether the results of a computation may be any numbers.

    If they are floats, an unknown use takes any number, too.
    """
    bounds = frozenset[Bound]().union(*asked.values())
    dtype = node.outputs[0].dtype
    if dtype is not None and not dtype.is_integer():
        return all(bound.whole or bound.size is None for bound in bounds)
    return all(bound.whole for bound in bounds)


def _anywhere(asked: IndexConstraints) -> IndexConstraints:
    return {None: frozenset[Bound]().union(*asked.values())}
