"""Terms of constants and coordinates on a whole box at once, as arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onnx_scatterx.equivalence.terms import Term


def tabulated(term: Term, grid: Mapping[Term, np.ndarray]) -> np.ndarray | None:
    """Return an integer on a grid of coordinates; None if it depends on anything else."""
    if term in grid:
        return grid[term]
    match term.op:
        case "integer":
            return np.asarray(term.data) if abs(term.data) < 2**62 else None
        case "polynomial":
            atoms = {a: tabulated(a, grid) for a in term.args}
            total = np.zeros((), np.int64)
            for monomial, coefficient in term.data:
                product = np.asarray(coefficient)
                for atom in monomial:
                    value = atoms[atom]
                    if value is None:
                        return None
                    product = product * value
                total = total + product
            return total if term.low > -(2**62) and term.high < 2**62 else None
        case "table":
            index = tabulated(term.args[0], grid)
            if index is None or term.sort != "integer":
                return None
            array = term.data.array
            return np.asarray(array[np.clip(index, 0, len(array) - 1)].astype(np.int64))
    return None
