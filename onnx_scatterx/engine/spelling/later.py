"""Drops what came later to an operator, if it says nothing new of a node; else refuses the node.

newer                                    older
Cast <saturate = 1, to = 1> (x)    19    Cast <to = 1> (x)                   18
Resize (x, roi, scales, )          13    Resize (x, roi, scales)             12
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

import onnx_ir as ir

from onnx_scatterx.engine.spelling.spelling import Known, Operand, Respell, Spelling


def one_output(node: Spelling, known: Known) -> Spelling | str:
    """Keep a node without its later outputs."""
    return "its mask has another type" if node.outputs > 1 else node


def without_gaps(count: int) -> Respell:
    """Keep a node with so many inputs, none of them absent."""

    def respell(node: Spelling, known: Known) -> Spelling | str:
        read: list[Operand] = list(node.inputs[:count])
        complete = len(read) == count and all(v is not None for v in read)
        return node if complete else "an input is absent"

    return respell


def at_most(count: int) -> Respell:
    """Keep a node without the inputs that came later."""

    def respell(node: Spelling, known: Known) -> Spelling | str:
        if any(v is not None for v in node.inputs[count:]):
            return "an input came with a newer operator set"
        return node.changed(node.inputs[:count])

    return respell


@dataclass(frozen=True, eq=False)
class Drop:
    """Removes attributes that came later, if they have the values that were meant before.

    A list has the value in each place. The value None is any value: the attribute matters only for
    element types that came later, too.
    """

    usual: Mapping[str, object]

    @property
    def names(self) -> Set[str]:
        """The names of the attributes."""
        return self.usual.keys()

    def __call__(self, node: Spelling, known: Known) -> Spelling | str:
        for name, meant in self.usual.items():
            value = node.value(name, meant)
            values = value if isinstance(value, (list, tuple)) else [value]
            if meant is not None and any(v != meant for v in values):
                return f"its {name} came with a newer operator set"
        return node.without(*self.usual)


def drop(**usual: object) -> Drop:
    """Remove attributes that came later, if they have the values that were meant before."""
    return Drop(usual)


def only(*kinds: str, then: Respell | None = None) -> Respell:
    """Keep a node of these element types: ONNX Runtime has no kernel for the others."""

    def respell(node: Spelling, known: Known) -> Spelling | str:
        value = node.inputs[0]
        found = known.types(value) if isinstance(value, ir.Value) else ()
        if not found or not set(found) <= {f"tensor({kind})" for kind in kinds}:
            return "ONNX Runtime may have no kernel for its type"
        return then(node, known) if then else node

    return respell


def must_be(name: str, value: object) -> Respell:
    """Remove an attribute if it has this value, which is not its default."""

    def respell(node: Spelling, known: Known) -> Spelling | str:
        return (
            node.without(name)
            if node.value(name, None) == value
            else f"its {name} came with a newer operator set"
        )

    return respell


def unless(name: str, *values: object) -> Respell:
    """Keep a node unless its attribute has one of these values, whose meaning changed."""

    def respell(node: Spelling, known: Known) -> Spelling | str:
        changed = name in node.attributes and node.value(name, None) in (None, *values)
        return f"its {name} means something else there" if changed else node

    return respell
