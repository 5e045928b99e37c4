"""The constants of two models that draws hit on purpose: at which values of an input they decide.

A comparison, a limit or a remainder decides at its constant. The constant is carried backwards
through what is known of the nodes before: `Less (Add (x, 5), 9)` decides at x = 4. Where nothing is
known, all small constants of a model are tried as they are. Those of one of the two models come
first, because a fault is there.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import onnx_ir as ir

from onnx_scatterx.compare.index_bounds import constant_of
from onnx_scatterx.compare.input_constraints import moved
from onnx_scatterx.graphs import all_nodes, constant, graphs_of
from onnx_scatterx.operators import Decides, Passing, described

Number = int | Fraction
_SMALL_SIZE, _MOST_SIZE = 13, 1 << 16
_MOST = 64  # constants of an input, and elements of a constant that are looked at
_PASSED = (Passing.ALIKE, Passing.ELSEWHERE, Passing.SPLICED)
_QUANTITIES = ("alpha", "bias", "ends", "k", "lambd", "max", "min", "pads", "split", "starts")
_WORDS = ("classes_strings", "default_string", "keys_strings", "value_string", "value_strings")


@dataclass(frozen=True)
class Decisions:
    """The constants of two models.

    `at` are those that decide about an input, by its name. `numbers` are all of them, and `words`
    are all strings. In each, those of only one model come first.
    """

    at: dict[str, tuple[Number, ...]]
    numbers: tuple[Number, ...]
    words: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers that may be sizes, the small ones last, which are drawn anyway."""
        found = dict.fromkeys(abs(n) for n in self.numbers if isinstance(n, int))
        return tuple(
            sorted((n for n in found if 3 <= n <= _MOST_SIZE), key=lambda n: n < _SMALL_SIZE)
        )

    @classmethod
    def of(cls, *models: ir.Model) -> "Decisions":
        """Look for the constants of some models; functions should be inlined.

        >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (int64[N] x) => (bool[N] y) <int64 a = {5}, int64 b = {9}> {
        ...         s = Add (x, a)  y = Less (s, b) }'''
        >>> found = Decisions.of(ir.from_onnx_text(text))
        >>> [int(n) for n in found.at["x"]], [int(n) for n in found.numbers]
        ([4], [5, 9])
        """
        found = [_found(model) for model in models]
        decided = [_decided(model) for model in models]
        names = dict.fromkeys(name for each in decided for name in each)
        return cls(
            {name: _one_sided([each.get(name, ()) for each in decided]) for name in names},
            _one_sided([numbers for numbers, _ in found]),
            tuple(dict.fromkeys(word for _, words in found for word in words))[:_MOST],
        )


def _one_sided(sets: Sequence[Iterable[Number]]) -> tuple[Number, ...]:
    """Return the numbers of some sets, the least first, but before them those of only one set."""
    counts: dict[Number, int] = defaultdict(int)
    for each in sets:
        for number in set(each):
            counts[number] += 1
    return tuple(sorted(counts, key=lambda n: (counts[n] > 1, abs(n), n)))[:_MOST]


def _found(model: ir.Model) -> tuple[set[Number], dict[str, None]]:
    """Return the small constants of a model: numbers and strings."""
    numbers: set[Number] = set()
    words: dict[str, None] = {}
    seen: set[ir.Value | None] = set()
    for node in all_nodes(model):
        for name, attribute in node.attributes.items():
            if attribute.is_ref() or node.op_type == "Constant" or name not in _QUANTITIES + _WORDS:
                continue
            values = attribute.value if isinstance(attribute.value, Sequence) else [attribute.value]
            values = [attribute.value] if isinstance(attribute.value, str) else values
            words.update(dict.fromkeys(text for text in values if isinstance(text, str)))
            numbers.update(_exact(n for n in values if isinstance(n, (int, float))))
        for value in node.inputs:
            if value is None or value in seen:
                continue
            seen.add(value)
            tensor = constant(value, ())
            if tensor is None or tensor.size > _MOST:
                continue
            elements = tensor.numpy().ravel().tolist()
            if tensor.dtype == ir.DataType.STRING:
                texts = (
                    e.decode(errors="replace") if isinstance(e, bytes) else e for e in elements
                )
                words.update(dict.fromkeys(map(str, texts)))
            else:
                numbers.update(_exact(elements))
    return numbers, words


def _text(element: object) -> str:
    return element.decode(errors="replace") if isinstance(element, bytes) else str(element)


def _exact(elements: Iterable[object]) -> Iterator[Number]:
    """Yield those elements that are finite numbers."""
    for element in elements:
        if isinstance(element, bool) or not isinstance(element, (int, float)):
            continue
        if math.isfinite(element):
            number = Fraction(element)
            yield int(number) if number.denominator == 1 else number


def _numbers_of(value: ir.Value | None) -> list[Number]:
    array = constant_of(value)
    return [] if array is None else list(dict.fromkeys(_exact(array.ravel().tolist())))


def _decided(model: ir.Model) -> dict[str, tuple[Number, ...]]:
    """Return the numbers at which a model decides, by the graph input whose elements they are."""
    at: dict[ir.Value, dict[Number, None]] = defaultdict(dict)

    def tell(value: ir.Value | None, numbers: Iterable[Number]) -> None:
        if value is not None and len(at[value]) < _MOST:
            at[value].update(dict.fromkeys(numbers))

    def graph(body: ir.Graph) -> None:
        for node in reversed(body):
            for inner in graphs_of(node):
                first = node.op_type == "Loop"
                for result, outer in zip(inner.outputs[first:], node.outputs, strict=False):
                    tell(result, at[outer])
                graph(inner)
                for fed, own in zip(node.inputs[2:], inner.inputs[2:], strict=False):
                    tell(fed, at[own])
            if node.inputs and node.outputs and not graphs_of(node):
                at_node(node)

    def at_node(node: ir.Node) -> None:
        row = described(node)
        if Decides.AT_OPERANDS in row.decides:
            own = [n for value in node.inputs for n in _numbers_of(value)]
            for value in node.inputs:
                tell(value, own)
        elif Decides.AT_ZERO in row.decides:
            tell(node.inputs[0], [0])
        after = tuple(at[node.outputs[0]])
        if not after:
            return
        if row.passes in _PASSED:
            for value in moved(node):
                tell(value, after)
            if node.op_type in ("Abs", "Neg"):
                tell(node.inputs[0], [-n for n in after])
        elif Decides.AT_RESULTS in row.decides:
            tell(node.inputs[0], after)
        elif node.op_type in ("Add", "Sub", "Mul", "Div") and len(node.inputs) == 2:
            for position in (0, 1):
                for known in _numbers_of(node.inputs[1 - position])[:4]:
                    solved = (_solved(node.op_type, position, known, n) for n in after)
                    tell(node.inputs[position], [n for n in solved if n is not None])

    graph(model.graph)
    return {v.name or "": tuple(at[v]) for v in model.graph.inputs if at[v]}


def _solved(operator: str, position: int, known: Number, result: Number) -> Number | None:
    """Return the operand at a position with which an operation gives a result."""
    if operator == "Add":
        return result - known
    if operator == "Sub":
        return result + known if position == 0 else known - result
    if operator == "Mul":
        return _reduced(Fraction(result) / known) if known else None
    if position == 0:
        return result * known
    return _reduced(Fraction(known) / result) if result else None


def _reduced(number: Fraction) -> Number:
    return int(number) if number.denominator == 1 else number
