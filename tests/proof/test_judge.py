"""The judge as a part of the project: its imports, its answers, its options."""

import ast
import builtins
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.proof.core import arithmetic, logic
from onnx_scatterx.proof.core.terms import (
    Term,
    UnsupportedError,
    apply,
    new_table,
    variable,
)
from onnx_scatterx.proof.core.witnesses import Witnesses, coordinates
from onnx_scatterx.proof.core.world import World
from onnx_scatterx.proof.declarations import InputClause
from onnx_scatterx.proof.operators.gathers import in_range
from onnx_scatterx.proof.trials import _flavours
from tests.helpers.support import parse

FOLDER = Path(onnx_scatterx.__file__).parent / "proof"
OTHERS = {"onnx", "numpy", "z3", "ml_dtypes"}


def imported(path: Path) -> set[str]:
    """Return the modules that a file names in imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, path
            found.add(node.module or "")
    return found


def test_it_shares_nothing_with_what_it_judges() -> None:
    files = list(FOLDER.rglob("*.py"))
    assert len(files) > 20
    for path in files:
        for module in imported(path):
            top = module.split(".")[0]
            own = module.startswith(("onnx_scatterx.proof", "onnx_scatterx.faces"))
            assert own or top in OTHERS or top in sys.stdlib_module_names, f"{path}: {module}"


ROWS = """g (float[N, 4] x, float[K, 4] u) => (float[N, 4] y)
    <int64[1] last = {-1}, int64[1] a = {0}, int64[1] b = {-1}, int64 zero = {0}, int64 one = {1}> {
    s = Shape(x) n = Gather<axis = 0>(s, zero) r = Range(zero, n, one)
    p = Slice(r, a, b, a) i = Unsqueeze(p, last) y = ScatterND(x, i, u) }"""


def saved(model: onnx.ModelProto, path: Path) -> str:
    onnx.save(model, path)
    return str(path)


def test_verify_proves_what_optimize_makes() -> None:
    before = parse(ROWS)
    after = onnx_scatterx.optimize(before, target="standard").model
    found = onnx_scatterx.verify(before, after, samples=3, prove=True)
    assert found.same
    assert found.proof is not None
    assert found.proof.proven
    assert str(found).startswith("proven the same, for all sizes and all inputs")
    assert found.to_dict()["proof"]["answer"] == "proven"
    plain = onnx_scatterx.verify(before, after, samples=3)
    assert plain.proof is None
    assert "proof" not in plain.to_dict()


def test_verify_refutes_by_a_run() -> None:
    """The slices differ only for more than 3000 rows, and no draw has so many."""
    text = """g (float[N] x) => (float[M] y) { y = Slice(x, [0], [3000], [0]) }"""
    before, after = parse(text), parse(text.replace("3000", "3001"))
    found = onnx_scatterx.verify(before, after, samples=1, prove=True)
    assert not found.same
    assert found.proof is not None
    assert found.proof.kind == "refuted"
    assert found.proof.inputs["x"].shape[0] > 3000
    assert "inputs of the solver (N = " in str(found)


def test_assumptions_of_the_user_are_facts() -> None:
    text = """g (float[N] x, int64[K] i) => (float[M] y) <int64 zero = {0}>
        { y = Gather(x, i) }"""
    other = text.replace("y = Gather(x, i)", "j = Max(i, zero) y = Gather(x, j)")
    before, after = parse(text), parse(other)
    assert not onnx_scatterx.verify(before, after, samples=2, prove=True).same
    for assume in (["i: nonnegative"], ["0 <= i < N"]):
        found = onnx_scatterx.verify(before, after, samples=2, prove=True, assume=assume)
        assert found.proof is not None
        assert found.proof.proven, found
        assert "i >= 0" in found.proof.promised


def test_contiguous_numbers_are_known_from_the_first() -> None:
    rows = """g (int64[K] i) => (int64[K] y) {
        first = Slice(i, [0], [1], [0]) e = Shape(i) n = Squeeze(e)
        r = Range(0, n, 1) y = Add(first, r) }"""
    same = "g (int64[K] i) => (int64[K] y) { y = Identity(i) }"
    before, after = parse(same), parse(rows)
    for assume, proven in ((["i: contiguous"], True), ([], False)):
        found = onnx_scatterx.verify(
            before, after, samples=2, prove=True, assume=["K >= 1", *assume]
        )
        assert found.proof is not None
        assert found.proof.proven is proven, found


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = saved(parse(ROWS), tmp_path / "before.onnx")
    after, report = str(tmp_path / "after.onnx"), str(tmp_path / "report.html")
    line = ["optimize", before, "-o", after, "--prove", "--samples", "2", "--target", "standard"]
    assert main([*line, "--report", report]) == 0
    assert "proven the same, for all sizes" in capsys.readouterr().out
    assert "proven the same, for all sizes" in Path(report).read_text()
    assert main([*line, "--report", str(tmp_path / "r.json")]) == 0
    told = json.loads((tmp_path / "r.json").read_text())
    assert told["verification"]["proof"]["answer"] == "proven"
    capsys.readouterr()
    wrong = parse(ROWS.replace("int64[1] b = {-1}", "int64[1] b = {-2}"))
    other = saved(wrong, tmp_path / "other.onnx")
    assert main(["verify", before, other, "--prove", "--samples", "2"]) == 1
    assert "refuted: the models differ" in capsys.readouterr().out


def test_an_unproven_answer_is_false(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "g (float[N, 4] x) => (float[A, B] y) { y = Softmax(x) }"
    before = saved(parse(text), tmp_path / "a.onnx")
    double = "{ e = Softmax(x) n = Neg(e) y = Neg(n) }"
    after = saved(parse(text.replace("{ y = Softmax(x) }", double)), tmp_path / "b.onnx")
    assert main(["verify", before, after, "--samples", "2"]) == 0
    assert main(["verify", before, after, "--samples", "2", "--prove"]) == 3
    printed = capsys.readouterr()
    assert "not proven" in printed.out
    assert "the same, bit for bit, on 2" in printed.out
    assert "not proven" in printed.err


def test_a_limit_is_named_and_raised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = (str(tmp_path / f"{name}.onnx") for name in ("before", "after"))
    head = "g (float[N, 4] x) => (float[N, 4] y)"
    text = f"{head} {{ t = Transpose<perm = [1, 0]>(x) y = Transpose<perm = [1, 0]>(t) }}"
    onnx.save(parse(text), before)
    onnx.save(parse(f"{head} {{ y = Identity(x) }}"), after)
    line = ["verify", before, after, "--samples", "1"]
    assert main([*line, "--prove", "--effort", "0.000001"]) == 3
    said = capsys.readouterr().out
    assert "the limit of work for a proof was reached: --effort 4 allows four times as much" in said
    assert main([*line, "--prove", "--effort", "1"]) == 0
    assert main([*line, "--effort", "4"]) == 2
    assert "--effort changes nothing unless --prove is given" in capsys.readouterr().err


def test_promises_of_the_second_model_are_no_facts() -> None:
    """A model that says of itself that N is at most 0 is not the same as every model."""
    text = "g (int64[N] x) => (int64[M] y) { y = %s (x) }"
    before, after = parse(text % "Neg"), parse(text % "Abs")
    after.metadata_props.add(key="onnx_scatterx.assumes", value='{"N": "<= 0"}')
    found = onnx_scatterx.verify(before, after, samples=2, prove=True)
    assert found.proof is not None
    assert found.proof.kind == "refuted"


def test_a_run_that_contradicts_a_proof_refutes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the prover had a fault: the answer is that of the run, and it asks for a report."""
    from onnx_scatterx.proof import proof

    def wrong(*_: object, **__: object) -> proof.Proof:
        return proof.Proof({"y": proof.Verdict("proven")})

    monkeypatch.setattr(proof, "prove", wrong)
    text = "g (float[N] x) => (float[M] y) { y = %s (x) }"
    found = onnx_scatterx.verify(parse(text % "Neg"), parse(text % "Abs"), samples=5, prove=True)
    assert found.proof is not None
    assert found.proof.kind == "refuted"
    assert found.to_dict()["proof"]["answer"] == "refuted"
    assert "please report this" in str(found)


