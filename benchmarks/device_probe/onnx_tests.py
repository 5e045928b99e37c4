"""The tests of ONNX's backends, as cases.

They are lowered to the oldest usual operator set at which they compute the same, since a consumer
may know an operator and not the newest set.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from benchmarks.device_probe.case import OPSET, Case, Feeds, ir_of, run_truth

_RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
           "RandomUniformLike", "Dropout"}  # fmt: skip
_RTOL, _ATOL = 1e-3, 1e-5


@functools.cache
def _backend_tests() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return [test for test in found if "_expanded" not in test.name]


def onnx_cases(operator: str | None = None) -> Iterator[Case]:
    """Return ONNX's own tests of one node, on tensors, that ONNX Runtime computes as they say.

    Each is used unchanged and, if it has several inputs, also with all but the first as constants.
    """
    for test in _backend_tests():
        nodes = test.model.graph.node
        if len(nodes) != 1 or nodes[0].domain not in ("", "ai.onnx") or nodes[0].op_type in _RANDOM:
            continue
        if operator not in (None, nodes[0].op_type):
            continue
        inputs, outputs = test.data_sets[0]
        arrays = [*inputs, *outputs]
        if not all(
            isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "fiub" for x in arrays
        ):
            continue
        label = test.name.removeprefix("test_")
        given = [value.name for value in test.model.graph.input]
        feeds = dict(zip(given, (np.asarray(x) for x in inputs), strict=True))
        expected = [np.asarray(x) for x in outputs]
        for constant in (False, True):
            if constant and len(given) < 2:
                continue
            found = _lowered(test.model, feeds, expected, given[1:] if constant else ())
            if found is not None:
                model, rest, truth = found
                name = f"{label} (constants)" if constant else label
                yield Case(nodes[0].op_type, name, model, rest, truth, False)


def _lowered(
    model: onnx.ModelProto, feeds: Feeds, expected: list[np.ndarray], constants: Sequence[str]
) -> tuple[onnx.ModelProto, Feeds, Feeds] | None:
    """Return a test at the oldest usual operator set at which it computes the same, if it runs."""
    newest = model.opset_import[0].version
    since = onnx.defs.get_schema(model.graph.node[0].op_type, newest).since_version
    for opset in dict.fromkeys((OPSET, *range(18, 24), since, newest)):
        made = onnx.ModelProto()
        made.CopyFrom(model)
        made.opset_import[0].version = opset
        made.ir_version = ir_of(opset)
        for name in constants:
            made.graph.initializer.append(numpy_helper.from_array(feeds[name], name))
        kept = [value for value in made.graph.input if value.name not in constants]
        del made.graph.input[:]
        made.graph.input.extend(kept)
        rest = {name: array for name, array in feeds.items() if name not in constants}
        try:
            onnx.checker.check_model(made)
            found = run_truth(made, rest)
        except Exception:  # ONNX Runtime may raise any exception if it does not take a model
            continue
        if len(found) == len(expected) and all(map(_close, found.values(), expected)):
            return made, rest, found
    return None


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    same = one.shape == other.shape and one.dtype == other.dtype
    if same and one.dtype.kind == "f":
        return bool(np.allclose(one, other, _RTOL, _ATOL, equal_nan=True))
    return same and bool((one == other).all())
