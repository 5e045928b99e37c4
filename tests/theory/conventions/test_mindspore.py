"""MindSpore's calls: against golden vectors and MindSpore itself, and ``scatter_`` by its page.

``Tensor.scatter_`` has no kernel for the CPU: it is held against its page, rule by rule, and
against ``ops.scatter`` and ``ops.tensor_scatter_elements`` where they say the same.
"""

from typing import Any

import numpy as np
import pytest

from onnx_scatterx.theory.conventions import mindspore
from onnx_scatterx.theory.conventions.mindspore import scatter_
from tests.theory.golden.draws import Draws
from tests.theory.golden.make_mindspore import PATH, run
from tests.theory.golden.mindspore_draws import DRAWS
from tests.theory.golden.replay import COUNT, compare, replay

THIS = np.array([[1, 2], [3, 4]], np.float32)
INDEX = np.array([[1, 0], [1, 0]])
SRC = np.array([[4, 3], [2, 1]], np.float32)
ROWS = np.array([[0], [1]])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", DRAWS)
def test_golden(call: str) -> None:
    replay(PATH, call, DRAWS[call], getattr(mindspore, call))


@pytest.mark.parametrize("call", DRAWS)
def test_mindspore_itself(call: str) -> None:
    pytest.importorskip("mindspore", reason="MindSpore is not installed")
    compare(call, DRAWS[call], getattr(mindspore, call), run, range(COUNT, COUNT + 25))


def test_the_examples_of_the_page() -> None:
    assert scatter_(THIS, 1, INDEX, SRC).run().tolist() == [[3, 4], [1, 2]]
    assert scatter_(THIS, 1, INDEX, SRC, reduce="add").run().tolist() == [[4, 6], [4, 6]]
    assert scatter_(THIS, 0, ROWS, 10).run().tolist() == [[10, 2], [10, 4]]
    assert scatter_(THIS, 0, ROWS, 3, reduce="multiply").run().tolist() == [[3, 2], [9, 4]]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("reduce", [None, "add", "multiply"])
@pytest.mark.parametrize("scalar", [False, True])
def test_the_overloads_are_the_loop_of_the_page(reduce: str | None, scalar: bool) -> None:
    """``self[index[i][j][k]][j][k] = src[i][j][k]``, and so on for the other dims."""
    for seed in range(60):
        random = np.random.default_rng(seed)
        shape = random.integers(1, 5, random.integers(1, 4))
        dim = int(random.integers(-len(shape), len(shape)))
        sizes = tuple(random.integers(1, shape + 1))
        index = random.integers(-shape[dim], shape[dim], sizes).astype(f"i{4 + 4 * (seed % 2)}")
        data = random.integers(-4, 5, shape).astype(np.float32)
        src = random.integers(-4, 5, shape).astype(np.float32)
        expected = data.copy()
        for i in np.ndindex(sizes):
            j = list(i)
            j[dim] = index[i]
            update = np.float32(2.5) if scalar else src[i]
            old = expected[tuple(j)]
            both = {None: update, "add": old + update, "multiply": old * update}
            expected[tuple(j)] = both[reduce]
        given: dict[str, Any] = {"value": 2.5} if scalar else {"src": src}
        output = scatter_(data, dim, index, reduce=reduce, **given).run()
        np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize("call", ["scatter", "tensor_scatter_elements"])
def test_scatter_is_the_call_that_runs(call: str) -> None:
    """On what both take, ``scatter_`` is the call that the golden vectors hold."""
    compared = 0
    for number in range(COUNT):
        arguments = DRAWS[call](Draws(call, number))
        try:
            other = getattr(mindspore, call)(**arguments)
            data, axis, index, src = (
                arguments.get(a, arguments.get(b, 0))
                for a, b in (
                    ("input", "input_x"),
                    ("axis", "axis"),
                    ("index", "indices"),
                    ("src", "updates"),
                )
            )
            reduce = "add" if arguments.get("reduction") == "add" else None
            mine = scatter_(data, axis, index, src, reduce=reduce)
        except ValueError:
            continue
        assert mine.run().tobytes() == other.run().tobytes() or data.dtype == np.float64
        compared += 1
    assert compared >= 80


