"""Options that would have no effect are errors of one line."""

from pathlib import Path

import pytest

from onnx_scatterx.doors.cli import main
from tests.helpers.commands import KV, MODELS, error_of, saved

IDLE = [
    ("optimize KV -o o.onnx --samples 3", "--samples has no effect without --verify"),
    ("optimize KV -o o.onnx --seed 3", "--seed has no effect without --verify"),
    ("optimize MODELS -o o --seed 0", "--seed has no effect without --verify"),
    ("optimize KV -o o.onnx --strict-zeros", "--strict-zeros has no effect without --verify"),
    ("optimize KV -o o.onnx --timeout 2", "--timeout has no effect on one model"),
    ("optimize KV -o o.onnx --strict", "--strict has no effect for target scatterx"),
    (
        "inspect KV --strict",
        "--strict has no effect for target scatterx, which takes all operators: name",
    ),
    ("optimize MODELS -o o --strict", "--strict has no effect for target scatterx"),
    ("optimize KV -o o.onnx --size-hint a=1", "--size-hint has no effect for target scatterx"),
    ("optimize MODELS -o o --size-hint a=1", "--size-hint has no effect for target"),
    (
        "optimize KV -o o.onnx --opset 10",
        "cannot be lowered to operator set 10: node_ScatterND_11 (ScatterND): began with 11; ",
    ),
    ("inspect MODELS --no-advice", "--no-advice has no effect on a directory"),
    ("inspect MODELS --advice", "--advice has no effect on a directory"),
    ("optimize MODELS -o o --advice", "--advice has no effect on a directory w"),
    ("optimize KV -o o.onnx -q --advice", "--advice has no effect with --quiet"),
    ("run KV --input at=at.npy --samples 2", "--samples has no effect with --input"),
    ("run KV --input at=at.npy --size N=2", "--size has no effect with --input"),
    ("run KV --input at=at.npy --seed 2", "--seed has no effect with --input"),
    ("bench KV KV --input at=at.npy --seed 2", "--seed has no effect with --input"),
    ("bench KV KV --input a=b.npy --size N=2", "--size has no effect with --input"),
]


@pytest.mark.parametrize(("arguments", "because"), IDLE)
def test_options_without_effect(
    arguments: str,
    because: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    named = {"KV": KV, "MODELS": str(MODELS)}
    assert main([named.get(word, word) for word in arguments.split()]) == 2
    assert error_of(capsys).startswith(because)
    assert not list(tmp_path.iterdir())


def test_sizes_that_the_model_lacks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = saved(tmp_path / "m.onnx", "g (float[batch, ?] x) => (float[batch, ?] y) {y = Abs(x)}")
    fixed = saved(tmp_path / "f.onnx", "g (float[2] x) => (float[2] y) {y = Abs(x)}")
    out = str(tmp_path / "out.onnx")
    for model, there in (named, "it has batch, x[1]"), (fixed, "all that it has are numbers"):
        told = f"the model has no size 'Batch'; {there}"
        command = ["optimize", model, "-o", out, "--target", "ort-cpu", "--size-hint", "Batch=2"]
        assert main(command) == 2
        assert error_of(capsys) == told
    command = ["optimize", named, "-o", out, "--target", "ort-cpu", "--size-hint", "batch=2"]
    assert main([*command, "--size-hint", "x[1]=3", "--quiet"]) == 0
