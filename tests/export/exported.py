"""The rows of a matrix, and the check of a model against the equation that it was made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.checker

from onnx_scatterx.theory import Gathering, Pick, Scattering, XTransformer
from tests.helpers.pair import Feed, agree
from tests.helpers.support import i64, run


def feed_of(source: Scattering | Gathering, model: onnx.ModelProto) -> Feed:
    feed = {"data": source.data, "indices": source.transformer.f}
    if isinstance(source, Scattering):
        feed["updates"] = source.updates
    return {i.name: feed[i.name] for i in model.graph.input}


def check(source: Scattering | Gathering, model: onnx.ModelProto, judge: Any = run) -> None:
    onnx.checker.check_model(model, full_check=True)
    (output,) = judge(model, feed_of(source, model))
    expected = source.run()
    assert agree(expected, output), f"{expected} became {output}"


X = np.arange(20, dtype=np.float32).reshape(5, 4)


def rows(*indices: int) -> Callable[[tuple[int, ...]], XTransformer]:
    """Rows of a matrix."""
    f = i64(indices)[:, None]
    return lambda shape: XTransformer(
        (len(indices), shape[1]), shape, f, Pick((0,)), Pick((1,)), Pick.identity(2)
    )
