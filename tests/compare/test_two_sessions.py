"""What is held at once: two sessions, and of the draws that wait a hash and a file."""

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.compare.draws import stream
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.draws.how_many import FEW
from onnx_scatterx.compare.light_model import lighten
from onnx_scatterx.compare.verifying import verify
from onnx_scatterx.compare.waiting_draws import Waiting, WaitingDraws, digest
from onnx_scatterx.files.io import load
from onnx_scatterx.processes.child import NoReply
from onnx_scatterx.runtime import worker_client
from onnx_scatterx.runtime.worker_client import ModelFile, Runner
from tests.compare.first_difference import parse

CONV = """g (float[1, 2, 8, 8] x) => (float[A, B, C, D] y)
    <float[2, 2, 3, 3] w = {%s}, float[2, 1, 1] b = {1, 2}> { c = Conv (x, w) y = %s }"""
WEIGHTS = ", ".join(str(1 / (n + 3)) for n in range(36))
PAIRS = {
    "the same": (CONV % (WEIGHTS, "Mul (c, b)"), CONV % (WEIGHTS, "Mul (c, b)")),
    "a Conv that is fused in one": (
        CONV % (WEIGHTS, "Mul (c, b)"),
        CONV.replace("y = %s", "d = Mul (c, b) e = Neg (d) y = Neg (e)") % WEIGHTS,
    ),
    "another one": (CONV % (WEIGHTS, "Mul (c, b)"), CONV % (WEIGHTS, "Add (c, b)")),
}


@pytest.mark.parametrize("name", PAIRS)
def test_at_most_two_sessions_are_loaded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runners: list[Runner] = []
    counts = []
    start, noted = Runner._start, Runner._noted

    def started(runner: Runner, fused: bool = False) -> object:
        runners.append(runner)
        return start(runner, fused)

    def counted(runner: Runner, answer: Any, fused: bool) -> NoReply | None:
        failure = noted(runner, answer, fused)
        counts.append(sum(len(each._sessions) for each in dict.fromkeys(runners)))
        return failure

    monkeypatch.setattr(Runner, "_start", started)
    monkeypatch.setattr(Runner, "_noted", counted)
    before, after = map(parse, PAIRS[name])
    found = verify(before, after, samples=4)
    assert found.same == (name != "another one")
    assert max(counts) == 2


def test_large_models_with_other_bits_are_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """If runs are much work, and the first draw has other bits when fused, no other is tried."""
    fused = []
    run = Runner.run

    def counted(runner: Runner, *how: Any, **options: Any) -> Any:
        fused.append(options["fused"])
        return run(runner, *how, **options)

    monkeypatch.setattr(Runner, "run", counted)
    model = parse(PAIRS["the same"][0])
    for few, tried in ((4, 1), (FEW + 1, FEW + 1)):
        fused.clear()
        monkeypatch.setattr(stream, "draws_for", lambda *_, few=few: few)
        found = verify(model, model)
        assert found.accepted == few
        compared = found.compared["default_options"]
        assert sum(fused) == tried + compared
        assert (compared == 0) == (few == 4)


@pytest.mark.started
def test_a_process_without_a_model_keeps_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it need not end: what was freed goes back to the system."""
    if not sys.platform.startswith("linux"):
        pytest.skip("other systems do not tell what memory a process has")
    monkeypatch.setattr(worker_client, "_MUCH", 40 << 20)
    proto = parse("g (float[1, 2000] x) => (float[1, 6000] y) { y = MatMul (x, w) }")
    weights = np.ones((2000, 6000), np.float32)  # 48 MB
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    onnx.save(proto, tmp_path / "m.onnx")
    with Runner(ModelFile(tmp_path / "m.onnx")) as runner:
        assert runner.load(100) is None
        first = runner._process.id
        runner.drop(fused=False)
        assert runner.load(100, fused=True) is None
        assert runner._process.id == first
        with open(f"/proc/{first}/status") as status:
            held = next(line.split()[1] for line in status if line.startswith("RssAnon"))
        assert int(held) < 90 << 10  # kB: the model once, and Python


@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "c8", "c16", "bfloat16", "float8_e4m3fn"])
def test_the_hash_tells_all_but_the_bits_of_a_nan(kind: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, kind, kind))
    nan = complex(np.nan, np.nan) if dtype.kind == "c" else np.nan
    values = np.array([0.0, 1.0, nan]).astype(dtype)
    other = values.copy()
    bits = other.view(np.uint8).reshape(3, -1)
    bits[2, -1] ^= 0x80  # the sign of the NaN
    assert digest({"y": values}) == digest({"y": other})
    for changed in (-values, values[::-1], values.reshape(3, 1), values.view(np.uint8)):
        assert digest({"y": values}) != digest({"y": changed})
    assert digest({"y": values}) != digest({"z": values})


def test_the_hash_of_integers_and_texts() -> None:
    for one, other in (
        (np.array([1, 2]), np.array([1, 3])),
        (np.array([], np.int64), np.array([], np.int32)),
        (np.array(["a", "b"], object), np.array(["a", "c"], object)),
        (np.array([1, 2]).astype(ml_dtypes.int4), np.array([1, 3]).astype(ml_dtypes.int4)),
    ):
        assert digest({"y": one}) == digest({"y": one.copy()}) != digest({"y": other})


def test_large_inputs_wait_in_a_file(tmp_path: Path) -> None:
    waiting = WaitingDraws(tmp_path)
    feeds = [
        {"x": np.full(1 << 18, number, np.float64), "s": np.array([f"{number}"], object)}
        for number in range(3)
    ]
    for number, feed in enumerate((*feeds, {"x": np.zeros(3)})):
        waiting.add(Waiting(Draw(number, {}, "plain", feed), b"", False, 1.0))
    waiting.add(Waiting(Draw(-1, {}, "given", feeds[0]), b"", False, 1.0))
    assert [bool(each.draw.feeds) for each in waiting.found] == [False, False, False, True, True]
    for each, feed in zip(waiting.found[::-1][2:], feeds[::-1], strict=True):
        drawn = waiting.draw(each).feeds
        assert all(np.array_equal(drawn[name], feed[name]) for name in feed)
    waiting.close()


def test_large_tensors_stay_in_the_file(tmp_path: Path) -> None:
    """They are read again if somebody asks; a model of the caller keeps its own."""
    weights = np.arange(1 << 19, dtype=np.float32)
    proto = parse("""g (float[N] x) => (float[A] y, string[1] t)
        <string[1] s = {"é"}, float k = {2}>
        { a = Mul (x, k) y = Add (a, w) t = Identity (s) }""")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    path = tmp_path / "m.onnx"
    onnx.save(proto, path)
    model = load(path)
    lighten(model, lambda: load(path))
    tensors = {name: v.const_value for name, v in model.graph.initializers.items()}
    assert isinstance(tensors["w"], ir.LazyTensor)
    assert isinstance(tensors["k"], ir.Tensor)
    assert np.array_equal(tensors["w"].numpy(), weights)
    mine = load(path)
    text, again = tensors["s"], mine.graph.initializers["s"].const_value
    assert text is not None
    assert again is not None
    assert text.numpy().tolist() == again.numpy().tolist()
    outside = ir.ExternalTensor("d", 0, 4, ir.DataType.FLOAT, shape=ir.Shape([1]), name="w")
    model.graph.initializers["w"].const_value = outside
    lighten(model, lambda: load(path))
    assert model.graph.initializers["w"].const_value is outside
    own = mine.graph.initializers["w"].const_value
    found = verify(mine, path, samples=1)
    assert found.same
    assert mine.graph.initializers["w"].const_value is own
