"""Facts with a sample of points: a term that is negative at an allowed point cannot be proven.

Before a long proof is tried, the term is evaluated at all points that satisfy the facts.
"""

from __future__ import annotations

import itertools

import numpy as np

from onnx_scatterx.optimizer.symbolic.one_size import OneSize
from onnx_scatterx.optimizer.symbolic.sample import EVERYWHERE, Sample, Values
from onnx_scatterx.optimizer.symbolic.terms import Atom, Term, as_term


class SampledFacts(OneSize):
    """Facts that refute terms by the points of a sample."""

    def _prepare(self) -> None:
        super()._prepare()
        below = self._layers[1] if self._layers[1:] else None
        self._below = below if isinstance(below, SampledFacts) else None
        self._sample: Sample = Sample() if self._below is None else self._below._sample
        self._allowed = 0, EVERYWHERE  # how many facts were looked at, and which points they allow
        same = self._below is not None and self.extents is self._below.extents
        self._at_points: dict[Atom, Values] = self._below._at_points if self._below and same else {}

    def _forget(self) -> None:
        super()._forget()
        self._allowed = 0, EVERYWHERE

    def _is_refuted(self, t: Term) -> bool:
        """Return whether a term is negative at a point that the facts allow."""
        values = self._values(t)
        return bool((values.right & (values.numbers < 0) & self._points()).any())

    def _values(self, t: Term) -> Values:
        return self._sample.of(t, self.extents, self._at_points)

    def _points(self) -> np.ndarray:
        """Return which points of the sample the facts allow."""
        count, allowed = self._allowed
        if not count:
            for leaf, (modulus, residue) in self._residues.items():
                numbers = self._values(as_term(leaf)).numbers
                allowed = allowed & (numbers % modulus == residue)
        for fact in itertools.islice(self._seen, count, None):
            values = self._values(fact)
            allowed = allowed & values.right & (values.numbers >= 0)
        self._allowed = len(self._seen), allowed
        return allowed if self._below is None else allowed & self._below._points()
