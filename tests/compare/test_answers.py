"""What `verify` answers in a word, in a line, and as an exit status."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.compare.array_diff import ArrayDifference
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.proving import Promises, judged
from onnx_scatterx.compare.result import Difference, Verification
from onnx_scatterx.doors.batch.summary import ModelOutcome
from onnx_scatterx.doors.cli import main
from onnx_scatterx.proof import proof
from onnx_scatterx.proof.proof import Proof, Verdict
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(2)

NEG = "g (float[N] x) => (float[N] y) { y = Neg (x) }"
SAME = "g (float[N] x) => (float[N] y) { a = Neg (x) y = Identity (a) }"
HALVES = "g (int64[N] i) => (int64[N] j) { j = %s (i) }"


def saved(text: str, path: Path) -> str:
    onnx.save(parse(text), path)
    return str(path)


SIZES = ({"N": 2}, {"N": 3})


def proven(kind: proof.Kind) -> Proof:
    return Proof({"y": Verdict(kind)}, sizes=SIZES if kind == "proven for sizes" else ())


@pytest.mark.parametrize(
    ("found", "answer", "line"),
    [
        (Verification(3, 3), "same", ""),
        (Verification(3, 3, proof=proven("proven")), "same", ""),
        (Verification(0, 0, proof=proven("proven")), "same", ""),
        (Verification(3, 3, proof=proven("unknown")), "not proven", "not proven; no run shows"),
        (
            Verification(3, 3, proof=proven("proven for sizes")),
            "not proven",
            "not proven for all sizes, only for N = 2; N = 3; no run shows",
        ),
        (
            Verification(3, 3, proof=proven("proven for the kernel")),
            "not proven",
            "not proven for the fallback of ScatterX, only for the kernel; no run shows",
        ),
        (Verification(0, 0, interface=("inputs: ",)), "different", "the models differ"),
        (Verification(0, 0), "not compared", "could not compare: no input was drawn"),
        (
            Verification(0, 0, proof=proven("unknown")),
            "not compared",
            "could not compare: no input",
        ),
        (
            Verification(5, 0, proof=proven("proven"), rejections=("draw 0: it fails",)),
            "not compared",
            "no run confirms the proof: the first model rejected every input: draw 0: it fails",
        ),
        (
            Verification(5, 0, unstable=2, rejections=("draw 0: why",)),
            "not compared",
            "could not compare: the first model rejected every input, or gave other outputs",
        ),
    ],
)
def test_the_answer(found: Verification, answer: str, line: str) -> None:
    assert found.answer == answer
    assert found.shortfall.startswith(line)
    assert bool(found) == (answer == "same") == (not found.shortfall) == found.same
    assert found.conclusive == (answer in ("same", "different"))
    assert found.agrees == (answer in ("same", "not proven"))
    told = found.to_dict()
    assert [told[key] for key in ("answer", "same", "conclusive")] == [
        answer,
        found.same,
        found.conclusive,
    ]


def test_what_no_run_confirms_is_not_the_headline() -> None:
    found = Verification(5, 0, proof=proven("proven"), rejections=("draw 0: it fails",))
    head, why, proof_line, *_ = str(found).split("\n")
    assert head == "not compared: the first model ran on none of 5 sets of inputs"
    assert why == "  draw 0: it fails"
    assert proof_line.startswith("  no run confirms this: proven the same, for all sizes")


@pytest.mark.parametrize(("answer", "same"), [("proven", True), ("unknown", False), (None, True)])
def test_the_json_of_many_models(answer: str | None, same: bool) -> None:
    """A model that is not proven is written, and is not called the same."""
    known = None if answer is None else {"answer": answer}
    report = onnx_scatterx.inspect(parse(NEG))
    one = ModelOutcome(Path("a.onnx"), Path("b.onnx"), report, True, None, 1.0, proof=known)
    assert (one.to_dict()["same"], one.to_dict()["output"]) == (same, "b.onnx")
    assert not one.done.endswith("DIFFERS, and is not written")
    assert replace(one, agrees=False).to_dict()["same"] is False
    assert replace(one, agrees=None).to_dict()["same"] is None


def test_a_slow_proof_leaves_the_draws_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, hours = time.monotonic, 0

    def slow(*_: object, **__: object) -> Proof:
        nonlocal hours
        hours += 1
        return proven("proven")

    monkeypatch.setattr(proof, "prove", slow)
    monkeypatch.setattr(time, "monotonic", lambda: clock() + 3600 * hours)
    found = onnx_scatterx.verify(parse(NEG), parse(NEG), samples=2, prove=True)
    assert found.accepted == 2
    assert found.answer == "same"


def test_a_proof_alone() -> None:
    found = onnx_scatterx.verify(parse(NEG), parse(SAME), samples=0, prove=True)
    assert found.answer == "same"
    assert str(found).split("\n")[-1] == "no inputs were run"
    assert not onnx_scatterx.verify(parse(NEG), parse(NEG), samples=0)


def test_declarations_that_differ_refute_a_proof() -> None:
    other = parse(NEG.replace("(float[N] y)", "(float[N] z)").replace("y =", "z ="))
    found = onnx_scatterx.verify(parse(NEG), other, prove=True)
    assert found.answer == "different"
    assert found.proof is not None
    assert (found.proof.kind, found.proof.refutation) == ("refuted", found.interface[0])


def test_a_model_that_does_not_load_refutes_a_proof() -> None:
    other = parse("g (float[N] x) => (float[N] y) { y = Concat <axis = 3> (x, x) }")
    found = onnx_scatterx.verify(parse(NEG), other, prove=True)
    assert found.answer == "different"
    assert found.proof is not None
    assert "the second model does not load" in (found.proof.refutation or "")


def test_random_operators_are_not_compared(tmp_path: Path) -> None:
    noise = "g (float[N] x) => (float[N] y) { y = RandomNormalLike (x) }"
    one = saved(noise, tmp_path / "noise.onnx")
    assert main(["verify", one, one, "--prove"]) == 2


@pytest.mark.parametrize("prove", [False, True])
def test_a_promise_of_the_second_model_is_named(prove: bool) -> None:
    """Runs are drawn by it, and a proof does not use it: both say so, and how to give it."""
    before, after = parse(HALVES % "Abs"), parse(HALVES % "Identity")
    after.metadata_props.add(key="onnx_scatterx.assumes", value='{"i": "nonnegative"}')
    found = onnx_scatterx.verify(before, after, samples=5, prove=prove)
    assert found.answer == ("different" if prove else "same")
    (line,) = (line for line in str(found).split("\n") if line.startswith("  assumed in"))
    said = "  assumed in runs, since the second model states it: i: nonnegative"
    unused = "; the proof does not use it. If it holds for all of your inputs: --assume "
    assert line == (said + unused + "'i: nonnegative'" if prove else said)
    given = onnx_scatterx.verify(before, after, samples=5, prove=prove, assume=found.stated)
    assert given.answer == "same"
    assert not given.stated
    assert "on 5 sets of inputs that keep: i: nonnegative" in str(given)


def test_a_given_input_that_breaks_a_promise_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = parse(HALVES % "Abs"), parse(HALVES % "Identity")
    said = "i: nonnegative"
    after.metadata_props.add(key="onnx_scatterx.assumes", value='{"i": "nonnegative, unique"}')
    kept, broken = ({"i": np.array(numbers)} for numbers in ([2, 0], [-1, 5]))
    found = onnx_scatterx.verify(before, after, samples=2, feeds=[kept, broken])
    assert found.broken_by == {2: (said,)}
    lines = str(found).split("\n")
    assert f"  given inputs 2 break the promise '{said}'" in lines
    assert lines[0] == "different, compared on 4 sets of inputs"
    path, values = tmp_path / "after.onnx", tmp_path / "i.npy"
    onnx.save(after, path)
    for feed, warned in ((kept, ""), (broken, f"warning: this input breaks the promise '{said}'")):
        np.save(values, feed["i"])
        assert main(["run", str(path), "--input", f"i={values}"]) == 0
        assert capsys.readouterr().err.strip().removeprefix("onnx-scatterx: ") == warned


def test_what_is_not_proven_is_checked_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proof, "prove", lambda *_, **__: proven("unknown"))
    profile, folder = tmp_path / "narrow.toml", tmp_path / "models"
    profile.write_text('name = "narrow"\noperators = ["Concat"]\n')
    folder.mkdir()
    one = saved(NEG, folder / "a.onnx")
    options = ["--prove", "--samples", "1", "--target", str(profile)]
    refused = "the target narrow"
    for line in (
        ["optimize", one, "-o", str(tmp_path / "b.onnx"), *options],
        ["optimize", str(folder), "-o", str(tmp_path / "out"), "--jobs", "1", *options],
    ):
        assert main(line) == 3
        assert refused not in capsys.readouterr().err.split("\n")[-2]
        assert main([*line, "--strict"]) == 1
        assert capsys.readouterr().err.strip().split("\n")[-1].count(refused) == 1


def test_the_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = saved(NEG, tmp_path / "a.onnx")
    assert main(["verify", one, one, "--prove", "--samples", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["answer"], told["proof"]["answer"]) == (1, "same", "proven")


@pytest.mark.parametrize(
    ("claimed", "sizes", "contradicts"),
    [
        ({}, {"N": 3}, True),
        ({"least": 2}, {"N": 3}, True),
        ({"least": 2}, {"N": 1}, False),
        ({"least": 1, "fixed": {"N": 0}}, {"N": 0, "M": 3}, True),
        ({"sizes": ({"N": 3},)}, {"N": 3, "M": 1}, True),
        ({"sizes": ({"N": 3},)}, {"N": 4}, False),
    ],
)
def test_a_run_contradicts_a_proof_at_its_sizes(
    claimed: dict[str, Any], sizes: dict[str, int], contradicts: bool
) -> None:
    proof = Proof({"y": Verdict("proven for sizes" if claimed else "proven")}, **claimed)
    difference = Difference(Draw(0, sizes, "plain"), "y", ArrayDifference("failed", "", "fails"))
    found = judged(proof, [difference], Promises((), {}))
    assert (found.kind, found.contradicted) == ("refuted", contradicts)
    # A proof is about inputs on which the first model runs without graph optimizations.
    found = judged(proof, [replace(difference, fused=True, only_fused=True)], Promises((), {}))
    assert (found.kind, found.contradicted) == ("refuted", False)