def of(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def at(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int64)


@pytest.mark.parametrize(
    ("arguments", "reduce", "because"),
    [
        # TypeError: the type of self, index, src or value is unsupported
        ((of(2, 2).astype(np.complex64), 0, at(1, 1), 1.0), None, "self holds complex64"),
        ((of(2, 2), 0, at(1, 1).astype(np.float32), of(1, 1)), None, "index holds float32"),
        ((of(2, 2), 0, at(1, 1).astype(np.int16), of(1, 1)), None, "index holds int16"),
        ((of(2, 2), 0, at(1, 1), "1"), None, "src must be an int, a float or a bool"),
        ((of(2, 2), 0, at(1, 1), 1j), None, "src must be an int, a float or a bool"),
        # ValueError: reduce is neither "add" nor "multiply"
        ((of(2, 2), 0, at(1, 1), of(1, 1)), "sum", "reduce must be 'add' or 'multiply'"),
        ((of(2, 2), 0, at(1, 1), 1), "update", "reduce must be 'add' or 'multiply'"),
        # RuntimeError: dim is out of the range [-r, r)
        ((of(2, 2), 2, at(1, 1), of(1, 1)), None, r"dim is 2, and must be in \[-2, 1\]"),
        ((of(2, 2), -3, at(1, 1), 1), "add", r"dim is -3"),
        ((of(), 0, at(), 1), None, r"dim is 0, and must be in \[0, -1\]"),
        # RuntimeError: the rank of self is larger than 8
        ((of(*[1] * 9), 0, at(*[1] * 9), of(*[1] * 9)), None, "self has rank 9"),
        # RuntimeError: the dtype of self is not that of src
        ((of(2, 2), 0, at(1, 1), at(1, 1)), None, "src holds int64, and self holds float32"),
        # RuntimeError: self, index or src have different ranks
        ((of(2, 2), 0, at(1), of(1, 1)), None, "index must have the rank of self"),
        ((of(2, 2), 0, at(1, 1), of(1)), None, "src must have the rank of self"),
        ((of(2, 2), 0, at(1, 1, 1), 1), None, "index must have the rank of self"),
        # RuntimeError: a dim of index is larger than that of src, or of self
        ((of(2, 2), 0, at(2, 2), of(1, 2)), None, "dim 0 of index is 2, but src has only 1"),
        ((of(2, 2), 0, at(2, 2), of(2, 1)), "add", "dim 1 of index is 2, but src has only 1"),
        ((of(2, 2), 0, at(1, 3), of(1, 3)), None, "dim 1 of index is 3, but self has only 2"),
        ((of(2, 2), 0, at(3, 1), of(3, 1)), None, "dim 0 of index is 3, but self has only 2"),
        ((of(2, 2), 0, at(3, 1), 1), "multiply", "dim 0 of index is 3, but self has only 2"),
        # the value range of each element must be [-s, s)
        ((of(2, 2), 0, at(1, 1) + 2, of(1, 1)), None, r"index is 2 at \(0, 0\)"),
        ((of(2, 2), 0, at(1, 1) - 3, 1), None, r"index is -3 at \(0, 0\)"),
        # one of the overloads
        ((of(2, 2), 0, at(1, 1)), None, "either src or value"),
    ],
)
def test_scatter_refuses_what_the_page_refuses(
    arguments: tuple[Any, ...], reduce: str | None, because: str
) -> None:
    with pytest.raises(ValueError, match=because):
        scatter_(*arguments, reduce=reduce)


def test_the_rest_of_the_page() -> None:
    """An empty index of any rank, a src larger than index, and values of other types."""
    for empty in (at(0), at(2, 0, 3), at(0, 2)):
        assert scatter_(THIS, 0, empty, of(1, 1)).run().tolist() == THIS.tolist()
        assert scatter_(THIS, 1, empty, 5, reduce="add").run().tolist() == THIS.tolist()
    assert scatter_(THIS, 1, at(1, 1), of(5, 7)).run().tolist() == [[0, 2], [3, 4]]
    whole = THIS.astype(np.int32)
    assert scatter_(whole, -1, np.array([[-1]], np.int32), value=7.9).run().tolist() == [
        [1, 7],
        [3, 4],
    ]
    assert scatter_(whole, 0, at(1, 1), True).run().tolist() == [[1, 2], [3, 4]]
    assert scatter_(whole > 1, 0, at(1, 1), 3).run().tolist() == [[True, True], [True, True]]
    with pytest.raises(ValueError, match="either src or value"):
        scatter_(THIS, 0, ROWS, SRC, value=1)
