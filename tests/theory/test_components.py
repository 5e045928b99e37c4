"""Components of numbers of any kind, and fits of arrays."""

from dataclasses import dataclass

import numpy as np

from onnx_scatterx.theory.components import (
    Affine,
    AffineModulo,
    Component,
    Constant,
    Lookup,
    coordinate,
    evaluate,
    fit_component,
    normal_picks,
)
from onnx_scatterx.theory.picks import Pick


@dataclass(frozen=True)
class Term:
    """A number of another kind, equal to nothing but itself and the int that it stands for."""

    name: str
    number: int | None = None

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Term) and other.name == self.name
        return same or (self.number is not None and other == self.number)

    def __hash__(self) -> int:
        return hash(self.name)


def test_components_of_other_numbers() -> None:
    n, zero, one = Term("N"), Term("0", 0), Term("1", 1)
    assert coordinate(Affine(zero, one, 2)) == 2
    assert coordinate(Affine(n, one, 2)) is None
    assert coordinate(AffineModulo(zero, one, 2, n)) is None
    opaque = Lookup((0, 1), "mask")
    assert opaque == Lookup((0, 1), "mask") != Lookup((0, 1), "rows")
    assert len({opaque, Lookup((0, 1), "mask")}) == 1
    axes: list[Component[Term]] = [opaque, Affine(zero, one, 3), Affine(n, one, 2), Constant(n)]
    assert normal_picks(axes) == (Pick((0, 1, 2)), Pick((3,)), Pick((0, 3, 1, 2)))


def test_a_fit_that_knows_no_size() -> None:
    assert fit_component(np.array([-1, -2]), None) == Affine(-1, -1, 0)
    assert fit_component(np.array([2, 0, 1]), None) == Lookup((0,), np.array([2, 0, 1]))
    assert fit_component(np.array([2, 0, 1]), 3) == AffineModulo(2, 1, 0, 3)
    assert fit_component(np.array([[7], [7]]), 0) == Constant(7)


def test_components_are_values_again() -> None:
    ring = AffineModulo(3, 2, 0, 5)
    assert evaluate(ring, (4, 2)).tolist() == [[3], [0], [2], [4]]
    assert fit_component(np.broadcast_to(evaluate(ring, (4, 2)), (4, 2)), 5) == ring
