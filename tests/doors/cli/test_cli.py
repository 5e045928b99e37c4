"""The command line: what it prints, what it writes, and with which status it ends."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

import onnx_scatterx.doors.api
from onnx_scatterx.doors.cli import main
from onnx_scatterx.tell import inquiry
from onnx_scatterx.tell.reporting import optimize_ir
from tests.helpers.commands import KV, MODELS, NEG, ROW, YOLOX, error_of, saved
from tests.helpers.support import parse, scatters

pytestmark = pytest.mark.sampled(2)

ABS = "g (float[N] x) => (float[N] y) { y = Abs(x) }"
NEVER = """g (float[3] x) => (float[1] y) { i = Constant <value_ints = [9]> () y = Gather(x, i) }"""
RANDOM = """g (float[2, 2] x, float[1, 2] y) => (float[2, 2] z)
    { r = RandomNormalLike(x) z = ScatterND(r, [[1]], y) }"""


def test_optimize(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, report = tmp_path / "out.onnx", tmp_path / "report.json"
    options = ["--verify", "--samples", "4", "--report", str(report)]
    assert main(["optimize", YOLOX, "-o", str(out), *options]) == 0
    onnx.checker.check_model(out, full_check=True)
    assert scatters(onnx.load(out)) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "2 of 2 scatters removed" in printed.out
    assert "/ScatterND_1\tScatterND\t" in printed.out
    assert "the same, bit for bit, on 4 sets of inputs" in printed.out
    content = json.loads(report.read_text())
    assert content["removed"] == 2
    assert content["verification"]["same"] is True
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.onnx", "report.json"]


def test_optimize_quietly_with_chosen_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page = tmp_path / "out.onnx", tmp_path / "r.html"
    arguments = ["optimize", YOLOX, "-q", "-o", str(out), "--report", str(page)]
    assert main([*arguments, "--rules", "view"]) == 0
    assert capsys.readouterr() == ("", "")
    assert scatters(onnx.load(out)) == 2
    assert "none of the chosen rules" in page.read_text() or "kept" in page.read_text()
    assert main([*arguments, "--rules", "view, concat"]) == 0
    assert scatters(onnx.load(out)) == 0


def test_a_model_without_scatter_is_written_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = saved(tmp_path / "m.onnx", NEG), tmp_path / "out.onnx"
    assert main(["optimize", model, "-o", str(out), "--verify", "--samples", "2"]) == 0
    assert onnx.load(out) == onnx.load(model)
    assert capsys.readouterr().out.startswith("no scatter in this model\n")


def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(YOLOX).read_bytes()
    assert main(["inspect", YOLOX]) == 0
    text = capsys.readouterr().out
    assert "2 of 2 scatters can be removed" in text
    assert "what would be done" in text
    assert "box [:, :, 0:2]" in text
    assert main(["inspect", YOLOX, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert [s["node"] for s in content["scatters"]] == ["/ScatterND", "/ScatterND_1"]
    assert content["planned"] is True
    assert Path(YOLOX).read_bytes() == before


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", KV, "node_ScatterND_23"]) == 0
    assert "J = p(f(p1(I)) ++ p2(I))" not in capsys.readouterr().out
    assert main(["explain", KV, "node_ScatterND_23", "--theory"]) == 0
    text = capsys.readouterr().out
    assert "J = p(f(p1(I)) ++ p2(I))" in text
    assert "node_ScatterND_11" not in text
    assert main(["explain", KV]) == 0
    assert "node_ScatterND_11" in capsys.readouterr().out
    assert main(["explain", KV, "node_ScatterND_2"]) == 2
    assert "'node_ScatterND_2'; there is node_ScatterND_23" in error_of(capsys)


def test_the_advice_is_printed_below_the_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out.onnx")
    for command in (["inspect", KV], ["optimize", KV, "-o", out]):
        assert main([*command, "--target", "coreml"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert lines[0].startswith("0 of 2 scatters ")
        place = lines.index("what to do next:")
        outcome, _, node, _, way, *_ = lines[place - 1 :]
        would = ", and coreml would not take 2 of them" if command[0] == "inspect" else ""
        assert outcome == f"14 nodes{would or ', 2 of them not taken by coreml'}: ScatterND"
        assert node.startswith("  node_ScatterND_11, node_ScatterND_23 are kept: the target does")
        output = out if command[0] == "optimize" else "OUT.onnx"
        assert way.strip().startswith(f"onnx-scatterx optimize {KV} -o {output} --target 'coreml,")
        assert main([*command, "--target", "coreml", "--no-advice"]) == 0
        assert "onnx-scatterx optimize" not in capsys.readouterr().out  # nothing was tried
    for more in ["--target", "standard"], ["--target", "scatterx"], ["-q"]:
        assert main(["optimize", KV, "-o", out, *more]) == 0
        assert "what to do next" not in capsys.readouterr().out


def test_json_has_advice_only_if_it_is_asked_for(tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    for command in (["inspect", KV], ["optimize", KV, "-o", str(tmp_path / "out.onnx")]):
        for more in [], ["--advice"]:
            assert main([*command, "--target", "coreml", "--report", str(report), *more]) == 0
            assert bool(json.loads(report.read_text())["advice"]) == bool(more)


def test_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, out = str(MODELS / "read_steps_ts_dynamic.onnx"), str(tmp_path / "out.onnx")
    assert main(["inspect", model, "--gathers"]) == 0
    assert "3 of 3 gathers can be removed" in capsys.readouterr().out
    assert main(["explain", model, "/Gather_2"]) == 0
    assert "reads     everything" in capsys.readouterr().out
    assert main(["explain", model, "--gathers"]) == 0
    assert capsys.readouterr().out.count("answer    removed") == 3
    assert main(["optimize", model, "-o", out, "--gathers", "--verify"]) == 0
    assert "3 of 3 gathers removed" in capsys.readouterr().out
    assert {node.op_type for node in onnx.load(out).graph.node} == {"Slice", "Identity"}


def test_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    neg, other = saved(tmp_path / "a.onnx", NEG), saved(tmp_path / "b.onnx", ABS)
    assert main(["verify", neg, neg, "--samples", "5", "--seed", "3"]) == 0
    assert "the same, bit for bit, on 5 sets of inputs" in capsys.readouterr().out
    assert main(["verify", neg, other]) == 1
    printed = capsys.readouterr()
    assert "output 'y' differs" in printed.out
    assert printed.err == "onnx-scatterx: the models differ\n"
    sizes = ["--assume", "N <= 4", "--assume", "N>=3"]
    assert main(["verify", neg, neg, "--samples", "6", *sizes[2:]]) == 0
    drawn = capsys.readouterr().out.split("N = ")[1]
    assert all(int(n) >= 3 for n in drawn.split(", "))
    assert main(["verify", neg, KV]) == 2
    assert "take different inputs" in error_of(capsys)


ROWS = "g (float[N, 1] x, int64[1] i) => (float[A, 1] y) { y = Gather(x, i) }"
SHIFT = """g (float[N] x) => (float[N] y)
    { e = Constant <value = float {0.001}> () f = Add(x, e) y = Neg(f) }"""


def test_verify_on_inputs_of_the_user(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    neg, other = saved(tmp_path / "a.onnx", NEG), saved(tmp_path / "b.onnx", ABS)
    (tmp_path / "low").mkdir()
    np.save(tmp_path / "low" / "x.npy", np.array([-2.0, -3.0], np.float32))
    np.save(tmp_path / "high.npy", np.array([2.0], np.float32))
    np.savez(tmp_path / "low.npz", x=np.array([-2.0], np.float32))
    for given in (tmp_path / "low", tmp_path / "low.npz", f"x={tmp_path}/low/x.npy"):
        assert main(["verify", neg, other, "--input", str(given)]) == 0  # both give 2
        assert capsys.readouterr().out == "the same, bit for bit, on 1 set of inputs\n"
    low, high = ["--input", str(tmp_path / "low")], ["--input", f"x={tmp_path}/high.npy"]
    assert main(["verify", neg, other, *high]) == 1
    assert "-2.0 became 2.0 (1 of 1 elements" in capsys.readouterr().out
    assert main(["verify", neg, neg, *low, "--samples", "4"]) == 0
    assert "on 5 sets of inputs" in capsys.readouterr().out
    assert main(["verify", neg, other, *low, "--samples", "4"]) == 1  # drawn ones show it
    capsys.readouterr()
    assert main(["verify", neg, neg, *low, "--seed", "3"]) == 2
    assert error_of(capsys) == "--seed has no effect with --input alone, without --samples"
    np.save(tmp_path / "x.npy", np.array([1, 2]))
    assert main(["verify", neg, neg, "--input", f"x={tmp_path}/x.npy"]) == 2
    wrong = "given inputs 1: input 'x' is int64, and the model takes float; convert it first"
    assert error_of(capsys) == wrong
    rows = saved(tmp_path / "rows.onnx", ROWS)
    np.savez(tmp_path / "far.npz", x=np.zeros((2, 1), np.float32), i=np.array([7]))
    assert main(["verify", rows, rows, "--input", f"{tmp_path}/far.npz"]) == 2
    assert "the first model rejected every input: given inputs 1: " in capsys.readouterr().err
    assert main(["verify", rows, rows, "--input", f"{tmp_path}/far.npz", "--samples", "2"]) == 0
    assert "\n  rejected: given inputs 1: " in capsys.readouterr().out
    np.save(tmp_path / "half.npy", np.array([1.5]).astype(ml_dtypes.bfloat16))  # saved as 2 bytes
    half = saved(tmp_path / "half.onnx", "g (bfloat16[N] x) => (bfloat16[N] y) { y = Identity(x) }")
    assert main(["verify", half, half, "--input", f"x={tmp_path}/half.npy"]) == 0


def test_verify_with_a_tolerance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    neg, near = saved(tmp_path / "a.onnx", NEG), saved(tmp_path / "b.onnx", SHIFT)
    np.save(tmp_path / "x.npy", np.array([0.5, -0.25], np.float32))
    arguments = ["verify", neg, near, "--input", f"x={tmp_path}/x.npy"]
    assert main(arguments) == 1
    capsys.readouterr()
    assert main([*arguments, "--atol", "0.01"]) == 0
    assert capsys.readouterr().out == "the same, within rtol = 0, atol = 0.01, on 1 set of inputs\n"
    assert main([*arguments, "--rtol", "0.003"]) == 1  # of 0.5 that is enough, of 0.25 it is not
    assert "compared with rtol = 0.003, atol = 0 on" in (told := capsys.readouterr().out)
    assert "(1 of 2 elements" in told
    assert main([*arguments, "--atol", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tolerance"] == {"rtol": 0.0, "atol": 0.01}
    for wrong, because in (
        (["--atol", "-1"], "'-1' is not a number from 0 on"),
        (["--rtol", "nan"], "'nan' is not a number from 0 on"),
        (["--rtol", "0", "--strict-zeros"], "strict zeros is bit for bit, without rtol and atol"),
    ):
        assert main([*arguments, *wrong]) == 2
        assert because in error_of(capsys)


def test_a_model_that_runs_on_no_input_is_not_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    never = saved(tmp_path / "never.onnx", NEVER)
    assert main(["verify", never, never, "--samples", "2"]) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("not compared: the first model ran on none of ")
    assert printed.err.startswith(
        "onnx-scatterx: could not compare: the first model rejected every input"
    )
    assert printed.err.count("\n") == 1


def test_a_model_that_differs_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, out = saved(tmp_path / "m.onnx", ROW), tmp_path / "out.onnx"
    right = inquiry.Inquiry.optimized

    def wrong(asked: inquiry.Inquiry, **options: Any) -> inquiry.Optimized:
        result = right(asked, **options)
        nodes = result.model.graph.node
        nodes[-1].input[1], nodes[-1].input[0] = nodes[-1].input[0], nodes[-1].input[1]
        return result

    monkeypatch.setattr(inquiry.Inquiry, "optimized", wrong)
    report = tmp_path / "r.json"
    assert main(["optimize", model, "-o", str(out), "--verify", "--report", str(report)]) == 1
    printed = capsys.readouterr()
    assert "output 'z'" in printed.out
    assert printed.err == f"onnx-scatterx: the models differ; {out} is not written\n"
    assert os.listdir(tmp_path) == ["m.onnx"]


def test_a_model_that_cannot_be_compared_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, out = saved(tmp_path / "m.onnx", RANDOM), tmp_path / "out.onnx"
    out.write_text("precious")
    assert main(["optimize", model, "-o", str(out), "--verify"]) == 2
    assert "draws random numbers" in error_of(capsys)
    assert out.read_text() == "precious"


def test_output_may_be_closed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["inspect", YOLOX]) == 0
    assert capfd.readouterr() == ("", "")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line


def test_a_closed_stdout() -> None:
    script = f"{sys.executable} -m onnx_scatterx explain {YOLOX} | true; exit ${{PIPESTATUS[0]}}"
    shell = shutil.which("bash")
    assert shell is not None
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode in (0, 141)


def test_names_are_not_broken_and_not_read_as_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = parse(ROW)
    name = "/model/" + "very_long/" * 12 + "[red]ScatterND[/bold]"
    model.graph.node[0].name = name
    onnx.save(model, tmp_path / "m.onnx")
    for terminal in (False, True):
        monkeypatch.setattr(sys.stdout, "isatty", lambda answer=terminal: answer)
        for command in ("inspect", "explain"):
            assert main([command, str(tmp_path / "m.onnx")]) == 0
            text = capsys.readouterr().out
            if terminal and command == "inspect":  # without its middle, in one line
                first = next(line for line in text.splitlines() if line.startswith("│"))
                begin, end = first.split("│")[1].strip().split("…")
                assert name.startswith(begin)
                assert name.endswith(end)
            else:
                assert name in text


def test_help_needs_no_heavy_library() -> None:
    program = (
        "import sys; from onnx_scatterx.doors.cli import main; status = main(['--help'])\n"
        "print(status, *sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    *help_text, last = done.stdout.splitlines()
    status, *modules = last.split()
    assert status == "0"
    assert any("optimize" in line for line in help_text)
    assert not {"numpy", "onnx", "onnx_ir", "onnxruntime", "rich", "torch", "jinja2"} & set(modules)


def test_the_advice_needs_no_second_optimization(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """g (float[N, 4] x, int64[K, 1] i, float[K, 4] u) => (float[N, 4] y) {
        y = ScatterND <reduction = "mul"> (x, i, u) }"""
    model, out = saved(tmp_path / "m.onnx", text), str(tmp_path / "o.onnx")
    told = [line for advice in onnx_scatterx.advise(model, target="qnn") for line in advice.lines()]
    calls: list[bool] = []
    real = optimize_ir

    def counted(*given: Any, planned: bool = False, **more: Any) -> Any:
        calls.append(planned)
        return real(*given, planned=planned, **more)

    monkeypatch.setattr(inquiry, "optimize_ir", counted)
    assert main(["optimize", model, "-o", out, "--target", "qnn"]) == 0
    assert calls == [False]
    printed = capsys.readouterr().out
    assert told
    assert told[0] in printed