def test_the_prover_reads_the_files_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the loader of the optimizer makes of a file is not what is judged."""
    from onnx_scatterx.proof import proof

    given: list[Any] = []

    def noted(before: Any, after: Any, **_: object) -> proof.Proof:
        given.extend((before, after))
        return proof.Proof({"y": proof.Verdict("proven")})

    monkeypatch.setattr(proof, "prove", noted)
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for path in paths:
        saved(parse(ROWS), path)
    onnx_scatterx.verify(*paths, samples=1, prove=True)
    assert given == paths


def test_without_z3_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def missing(name: str, *args: Any) -> Any:
        if name == "z3":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(VerifyError, match=r"pip install z3-solver$"):
        onnx_scatterx.verify(parse(ROWS), parse(ROWS), prove=True)


def test_its_progress_is_reported() -> None:
    told: list[tuple[str, int, int]] = []
    onnx_scatterx.verify(
        parse(ROWS), parse(ROWS), samples=1, prove=True, on_progress=lambda *said: told.append(said)
    )
    assert {stage for stage, *_ in told} == {"proving", "verifying"}
    assert all(done <= wanted for _, done, wanted in told)


def test_a_coordinate_never_becomes_a_fact() -> None:
    """That one exists says that its axis is not empty."""
    size = variable("size n")
    point = variable("at 0", limit=size)
    world = World()
    with pytest.raises(AssertionError, match="not a single point"):
        world.solver.assume(logic.at_most(point, arithmetic.integer(3)))
    told = Witnesses()
    other = apply("other", (), "integer", 0, 9)
    told.attach(other, [], logic.at_most(point, other))
    assert all(not coordinates(fact) for fact in told.facts_for([logic.at_most(other, size)]))
    assert not world.solver.follows(logic.below(arithmetic.ZERO, size))


def test_what_was_decided_is_known_while_a_question_is_asked() -> None:
    world, size = World(), variable("size n", 0, 9)
    is_small, is_one = (logic.at_most(size, arithmetic.integer(n)) for n in (3, 1))
    world.solver.assume(is_small)
    assert world.decide(is_small)
    world.solver.collecting = True
    assert (world.decide(is_small), world.decide(is_one)) == (True, None)


def test_floats_of_trials_are_small_and_large() -> None:
    rng = np.random.default_rng(0)
    few, many = (float(f.draw(rng, (99,), "float32").std()) for f in _flavours({}))
    assert few < 2 < 500 < many


def test_how_sizes_are_printed() -> None:
    assert str(InputClause("N", ">=", 1)) == "N >= 1"
    assert str(InputClause(("x", 1), "==", 2, 8)) == "x[1] % 8 == 2"


@pytest.mark.slow
def test_many_models_are_proven(tmp_path: Path) -> None:
    saved(parse(ROWS), tmp_path / "a.onnx")
    checks = {"samples": 2, "prove": True}
    summary = onnx_scatterx.optimize_many(
        tmp_path, tmp_path / "out", jobs=1, verify=checks, target="standard"
    )
    (outcome,) = summary.outcomes
    assert outcome.answer == "proven"
    assert outcome.to_dict()["proof"]["answer"] == "proven"
    assert outcome.done.endswith("verified, proven")
    assert not summary.unproven


def test_indices_of_an_unknown_type_are_not_judged() -> None:
    with pytest.raises(UnsupportedError, match="indices whose type is not known"):
        in_range(apply("what an unknown operator gives", ()), arithmetic.integer(3))


def test_questions_do_not_depend_on_where_terms_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms are hashed by their place in memory: with other hashes, sets have other orders."""
    told = []
    for factor in (1, 101, 499):
        monkeypatch.setattr(Term, "__hash__", lambda term, by=factor: term.number * by % 1009)
        with new_table():
            witnesses = Witnesses()
            values = [apply(("input", k), (), "integer", 0, 9) for k in range(40)]
            for value in values:
                witnesses.attach(value, (), small(value))
            told.append([f.number for f in witnesses.facts_for([arithmetic.add(*values)])])
    assert len(told[0]) == 40
    assert told[0] == told[1] == told[2]


def small(value: Term) -> Term:
    return logic.at_most(value, arithmetic.integer(5))
