"""Transformers by hand: those of the paper, the ends of int64, and invalid ones."""

import numpy as np
import pytest

from onnx_scatterx.theory.components import Affine, AffineModulo, Constant, Lookup, fit_component
from onnx_scatterx.theory.picks import Pick
from onnx_scatterx.theory.transformer import XTransformer
from tests.theory.fields import Index, Integers, fields

E_0 = np.array([[[i, j] for j in range(3)] for i in range(3)])
E_1 = np.array([[[0, i // 2, i % 2, j] for j in range(2)] for i in range(4)])


def test_the_bounds_message_names_everything() -> None:
    t = XTransformer.from_provision(np.array([[[0, 0]], [[1, -4]]]), (2, 3))
    message = r"update \(1, 0\) is out of bounds: component 1 is -4, .* axis of data has size 3"
    with pytest.raises(ValueError, match=message):
        t.check_bounds()
    with pytest.raises(ValueError, match=message):
        t.is_injective()


def test_indices_at_the_ends_of_int64() -> None:
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    for column in ([low, high], [high, low], [low, -1, high], [low, 0, high], [high, 3, low]):
        e = np.array(column)[:, None]
        t = XTransformer.from_provision(e, (4,))
        expected = [v + 4 if -4 <= v < 0 else v for v in column]
        assert t.provision().ravel().tolist() == expected
        assert len(t.out_of_bounds()) == sum(not 0 <= v < 4 for v in expected)


def test_e_0_is_the_identity() -> None:
    t = XTransformer.from_provision(E_0, (3, 3))
    assert t.components == (Affine(0, 1, 0), Affine(0, 1, 1))
    n = t.normal()
    assert (n.p1, n.p2, n.p, n.f.shape) == (Pick(), Pick((0, 1)), Pick.identity(2), (0,))


def test_e_1_of_definition_6() -> None:
    t = XTransformer.from_provision(E_1, (2, 2, 2, 2))
    assert t((3, 0)) == (0, 1, 1, 0)
    high, low = Lookup((0,), np.array([0, 0, 1, 1])), AffineModulo(0, 1, 0, 2)
    assert t.components == (Constant(0), high, low, Affine(0, 1, 1))
    assert t.is_injective()


def test_e_3_is_an_x_transformer() -> None:
    """The representation that the paper gives is that of E_3: its T' has two columns."""
    f = np.array([[[[2 * i + j, k] for k in range(2)] for j in range(2)] for i in range(2)])
    picks = Pick((0, 1, 2)), Pick((1, 2)), Pick.identity(4)
    t = XTransformer((2, 2, 2), (4, 2, 2, 2), f, *picks)
    rows = [[0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]]
    rows += [[2, 0, 0, 0], [2, 1, 0, 1], [3, 0, 1, 0], [3, 1, 1, 1]]
    assert t.provision().reshape(8, 4).tolist() == rows
    n = t.normal()
    assert (n.p1, n.p2, n.p) == (Pick((0, 1)), Pick((2, 1, 2)), Pick.identity(4))
    assert n.f.tolist() == [[[0], [1]], [[2], [3]]]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2)])
def test_empty_updates_have_one_form(shape: tuple[int, ...]) -> None:
    rank = len(shape)
    by_f = XTransformer.from_provision(np.zeros((*shape, rank), np.int64), (0,) * rank)
    picks = Pick(), Pick.identity(rank), Pick.identity(rank)
    by_p2 = XTransformer(shape, (0,) * rank, np.zeros(0, np.int64), *picks)
    assert by_f == by_p2
    assert fields(by_f.normal()) == fields(by_p2.normal())
    by_f.check_bounds()
    assert by_p2.is_injective()


def test_the_form_of_extents_of_one() -> None:
    t = XTransformer((1, 2), (3, 2), np.zeros(0, np.int64), Pick(), Pick((0, 1)), Pick((0, 1)))
    assert t.components == (Constant(0), Affine(0, 1, 1))
    assert t.normal().p2 == Pick((1,))


def test_a_broadcast_is_never_written_out() -> None:
    row = np.broadcast_to(np.array([3, 1, -1, 0]), (10**6, 10**6, 4))
    assert fit_component(row, 9) == Lookup((2,), np.array([3, 1, 8, 0]))
    axes = Pick.identity(3)
    t = XTransformer(row.shape, (9,), row[..., None], axes, Pick(), Pick((0,)))
    assert t.normal().f.tolist() == [[3], [1], [8], [0]]


def test_the_callers_indices_may_change_afterwards() -> None:
    mine = np.array([[5], [1], [2]])
    t = XTransformer.from_provision(mine, (9,))
    table = fit_component(mine[:, 0], 9)
    mine[:] = 0
    assert t((0,)) == (5,)
    assert t.components == (Lookup((0,), np.array([5, 1, 2])),) == (table,)
    with pytest.raises(ValueError, match="read-only"):
        t.f[0] = 1


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint8, np.uint32, np.int64])
def test_any_integer_type(dtype: type[np.integer[np.typing.NBitBase]]) -> None:
    e = np.array([[200], [100]]).astype(dtype)
    t = XTransformer.from_provision(e, (201,))
    assert t((1,)) == (100,)
    assert fit_component(e[:, 0], 201) == t.components[0]


@pytest.mark.parametrize(
    ("f", "p1", "p2", "p", "because"),
    [
        (np.zeros((2, 2), int), (2,), (), (0, 1), "p1 is .* only 2 dims"),
        (np.zeros(1, int), (), (2,), (0, 1), "p2 is .* only 2 dims"),
        (np.zeros(0, int), (), (0, 1, 1), (0, 1), "p2 is .* only 2 axes"),
        (np.zeros((2, 1), int), (0,), (1,), (0, 0), "p must be a permutation"),
        (np.zeros((2, 1), int), (0,), (1,), (0,), "p must be a permutation"),
        (np.zeros((2, 2), int), (0,), (1,), (0, 1), r"f has shape \(2, 2\)"),
        (np.zeros((1, 1), int), (0,), (1,), (0, 1), r"ask for \(2, 1\)"),
        (np.zeros((2, 1)), (0,), (1,), (0, 1), "must hold integers"),
        (np.zeros((2, 1), bool), (0,), (1,), (0, 1), "must hold integers"),
        (np.zeros((2, 1), np.uint64), (0,), (1,), (0, 1), "must hold integers"),
    ],
)
def test_what_is_no_transformer(f: Integers, p1: Index, p2: Index, p: Index, because: str) -> None:
    with pytest.raises(ValueError, match=because):
        XTransformer((2, 3), (4, 3), f, Pick(p1), Pick(p2), Pick(p))


def test_other_misuse() -> None:
    t = XTransformer.from_provision(E_0, (3, 3))
    for index in [(0,), (0, 3), (-1, 0), (0, 0, 0)]:
        with pytest.raises(IndexError, match="not an index of updates"):
            t(index)
    with pytest.raises(ValueError, match="permutation of 2 axes"):
        t.transpose_data((0,))
    with pytest.raises(ValueError, match="permutation of 2 axes"):
        t.transpose_updates((0, 0))
    with pytest.raises(ValueError, match="one dim more"):
        XTransformer.from_provision(np.array(3), (3,))
    with pytest.raises(ValueError, match="has a negative extent"):
        XTransformer((-1,), (), np.zeros(0, int), Pick(), Pick(), Pick())
    with pytest.raises(ValueError, match="ascend"):
        Lookup((1, 0), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="2 dims, but a table of shape"):
        Lookup((0, 1), np.zeros(2))
    assert t != "a transformer"
