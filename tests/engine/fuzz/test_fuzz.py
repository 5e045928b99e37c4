"""Mutants of real exports, and what the fuzzer sees; ``python -m tests.engine.fuzz`` tries more."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from tests.engine.fuzz import campaign as campaigns
from tests.engine.fuzz.campaign import Tally, campaign, cases
from tests.helpers.examples import are_all
from tests.helpers.trial import Options

pytestmark = [pytest.mark.slow, pytest.mark.sampled(2)]

MODELS = sorted((Path(__file__).parents[3] / "models").glob("*.onnx"))


def tried(count: int, seed: int = 0) -> Tally:
    return campaign(cases(MODELS, seed, None, count))


def test_some_mutants() -> None:
    tally = tried(32 if are_all() else 16)
    assert not tally.found
    assert not tally.says_little, str(tally)
    assert tally.rewritten > (8 if are_all() else 4)


def negated(options: Options, model: onnx.ModelProto) -> onnx.ModelProto:
    made = onnx.ModelProto()
    made.CopyFrom(model)
    name = made.graph.output[0].name
    for node in made.graph.node:
        node.output[:] = [f"{o}_before" if o == name else o for o in node.output]
    made.graph.node.append(onnx.helper.make_node("Neg", [f"{name}_before"], [name]))
    return made


def raising(options: Options, model: onnx.ModelProto) -> onnx.ModelProto:
    raise KeyError("what is not there")


def dying(options: Options, model: onnx.ModelProto) -> onnx.ModelProto:
    os.kill(os.getpid(), signal.SIGSEGV)
    return model


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("optimized", "said"),
    [(negated, "output 0"), (raising, "raises KeyError"), (dying, "ended by SIGSEGV")],
)
def test_what_is_wrong_is_found(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    optimized: Callable[[Options, onnx.ModelProto], onnx.ModelProto],
    said: str,
) -> None:
    monkeypatch.setattr(Options, "optimized", optimized)
    tally = campaign(cases(MODELS, 0, None, 12), keep=tmp_path)
    assert said in "".join(tally.found)
    assert len(list(tmp_path.glob("*.onnx"))) == len(tally.found)
    assert said in capsys.readouterr().err


def test_an_original_that_ends_the_process_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object, **__: object) -> None:
        os.kill(os.getpid(), signal.SIGFPE)

    monkeypatch.setattr(campaigns, "trial", ended)
    tally = tried(3)
    assert not tally.found
    assert tally.skipped == {"original ended by SIGFPE": 3}
    assert tally.says_little


def test_the_same_case_is_the_same_mutant() -> None:
    one, other = (list(cases(MODELS, 5, None, 3)) for _ in range(2))
    assert one == other
    assert one[0].drawn()[0] == other[0].drawn()[0]
    assert one[0].drawn()[0] != one[1].drawn()[0]


def test_the_time_ends_a_campaign() -> None:
    assert not list(cases(MODELS, 0, -1.0, 10))
