"""Without ONNX Runtime or processes, all but running works; the rest is a line."""

import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.errors import MissingRuntimeError
from onnx_scatterx.fitting import constant_finder
from onnx_scatterx.processes.interrupts import Stopped, stoppable
from onnx_scatterx.runtime import evaluator
from onnx_scatterx.runtime.session import require_runtime
from onnx_scatterx.runtime.worker_client import ModelFile
from tests.helpers.examples import are_all

pytestmark = pytest.mark.sampled(2)

ROOT = Path(__file__).parents[2]
LACKING = ROOT / "tests" / "helpers" / "lacking"
MODELS = sorted((ROOT / "models").glob("*.onnx"))
FLOATS = ("learnt_positions", "one_hot_labels", "overlap_add", "swin_shift_mask", "yolox_head")
SOME = {"one_hot_labels_ts_dynamic", *(f"{name}_dynamo_dynamic" for name in FLOATS)}
EVALUATED = "the same in onnx's reference evaluator, on 5 sets of inputs"
NO_RUNTIME = "ONNX Runtime is missing (No module named 'onnxruntime'): pip install onnxruntime"
ALL_MISSING = ("onnxruntime processes", [NO_RUNTIME] * 4)
SCATTER = '<ir_version: 8, opset_import: ["" : 18]> g (float[N] x, float[1] u) => (float[N] y) '


def test_a_library_of_operators_needs_onnx_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise MissingRuntimeError(NO_RUNTIME)

    monkeypatch.setattr(evaluator, "Runner", missing)
    model = ModelFile(ROOT / "m.onnx")
    assert isinstance(evaluator.runner_of(model), evaluator.Evaluated)
    with pytest.raises(MissingRuntimeError):
        evaluator.runner_of(model, "operators.so")


def lacking(missing: str, *words: str) -> subprocess.CompletedProcess[str]:
    paths = f"{LACKING}{os.pathsep}{ROOT}"
    with tempfile.TemporaryDirectory() as own:  # without fcntl, others may remove its files
        variables = os.environ | {"PYTHONPATH": paths, "LACKS": missing, "TMPDIR": own}
        command = [sys.executable, *words]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missing", "errors", "names"),
    [
        (*ALL_MISSING, ["kv_cache_dynamo"]),
        pytest.param(*ALL_MISSING, [], marks=pytest.mark.full),
        pytest.param("onnxruntime", [NO_RUNTIME] * 4, [], marks=pytest.mark.full),
    ],
)
def test_what_runs_no_model_works(missing: str, errors: list[str], names: list[str]) -> None:
    done = lacking(missing, str(LACKING / "everything.py"), str(ROOT / "models"), *names)
    assert done.returncode == 0, done.stderr
    headline, *told = done.stdout.splitlines()[-len(errors) - 1 :]
    assert told == errors
    assert headline.startswith(EVALUATED)
    assert "bit for bit" not in done.stdout


@pytest.mark.slow
def test_processes_are_missing_but_not_onnx_runtime() -> None:
    program = (
        "import sys, onnx_scatterx as o\nm = sys.argv[1]\n"
        "print(o.verify(m, m, samples=2))\n"
        "try: o.run_model(m, {})\nexcept o.ScatterXError as error: print(error)"
    )
    done = lacking("processes", "-c", program, str(MODELS[0]))
    headline, why, *_, error = done.stdout.splitlines()
    assert headline.startswith("the same in onnx's reference evaluator, on "), done.stderr
    assert why.strip() == error
    assert error.startswith("ONNX Runtime needs a process, and none can be started: ")


@pytest.mark.slow
def test_commands(tmp_path: Path) -> None:
    missing = "onnxruntime processes"
    model, new = str(ROOT / "models" / "yolox_head_ts_dynamic.onnx"), str(tmp_path / "new.onnx")
    cli = ("-m", "onnx_scatterx")
    done = lacking(missing, *cli, "optimize", model, "-o", new, "--verify", "--samples", "5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nthe same in onnx's reference evaluator, on 5 sets of inputs" in done.stdout
    commands = ["run", new], ["bench", model, new], ["check", new, "--with", "opencv"]
    program = f"from onnx_scatterx.doors.cli import main; print(*map(main, {commands}))"
    done = lacking(missing, "-c", program)
    assert done.stdout.split() == ["2", "2", "2"]
    assert done.stderr.splitlines() == [f"onnx-scatterx: {NO_RUNTIME}"] * 3


@pytest.fixture
def no_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)


