"""`onnx-scatterx check` and `optimize --check-with`: what they print, and their exit status."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.proof import proof
from onnx_scatterx.proof.proof import Proof, Verdict
from onnx_scatterx.runtime.worker_client import Runner
from tests.helpers.commands import NEG, error_of, saved
from tests.helpers.fake_consumer import NEGATION, fake
from tests.helpers.support import parse

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]

WRONG = 'return Answer("taken", {"y": feeds["x"] - 1e9})'
NO_SCATTER = """
        import onnx
        if any(node.op_type == "ScatterND" for node in onnx.load(model).graph.node):
            raise ValueError("no ScatterND here")
        return Answer("taken", [np.concatenate([feeds["x"][:1], feeds["u"], feeds["x"][2:]])])"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    onnx.save(NEGATION, tmp_path / "model.onnx")
    return str(tmp_path / "model.onnx")


def place(directory: Path, name: str, run: str) -> str:
    (directory / name).mkdir()
    return str(fake(directory / name, run, members="").path)


def test_right_and_wrong(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = str(fake(tmp_path).path)
    assert main(["check", model, "--with", right]) == 0
    assert capsys.readouterr() == ("fake 1.2: taken and right: error 0\n", "")
    wrong = place(tmp_path, "wrong", WRONG)
    assert main(["check", model, "--with", f"{right}, {wrong}"]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0] == "fake 1.2: taken and right: error 0"
    wrong_one = printed.out.splitlines()[1]
    assert wrong_one.startswith("fake 1.2: taken, but wrong: error ")
    assert "; output 'y': 6 of 6 elements: " in wrong_one
    assert printed.err == "onnx-scatterx: refused or computed wrongly by fake\n"


def test_the_model_is_run_once_for_all_consumers(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    real = Runner.run

    def run(self: Runner, *args: Any, **options: Any) -> Any:
        runs.append("once")
        return real(self, *args, **options)

    monkeypatch.setattr(Runner, "run", run)
    both = f"{fake(tmp_path).path},{place(tmp_path, 'second', WRONG)}"
    assert main(["check", model, "--with", both]) == 1
    assert runs == ["once"]


def test_json(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusing = place(tmp_path, "refusing", 'return Answer("refused", message="no", node="n")')
    assert main(["check", model, "--json", "--with", refusing]) == 1
    assert json.loads(capsys.readouterr().out) == [
        {
            **{"consumer": "fake", "version": "1.2", "verdict": "refused", "message": "no"},
            **{"nodes": ["n"], "on_host": [], "error": None, "cosine": None, "out_of": None},
            **{"cause": "fault", "part": []},
        }
    ]


def test_given_inputs(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.full((2, 3), 7, np.float32))
    run = 'assert (feeds["x"] == 7).all(); return Answer("taken", {"y": -feeds["x"]})'
    arguments = ["check", model, "--with", place(tmp_path, "seven", run)]
    assert main([*arguments, "--input", f"x={tmp_path / 'x.npy'}"]) == 0
    assert main(arguments) == 1
    assert "AssertionError" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--with", "opencvv"], "no compiler is called 'opencvv'; did you mean opencv?"),
        (["--with", "opencv,,"], "argument --with: 'opencv,,' is not like 'A,B'"),
        (["--with", "fake.py", "--python", "tvm=python"], "tvm is not among fake"),
        (["--with", "fake.py", "--python", "no/python"], "no/python: No such file or directory"),
        (["--with", "no.py"], "no.py: no such file"),
        (["--with", "fake.py", "--timeout", "0"], "'0' is not a number above 0"),
        (["--with", "fake.py", "--input", "x=x.npy", "--samples", "2"], "--samples has no effect"),
        ([], "--with is missing; for example: onnx-scatterx check model.onnx --with"),
    ],
)
def test_mistakes(
    arguments: list[str],
    message: str,
    model: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fake(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["check", model, *arguments]) == 2
    assert message in error_of(capsys)


def test_a_consumer_that_is_not_installed(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    adapter = str(fake(tmp_path, version="import no_such_module").path)
    assert main(["check", model, "--with", adapter]) == 2
    assert error_of(capsys) == "fake is not installed: pip install fake-compiler fake-runtime"


def test_a_python_for_one_consumer(model: str, tmp_path: Path) -> None:
    adapter = str(fake(tmp_path).path)
    assert main(["check", model, "--with", adapter, "--python", f"fake={sys.executable}"]) == 0
    assert main(["check", model, "--with", adapter, "--python", sys.executable]) == 0


def test_after_optimize(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """g (float[4, 2] x, float[1, 2] u) => (float[4, 2] y) { y = ScatterND (x, [[1]], u) }"""
    before, after = tmp_path / "before.onnx", tmp_path / "after.onnx"
    onnx.save(parse(text), before)
    adapter = str(fake(tmp_path, NO_SCATTER).path)
    assert main(["check", str(before), "--with", adapter]) == 1
    assert "refused at ScatterND: ValueError: no ScatterND here" in capsys.readouterr().out
    arguments = ["optimize", str(before), "-o", str(after), "--target", "standard"]
    assert main([*arguments, "--check-with", adapter]) == 0
    assert capsys.readouterr().out.endswith("fake 1.2: taken and right: error 0\n")
    assert main([*arguments, "-q", "--check-with", place(tmp_path, "bad", WRONG)]) == 1
    assert capsys.readouterr() == ("", "onnx-scatterx: refused or computed wrongly by fake\n")
    unproven = Proof({"y": Verdict("unknown")})
    monkeypatch.setattr(proof, "prove", lambda *_, **__: unproven)
    line = [*arguments, "-q", "--prove", "--samples", "1"]
    assert main([*line, "--check-with", adapter]) == 3
    assert main([*line, "--check-with", str(tmp_path / "bad" / "fake.py")]) == 1
    capsys.readouterr()
    after.unlink()
    missing = str(fake(tmp_path, version="import no_such_module").path)
    assert main([*arguments, "-q", "--check-with", missing]) == 2
    assert error_of(capsys).startswith("fake is not installed")
    assert not after.exists()
    assert main([*arguments, "--python", sys.executable]) == 2
    assert error_of(capsys) == "--python has no effect without --check-with"


def test_directories_are_not_checked(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["optimize", str(Path(model).parent), "-o", str(tmp_path / "out")]
    assert main([*arguments, "--check-with", "opencv"]) == 2
    assert "--check-with has no effect on a directory" in error_of(capsys)


def test_json_is_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error that is infinite, as that of a wrong shape, is a text."""
    adapter = fake(tmp_path, "return Answer('ran', {'y': np.zeros((7, 7))})").path
    model = saved(tmp_path / "m.onnx", NEG)
    assert main(["check", model, "--with", str(adapter), "--json"]) == 1

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is not JSON")

    (found,) = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert "inf" in str(found)
