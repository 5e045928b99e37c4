"""One list of options: its types, what the command line reads and writes, and what it refuses."""

import argparse
from typing import Any

import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli.arguments import add_options, settings
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.options.table import DEFAULTS, OPTIONS, Options, command_words
from tests.helpers.support import parse

GIVEN: dict[str, Any] = {
    "target": "qnn",
    "rules": ["view", "concat"],
    "passes": ["LowerScatters", "ShareMasks"],
    "gathers": True,
    "fix": {"batch": 4, "x": (1, 3)},
    "assume": ["n <= 8", "p: unique"],
    "distrust_dims": True,
    "deterministic": True,
    "last_bits": True,
    "size_hint": {"n": 7},
    "effort": 2.5,
    "opset": 24,
}


def parsed(*arguments: str) -> dict[str, Any]:
    command = argparse.ArgumentParser()
    add_options(command)
    return settings(command.parse_args(arguments))


def test_each_option_has_a_type() -> None:
    assert list(Options.__annotations__) == [option.name for option in OPTIONS] == list(DEFAULTS)


def test_what_is_written_is_read_as_the_same() -> None:
    said = [word for once in command_words(GIVEN) for word in once]
    assert parsed(*said) == GIVEN
    assert GIVEN.keys() == DEFAULTS.keys()
    for name, value in GIVEN.items():
        assert command_words({name: value}), name
        assert not command_words({name: DEFAULTS[name]}), name  # type: ignore[literal-required]


def test_without_options_the_settings_are_the_default() -> None:
    assert Settings.of(**parsed()).arguments() == Settings.of().arguments() == ()


def test_a_slip_is_an_error() -> None:
    with pytest.raises(TypeError, match="there is no option 'assumes'; did you mean assume"):
        Settings.of(assumes="n <= 8")  # type: ignore[call-arg]  # wrong on purpose
    with pytest.raises(TypeError, match="no option 'as_is': it is one of inspect and inspect_many"):
        onnx_scatterx.optimize("m.onnx", as_is=True)  # type: ignore[call-overload]  # wrong on purpose
    with pytest.raises(TypeError, match="there is no option 'reads'"):
        onnx_scatterx.inspect("model.onnx", reads=True)  # type: ignore[call-arg]  # wrong on purpose


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("target", 3, "target is a name, the path of a profile, or a Target, not 3"),
        ("target", None, "not None"),
        ("fix", "batch=1", "fix is numbers by their names, such as .*, not 'batch=1'"),
        ("fix", ["batch=1"], "fix is numbers by their names"),
        ("size_hint", "batch=1", "size_hint is numbers by their names"),
        ("assume", 3, "assume is a list of texts, not 3"),
        ("rules", 3, "rules is a list of texts, not 3"),
        ("passes", 3, "passes is a list of texts, not 3"),
        ("effort", "2", "effort is a number above 0, not '2'"),
        ("effort", 0, "effort 0: this is not a number above 0"),
    ],
)
def test_a_value_of_another_type(option: str, value: Any, told: str) -> None:
    with pytest.raises(ScatterXError, match=told):
        Settings.of(**{option: value})


@pytest.mark.parametrize(
    "call", [onnx_scatterx.inspect, onnx_scatterx.explain, onnx_scatterx.optimize]
)
def test_a_hint_on_a_size_that_is_not_there(call: Any) -> None:
    """Each function that takes the option checks it."""
    model = parse(
        """g (float[N, 2] x, float[1, 2] y) => (float[N, 2] z) { z = ScatterND (x, [[1]], y) }"""
    )
    for hints in {"N": 8}, {}:
        call(model, target="ort-cpu", size_hint=hints)
    with pytest.raises(ScatterXError, match="the model has no size 'M'; it has N"):
        call(model, target="ort-cpu", size_hint={"M": 8})
    with pytest.raises(ScatterXError, match="the size 'N' is fixed: a hint on it has no effect"):
        call(model, target="ort-cpu", size_hint={"N": 8}, fix={"N": 8})
