"""Clauses: how statements are read, and which are refused."""

from collections.abc import Sequence
from typing import Any

import pytest

import onnx_scatterx
from onnx_scatterx import ScatterXError
from onnx_scatterx.assumptions.clauses import read_clauses
from onnx_scatterx.assumptions.expressions import statement
from tests.helpers.kept_scatters import CACHE
from tests.helpers.support import parse


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("seq <= 4096", "seq", "<= 4096"),
        ("n % 8 == 0", "n", "% 8 == 0"),
        ("n%8==0", "n", "% 8 == 0"),
        ("positions = nonnegative", "positions", "nonnegative"),
        ("cache_position: contiguous, nonnegative", "cache_position", "contiguous, nonnegative"),
        ("input:0: unique", "input:0", "unique"),
        ("pos < seq", "pos", "< seq"),
        ("0 <= idx < n", "idx", ">= 0, < n"),
        ("0 < idx", "idx", "> 0"),
        ("-1<=x<= 2*n - 1", "x", ">= -1, <= 2*n - 1"),
        ("a <= b < c", "b", ">= a, < c"),
        ("x[0] >= 2", "x[0]", ">= 2"),
    ],
)
def test_statement(text: str, name: str, said: str) -> None:
    assert statement(text) == (name, said)


@pytest.mark.parametrize("text", ["x", "", "<= 3", "x big", "x <= ", "x % 0 == 1", "x <= n // 2"])
def test_statements_that_cannot_be_read(text: str) -> None:
    with pytest.raises(ScatterXError, match=r"is not like|cannot read") as raised:
        read_clauses([text])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("assume", "message"),
    [
        ("Q <= 3", "'Q': the model has no such input or symbol; it has D, N, S, pos, u, x"),
        ("u: nonnegative", "'u': it does not hold integers"),
        ("N: unique", "cannot assume 'unique' of 'N': it is a size"),
        ("pos < Q", "cannot compare 'pos' with 'Q': the model has no such symbol; it has D, N, S"),
        ("4 <= N <= 3", "no number was found that satisfies all of this: N >= 4, N <= 3"),
        ("N < 0", "no number was found that satisfies all of this: N < 0"),
        (["N % 4 == 1", "N % 2 == 0"], "no number was found that satisfies all of this"),
        (["N < D", "D < N"], "the assumptions about '[DN]' contradict other assumptions"),
    ],
)
def test_statements_that_do_not_fit_the_model(assume: str | list[str], message: str) -> None:
    model = parse(CACHE)
    with pytest.raises(ScatterXError, match=message.replace("[0]", r"\[0\]")) as raised:
        onnx_scatterx.inspect(model, assume=assume)
    assert "\n" not in str(raised.value)


def one_by_one(found: Sequence[Any]) -> list[str]:
    return [str(clause) for clause in found]


def test_of_a_mapping_as_of_statements() -> None:
    one = read_clauses({"idx": ">= 0, < n", "p": "unique"})
    assert (
        one
        == read_clauses(["0 <= idx < n", "p: unique", "p = unique"])
        == read_clauses(one_by_one(one))
    )
