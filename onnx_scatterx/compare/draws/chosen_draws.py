"""Draws of which so many elements are chosen as is promised: they are made, or found.

If a promise is about an input, about a comparison of one with a number, or about a mask that the
model computes so, elements of the drawn input are changed until the promise is true. Of any other
value nothing is known: the model is run up to it, and a draw that breaks the promise is not used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import TURNED, Assumption, Clause, Subject, noted_assumptions
from onnx_scatterx.compare.interface import Interface
from onnx_scatterx.errors import ScatterXError, VerifyError
from onnx_scatterx.graphs import constant, overridable, remove_dead, values_by_name
from onnx_scatterx.operators import described, element_type

Feeds = Mapping[str, np.ndarray]
Probe = Callable[[Feeds], "Mapping[str, np.ndarray] | None"]
"""Returns the values of a model by their names; None if it does not run on these inputs."""

_MOST_IN_VAIN = 200
_STARTS = 16  # of a run that are tried
_TRIED = 64  # elements of an input that may take the place of another one


@dataclass(frozen=True)
class Promised:
    """A promise, and the input that decides it, if there is one.

    ``test`` says of which elements of the input the promise is; if it is of the ``others``, of the
    elements of which the test is not true.
    """

    subject: Subject
    assumption: Assumption
    input: str = ""
    test: Subject = field(default_factory=lambda: Subject(""))
    others: bool = False

    @classmethod
    def of(
        cls, name: str, assumption: Assumption, model: ir.Model, inputs: Collection[str]
    ) -> Promised:
        """Return a promise of a model, with the input that decides it, or without one."""
        subject = Subject.of(name)
        value: ir.Value | None = values_by_name(model.graph).get(subject.value)
        sign, number, others = subject.sign, subject.number, False
        while value is not None and value.name not in inputs:
            node = value.producer()
            if node is None or node.domain != "" or not node.inputs:
                break
            before, op = node.inputs[0], node.op_type
            if described(node).compares and not sign:
                found = _compared(node, overridable(model))
                if found is None:
                    break
                before, sign, number = found
            elif op == "Not" and not sign:
                others = not others
            elif not described(node).keeps_order and not (op == "Cast" and _of_bools(node, sign)):
                break
            value = before
        name = "" if value is None else value.name or ""
        if name not in inputs:
            return cls(subject, assumption)
        return cls(subject, assumption, name, Subject(name, sign, number), others)

    def chosen(self, array: np.ndarray) -> np.ndarray:
        """Return which elements of the input are chosen."""
        return self.test.chosen(array) ^ self.others

    @property
    def is_run(self) -> bool:
        """Whether the elements lie in a run."""
        return any(count.is_run for count in self.assumption.counts)

    def holds(self, chosen: np.ndarray, sizes: Mapping[str, int]) -> bool:
        """Return whether so many elements are chosen, and lie so, as is promised."""
        return all(count.holds(chosen, sizes) for count in self.assumption.counts)


def _compared(
    node: ir.Node, overridable: Collection[ir.Value]
) -> tuple[ir.Value, str, int | float] | None:
    """Return the value, sign and number of a comparison with one number, or None."""
    sign = described(node).compares
    for value, other, said in (
        (node.inputs[0], node.inputs[1], sign),
        (node.inputs[1], node.inputs[0], TURNED[sign]),
    ):
        tensor = constant(other, overridable)
        if value is not None and tensor is not None and tensor.size == 1:
            number = tensor.numpy().item()
            if isinstance(number, int | float) and not isinstance(number, bool):
                return value, said, number
    return None


def _of_bools(node: ir.Node, sign: str) -> bool:
    """Return whether a Cast keeps which elements are not 0, by its types."""
    read, made = node.inputs[0], node.outputs[0]
    kinds = (None if read is None else read.dtype, made.dtype)
    return not sign and ir.DataType.BOOL in (*kinds, element_type(node.attributes["to"].as_int()))


@dataclass
class ChosenDraws:
    """The promises of how many elements are chosen; ``probe`` runs a model up to their values."""

    promises: Sequence[Promised] = ()
    probe: Probe | None = None
    broken: dict[str, None] = field(default_factory=dict)
    """The promises that drawn inputs broke."""
    _in_vain: int = 0  # draws that broke one, as long as none keeps all

    @property
    def is_hopeless(self) -> bool:
        """Whether so many inputs broke a promise, and none kept all, that no more are drawn."""
        return self._in_vain >= _MOST_IN_VAIN

    @classmethod
    def of(cls, model: ir.Model, assumed: Mapping[str, Assumption]) -> ChosenDraws:
        """Return the promises about a model."""
        inputs = [i.name for i in Interface.of(model).inputs]
        counted = ((name, said) for name, said in assumed.items() if said.counts)
        promises = [Promised.of(name, said, model, inputs) for name, said in counted]
        return cls(sorted(promises, key=lambda promise: not promise.is_run))  # runs need room

    @property
    def probed(self) -> list[str]:
        """The values up to which the model must be run."""
        return list(dict.fromkeys(c.subject.value for c in self.promises if not c.input))

    def fit(self, shapes: Mapping[str, Sequence[int]], sizes: Mapping[str, int]) -> bool:
        """Return whether inputs of these shapes have as many elements as are promised.

        >>> draws = ChosenDraws([Promised(Subject("m"), Assumption.parse("exactly 5", "m"), "m")])
        >>> [draws.fit({"m": shape}, {}) for shape in ((2, 3), (2, 2))]
        [True, False]
        """
        for promise in self.promises:
            low, high = promise.assumption.chosen_range(sizes)
            if low > high or high < 0:
                return False
            if promise.input in shapes and low > math.prod(shapes[promise.input]):
                return False
        return True

    def made(
        self, feeds: Mapping[str, np.ndarray], sizes: Mapping[str, int], rng: np.random.Generator
    ) -> dict[str, np.ndarray]:
        """Return inputs with elements changed so that so many are chosen as is promised."""
        changed, fixed = dict(feeds), dict[str, list[Promised]]()
        for promise in self.promises:
            if promise.input not in changed:
                continue
            before = fixed.setdefault(promise.input, [])
            changed[promise.input] = _arranged(promise, changed[promise.input], before, sizes, rng)
            before.append(promise)
        return changed

    def kept(self, feeds: Feeds, sizes: Mapping[str, int]) -> bool:
        """Return whether inputs keep all promises; those on which the model does not run count."""
        values: Mapping[str, np.ndarray] | None = {}
        if self.probed and self.probe is not None:
            values = self.probe(feeds)
        for promise in self.promises:
            if promise.input in feeds:
                chosen = promise.chosen(feeds[promise.input])
            elif values is None or promise.subject.value not in values:
                continue
            else:
                array = values[promise.subject.value]
                try:
                    dtype = ir.DataType.from_numpy(array.dtype)
                    promise.subject.check({promise.subject.value: dtype}, ())
                except ScatterXError as error:
                    raise VerifyError(str(error)) from error
                chosen = promise.subject.chosen(array)
            if not promise.holds(chosen, sizes):
                said = f"{promise.subject}: {' and '.join(map(str, promise.assumption.counts))}"
                self.broken[said] = None
                self._in_vain += self._in_vain >= 0
                return False
        self._in_vain = -1
        return True


def noted_promises(before: ir.Model, after: ir.Model) -> tuple[Clause, ...]:
    """Return the assumptions that the second model states, without promises of which it is free.

    If the first model states a promise, too, and lacks its value, the promise was used before the
    first was written. What was done since knows no such value, so it holds without the promise.
    """
    own, named = noted_assumptions(after.metadata_props), values_by_name(before.graph)
    gone = {c for c in own if c.is_count and Subject.of(c.name).value not in named}
    used = gone.intersection(noted_assumptions(before.metadata_props)) if gone else gone
    return tuple(clause for clause in own if clause not in used)


def probed_model(model: ir.Model, values: Sequence[str]) -> ir.Model:
    """Change a model into one whose outputs are values of it; return it."""
    named = values_by_name(model.graph)
    model.graph.outputs[:] = [named[name] for name in values]
    remove_dead(list(model.graph))
    return model


def _arranged(
    promise: Promised,
    array: np.ndarray,
    before: Sequence[Promised],
    sizes: Mapping[str, int],
    rng: np.random.Generator,
) -> np.ndarray:
    """Return an array with other elements where the promise wants others.

    An element stays what it is for the promises ``before``, if another one is found.
    """
    low, high = promise.assumption.chosen_range(sizes)
    low, high = int(max(low, 0)), int(min(high, array.size))
    if low > high:
        return array
    number = int(rng.choice([low, high, int(rng.integers(low, high + 1))]))
    flat = array.reshape(-1).copy()
    current, taken = promise.chosen(flat), np.zeros(flat.size, bool)
    for other in before:
        taken |= other.chosen(flat)
    if promise.is_run:
        wanted = _run(number, current, taken, rng)
    else:
        wanted = _some(number, current, taken, rng)
    pool = _candidates(promise.test, flat)
    is_chosen = promise.chosen(pool)
    for at in np.flatnonzero(current != wanted):
        fits = pool[is_chosen == wanted[at]]
        here = flat[at : at + 1]
        for other in before:
            same = other.chosen(fits) == other.chosen(here)
            fits = fits[same] if same.any() else fits
        if fits.size:
            flat[at] = fits[rng.integers(fits.size)]
    return flat.reshape(array.shape)


def _run(
    number: int, current: np.ndarray, taken: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return elements that lie in a run, so that few of those that are ``taken`` change."""

    def at(start: int) -> np.ndarray:
        places = np.arange(current.size)
        return np.asarray((places >= start) & (places < start + number))

    starts = rng.integers(current.size - number + 1, size=_STARTS)
    return at(min(map(int, starts), key=lambda start: (taken & (at(start) != current)).sum()))


def _some(
    number: int, current: np.ndarray, taken: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Return so many elements; those that are ``taken`` stay chosen, or not, if that can be."""
    kept, free = taken & current, np.flatnonzero(~taken)
    if not 0 <= number - kept.sum() <= free.size:
        kept, free = np.zeros(current.size, bool), np.arange(current.size)
    wanted: np.ndarray = kept.copy()
    wanted[rng.permutation(free)[: number - kept.sum()]] = True
    return wanted


def _candidates(test: Subject, flat: np.ndarray) -> np.ndarray:
    """Return elements of an array, of which a test is true and not true: drawn ones come first."""
    kind, number = flat.dtype, test.number if test.sign else 0
    if kind == np.bool_:
        return np.array([False, True])
    drawn = [flat[:_TRIED]]
    if kind.kind in "iu":
        info = np.iinfo(kind)
        near = [n for n in (number - 1, number, number + 1) if info.min <= n <= info.max]
        return np.concatenate([*drawn, np.array(near, kind)])
    centre = np.asarray(number).astype(kind)
    around = [centre, (centre - 1).astype(kind), (centre + 1).astype(kind)]
    return np.concatenate([*drawn, np.stack(around)])
