"""A run on which two models differ, so that they must not be proven to be the same."""

from collections.abc import Mapping

import numpy as np
import onnx

from onnx_scatterx.proof.proof import Proof
from tests.helpers.pair import rejections
from tests.helpers.proving import prove
from tests.helpers.support import run

Feed = Mapping[str, np.ndarray]


def outcome(model: onnx.ModelProto, feed: Feed) -> list[object]:
    """Return types, shapes and bytes of a run's outputs; nothing if the model rejects the feed."""
    try:
        return [(a.dtype, a.shape, a.tobytes()) for a in run(model, feed)]
    except rejections():
        return []


def unproven(one: onnx.ModelProto, other: onnx.ModelProto, feed: Feed) -> Proof:
    """Check that two models differ on a run on which the first one runs, and are not proven."""
    expected = outcome(one, feed)
    assert expected
    assert expected != outcome(other, feed)
    found = prove(one, other)
    assert found.kind in ("unknown", "proven for sizes"), found
    return found


def floats(*shape: int, spread: float = 1) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.standard_normal(shape) * spread).astype(np.float32)
