"""The source of draws for a comparison: two streams, which have their turns.

In the draws of one stream, all dims of one name are equal. If the model refuses all of them, the
other stream has its turns, too, in which such dims differ.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import (
    NOTHING,
    Assumption,
    Clause,
    check_clauses,
    names_in,
)
from onnx_scatterx.compare.draws.chosen_draws import ChosenDraws
from onnx_scatterx.compare.draws.constants import Constants, one_sided
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.draws.guidance import looked_at, without_functions
from onnx_scatterx.compare.draws.landmarks import Aims
from onnx_scatterx.compare.draws.refusals import Farthest
from onnx_scatterx.compare.draws.sampler import InputSampler, limit_name, rank_name
from onnx_scatterx.compare.draws.sizes import Combination, SizeSearch, SizeSymbol
from onnx_scatterx.compare.draws.stream import THOROUGH, Fits, SamplingPolicy, Stream
from onnx_scatterx.compare.draws.uses import Uses, uses_of
from onnx_scatterx.compare.interface import Input, Interface
from onnx_scatterx.errors import ScatterXError, VerifyError
from onnx_scatterx.graphs import all_nodes, values_by_name

_RELAXING = 60  # from this draw on, dims of one name differ in every other draw


@dataclass
class SampleSource:
    """Draws sets of inputs; if there is a stream ``relaxed``, also some in which dims differ."""

    equal: Stream
    relaxed: Stream | None = None

    def __post_init__(self) -> None:
        self._last = self.equal  # which made the last draw

    @classmethod
    def of(
        cls,
        model: ir.Model,
        assumed: Sequence[Clause] = (),
        *,
        seed: int = 0,
        distrust_dims: bool = False,
        policy: SamplingPolicy = THOROUGH,
        beside: ir.Model | None = None,
    ) -> "SampleSource":
        """Return a source of inputs for a model, which also tell it from the model ``beside``."""
        face, looked = Interface.of(model), looked_at(model)
        models = [looked, *(without_functions(m) for m in (beside,) if m is not None)]
        uses, constants = [uses_of(each) for each in models], Constants.of(*models)
        assumptions = _checked(model, (*face.inputs, *face.overridable), assumed)
        chosen = ChosenDraws.of(model, assumptions)
        places = {node.name or "": place for place, node in enumerate(all_nodes(model))}

        def sampler(turn: int, input_: Input, independent: bool) -> InputSampler:
            one, *other = (each.get(input_.name, Uses()) for each in uses)
            near = one_sided([each.numbers for each in (one, *other)])
            also = other[0].bounds if other else {}
            aims = Aims(near, constants.numbers, constants.words, also, turn)
            said = assumptions.get(input_.name, NOTHING)
            return InputSampler(input_, one.bounds, aims, said, independent)

        def stream(independent: bool) -> Stream:
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
            return Stream(samplers, optional, search, fits, seed, policy, looked)

        shares = not distrust_dims and policy.on_purpose and _share_names(face.inputs)
        return cls(stream(distrust_dims), stream(True) if shares else None)

    @property
    def varies(self) -> bool:
        """Whether two draws can differ."""
        return bool(self.equal.samplers or self.equal.optional)

    @property
    def chosen(self) -> ChosenDraws:
        """The promises of how many elements are chosen, which all draws keep."""
        return self.equal.fits.chosen

    @property
    def is_relaxed(self) -> bool:
        """Whether the model was run only on inputs in which dims of one name differ."""
        return self.relaxed is not None and bool(self.relaxed.search.accepted)

    def draws(self, samples: int) -> Iterator[tuple[Draw, Combination, bool]]:
        """Yield draws as `draw` returns them, enough for ``samples`` of them to be accepted."""
        for number in range(6 * samples + 60):
            each = self.draw(number)
            if each is not None:
                yield each
            elif self.chosen.is_hopeless:
                return

    def draw(self, number: int) -> tuple[Draw, Combination, bool] | None:
        """Return a draw of the stream whose turn it is, as `Stream.draw` does."""
        self._last = self._asked(number)
        return self._last.draw(number)

    def tell(
        self, sizes: Combination, accepted: bool, overridden: bool = False, reason: str = ""
    ) -> None:
        """Learn whether the model accepted the last draw, or why not."""
        self._last.tell(sizes, accepted, overridden, reason)

    def settle(self, sizes: Combination) -> tuple[int, int]:
        """Return the work of a run at the last sizes, and how many draws are enough for it."""
        return self._last.settle(sizes)

    def _asked(self, number: int) -> Stream:
        """Return the stream of the next draw: dims of one name differ if nothing else is left."""
        if self.relaxed is None or self.equal.search.accepted:
            return self.equal
        other = number >= _RELAXING and number % 2 == 1
        return self.relaxed if self.is_relaxed or other else self.equal


def _checked(
    model: ir.Model, inputs: Sequence[Input], assumed: Sequence[Clause]
) -> dict[str, Assumption]:
    """Return the assumptions by name; raise VerifyError if the model has no such name."""
    declared = {n for i in inputs for dim in i.symbols for n in (dim, *names_in(dim))}
    integers = {i.name: i.dtype is not None and i.dtype.is_integer() for i in inputs}
    try:
        values = {n: v.dtype for n, v in values_by_name(model.graph).items()}
        return check_clauses(assumed, symbols=declared, inputs=integers, values=values)
    except ScatterXError as error:
        raise VerifyError(str(error)) from error


def _share_names(inputs: Sequence[Input]) -> bool:
    """Return whether a dim of two inputs has the same name."""
    names = [name for i in inputs for name in {dim for dim in i.dims or () if isinstance(dim, str)}]
    return len(set(names)) < len(names)


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
