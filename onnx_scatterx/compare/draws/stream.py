"""Draws sets of inputs at the sizes of one search, which learns from the answers of a model."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Assumption
from onnx_scatterx.compare.draws.chosen_draws import ChosenDraws
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.draws.how_many import FEW, LEAST_DRAWS, draws_for, steps
from onnx_scatterx.compare.draws.landmarks import Dealer, Label
from onnx_scatterx.compare.draws.sampler import FLAVOURS, MOST_ELEMENTS, InputSampler
from onnx_scatterx.compare.draws.sizes import EQUAL_SIZES, Combination, SizeSearch
from onnx_scatterx.compare.interface import Input

Aimed = list[tuple[Dealer, frozenset[Label]]]
_FEW_FLAVOURS = ("plain", "constants", "ties", "plain", "unit", "counting", "plain", "special")
_HIDING = ("special", "tiny")  # flavours with a NaN, which hides differences
_DEARER = 1.5  # if draws are few, sizes with so many times the elements are not drawn
_OVERRIDE = 0.3  # how often an overridable initializer is overridden


@dataclass(frozen=True)
class SamplingPolicy:
    """How inputs are drawn.

    ``flavours`` are the kinds of floats, in turn. ``equal_sizes`` are tried for all symbols at
    once; if ``equal_first``, before sizes that differ. ``elements`` is how many elements all inputs
    may have together, if the declared dims allow this. If ``overrides``, overridable initializers
    are drawn now and then. If ``on_purpose``, the ends of ranges and the constants of the models
    are hit.
    """

    flavours: Sequence[str]
    equal_sizes: Sequence[int]
    elements: int
    overrides: bool
    equal_first: bool = False
    on_purpose: bool = True


THOROUGH = SamplingPolicy(FLAVOURS, EQUAL_SIZES, 1 << 20, overrides=True)
"""The policy that finds differences: special values, and small sizes that differ first."""


@dataclass(frozen=True)
class Fits:
    """Decides whether the inputs at a combination of sizes exist and are not too large."""

    samplers: Sequence[InputSampler]
    assumptions: Mapping[str, Assumption]
    elements: int
    chosen: ChosenDraws = field(default_factory=ChosenDraws)

    def exist(self, sizes: Combination, most: int = MOST_ELEMENTS) -> bool:
        """Return whether arrays of these sizes exist, and all assumptions on symbols are true."""
        elements, shapes = 0, dict[str, tuple[int, ...]]()
        for sampler in self.samplers:
            shape = sampler.shape(sizes)
            if shape is None or not sampler.fits(shape):  # or a dim is negative
                return False
            elements += math.prod(shape)
            shapes[sampler.input.name] = shape
            own = sampler.own(sizes)
            if any(not a.allows(own[n], own) for n, a in self.assumptions.items() if n in own):
                return False
        return elements <= most and self.chosen.fit(shapes, sizes)

    def __call__(self, sizes: Combination) -> bool:
        fixed = sum(sampler.least_elements for sampler in self.samplers)
        return self.exist(sizes, min(MOST_ELEMENTS, max(self.elements, 4 * fixed)))


@dataclass
class Stream:
    """Draws sets of inputs at the sizes that ``search`` proposes.

    From the model ``looked_at`` follows how much work a run is.
    """

    samplers: Sequence[InputSampler]
    optional: Sequence[InputSampler]
    search: SizeSearch
    fits: Fits
    seed: int
    policy: SamplingPolicy
    looked_at: ir.Model
    _few: int = 0  # how many draws are wanted, if they are few
    _accepted: int = 0
    _put_off: int = 0  # how many draws had no flavour of their own
    _again: Combination | None = None  # sizes at which nothing is hit on purpose
    _aimed: Aimed = field(default_factory=list)  # what the last draw hit on purpose
    _doubted: Aimed = field(default_factory=list)  # and the draw before, which was refused

    def draw(self, number: int) -> tuple[Draw, Combination, bool] | None:
        """Return a draw, its combination of sizes, and whether an initializer is overridden.

        The result is None if a declared dim is negative at the next sizes, or if no drawn input
        satisfies all assumptions.
        """
        rng = np.random.default_rng([self.seed, number])
        sizes = self.search.next() if self._again is None else self._again
        tells = self.search.is_at_constants(sizes)
        known = bool(self.search.accepted) and self._again is None and not tells
        self._aimed = []
        if not self.fits.exist(sizes):
            return None
        flavours = self.policy.flavours
        if tells:  # whose effect must not be hidden by a NaN
            self._put_off += 1
            flavour = flavours[0]
        else:
            flavour = flavours[(number - self._put_off) % len(flavours)]
        if self._few:
            flavour = _FEW_FLAVOURS[self._accepted % len(_FEW_FLAVOURS)]
        elif not self.search.accepted and self.policy.on_purpose and flavour in _HIDING:
            flavour = flavours[0]  # it may be one of few draws
        at = number if known and self.policy.on_purpose else None
        every = self._few > 0
        feeds = {d.input.name: d.draw(rng, sizes, flavour, at, every) for d in self.samplers}
        own = {n: k for d in self.samplers for n, k in d.own(sizes).items()} | sizes
        feeds = self.fits.chosen.made(feeds, own, rng)
        overridden = {
            d.input.name: _override(d, rng, flavour, sizes)
            for d in self.optional
            if self._again is None and rng.random() < _OVERRIDE
        }
        dealers = [d.aims.dealer for d in self.samplers if d.aims is not None]
        self._aimed = [(dealer, labels) for dealer in dealers if (labels := dealer.taken())]
        samplers = {d.input.name: d for d in (*self.samplers, *self.optional)}
        for name, array in (feeds | overridden).items():
            sampler = samplers[name]
            if not sampler.assumption.holds(array, sampler.own(sizes)):
                return None
        if not self.fits.chosen.kept(feeds | overridden, own):
            return None
        shown = {s.name: sizes[s.name] for s in self.search.symbols if not s.limit}
        return Draw(number, shown, flavour, feeds | overridden), sizes, bool(overridden)

    def tell(
        self, sizes: Combination, accepted: bool, overridden: bool = False, reason: str = ""
    ) -> None:
        """Learn whether the model accepted the last draw, or why not.

        If what was hit on purpose may be why it did not, the next draw has the same sizes, and
        nothing is hit on purpose there.
        """
        self._accepted += accepted
        again, self._again = self._again is not None, None
        if again:  # the draw before was refused
            doubted, self._doubted = self._doubted, []
            if accepted:
                _tell(doubted, False)
        elif not accepted and sizes in self.search.accepted:
            _tell(self._aimed, False)
            return
        elif not accepted and any(not labels <= dealer.accepted for dealer, labels in self._aimed):
            self._again, self._doubted = sizes, self._aimed
            return
        if accepted:
            _tell(self._aimed, True)
        if accepted or not overridden:
            self.search.tell(sizes, accepted, reason)

    def settle(self, sizes: Combination) -> tuple[int, int]:
        """Return the work of a run at accepted sizes, and how many draws are enough for it."""
        shapes = {s.input.name: shape for s in self.samplers if (shape := s.shape(sizes))}
        work = steps(self.looked_at, shapes)
        few = any(s.is_hit_alone(sizes) for s in self.samplers)
        wanted = draws_for(work, 3 if few else LEAST_DRAWS)
        if wanted <= FEW:
            self._few = wanted
            base = self._elements(sizes)
            self.search.is_cheap = lambda other: self._elements(other) <= _DEARER * base
        return work, wanted

    def _elements(self, sizes: Combination) -> int:
        return 1 + sum(math.prod(sampler.shape(sizes) or ()) for sampler in self.samplers)


def _tell(aimed: Aimed, accepted: bool) -> None:
    for dealer, labels in aimed:
        dealer.tell(labels, accepted)


def _override(
    sampler: InputSampler, rng: np.random.Generator, flavour: str, sizes: Combination
) -> np.ndarray:
    """Return another value for an initializer: its elements in another order, or new elements."""
    assert sampler.input.default is not None
    default = sampler.input.default.numpy()
    if default.size > 1 and rng.random() < 0.5:
        return rng.permutation(default.ravel()).reshape(default.shape)
    input_ = Input(sampler.input.name, sampler.input.dtype, default.shape)
    return InputSampler(input_, sampler.constraints, sampler.aims, sampler.assumption).draw(
        rng, sizes, flavour
    )
