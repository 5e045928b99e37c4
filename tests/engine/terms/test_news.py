"""Which new facts are worth asking a question again: those about it at once, others ever later."""

import pytest

from onnx_scatterx.engine.terms import Term, search, size
from onnx_scatterx.engine.terms.cases import pos
from onnx_scatterx.engine.terms.facts import Facts

N, M = size("news.n"), size("news.m")
LAYERS = [size(f"news.layer{i}") for i in range(200)]


def asked(monkeypatch: pytest.MonkeyPatch) -> list[Term]:
    """Return the list of the terms for which proofs are sought from now on."""
    terms: list[Term] = []
    sought = search.prove

    def noted(t: Term, facts: Facts) -> bool:
        terms.append(t)
        return sought(t, facts)

    monkeypatch.setattr("onnx_scatterx.engine.terms.facts.prove", noted)
    return terms


def test_facts_that_concern_a_question_only_through_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each layer relates its own size to n. The question is asked when the facts have doubled."""
    facts, terms = Facts(), asked(monkeypatch)
    for layer in LAYERS:
        facts.add([N - layer])
        assert not facts.is_nonnegative(N - M)
    assert terms.count(N - M) < 15
    simplified = Facts(), pos(N - M)
    before = len(terms)
    for layer in LAYERS:
        simplified[0].add([N - layer])
        assert simplified[0].simplify(simplified[1]) is simplified[1]
    assert len(terms) - before < 60


def test_a_fact_about_the_question_itself() -> None:
    facts, t = Facts(), pos(N - M)
    for layer in LAYERS[:100]:
        facts.add([N - layer])
        assert not facts.is_nonnegative(N - M)
        assert facts.simplify(t) is t
    facts.add([N - M - 1])
    assert facts.is_nonnegative(N - M)
    assert facts.simplify(t) is N - M


def test_a_question_does_not_wait_when_a_graph_is_read() -> None:
    """The decisive facts are about another size, too, and come last."""
    facts = Facts()
    for layer in LAYERS[:100]:
        facts.add([N - layer])
        assert not facts.is_nonnegative(N - M)
        assert facts.simplify(pos(N - M)) is pos(N - M)
    facts.add([LAYERS[0] - M])
    assert not facts.is_nonnegative(N - M), "it waits"
    facts.ask_again()
    assert facts.is_nonnegative(N - M)
    assert facts.simplify(pos(N - M)) is N - M
