"""The examples of the paper, with the numbers that it prints."""

import numpy as np

from onnx_scatterx.theory import Pick, Scattering, Sliceability, XTransformer, outcomes
from onnx_scatterx.theory.algorithm import provision_x_transformer, scatter
from onnx_scatterx.theory.picks import embedded_slice, index_of, slice_of, subtensor
from onnx_scatterx.theory.theorem import disjoint_representation
from tests.theory.paper.examples import A_1, B_1, E_0, E_1, E_2, E_3, T_2, T_3, X_1


def test_2_1_tuples() -> None:
    """What picks take is put together like tuples."""
    p = Pick((1, 2, 3))
    assert p + Pick((4,)) == Pick((1, 2, 3, 4))
    assert p + Pick((4, 5)) == Pick((1, 2, 3, 4, 5))
    assert p + Pick(()) == p
    index = (10, 11, 12, 13, 14, 15)
    assert (p + Pick((4, 5)))(index) == p(index) + Pick((4, 5))(index)


def test_2_3_the_pick_4_6_7() -> None:
    p = Pick(np.array([4, 6, 7]))
    assert (p[0], p[1], p[2]) == (4, 6, 7)
    assert p((10, 11, 12, 13, 14, 15, 16, 17)) == (14, 16, 17)
    assert not p.is_smooth


def test_e_0_and_its_subtensors() -> None:
    assert E_0.shape == (3, 3, 2)
    e_00, e_01, e_02 = (subtensor(E_0, (i,)) for i in range(3))
    assert e_00.tolist() == [[0, 0], [0, 1], [0, 2]]
    assert e_01.tolist() == [[1, 0], [1, 1], [1, 2]]
    assert e_02.tolist() == [[2, 0], [2, 1], [2, 2]]
    assert np.stack([e_00, e_01, e_02]).tolist() == E_0.tolist()
    rows = [Pick((1,)), Pick.identity(3), Pick.identity(2)]
    assert slice_of(E_0, rows)[0].tolist() == e_01.tolist()
    assert len(embedded_slice(E_0.shape, rows)) == e_01.size


def test_e_0_provisions_the_identity() -> None:
    t = XTransformer.from_provision(E_0, (3, 3))
    assert all(t(i) == i for i in np.ndindex(3, 3))
    form = disjoint_representation(t)
    assert isinstance(form, XTransformer)
    assert (form.p1, form.p2, form.f.shape) == (Pick(), Pick.identity(2), (0,))


def test_e_1_provisions_a_transformer() -> None:
    assert E_1.shape == (4, 2, 4)
    t = XTransformer.from_provision(E_1, (2, 2, 2, 2))
    assert t((3, 0)) == (0, 1, 1, 0) == index_of(E_1[3, 0])
    assert t.provision().tolist() == E_1.tolist()


def test_e_1_is_sliceable() -> None:
    """The paper does not say so; its T' sends four rows."""
    verdict = XTransformer.from_provision(E_1, (2, 2, 2, 2)).verdict()
    assert verdict.end_pick == Pick((1,))
    form = disjoint_representation(XTransformer.from_provision(E_1, (2, 2, 2, 2)))
    assert isinstance(form, XTransformer)
    assert form.f.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]


def test_b_1_is_a_1_scattered_into_x_1() -> None:
    t = XTransformer.from_provision(E_1, X_1.shape)
    assert Scattering(X_1, A_1, t).run().tolist() == B_1.tolist()
    assert scatter(X_1, A_1, E_1).tolist() == B_1.tolist()
    results = outcomes(t, A_1, X_1)
    assert results.is_deterministic
    assert [b.tolist() for b in results] == [B_1.tolist()]


def test_a_1_alone_leaves_half_of_b_1_open() -> None:
    """Section 4's second point: some K is no target."""
    results = outcomes(XTransformer.from_provision(E_1, X_1.shape), A_1)
    assert not results.is_deterministic
    (b,) = results
    assert b[0].tolist() == B_1[0].tolist()
    assert np.ma.getmaskarray(b)[1].all()
    assert B_1 in results
    other_half = np.array([0, 9]).reshape(2, 1, 1, 1)
    assert B_1 + other_half in results
    assert B_1 + 1 not in results


def test_e_2_is_sliceable_with_t_2() -> None:
    t = XTransformer.from_provision(E_2, (2, 2, 2, 2))
    verdict = t.verdict()
    assert verdict.sliceability is Sliceability.SLICEABLE
    p_2_1, p_2_2 = Pick([0]), Pick([1, 2])
    assert verdict.end_pick == p_2_2
    form = disjoint_representation(t)
    assert isinstance(form, XTransformer)
    assert (form.p1, form.p2) == (p_2_1, p_2_2)
    assert form.f.tolist() == T_2.tolist()
    shapes = (2, 2, 2), (2, 2, 2, 2)
    printed = provision_x_transformer(*shapes, T_2, p_2_1, p_2_2, Pick.identity(4))
    assert printed.tolist() == E_2.tolist()


def test_e_3_is_weakly_sliceable_with_t_3() -> None:
    """The picks of the paper, though they share dims 1 and 2."""
    p_3_1, p_3_2, p_3 = Pick([0, 1, 2]), Pick([1, 2]), Pick([0, 1, 2, 3])
    assert p_3 == Pick.identity(4)
    t = XTransformer.from_provision(E_3, (4, 2, 2, 2))
    form = t.represented(p_3_1, p_3_2, p_3)
    assert form is not None
    assert form.f.tolist() == T_3.tolist()
    printed = provision_x_transformer(t.shape, t.data_shape, T_3, p_3_1, p_3_2, p_3)
    assert printed.tolist() == E_3.tolist()


def test_e_3_with_disjoint_picks() -> None:
    t = XTransformer.from_provision(E_3, (4, 2, 2, 2))
    assert t.verdict().sliceability is Sliceability.WEAKLY_SLICEABLE
    assert t.verdict().end_pick == Pick()
    form = disjoint_representation(t)
    assert isinstance(form, XTransformer)
    assert (form.p1, form.p2, form.p) == (Pick([0, 1]), Pick([2, 2]), Pick([0, 2, 1, 3]))
    assert form.provision().tolist() == E_3.tolist()


def test_5_1_tensorflow() -> None:
    """``indices`` provisions a transformer; other elements are those of ``ts``."""
    ts, updates = np.arange(8), np.array([90, 91, 92])
    t = XTransformer.from_provision(np.array([[4], [3], [1]]), ts.shape)
    b = Scattering(ts, updates, t).run()
    assert all(b[t(i)] == updates[i] for i in np.ndindex(3))
    image = {t(i) for i in np.ndindex(3)}
    assert all(b[k] == ts[k] for k in np.ndindex(8) if k not in image)


def test_5_1_pytorch() -> None:
    """T_scatter(I) = i_dim(I) + T_index(I) + i_dim+1:l(I)(I)."""
    index = np.array([[0, 1, 2], [2, 0, 0]])
    for dim, shape in [(0, (3, 3)), (1, (2, 3))]:
        before, after = Pick.identity(dim), Pick.identity(dim + 1, 2)
        p2, p = before + after, Pick.identity(2) if dim == 0 else Pick((1, 0))
        t = XTransformer(index.shape, shape, index[..., None], Pick.identity(2), p2, p)
        for i in np.ndindex(*index.shape):
            assert t(i) == (*before(i), int(index[i]), *after(i))
