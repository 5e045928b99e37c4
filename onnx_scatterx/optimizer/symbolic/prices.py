"""What each kind of work costs, in steps: all prices, in one place.

A step is 5 microseconds of the machine on which ``python benchmarks/prices.py`` measured them. The
script measures them again. Prices are part of the result, since they decide when a limit is
reached: they are numbers here, and never measured while a model is optimized.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prices:
    """All prices: steps for one unit of work, or units of work for one step."""

    # Steps for one of these.
    monomial: int = 2
    """A monomial of a term that the prover looks at."""
    one_size: int = 2
    """A monomial or atom of a term of one size that is decided completely."""
    sampled: int = 3
    """A monomial that is evaluated at the points of the sample."""
    visit: int = 2
    """A node that the interpreter visits; it costs another step for each two inputs or outputs."""
    move: int = 16
    """A node whose mosaic is composed, and each of its inputs costs one more."""
    cell: int = 6
    """A cell of a mosaic: mosaics are kept, so this bounds their memory."""
    rule: int = 16
    """A rule that is asked about a scatter."""
    region_rule: int = 4
    """A rule that is asked about a region."""
    trial: int = 2
    """A node that is written on trial."""
    array: int = 3
    """A NumPy operation on an array without elements."""
    table: int = 16
    """The same for a term that is tabulated."""

    # So many of these for one step.
    products: int = 3
    """Products of two monomials."""
    elements: int = 512
    """Elements of an array that is read, joined or compared."""
    tabulated: int = 8192
    """Elements of a table, times the monomials and atoms of its term."""
    numbers: int = 2048
    """Numbers at which a term of one size is evaluated, times its monomials and atoms."""

    def of_array(self, size: int) -> int:
        """Return the price of one NumPy operation on this many elements.

        >>> PRICES.of_array(512)
        4
        """
        return self.array + size // self.elements


PRICES = Prices()
"""The present prices."""
