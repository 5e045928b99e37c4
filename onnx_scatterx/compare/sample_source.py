"""Draws sets of inputs for a model: searches for sizes, and draws arrays at these sizes."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import (
    NOTHING,
    Assumption,
    Clause,
    check_clauses,
    names_in,
)
from onnx_scatterx.compare.chosen_draws import ChosenDraws
from onnx_scatterx.compare.constants import Constants, one_sided
from onnx_scatterx.compare.guidance import looked_at, without_functions
from onnx_scatterx.compare.interface import Input, Interface
from onnx_scatterx.compare.landmarks import Aims, Dealer, Label
from onnx_scatterx.compare.refusals import Farthest
from onnx_scatterx.compare.result import Draw
from onnx_scatterx.compare.sampler import (
    FLAVOURS,
    MOST_ELEMENTS,
    InputSampler,
    limit_name,
    rank_name,
)
from onnx_scatterx.compare.sizes import EQUAL_SIZES, Combination, SizeSearch, SizeSymbol
from onnx_scatterx.compare.uses import Uses, uses_of
from onnx_scatterx.compare.work import FEW, LEAST_DRAWS, draws_for, steps
from onnx_scatterx.errors import ScatterXError, VerifyError
from onnx_scatterx.graphs import all_nodes, values_by_name

Aimed = list[tuple[Dealer, frozenset[Label]]]
_FEW_FLAVOURS = ("plain", "constants", "ties", "plain", "unit", "counting", "plain", "special")
_HIDING = ("special", "tiny")  # flavours with a NaN, which hides differences
_RELAXING = 60  # from this draw on, dims of one name differ in every other draw
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
class SampleSource:
    """Draws sets of inputs at the sizes that ``search`` proposes."""

    samplers: Sequence[InputSampler]
    optional: Sequence[InputSampler]
    search: SizeSearch
    fits: Fits
    seed: int
    policy: SamplingPolicy = THOROUGH
    looked_at: ir.Model | None = None  # from which the work of a run follows
    relaxed: "SampleSource | None" = None  # in which dims of one name differ
    _few: int = 0  # how many draws are wanted, if they are few
    _accepted: int = 0
    _put_off: int = 0  # how many draws had no flavour of their own
    _again: Combination | None = None  # sizes at which nothing is hit on purpose
    _aimed: Aimed = field(default_factory=list)  # what the last draw hit on purpose
    _doubted: Aimed = field(default_factory=list)  # and the draw before, which was refused
    _last: "SampleSource | None" = None  # which made the last draw

    @classmethod
    def of(
        cls,
        model: ir.Model,
        face: Interface,
        seed: int,
        assumed: Sequence[Clause],
        distrust_dims: bool,
        policy: SamplingPolicy = THOROUGH,
        beside: ir.Model | None = None,
    ) -> "SampleSource":
        """Return a source of inputs for a model, which also tell it from the model ``beside``."""
        looked = looked_at(model)
        models = [looked, *(without_functions(m) for m in (beside,) if m is not None)]
        uses, constants = [uses_of(each) for each in models], Constants.of(*models)
        inputs = (*face.inputs, *face.overridable)
        declared = {n for i in inputs for dim in i.symbols for n in (dim, *names_in(dim))}
        integers = {i.name: i.dtype is not None and i.dtype.is_integer() for i in inputs}
        try:
            values = {n: v.dtype for n, v in values_by_name(model.graph).items()}
            assumptions = check_clauses(assumed, symbols=declared, inputs=integers, values=values)
        except ScatterXError as error:
            raise VerifyError(str(error)) from error

        def sampler(turn: int, input_: Input, independent: bool) -> InputSampler:
            name = input_.name
            mine, *others = (each.get(name, Uses()) for each in uses)
            near = one_sided([each.numbers for each in (mine, *others)])
            also = others[0].bounds if others else {}
            return InputSampler(
                input_,
                mine.bounds,
                Aims(near, constants.numbers, constants.words, also, turn),
                assumptions.get(name, NOTHING),
                independent,
            )

        chosen = ChosenDraws.of(model, [i.name for i in face.inputs], assumptions)
        places = {node.name or "": place for place, node in enumerate(all_nodes(model))}

        def source(independent: bool) -> SampleSource:
            samplers = [sampler(turn, i, independent) for turn, i in enumerate(face.inputs)]
            overridable = face.overridable if policy.overrides else ()
            optional = [sampler(0, i, independent) for i in overridable if i.default is not None]
            fits = Fits(samplers, assumptions, policy.elements, chosen)
            search = SizeSearch(
                _symbols(samplers, assumptions),
                fits,
                np.random.default_rng([seed, 1 << 20]),
                equal_sizes=policy.equal_sizes,
                equal_first=policy.equal_first,
                telling=constants.sizes if policy.on_purpose else (),
                farthest=Farthest(places),
            )
            return cls(samplers, optional, search, fits, seed, policy, looked)

        found = source(distrust_dims)
        if not distrust_dims and policy.on_purpose and _share_names(face.inputs):
            found.relaxed = source(True)
        return found

    @property
    def varies(self) -> bool:
        """Whether two draws can differ."""
        return bool(self.samplers or self.optional)

    def draws(self, samples: int) -> Iterator[tuple[Draw, Combination, bool]]:
        """Yield draws as `draw` returns them, enough for ``samples`` of them to be accepted."""
        for number in range(6 * samples + 60):
            each = self.draw(number)
            if each is not None:
                yield each
            elif self.fits.chosen.is_hopeless:
                return

    @property
    def is_relaxed(self) -> bool:
        """Whether the model was run only on inputs in which dims of one name differ."""
        return self.relaxed is not None and bool(self.relaxed.search.accepted)

    def settle(self, sizes: Combination) -> tuple[int, int]:
        """Return the work of a run at accepted sizes, and how many draws are enough for it."""
        if self.is_relaxed and self.relaxed is not None:
            return self.relaxed.settle(sizes)
        assert self.looked_at is not None
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

    def _asked(self, number: int) -> "SampleSource":
        """Return the source of the next draw: dims of one name differ if nothing else is left."""
        if self.relaxed is None or self.search.accepted:
            return self
        other = number >= _RELAXING and number % 2 == 1
        return self.relaxed if self.is_relaxed or other else self

    def draw(self, number: int) -> tuple[Draw, Combination, bool] | None:
        """Return a draw, its combination of sizes, and whether an initializer is overridden.

        The result is None if a declared dim is negative at the next sizes, or if no drawn input
        satisfies all assumptions.
        """
        self._last = self._asked(number)
        if self._last is not self:
            return self._last.draw(number)
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
        if self._last is not None and self._last is not self:
            self._last.tell(sizes, accepted, overridden, reason)
            return
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


def _share_names(inputs: Sequence[Input]) -> bool:
    """Return whether a dim of two inputs has the same name."""
    names = [name for i in inputs for name in {dim for dim in i.dims or () if isinstance(dim, str)}]
    return len(set(names)) < len(names)


def _tell(aimed: Aimed, accepted: bool) -> None:
    for dealer, labels in aimed:
        dealer.tell(labels, accepted)


def _symbols(
    samplers: Sequence[InputSampler], assumptions: Mapping[str, Assumption]
) -> list[SizeSymbol]:
    symbols: dict[str, SizeSymbol] = {}
    for sampler in samplers:
        name = sampler.input.name
        if sampler.input.dims is None:
            symbols[rank_name(name)] = SizeSymbol(rank_name(name), most=4)
        dims = sampler.input.dims or (None,) * len(sampler.symbols)
        for dim, symbol in zip(dims, sampler.symbols, strict=True):
            if isinstance(dim, int):
                continue
            for part in names_in(symbol):
                known = assumptions.get(part.partition("@")[0], NOTHING)
                symbols.setdefault(part, SizeSymbol(part, known))
        if sampler.is_integer:
            symbols[limit_name(name)] = SizeSymbol(limit_name(name), limit=True)
    return list(symbols.values())


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
