"""What reads a model starts no process and no ONNX Runtime, unless floats depend on fixed sizes."""

import itertools
import subprocess
from pathlib import Path
from typing import Any

import onnxruntime
import pytest

import onnx_scatterx
from onnx_scatterx.processes import child
from tests.helpers.support import parse

MODELS = Path(__file__).parents[2] / "models"
INTEGERS = ["kv_cache_ts", "letterbox_ts", "refine_centres_ts", "shift_right_ts", "overlap_add_ts"]
TARGETS = ["standard", "scatterx", "qnn"]
PAIRS = list(itertools.product(INTEGERS, TARGETS))
# The scale of a Resize is a float that follows from sizes.
FLOATS = """g (float[N, 4] x, float[1, 4] u) => (float[N, 4] y) <int64[1, 1] i = {1}> {
    s = Shape (x) f = Cast <to = 1> (s) h = Sqrt (f) k = Cast <to = 7> (h)
    t = Add (k, s) e = Expand (u, s) w = ScatterND (x, i, u) y = Add (w, e) q = Neg (t) }"""


class StartedError(Exception):
    """A process was started, or a session."""


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def starts(*_: Any, **__: Any) -> None:
        raise StartedError

    for place, name in (
        (child, "started"),
        (subprocess, "Popen"),
        (onnxruntime, "InferenceSession"),
    ):
        monkeypatch.setattr(place, name, starts)


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.sampled(5, each="target")
@pytest.mark.parametrize(("name", "target"), PAIRS)
def test_nothing_is_started(name: str, target: str) -> None:
    model = str(MODELS / f"{name}.onnx")
    node = onnx_scatterx.inspect(model, target=target).scatters[0].node
    assert onnx_scatterx.explain(model, target=target)
    onnx_scatterx.advise(model, target=target)
    onnx_scatterx.extract(model, node, target=target)
    assert onnx_scatterx.optimize(model, target=target).report.scatters


@pytest.mark.usefixtures("nothing_starts")
def test_floats_of_fixed_sizes_are_the_exception() -> None:
    model = parse(FLOATS)
    assert onnx_scatterx.optimize(model, target="standard").report.removed == 1
    with pytest.raises(StartedError):
        onnx_scatterx.optimize(model, target="standard", fix={"N": 4})
