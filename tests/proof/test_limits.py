"""The limits of a proof: what is said if one is reached, and that they grow with the models."""

import re
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_scatterx.proof import judge
from onnx_scatterx.proof.core import limits, solver
from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.limits import (
    FIRST,
    QUESTION,
    REST,
    UNANSWERED,
    UNITS,
    Account,
    ProofSpentError,
)
from onnx_scatterx.proof.core.logic import at_most
from onnx_scatterx.proof.core.terms import UnsupportedError, apply, new_table
from onnx_scatterx.proof.core.witnesses import Definition, Witnesses
from onnx_scatterx.proof.proof import Proof
from tests.helpers.proving import prove
from tests.helpers.support import parse

HEAD = "g (float[N, 4] x) => (float[N, 4] y, float[4, N] z)"
BEFORE = parse(
    f"""{HEAD} {{
        e = Softmax (x)  t = Transpose <perm = [1, 0]> (e)  u = Transpose <perm = [1, 0]> (t)
        y = Softmax (u)  v = Softmax (y)  z = Transpose <perm = [1, 0]> (v)
    }}"""
)
AFTER = parse(
    f"{HEAD} {{ e = Softmax (x)  y = Softmax (e)  v = Softmax (y)"
    "  z = Transpose <perm = [1, 0]> (v) }"
)
PLACE = r"it was reached at '\w+' \(\w+\), node \d of \d of the (first|second) model; "


def within(steps: int, monkeypatch: pytest.MonkeyPatch) -> Proof:
    """Return the proof of the two models, which may take so many steps."""
    monkeypatch.setattr(limits, "FIRST", steps)
    return prove(BEFORE, AFTER)


def test_where_the_limit_was_reached_and_what_was_proven_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proofs = [within(steps, monkeypatch) for steps in range(1, 4000, 25)]
    said = [proof.outputs[""].why for proof in proofs if proof.kind == "unknown"]
    assert proofs[-1].kind == "proven"
    assert all(
        why.startswith("the limit of work for a proof was reached: --effort 4") for why in said
    )
    assert said[0].endswith("it was reached at the inputs; nothing was compared before")
    places = [match for why in said if (match := re.search(PLACE + "(before|nothing)", why))]
    assert {match[1] for match in places} == {"first", "second"}
    found = [int(n) for why in said for n in re.findall(r"before, (\d) of 2 outputs", why)]
    assert found == sorted(found)
    assert found[-1] == 2
    monkeypatch.setattr(limits, "FIRST", 100)
    assert prove(BEFORE, AFTER).kind == "unknown"
    assert prove(BEFORE, AFTER, effort=100).kind == "proven"


def test_the_limits_grow_with_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    assert within(100, monkeypatch).kind == "unknown"
    monkeypatch.setattr(limits, "LARGE", 0.1)
    assert within(100, monkeypatch).kind == "proven"


def test_sizes_that_are_proven_before_the_limit_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split in equal parts is modelled for known sizes only."""
    before = parse("""g (float[N] x) => (float[A] z) {
        a, b = Split<axis=0, num_outputs=2>(x) z = Concat<axis = 0>(a, b) }""")
    after = parse("g (float[N] x) => (float[A] z) { z = Identity(x) }")
    counts = set()
    for rest in range(0, 20_000, 500):
        monkeypatch.setattr(limits, "FIRST", 5_000)
        monkeypatch.setattr(limits, "REST", rest)
        found = prove(before, after)
        counts.add(len(found.sizes))
        assert found.kind == ("proven for sizes" if found.sizes else "unknown")
        assert "for a proof was reached" in str(found) or len(found.sizes) == 3
    assert counts == {0, 1, 2, 3}
    assert "for a proof was reached" not in str(found)


def test_where_the_work_of_z3_was_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    before = products(4, "v0 = Softmax (x)")
    after = products(4, "e = Softmax (x)  n = Neg (e)  v0 = Neg (n)")
    assert "Z3's work for all questions" not in str(prove(before, after))
    monkeypatch.setattr(judge, "ALL", 3000)
    found = prove(before, after)
    assert "the limit of Z3's work for all questions was reached" in str(found)
    assert re.search(PLACE + r"before, 0 of 1 outputs and \d of \d pairs", str(found))
    assert not found.sizes


def test_an_unanswered_question_counts_more_in_a_proof_for_all_sizes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    account = Account()
    account.open(1)
    account.charge_question(600, answered=True)
    account.charge_question(600, answered=False)
    price, more = QUESTION + 600 // UNITS, (UNANSWERED - 1) * 600 // UNITS
    assert account.left == FIRST - 2 * price - more
    account.go_on()
    account.charge_question(600, answered=False)
    assert account.left == FIRST + REST - 3 * price

    before = products(4, "v0 = Softmax (x)")
    after = products(4, "e = Softmax (x)  n = Neg (e)  v0 = Neg (n)")
    monkeypatch.setattr(solver, "FULL", 1)
    monkeypatch.setattr(solver, "QUICK", 1)
    assert "work for a proof" not in str(prove(before, after))
    monkeypatch.setattr(limits, "UNANSWERED", FIRST)
    assert "the limit of work for a proof was reached" in str(prove(before, after))


def test_no_question_catches_the_end_of_a_proof() -> None:
    assert not issubclass(ProofSpentError, UnsupportedError)


def products(count: int, start: str) -> onnx.ModelProto:
    """Return a chain of products with different constants, after the nodes of ``start``."""
    chain = " ".join(f"v{k + 1} = MatMul (v{k}, w{k})" for k in range(count))
    model = parse(f"g (float[N, 4] x) => (float[N, 4] v{count}) {{ {start} {chain} }}")
    for k in range(count):
        weights = np.full((4, 4), k, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(weights, f"w{k}"))
    return model


def test_nodes_with_other_constants_are_not_compared() -> None:
    """Each product of the second model is compared with that of the same constant alone."""
    questions = []
    for count in (4, 8, 12):
        before = products(count, "v0 = Softmax (x)")
        after = products(count, "e = Softmax (x)  n = Neg (e)  v0 = Neg (n)")
        found = prove(before, after)
        assert found.kind == "unknown"
        questions.append(found.questions)
    first, second, third = questions
    assert third - second == second - first


def test_a_fact_is_made_once_and_a_later_pattern_is_matched() -> None:
    with new_table():
        witnesses, made = Witnesses(), []
        x, y = (apply("f", (integer(k),), "integer", 0, 9) for k in (1, 2))

        def fact(term: Any) -> list[Any]:
            made.append(term)
            return [at_most(x, integer(5))]

        witnesses.define("f", Definition(fact))
        assert witnesses.facts_for([x]) == witnesses.facts_for([x]) == [at_most(x, integer(5))]
        assert made == [x]
        witnesses.match(y, (), lambda _: at_most(y, integer(3)))
        assert at_most(y, integer(3)) in witnesses.facts_for([y])
        witnesses.match(y, (), lambda _: at_most(y, integer(2)))
        assert at_most(y, integer(2)) in witnesses.facts_for([y])
