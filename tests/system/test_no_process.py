"""What reads a model starts no process and no ONNX Runtime, unless floats depend on fixed sizes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import onnxruntime
import pytest

import onnx_scatterx
from onnx_scatterx.system import child
from tests.helpers.support import parse

MODELS = Path(__file__).parents[2] / "models"
INTEGERS = ["kv_cache_ts", "letterbox_ts", "refine_centres_ts", "shift_right_ts", "overlap_add_ts"]
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
@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("target", ["standard", "scatterx", "qnn"])
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


def test_onnx_runtime_is_not_even_imported() -> None:
    program = f"""if True:
        import sys, onnx_scatterx
        model = {str(MODELS / "kv_cache_ts.onnx")!r}
        onnx_scatterx.optimize(model, target="standard"), onnx_scatterx.inspect(model)
        print([name for name in sys.modules if name.split(".")[0] == "onnxruntime"])"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
