"""What is remembered while a model is worked on: bounded, and the same in every run."""

import numpy as np
import pytest

from onnx_scatterx.engine.budget.limits import Limits
from onnx_scatterx.engine.terms import memo, symbol_ids
from onnx_scatterx.engine.terms.memo import Memo
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols, keeps


def test_a_full_memo_forgets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "LIMITS", Limits(remembered=3))
    found = Memo[int, int]()
    sizes = []
    for i in range(7):
        found[i] = i
        sizes.append(len(found))
    assert sizes == [1, 2, 3, 1, 2, 3, 1]
    assert found == {6: 6}


def test_arrays_of_one_model_have_a_limit_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbol_ids, "LIMITS", Limits(kept_bytes=7000))
    first, second = np.arange(800), np.arange(800)
    assert keeps(second)  # outside of a model nothing is counted
    for _ in range(2):
        with fresh_symbols():
            assert keeps(first)
            assert keeps(first)
            assert keeps(first.reshape(2, 400))  # a view is the same array
            assert not keeps(second)
            assert keeps(second[:100].copy())  # such as a shape


def test_arrays_that_the_model_stores_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(symbol_ids, "LIMITS", Limits(kept_bytes=8, elements=400))
    with fresh_symbols():
        assert keeps(np.arange(401))
        assert not keeps(np.arange(400))
