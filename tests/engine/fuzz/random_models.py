"""Random models, and the comparison of each with what it becomes."""

import argparse
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError
from tests.helpers.drawing import Drawing
from tests.helpers.pair import SESSIONS, rejections

_TARGETS = ("standard", "scatterx", "ort-cpu", "qnn", "nnapi")
Trial = Callable[[int], tuple[str, onnx.ModelProto | None]]
"""Compares a model that a seed gives; returns what came of it, and the model if it differs."""


def runs(model: onnx.ModelProto, option: int, feeds: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Return the outputs of a model for each input; None if it does not load or run."""
    try:
        session = SESSIONS[option](model)
        return [session.run(None, feed) for feed in feeds]
    except rejections():
        return None


def judged(d: Drawing, same: Callable[[Any, Any], bool]) -> tuple[str, onnx.ModelProto | None]:
    """Compare a model with what it becomes; return what came of it, and the model if it differs."""
    rng, model = d.rng, onnx.shape_inference.infer_shapes(d.model())
    feeds = [d.feed(), d.feed()]
    if runs(model, 0, feeds) is None:
        return "not valid", None
    target, gathers, fixed = rng.choice(_TARGETS), rng.random() < 0.5, rng.random() < 0.3
    fix, first = None, next((v for v in d.inputs.values() if v[1]), None)
    if fixed and first is not None:
        place = [*d.inputs.values()].index(first)
        dim = model.graph.input[place].type.tensor_type.shape.dim[0]
        fix = {"N": dim.dim_value}
        dim.dim_param = "N"
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