def parsed(body: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(SCATTER + body)


@pytest.mark.usefixtures("no_runtime")
def test_the_evaluator_sees_a_difference() -> None:
    found = onnx_scatterx.verify(parsed("{ y = Neg (x) }"), parsed("{ y = Abs (x) }"), samples=4)
    assert not found.same
    assert str(found).startswith("different in onnx's reference evaluator, compared on ")
    assert "ONNX Runtime is missing (" in str(found)
    assert found.to_dict()["missing"].endswith(": pip install onnxruntime")


@pytest.mark.usefixtures("no_runtime")
def test_the_evaluator_rejects_what_onnx_runtime_rejects() -> None:
    """NumPy would write the one update to every row, and read no row of none."""
    before = parsed("<int64[2, 1] i = {0, 1}> { y = ScatterND (x, i, u) }")
    found = onnx_scatterx.verify(before, before, samples=4)
    assert not found.conclusive
    assert "updates" in str(found) or "ScatterND of shapes" in str(found)
    read = parsed("<int64[0] none = {}, int64 i = {0}> { a = Gather (none, i) y = Neg (x) }")
    read.graph.node[0].input[0] = "x"
    sizes = onnx_scatterx.verify(read, read, samples=12).sizes
    assert 0 not in sizes["N"]


@pytest.mark.usefixtures("no_runtime")
def test_the_evaluator_runs_no_loop_without_a_condition() -> None:
    """It would run none of its iterations."""
    text = (
        SCATTER
        + """<int64 n = {3}> { y = Loop (n, , x)
        <body = b (int64 i, bool c, float[M] v) => (bool d, float[M] w)
            { d = Identity (c) w = OP (v) }> }"""
    )
    models = [onnx.parser.parse_model(text.replace("OP", name)) for name in ("Neg", "Abs")]
    found = onnx_scatterx.verify(*models, samples=4)
    assert not found.conclusive
    assert "Loop" in str(found)


def test_a_signal_during_the_import_ends_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library in C++ makes an ImportError of it, by which ONNX Runtime would look missing."""
    (tmp_path / "onnxruntime.py").write_text(
        "import signal\ntry:\n    signal.raise_signal(signal.SIGTERM)\n"
        "except KeyboardInterrupt as stop:\n    raise ImportError from stop\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    with pytest.raises(Stopped, match="SIGTERM"), stoppable():
        require_runtime()


@pytest.mark.usefixtures("no_runtime")
def test_a_model_that_the_evaluator_lacks_names_what_to_install() -> None:
    text = SCATTER.replace("18]", '18, "com.microsoft" : 1]')
    model = onnx.parser.parse_model(text + "{ y = com.microsoft.Gelu (x) }")
    with pytest.raises(onnx_scatterx.VerifyError, match="pip install onnxruntime"):
        onnx_scatterx.verify(model, model)


@pytest.mark.usefixtures("no_runtime")
def test_the_evaluator_keeps_to_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on when it is looked at: 10,000 times while the model loads."""
    looks = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: next(looks) * 1e-6)
    text = (
        SCATTER.replace("float[1] u", "int64[1] u")
        + """{ n = ReduceMax <keepdims = 0> (big)
        y = Loop (n, true, x) <body = b (int64 i, bool c, float[M] v) => (bool d, float[M] w)
            { d = Identity (c) w = Identity (v) }> }"""
    )
    model = onnx.parser.parse_model(
        text.replace("{ n", "<int64[1] big = {99999999999}, bool true = {1}> { n")
    )
    found = onnx_scatterx.verify(model, model, samples=1, timeout=0.5)
    assert not found.conclusive
    assert "no answer within 0.5 s" in str(found)


def folded(model: Path, sizes: int) -> bytes:
    names = {
        dim.dim_param
        for value in onnx.load(model, load_external_data=False).graph.input
        for dim in value.type.tensor_type.shape.dim
        if dim.dim_param
    }
    fix = {name: sizes + 8 * number for number, name in enumerate(sorted(names))}
    try:
        found = onnx_scatterx.optimize(onnx.load(model), target="qnn", fix=fix)
    except onnx_scatterx.ScatterXError as error:
        return str(error).encode()
    return bytes(found.model.SerializeToString(deterministic=True))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [8, pytest.param(32, marks=pytest.mark.full)])
def test_folding_without_a_process_gives_the_same_model(
    sizes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same nodes, and the same bits of the constants, as if ONNX Runtime made all floats."""
    runs = 0
    run = constant_finder.NodeRunner.run

    def counted(*arguments: Any) -> object:
        nonlocal runs
        runs += 1
        return run(*arguments)

    def missing(*_: object) -> None:
        raise MissingRuntimeError("not here")

    by_runtime = {}
    with monkeypatch.context() as patch:
        patch.setattr(constant_finder, "EXACT", frozenset())
        patch.setattr(constant_finder.NodeRunner, "run", counted)
        for model in MODELS if are_all() else [m for m in MODELS if m.stem in SOME]:
            before, new = runs, folded(model, sizes)
            if runs > before:  # else there was no float to compute
                by_runtime[model] = new
    monkeypatch.setattr(constant_finder, "OrtProcess", missing)
    assert {model: folded(model, sizes) for model in by_runtime} == by_runtime
    assert len(by_runtime) >= 5
    assert all(model.stem.startswith(FLOATS) for model in by_runtime)
    assert runs >= 10
