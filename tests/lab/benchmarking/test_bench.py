"""`bench`: what it compares and prints, and its arithmetic. No test asserts a time."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.lab.benchmarking.result import (
    Benchmark,
    NodeTime,
    Spread,
    Timing,
    by_operator,
    median_index,
    read_trace,
)
from onnx_scatterx.runtime.timing import MOST_ROUNDS, interleaved
from tests.helpers.commands import error_of, saved
from tests.helpers.native_support import since
from tests.helpers.support import f32, i64, parse

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]

ROWS = """g (float[S, 4] x, int64[N, 1] i, float[N, 4] y) => (float[S, 4] z)
          { z = ScatterND(x, i, y) }"""
NEG = "g (float[N] x) => (float[N] y) { [flip] y = Neg(x) }"
ABS = "g (float[N] x) => (float[N] y) { y = Abs(x) }"
TWICE = "g (float[N] x) => (float[N] y) { a = Neg(x)  b = Neg(a)  y = Neg(b) }"


def test_targets_of_one_model() -> None:
    found = onnx_scatterx.bench(
        parse(ROWS), targets=["standard", "scatterx"], sizes={"S": 9, "N": 3}, rounds=6
    )
    assert [t.name for t in found.timings] == ["original", "standard", "scatterx"]
    assert [t.difference for t in found.timings] == [None] * 3
    assert dict(found.sizes) == {"S": 9, "N": 3}
    assert all(t.times.shape == (6,) and (t.times > 0).all() for t in found.timings)
    assert list(by_operator(found["original"].node_times)) == ["ScatterND"]
    assert list(by_operator(found["scatterx"].node_times)) == ["ScatterX"]
    first = found.speedup(found.timings[0])
    assert (first.median, first.interval) == (1, (1, 1))


def test_models_of_every_kind(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.onnx", NEG)
    models: list[str | Path | onnx.ModelProto | ir.Model] = [
        *(path, Path(path)),
        *(parse(TWICE), ir.from_proto(parse(ABS))),
    ]
    found = onnx_scatterx.bench(models, rounds=6, node_times=False, library=False)
    assert [t.name for t in found.timings] == [path, f"{path} (2)", "model 3", "model 4"]
    assert [t.difference for t in found.timings] == [None, None, None, "differ: y"]
    assert found.sizes == {"N": 64}
    assert not any(t.node_times for t in found.timings)
    named = onnx_scatterx.bench({"neg": path, "abs": parse(ABS)}, rounds=6, library=False)
    assert [t.name for t in named.timings] == ["neg", "abs"]
    assert named["neg"].node_times[0].node == "flip"


@since(1, 20, "a directory for external data")
def test_external_data_are_not_moved(tmp_path: Path) -> None:
    model = parse(
        ROWS.replace("float[N, 4] y)", "float[B, 4] u)").replace("(x, i, y)", "(x, i, w)")
    )
    weights = onnx.numpy_helper.from_array(np.ones((300, 4), np.float32), "w")
    model.graph.initializer.append(weights)
    path = tmp_path / "m.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    inputs: dict[str, np.ndarray] = {
        "x": np.zeros((300, 4), np.float32),
        "i": np.arange(300)[:, None],
        "u": np.zeros((1, 4), np.float32),
    }
    found = onnx_scatterx.bench(path, targets=["scatterx"], inputs=inputs, rounds=6)
    assert [t.difference for t in found.timings] == [None, None]
    assert {p.name for p in tmp_path.iterdir()} == {"m.onnx", "w.bin"}


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("g (string[2] x) => (string[2] y) { y = Identity(x) }", {"x": np.array(["a", "b"])}),
        ("g (float[4] x) => (seq(float[4]) y) { y = SequenceConstruct(x) }", {"x": np.ones(4)}),
        ("g () => (int64[1] y) { y = Constant <value_ints = [1]> () }", {}),
    ],
)
def test_tensors_that_cannot_be_bound(text: str, inputs: dict[str, np.ndarray]) -> None:
    inputs = {n: f32(a) if a.dtype == np.float64 else a for n, a in inputs.items()}
    found = onnx_scatterx.bench([parse(text)] * 2, inputs=inputs, rounds=6, library=False)
    assert found.timings[1].difference is None


def test_differences_are_reported() -> None:
    text = """g (float[4] x) => (float[4] y)
              {{ c = Constant <value_float = {}> ()  y = {}(x, c) }}"""
    thirds = [parse(text.format(*how)) for how in (("3.0", "Div"), ("0.33333334", "Mul"))]
    found = onnx_scatterx.bench(
        thirds, inputs={"x": f32([1.1, 2.3, 3.7, 0.9])}, rounds=6, node_times=False, library=False
    )
    assert found.timings[1].difference == "differ by rounding"
    others = parse(NEG.replace("y", "w"))
    found = onnx_scatterx.bench([parse(NEG), others], rounds=6, node_times=False, library=False)
    assert found.timings[1].difference == "others: w, y"


def test_errors() -> None:
    model = parse(NEG)
    failing = NEG.replace("Neg(x)", "Reshape(x, s)").replace("{", "<int64[1] s = {63}> {", 1)
    for arguments, because in (
        ({"models": []}, "no model was given"),
        ({"models": model, "rounds": 5}, "5 rounds are too few; use 6 at least"),
        ({"models": [model, model], "targets": ["standard"]}, "on one model, and here are 2"),
        ({"models": model, "targets": ["npu"]}, "no target is called 'npu'"),
        ({"models": model, "sizes": {"Q": 1}}, "the model has no size 'Q'; it has N"),
        ({"models": model, "inputs": {"x": i64([1])}}, "model 1: input 'x' is int64"),
        (
            {"models": [parse(NEG.replace("[N]", f"[{n}]")) for n in "43"]},
            r"model 2: input 'x' has shape \[4\], and the model takes \[3\]",
        ),
        ({"models": [model, parse(failing)]}, "model 2: ONNX Runtime cannot run the model: "),
    ):
        with pytest.raises(ScatterXError, match=because) as error:
            onnx_scatterx.bench(**arguments, library=False)
        assert "\n" not in str(error.value)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = saved(tmp_path / "a.onnx", NEG), saved(tmp_path / "b.onnx", TWICE)
    assert main(["bench", one, other, "--rounds", "7", "--size", "N=5", "--seed", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert printed.out.startswith("N = 5, 1 thread, 7 rounds, ONNX Runtime ")
    assert "\tthe same\n" in printed.out
    assert "\nNeg\t" in printed.out
    np.save(tmp_path / "x.npy", f32([1, -2]))
    arguments = [one, "--target", "standard", "--input", f"x={tmp_path / 'x.npy'}", "--json"]
    assert main(["bench", *arguments, "--rounds", "6", "--threads", "2", "--no-library"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [m["name"] for m in content["models"]] == ["original", "standard"]
    assert (content["threads"], content["sizes"]) == (2, {})
    first = content["models"][0]
    assert len(first["rounds"]) == 6
    assert first["nodes"][0]["node"] == "flip"
    assert set(first["speedup"]) == {"median", "quartiles", "interval"}


def test_bad_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = saved(tmp_path / "a.onnx", NEG)
    for arguments, because in (
        ([model], "one model cannot be compared; add another one, or --target"),
        ([model, str(tmp_path / "gone.onnx")], "gone.onnx: no such file"),
        ([model, model, "--rounds", "0"], "'0' is not a whole number from 1 on"),
        ([model, model, "--rounds", "2"], "use 6 at least"),
        ([model, model, "--target", "standard"], "on one model"),
    ):
        assert main(["bench", *arguments]) == 2
        assert because in error_of(capsys)


def test_calls_take_turns() -> None:
    """Each round has every call once, whichever comes first, after the calls that warm up."""
    made: list[str] = []

    def call(name: str) -> None:
        made.append(name)
        sum(range(60_000))  # long enough to be measured alone

    told: list[tuple[int, int]] = []
    calls = [lambda: call("a"), lambda: call("b")]
    times = interleaved(
        calls, rounds=6, rest=1e-4, progress=lambda done, wanted: told.append((done, wanted))
    )
    assert times.shape == (6, 2)
    assert (times > 0).all()
    assert told == [(n, 6) for n in range(2, 7)]
    turns = "".join(n for k, n in enumerate(made) if k == 0 or n != made[k - 1])
    assert turns == "ababababa", "forwards and backwards in turn"
    assert made.count("a") >= 6 <= made.count("b")
    assert interleaved(calls, seconds=0).shape == (6, 2)
    assert len(interleaved([lambda: None], seconds=1e-3)) <= MOST_ROUNDS


def test_the_interval_covers_the_median() -> None:
    """For any distribution, 95 of 100 intervals contain the true median."""
    rng = np.random.default_rng(0)
    for count in (6, 9, 40, 101):
        samples = rng.exponential(size=(1000, count))
        spreads = [Spread.of(sample).interval for sample in samples]
        held = np.mean([low <= np.log(2) <= high for low, high in spreads])
        assert 0.93 < held <= 1
        if count >= 40:
            assert held < 0.985, "an interval that is too wide says little"
    with pytest.raises(ValueError, match="5 numbers cannot tell"):
        median_index(5)


def test_speedups_are_ratios_in_a_round() -> None:
    """Noise that befalls all models of a round alike does not count."""
    noise = np.random.default_rng(0).exponential(size=30)
    timings = (Timing("a", 2 * noise, None), Timing("b", noise, None))
    found = Benchmark(timings, {}, 0, "1.31.1")
    assert found.speedup(timings[1]) == Spread(2, (2, 2), (2, 2))
    assert "2.00" in str(found)
    assert found.summary() == "all cores, 30 rounds, ONNX Runtime 1.31.1"


def event(name: str, op: str, start: int, length: int) -> dict[str, object]:
    args = {"op_name": op} if op else {}
    category = "Node" if op else "Session"
    return {"cat": category, "name": name, "ts": start, "dur": length, "args": args}


def test_traces(tmp_path: Path) -> None:
    """Only the last runs count, and a Loop's time is without that of its body."""
    events = [event("session_initialization", "", 0, 90), event("model_run", "", 90, 5)]
    events.append(event("warm_kernel_time", "Exp", 91, 3))
    for start in (100, 200):
        events += [
            event("a_kernel_time", "Add", start + 1, 4),
            event("m_kernel_time", "MatMul", start + 11, 10 + start // 100),
            event("a_fence_after", "Add", start + 12, 50),
            event("m_kernel_time", "MatMul", start + 25, 10),
            event("l_kernel_time", "Loop", start + 10, 30),
            event("model_run", "", start, 60),
        ]
    (tmp_path / "p.json").write_text(json.dumps(events))
    found = {t.node: (t.op, round(t.seconds * 1e6, 3)) for t in read_trace(tmp_path / "p.json", 2)}
    assert found == {"m": ("MatMul", 21.5), "l": ("Loop", 8.5), "a": ("Add", 4)}


def test_a_long_table_is_cut() -> None:
    times = tuple(NodeTime(f"n{i}", f"Op{i:02}", 1e-3 * (20 - i)) for i in range(20))
    text = str(Benchmark((Timing("a", np.ones(6), None, times),), {}, 1, "1.31.1"))
    assert "Op11" in text
    assert "Op12" not in text
    assert "others" in text
    assert "36 (8)" in text


@since(1, 20, "bfloat16 from Python")
def test_every_type_can_be_timed() -> None:
    for name in ("bfloat16", "float16", "int8"):
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        inputs = {"x": np.ones((2, 4), dtype), "i": i64([[1]]), "y": np.zeros((1, 4), dtype)}
        model = parse(ROWS.replace("float", name))
        found = onnx_scatterx.bench(model, targets=["scatterx"], inputs=inputs, rounds=6)
        assert found.timings[1].difference is None
