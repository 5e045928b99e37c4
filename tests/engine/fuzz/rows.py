"""``python -m tests.engine.fuzz.rows``: random functions of rows that data choose.

A model chooses rows by masks, computes a function of each row alone, and writes the results back:
``x[m] = f(x[m], ...)``, with additions and other reductions, several choices of one tensor, a mask,
its complement, choices among chosen rows, rows of another tensor, and rows that are routed to
experts. The rows that are not chosen have numbers on which the function fails, or no numbers.

Both session options are compared, with masks of which no element is true, one, some, and all.
Functions whose bits do not depend on the number of rows are compared bit for bit, but for the sign
of a zero; the others with ``last_bits``, relative to the largest number.
"""

import random
import sys
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import onnx
from onnx import helper

import onnx_scatterx
from tests.engine.fuzz.random_models import campaign, runs
from tests.engine.fuzz.row_steps import NO_NUMBERS, ROWS, Choice, Feed, RowDrawing, elementwise
from tests.helpers.builder import Dims, code
from tests.helpers.drawing import Value
from tests.helpers.pair import agree

_TARGETS = ('standard, avoid = ["NonZero"]',) * 2 + ("qnn",)
_SIZES = (0, 1, 2, 5, 33, 7, 64)


class Rows(RowDrawing):
    """A random model of one to three writes of chosen rows."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        super().__init__(rng)
        self.random = np.random.default_rng(seed)
        self.symbolic = rng.random() < 0.6
        self.rank = rng.choice((1, 1, 1, 2))
        self.count = rng.choice((1, 4, 8, 33))
        first: Dims = ("N",) if self.symbolic else (self.count,)
        self.first = first if self.rank == 1 else (*first, 3) if rng.random() < 0.5 else (2, *first)
        self.width = rng.choice((1, 2, 4, 6, 8))
        self.routes: list[str] = []
        self.counted: dict[str, Choice] = {}  # an input with the chosen rows only
        x = self.input(self.dtype, (*self.first, self.width))
        self.data = [x]
        before: Choice | None = None
        for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
            self.choice = before = self.choose_rows(before)
            x = self.written(x, before)
        self.output = x

    def choose_rows(self, before: Choice | None) -> Choice:
        """Return a choice of rows by a new mask, or of what a choice before left."""
        rng, first = self.rng, self.first
        if before is not None and not before.routed and rng.random() < 0.35:
            self.kinds.add("complement")
            chosen = before.chosen
            return self.of_mask(self.node("Not", before.mask), lambda feed: ~chosen(feed))
        kind = rng.choice(("given", "given", "equal", "compared", "routed"))
        if kind == "routed" and self.rank == 1 and np.dtype(self.dtype).kind == "f":
            return self.routed()
        if kind == "equal":
            ids, number = self.input("int64", first), rng.randrange(3)
            mask = self.node("Equal", ids, self.constant(number))
            return self.of_mask(mask, lambda feed: feed[ids] == number)
        if kind == "compared":
            given = self.input("float32", first)
            mask = self.node("Greater", given, self.constant(0.0, "float32"))
            return self.of_mask(mask, lambda feed: feed[given] > 0)
        mask = self.input("bool", first)
        return self.of_mask(mask, lambda feed: feed[mask])

    def of_mask(
        self, mask: str, chosen: Callable[[Feed], np.ndarray], rank: int | None = None
    ) -> Choice:
        """Return the rows at which a mask is true, in a form of some exporter."""
        rank = self.rank if rank is None else rank
        read = self.cast(mask, "int64") if self.rng.random() < 0.1 else mask
        nonzero = self.node("NonZero", read)
        places = cache(partial(self.node, "Transpose", nonzero, perm=[1, 0]))

        @cache
        def flat() -> str:
            how = self.rng.choice(("reshape", "squeeze", "gather"))
            if how == "reshape":
                return self.node("Reshape", nonzero, self.constant([-1]))
            if how == "squeeze":
                return self.node("Squeeze", places(), self.constant([1]))
            return self.node("Gather", nonzero, self.constant(0), axis=0)

        return Choice(mask, chosen, places, flat if rank == 1 else None)

    def routed(self) -> Choice:
        """Return the tokens that are routed to one of the experts: each has two."""
        self.kinds.add("routed")
        ids = self.input("int64", (*self.first, 2))
        expert = self.rng.randrange(3)
        if self.rng.random() < 0.5:
            hot = self.node("OneHot", ids, self.constant(4), self.constant([0, 1]), axis=-1)
            turned = self.node("Transpose", hot, perm=[2, 1, 0])
            mask = self.node("Gather", turned, self.constant(expert), axis=0)
        else:
            turned = self.node("Transpose", ids, perm=[1, 0])
            mask = self.node("Equal", turned, self.constant(expert))
        at = self.node("NonZero", mask)
        place, token = (self.node("Gather", at, self.constant(i), axis=0) for i in (0, 1))
        last = self.constant([-1])
        pair = [self.node("Unsqueeze", v, last) for v in (token, place)]
        weights = self.input(self.dtype, (*self.first, 2))
        self.data.append(weights)
        chosen = self.node("GatherND", weights, self.node("Concat", *pair, axis=-1))
        self.routes.append(ids)
        return Choice(
            mask,
            lambda feed: (feed[ids] == expert).any(1),
            lambda: pair[0],
            lambda: token,
            chosen,
        )

    def written(self, x: str, choice: Choice) -> str:
        """Return ``x`` after a write of the chosen rows."""
        rng = self.rng
        self.pool = []  # of other rows
        read = rng.choice((x, self.data[0]))
        start = Value(self.read(read), self.dtype, (ROWS, self.width))
        if not choice.routed and rng.random() < 0.1:
            start = self.with_rows(start, choice)
        depth = rng.randint(1, 8)
        y = start
        for level in range(depth):
            if rng.random() < 0.04 and level < depth - 1:
                y = self.nested(y, choice)
            else:
                y = self.draw("row steps", y)
        y = self.fitted(y)
        if choice.routed:
            weight = self.node("Unsqueeze", choice.routed, self.constant([-1]))
            y = self.of("Mul", y, weight)
        base = x
        if rng.random() < 0.2:
            shape = self.node("Shape", x)
            zero = helper.make_tensor("z", code(self.dtype), [1], [0])
            base = self.node("ConstantOfShape", shape, value=zero)
        which = ("none", "none", "add", "add", "max", "min", "mul")
        reduction = rng.choice(which if not choice.routed else which[2:])
        more = {} if reduction == "none" else {"reduction": reduction}
        if choice.flat is not None and rng.random() < 0.3:
            wide = self.node("Unsqueeze", choice.flat(), self.constant([-1]))
            index = self.node("Expand", wide, self.node("Shape", y.name))
            return self.node("ScatterElements", base, index, y.name, axis=0, **more)
        return self.node("ScatterND", base, choice.places(), y.name, **more)

    def with_rows(self, x: Value, choice: Choice) -> Value:
        """Return ``x`` with an operand that has the chosen rows only, or one row."""
        one = self.rng.random() < 0.3
        self.kinds.add("one row" if one else "rows")
        rows = 1 if one else f"K{len(self.counted)}"
        d = self.input(self.dtype, (rows, self.width))
        if not one:
            self.counted[d] = choice
        return self.of("Add", x, d)

    def nested(self, x: Value, choice: Choice) -> Value:
        """Return ``x`` after a write of some of its rows."""
        if choice.routed or len(x.dims) != 2:
            made: Value = self.draw("row steps", x)
            return made
        self.kinds.add("nested")
        mask = self.input("bool", self.first)
        inner = self.of_mask(self.read(mask), lambda feed: feed[mask], 1)
        y = elementwise(self, Value(self.read(x.name, inner), x.dtype, x.dims))
        return self.of("ScatterND", x, inner.places(), y.name)

    def fed(self, size: int) -> dict[str, np.ndarray]:
        """Draw inputs on which the model runs; rows that are not chosen may be anything."""
        size = size if self.symbolic else self.count
        found: dict[str, np.ndarray] = {}
        for name, (dtype, dims) in self.inputs.items():
            if name in self.counted:
                continue
            shape = tuple(size if d == "N" else int(d) for d in dims)
            found[name] = self.numbers(shape, dtype)
            if name in self.routes:  # two experts of each token
                order = np.argsort(self.random.random((shape[0], 4)), axis=1)
                found[name] = order[:, :2].astype(np.int64)
            elif dtype == "int64" and len(shape) == self.rank and name not in self.fails:
                found[name] = self.random.integers(0, 3, shape)
        for name, choice in self.counted.items():
            dtype, (_, *tail) = self.inputs[name]
            count = int(choice.chosen(found).sum())
            found[name] = self.numbers((count, *(int(d) for d in tail)), dtype, special=0)
        for name, (choice, right) in self.fails.items():
            array, chosen = found[name], choice.chosen(found)
            wide = chosen.reshape(chosen.shape + (1,) * (array.ndim - chosen.ndim))
            found[name] = np.where(wide, right(array), array).astype(array.dtype)
        array = found[self.data[0]]
        if array.dtype.kind == "f" and self.rng.random() < 0.4:  # rows that are no numbers
            array[self.random.random(array.shape[: self.rank]) < 0.3] = self.random.choice(
                NO_NUMBERS
            )
        return found

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        self.outputs[self.output] = self.dtype
        for name in self.counted:
            if not self.symbolic:
                dtype, (_, *tail) = self.inputs[name]
                self.inputs[name] = dtype, (f"K_{name}", *tail)
        return onnx.shape_inference.infer_shapes(super().model())


_LEFT = {"NonZero", "GatherND", "ScatterND", "ScatterElements", "ScatterX", "Compress"}


def operators(model: onnx.ModelProto) -> set[str]:
    """Return the operators of a model and of its functions."""
    found = {node.op_type for node in model.graph.node}
    return found.union(*({n.op_type for n in f.node} for f in model.functions), ())


def close_to(one: np.ndarray, two: np.ndarray) -> bool:
    """Tell whether two arrays differ by rounding, relative to the largest number."""
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.kind != "f":
        return bool((one == two).all())
    a, b = one.astype(np.float64), two.astype(np.float64)
    with np.errstate(all="ignore"):
        rest = ~(np.isfinite(a) & np.isfinite(b))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        scale = np.max(np.abs(np.where(np.isfinite(a), a, 0)), initial=1.0)
        limit = {4: 1e-4, 8: 1e-10, 2: 1e-1}[one.dtype.itemsize]
        near = np.abs(a - b) <= limit * scale
    return bool((same | (near & ~rest)).all())


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    drawn = Rows(seed)
    model = drawn.model()
    feeds = [drawn.fed(size) for size in _SIZES]
    original = [runs(model, option, feeds) for option in (0, 1)]
    if original[0] is None:
        return "not valid", None
    target = drawn.rng.choice(_TARGETS)
    if "qnn" in target and drawn.symbolic:
        target = _TARGETS[0]
    try:
        result = onnx_scatterx.optimize(model, target=target, last_bits=drawn.is_near)
    except onnx_scatterx.ScatterXError as error:
        return f"error: {str(error)[:60]}", None
    left = operators(result.model) & _LEFT
    said = [a for a in result.report.assumptions if "bits" in str(a)]
    if said and not drawn.is_near:
        return f"DIFFERENT: last bits are named without need: {said}", model
    for option, what in enumerate(("off", "default")):
        before, after = original[option], runs(result.model, option, feeds)
        if before is None:
            continue
        if after is None:
            return f"DIFFERENT: {what} {target}: it does not run", model
        for (one,), (two,) in zip(before, after, strict=True):
            if agree(one, two, zeros=True):
                continue
            if (drawn.is_near or option) and close_to(one, two):
                continue  # with the default options, nodes may be fused otherwise
            return f"DIFFERENT: {what} {target} {drawn.dtype}", model
    kind = "near" if drawn.is_near else "exact"
    if not left:
        return f"{kind}: rewritten", None
    reasons = {s.reason.name for s in result.report.scatters if s.reason is not None}
    kept = "scatters are left" if reasons else "choices are left"
    return f"{kind}: {', '.join([kept, *sorted(reasons)])}", None


if __name__ == "__main__":
    sys.exit(campaign("rows", __doc__, trial))
