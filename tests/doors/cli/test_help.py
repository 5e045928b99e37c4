"""`--help` fits one screen and names what most users need; `--help all` has every option."""

import argparse
import re

import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.doors.cli.program import _COMMANDS, _parser
from tests.doors.cli.terminal import as_terminal
from tests.helpers.commands import MODELS, error_of

COMMANDS = {module.__name__.rpartition(".")[2]: told for module, told in _COMMANDS.items()}


def options_of(name: str) -> set[str]:
    """Return the options that a command takes, the longest name of each, without --help."""
    (commands,) = (a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    actions = commands.choices[name]._actions
    return {max(a.option_strings, key=len) for a in actions if a.option_strings} - {"--help"}


@pytest.fixture(autouse=True)
def _narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    as_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "80")


def fitting(text: str) -> str:
    """Return the lines of a screen of 24 lines of 80 letters as one; fail if there are more."""
    lines = text.splitlines()
    assert len(lines) <= 24, text
    assert max(map(len, lines)) <= 80, text
    return " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told, options = COMMANDS[name], options_of(name)
    first = set(told.first.split())
    assert first <= options
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    said = fitting(text)
    listed, _, _ = text.partition(" more options: ")
    assert set(re.findall(r"^  .*?(--[a-z-]+)", listed, re.M)) == first
    assert said.startswith(f"usage: onnx-scatterx {name} ")
    assert said.endswith(f"example: onnx-scatterx {name} {told.example}")
    left = f" {len(options - first)} more options: onnx-scatterx {name} --help all "
    assert (left in said) == (options != first)
    for whole in (["--help", "all"], ["-h", "all"], ["--help=all"]):
        assert main([name, *whole]) == 0
        text = capsys.readouterr().out
        assert options | {"--help"} <= set(re.findall(r"--[a-z-]+(?:=[a-z]+)?", text))
        assert "more options" not in text


def test_readme_uses_the_first_options_of_optimize() -> None:
    readme = (MODELS.parent / "README.md").read_text(encoding="utf-8")
    (first, *more) = re.findall(r"onnx-scatterx optimize .* -o .*", readme)
    used = {option for line in (first, *more) for option in re.findall(r"--[a-z-]+", line)}
    assert {"--target", "--verify"} <= used <= set(COMMANDS["optimize"].first.split())


def test_a_default_is_called_one(capsys: pytest.CaptureFixture[str]) -> None:
    """No help ends with a bare value in parentheses."""
    for name in COMMANDS:
        assert main([name, "--help", "all"]) == 0
        said = " ".join(capsys.readouterr().out.split())
        assert not re.findall(r" \((?:scatterx|all|one|as|[0-9])[^():]*\)", said), name


def test_another_word_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--help", "al"], ["m.onnx", "--help", "o.onnx"], ["--help="]):
        assert main(["optimize", *words]) == 2
        assert error_of(capsys).startswith("--help takes the word all or none, not ")


def test_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    """It tells the three checks apart, in a line each; without a command it prints the same."""
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    said = fitting(text)
    for name, told in COMMANDS.items():
        assert f" {name} {told.text} " in said
    for check in ("verify A B  ", "verify A B --prove  ", "check IN  "):
        assert len([line for line in text.splitlines() if line.startswith(f"  {check}")]) == 1
    assert "\n  optimize            each rewrite follows by a proof from the model alone\n" in text
    assert main([]) == 0
    assert capsys.readouterr().out == text
