"""StableHLO's operations: the conventions against golden vectors, and against XLA itself."""

import json
from pathlib import Path

import numpy as np
import pytest

from onnx_scatterx.theory.conventions import stablehlo
from tests.theory.golden import jax_statements
from tests.theory.golden.make_stablehlo import PATH, run
from tests.theory.golden.replay import COUNT, compare, replay
from tests.theory.golden.stablehlo_draws import DRAWS

PAGE = Path(__file__).parents[3] / "docs" / "theory" / "frameworks.md"


@pytest.mark.parametrize("call", DRAWS)
def test_golden(call: str) -> None:
    replay(PATH, call, DRAWS[call], getattr(stablehlo, call), accepted=150)


@pytest.mark.parametrize("call", DRAWS)
def test_xla_itself(call: str) -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    compare(call, DRAWS[call], getattr(stablehlo, call), run, range(COUNT, 2 * COUNT))


def test_a_window_that_leaves_the_operand() -> None:
    """A scatter leaves all of it out; the others move it inside."""
    data, starts = np.zeros(4), np.array([3])
    pair = np.array([1.0, 2.0])
    assert not stablehlo.scatter(data, starts, pair, [0], [], [], [], [0], 0).run().any()
    moved = stablehlo.dynamic_update_slice(data, pair, [3]).run()
    np.testing.assert_array_equal(moved, [0, 0, 1, 2])
    far = np.array([2**64 - 1], np.uint64)
    read = stablehlo.gather(np.arange(4), far, [0], [], [], [], [0], 0, [2]).run()
    np.testing.assert_array_equal(read, [2, 3])


def test_the_statements_of_jax() -> None:
    table = jax_statements.table()
    assert len(table) == 2 + 20
    assert "\n".join(table) in PAGE.read_text(encoding="utf-8")


def test_jax_still_writes_them_so() -> None:
    pytest.importorskip("jax", reason="JAX is not installed")
    recorded = json.loads(jax_statements.PATH.read_text(encoding="utf-8"))
    assert json.loads(json.dumps(jax_statements.asked())) == recorded
