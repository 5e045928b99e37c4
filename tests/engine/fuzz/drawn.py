"""Random graphs around writes, and the comparison of each with what it becomes."""

import argparse
import random
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError
from tests.helpers.builder import Builder
from tests.helpers.pair import SESSIONS, rejections

_TARGETS = ("standard", "scatterx", "ort-cpu", "qnn", "nnapi")
Shape = tuple[int, ...]
Feeds = Sequence[dict[str, Any]]
Trial = Callable[[int], tuple[str, onnx.ModelProto | None]]
"""Compares a model that a seed gives; returns what came of it, and the model if it differs."""


class Drawn(Builder):
    """A random graph: nodes that move, writes and reads of the floats that a subclass draws."""

    widest = 4  # columns of the first tensor

    @abstractmethod
    def floats(self, shape: Shape) -> str:
        """Return a tensor of floats."""

    @abstractmethod
    def ended(self, x: str, shape: Shape) -> None:
        """Compute with a tensor, and give out what comes of it."""

    def moved(self, x: str, shape: Shape) -> tuple[str, Shape]:
        """Move the elements of a tensor, or read some of them."""
        rows, columns = shape
        op = self.rng.choice(("Transpose", "Reshape", "Slice", "Gather", "Concat", "Squeeze", ""))
        if op == "Transpose":
            return self.node(op, x), (columns, rows)
        if op == "Reshape":
            return self.node(op, x, self.constant([columns, rows])), (columns, rows)
        if op == "Slice":
            start = self.rng.randrange(rows)
            bounds = self.constant([start]), self.constant([rows])
            return self.node(op, x, *bounds), (rows - start, columns)
        if op == "Gather":
            taken = self.rng.choice(([*range(rows)], [0], [*range(rows)][::-1], [rows - 1] * 2))
            return self.node(op, x, self.constant(taken)), (len(taken), columns)
        if op == "Concat":
            other = self.floats((1, columns))
            return self.node(op, x, other, axis=0), (rows + 1, columns)
        if op == "Squeeze":
            wide = self.node("Unsqueeze", x, self.constant([0]))
            return self.node(op, wide, self.constant([0])), shape
        return x, shape

    def written(self, x: str, shape: Shape) -> str:
        """Write into a tensor."""
        rng, (rows, columns) = self.rng, shape
        reduction = rng.choice(("none", "none", "none", "add", "mul", "max", "min"))
        if (reduction in ("max", "min") and self.opset < 18) or self.opset < 16:
            reduction = "none"
        attributes = {} if reduction == "none" else {"reduction": reduction}
        kind = rng.choice(("all", "box", "rows", "run", "mask", "elements", "columns"))
        if kind == "mask":
            mask = self.input("bool", shape)
            places = self.node("Transpose", self.node("NonZero", mask))
            updates = self.node("GatherND", self.floats(shape), places)
            return self.node("ScatterND", x, places, updates)
        if kind == "columns":
            turned = self.node("Transpose", x)
            count = rng.randint(1, columns)
            places = self.constant([[i] for i in range(count)])
            found = self.node("ScatterND", turned, places, self.floats((count, rows)), **attributes)
            return self.node("Transpose", found)
        if kind == "elements":
            count = rng.randint(1, rows)
            places = self.constant([[i] * columns for i in range(count)])
            updates = self.floats((count, columns))
            return self.node("ScatterElements", x, places, updates, axis=0, **attributes)
        chosen = {
            "all": [*range(rows)], "box": [*range(rng.randint(1, rows))],
            "rows": rng.sample(range(rows), rng.randint(1, rows)), "run": [0],
        }[kind]  # fmt: skip
        places = self.constant([[i] for i in chosen])
        if kind == "run":
            places = self.input("int64", (1, 1))
        return self.node("ScatterND", x, places, self.floats((len(chosen), columns)), **attributes)

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        shape: Shape = self.rng.randint(1, 4), self.rng.randint(1, self.widest)
        x = self.floats(shape)
        for _ in range(self.rng.randint(1, 3)):
            if self.rng.random() < 0.5:
                x, shape = self.moved(x, shape)
            x = self.written(x, shape)
        self.ended(x, shape)
        return onnx.shape_inference.infer_shapes(self.made())


def runs(model: onnx.ModelProto, option: int, feeds: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Return the outputs of a model for each input; None if it does not load or run."""
    try:
        session = SESSIONS[option](model)
        return [session.run(None, feed) for feed in feeds]
    except rejections():
        return None


def judged(
    model: onnx.ModelProto,
    feeds: Feeds,
    rng: random.Random,
    same: Callable[[Any, Any], bool],
) -> tuple[str, onnx.ModelProto | None]:
    """Compare a model with what it becomes; return what came of it, and the model if it differs."""
    for feed in feeds:
        rows = {n: 1 for n, a in feed.items() if a.dtype == np.int64}
        feed.update({n: np.zeros((1, 1), np.int64) for n in rows})
    if runs(model, 0, feeds) is None:
        return "not valid", None
    target, gathers, fixed = rng.choice(_TARGETS), rng.random() < 0.5, rng.random() < 0.3
    fix = None
    if fixed and model.graph.input:
        first = model.graph.input[0]
        number = first.type.tensor_type.shape.dim[0].dim_value
        first.type.tensor_type.shape.dim[0].dim_param = "N"
        fix = {"N": number}
    try:
        result = onnx_scatterx.optimize(model, target=target, gathers=gathers, fix=fix)
    except ScatterXError as error:
        return f"refused: {str(error)[:40]}", None
    found = f"{target}, {sum(s.reason is None for s in result.report.scatters)} removed"
    for option, what in enumerate(("off", "default")):
        before = runs(model, option, feeds)
        if before is None:
            continue
        after = runs(result.model, option, feeds)
        if after is None:
            return f"DIFFERENT: {what} {target} gathers={gathers} fix={fix}: it does not run", model
        for one, two in zip(before, after, strict=True):
            if not same(one, two):
                return f"DIFFERENT: {what} {target} gathers={gathers} fix={fix}", model
    return found, None


def campaign(name: str, about: str | None, trial: Trial) -> int:
    """Run a campaign; return 1 if a model became another."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.engine.fuzz.{name}", description=about)
    parser.add_argument("--count", type=int, default=300, help="how many models (300)")
    parser.add_argument("--seed", type=int, default=0, help="of the first model (0)")
    parser.add_argument("--keep", type=Path, help="a directory for the models that were found")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    tally: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.count):
        told, model = trial(seed)
        tally[told] += 1
        if model is not None:
            print(seed, told, flush=True)
            if given.keep:
                ir.save(ir.from_proto(model), given.keep / f"{seed}.onnx")
    wrong = sum(n for told, n in tally.items() if told.startswith("DIFFERENT"))
    for told, count in sorted(tally.items()):
        print(f"{count:6} {told}")
    print(f"{given.count} models, {wrong} different")
    return int(wrong > 0)
