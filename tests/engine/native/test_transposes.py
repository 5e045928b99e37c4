"""Transposes around a scatter fold into the ScatterX, where the order of updates allows it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.native.row_writes import CACHE, CACHES, X
from tests.helpers.examples import examples
from tests.helpers.native_support import body, check, graphs, natives, operators, picks
from tests.helpers.support import i64, sample


def test_transposes_fold() -> None:
    """dynamo's cache update is one ScatterX on the cache as it is."""
    x, y = CACHES
    feeds = [{"x": x, "i": i64([[a], [b]]), "y": y} for a, b in ((0, 3), (4, 4), (-1, 2))]
    model = check(CACHE, *feeds)
    (node,) = natives(model)
    assert operators(model) == ["ScatterX"]
    assert list(node.input) == ["x", "i", "y"]
    assert picks(node) == ((1,), (0, 2), (1, 0, 2))
    assert body(model, node) == ["Transpose", "Transpose", "ScatterND", "Transpose"]


def test_other_readers_keep_their_transposes() -> None:
    text = CACHE.replace("(float[B, S, D] z)", "(float[B, S, D] z, float[D, B, S] w)").replace(
        "z = Transpose", "w = Transpose <perm = [2, 1, 0]> (zt)  z = Transpose"
    )
    model = check(text, {"x": CACHES[0], "i": i64([[0], [3]]), "y": CACHES[1]})
    assert sorted(operators(model)) == ["ScatterX", "Transpose"]


def test_a_transposed_scatter_with_other_readers_is_still_transposed() -> None:
    text = CACHE.replace("(float[B, S, D] z)", "(float[B, S, D] z, float[S, B, D] zt)")
    model = check(text, {"x": CACHES[0], "i": i64([[0], [3]]), "y": CACHES[1]})
    assert sorted(operators(model)) == ["ScatterX", "Transpose", "Transpose"]


def test_one_result_that_two_outputs_transpose() -> None:
    """One value cannot have both names: the second one is still a node, which moves nothing."""
    text = """g (float[4, 3] x, int64[2, 1] i, float[2, 4] y) => (float[4, 3] z, float[4, 3] w)
        { xt = Transpose <perm = [1, 0]> (x)  zt = ScatterND(xt, i, y)
          z = Transpose <perm = [1, 0]> (zt)  w = Transpose <perm = [1, 0]> (zt) }"""
    feed = {"i": [[2], [0]]}
    assert operators(check(text, feed)) == ["ScatterX", "Transpose"]


def test_transposed_updates_that_may_meet_keep_their_order() -> None:
    text = """g (float[4] x, int64[2, 3, 1] i, float[3, 2] y) => (float[4] z)
              { yt = Transpose <perm = [1, 0]> (y)  z = ScatterND(x, i, yt) }"""
    i = i64([[0, 1, 2], [2, 1, 0]]).reshape(2, 3, 1)
    y = sample("float32", 3, 2, seed=5)
    model = check(text, {"x": X[0], "i": i, "y": y}, {"x": X[0], "i": 0 * i, "y": y})
    assert operators(model) == ["Transpose", "ScatterX"]


@examples(60)
@given(st.data())
def test_random_transposes_around_a_scatter(data: st.DataObject) -> None:
    """Data, output and updates in any order, with indices that collide: the same bits."""
    rank, reduction = data.draw(st.integers(1, 4)), data.draw(st.sampled_from(["none", "add"]))
    depth, index_rank = data.draw(st.integers(1, rank)), data.draw(st.integers(0, 2))
    orders = [tuple(data.draw(st.permutations(range(rank)))) for _ in range(2)]
    shape = tuple(data.draw(st.integers(1, 3)) for _ in range(rank))
    lead = tuple(data.draw(st.integers(0, 3)) for _ in range(index_rank))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    i = np.stack([rng.integers(-n, n, lead) for n in shape[:depth]], axis=-1)
    updates = (*lead, *shape[depth:])
    order = tuple(data.draw(st.permutations(range(len(updates)))))
    inverse = np.argsort(orders[0])
    x_shape = tuple(shape[d] for d in inverse)
    y_shape = tuple(updates[d] for d in np.argsort(order))
    backs = data.draw(
        st.lists(st.sampled_from([tuple(map(int, inverse)), orders[1]]), min_size=1, max_size=3)
    )
    read = [data.draw(st.booleans()) for _ in backs]  # by a node, beside being an output or not
    symbolic = data.draw(st.booleans())

    def dims(name: str, sizes: tuple[int, ...]) -> str:
        return ", ".join(f"{name}{d}" if symbolic else str(n) for d, n in enumerate(sizes))

    types = f"float[{dims('X', x_shape)}] x, int64[{', '.join(map(str, i.shape))}] i"
    steps = f"xt = Transpose <perm = {list(orders[0])}> (x)"
    y = "y"
    if order:
        y, steps = "yt", steps + f"  yt = Transpose <perm = {list(order)}> (y)"
    outputs = []
    readers = f'zt = ScatterND <reduction = "{reduction}"> (xt, i, {y})'
    for k, (back, further) in enumerate(zip(backs, read, strict=True)):
        readers += f"  z{k} = Transpose <perm = {list(back)}> (zt)"
        readers += f"  n{k} = Neg (z{k})" if further else ""
        outputs += [f"z{k}", f"n{k}"] if further else [f"z{k}"]
    if data.draw(st.booleans()):
        outputs.remove("z0") if read[0] else outputs.append("zt")
    typed = ", ".join(f"float[{dims(f'Z{name}_', shape)}] {name}" for name in outputs)
    text = f"""g ({types}, float[{dims("Y", y_shape)}] y) => ({typed}) {{ {steps}  {readers} }}"""
    feed = {"x": sample("float32", *x_shape), "i": i, "y": sample("float32", *y_shape, seed=1)}
    check(text, feed)


def test_random_transposes_do_fold() -> None:
    """The property test above is not empty: in these cases every Transpose is removed."""
    for perm in ([1, 0, 2], [2, 0, 1], [1, 2, 0]):
        back = [int(d) for d in np.argsort(perm)]
        text = CACHE.replace("z = Transpose <perm = [1, 0, 2]>", f"z = Transpose <perm = {back}>")
        text = text.replace("xt = Transpose <perm = [1, 0, 2]>", f"xt = Transpose <perm = {perm}>")
        text = text.replace("[B, S, D]", "[A, E, F]").replace("[B, N, D]", "[G, N, H]")
        assert [n.op_type for n in graphs(check(text))] == ["ScatterX"]
