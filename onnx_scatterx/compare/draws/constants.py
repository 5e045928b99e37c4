"""The small constants of two models, which draws hit on purpose.

Those of one of the two models come first, because a fault is there.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import onnx_ir as ir

from onnx_scatterx.graphs import all_nodes, constant

Number = int | Fraction
_SMALL_SIZE, _MOST_SIZE = 13, 1 << 16
MOST = 64
"""The most constants of an input, and elements of a constant that are looked at."""
_QUANTITIES = ("alpha", "bias", "ends", "k", "lambd", "max", "min", "pads", "split", "starts")
_WORDS = ("classes_strings", "default_string", "keys_strings", "value_string", "value_strings")


@dataclass(frozen=True)
class Constants:
    """All numbers and strings among the constants of two models, those of only one model first."""

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
    def of(cls, *models: ir.Model) -> "Constants":
        """Look for the constants of some models; functions should be inlined.

        >>> text = '''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (int64[N] x) => (int64[N] y) <int64 a = {5}> { y = Add (x, a) }'''
        >>> [int(n) for n in Constants.of(ir.from_onnx_text(text)).numbers]
        [5]
        """
        found = [_found(model) for model in models]
        return cls(
            one_sided([numbers for numbers, _ in found]),
            tuple(dict.fromkeys(word for _, words in found for word in words))[:MOST],
        )


def one_sided(sets: Sequence[Iterable[Number]]) -> tuple[Number, ...]:
    """Return the numbers of some sets, the least first, but before them those of only one set."""
    counts = Counter(number for each in sets for number in set(each))
    return tuple(sorted(counts, key=lambda n: (counts[n] > 1, abs(n), n)))[:MOST]


def _found(model: ir.Model) -> tuple[set[Number], dict[str, None]]:
    """Return the small constants of a model: numbers and strings."""
    numbers: set[Number] = set()
    words: dict[str, None] = {}
    for element in _elements(model):
        text = element.decode(errors="replace") if isinstance(element, bytes) else element
        if isinstance(text, str):
            words[text] = None
        else:
            numbers.update(exact([text]))
    return numbers, words


def _elements(model: ir.Model) -> Iterator[object]:
    """Yield what attributes hold that are quantities or words, and the elements of constants."""
    for node in all_nodes(model):
        for name, attribute in node.attributes.items():
            if name in _QUANTITIES + _WORDS and node.op_type != "Constant":
                held: Any = None if attribute.is_ref() else attribute.value
                is_list = isinstance(held, Sequence) and not isinstance(held, str)
                yield from held if is_list else [held]
        for tensor in (constant(value, ()) for value in node.inputs):
            if tensor is not None and tensor.size <= MOST:
                yield from tensor.numpy().ravel().tolist()


def exact(elements: Iterable[object]) -> Iterator[Number]:
    """Yield those elements that are finite numbers."""
    for element in elements:
        if isinstance(element, bool) or not isinstance(element, (int, float)):
            continue
        if math.isfinite(element):
            yield reduced(Fraction(element))


def reduced(number: Fraction) -> Number:
    """Return an integer if a number is one."""
    return int(number) if number.denominator == 1 else number
