"""Flattened updates: the scatter writes the tensor before the Reshape, in row-major order."""

import itertools

import numpy as np
import onnx
import pytest

from tests.helpers.support import assert_sound, f32, i64, nodes, optimize, parse, sample

# The digits q = r // 4 and w = r % 4 of the positions 0, 1, ... of flat updates.
DIGITS = """
    flat = Reshape (u, last) s = Shape (flat) n = Squeeze (s) r = Range (zero, n, one)
    q = Div (r, four) w = Mod (r, four)
"""
CONSTANTS = "int64[1] last = {-1}, int64 zero = {0}, int64 one = {1}, int64 four = {4}"


def digits(rest: str, outputs: str = "float[N, 6] y", more: str = "") -> onnx.ModelProto:
    """A model of updates [N, 4] that are flattened; ``rest`` makes y of q, w and flat."""
    return parse(
        f"g (float[N, 6] x, float[N, 4] u) => ({outputs})"
        f" <{CONSTANTS}, int64[1] ones = {{1}}{more}> {{ {DIGITS} {rest} }}"
    )


def columns(*terms: str) -> str:
    """The index tensor of these columns."""
    added = " ".join(f"c{i} = Unsqueeze ({t}, ones)" for i, t in enumerate(terms))
    return f"{added} i = Concat <axis = 1> ({', '.join(f'c{i}' for i in range(len(terms)))})"


def feeds(*sizes: int) -> list[dict[str, np.ndarray]]:
    return [{"x": sample("float32", n, 6), "u": sample("float32", n, 4, seed=1)} for n in sizes]


def test_box() -> None:
    model = digits(f"v = Add (w, one) {columns('q', 'v')} y = ScatterND (x, i, flat)")
    assert_sound(model, *feeds(0, 1, 2, 5), left=0)


def test_added() -> None:
    model = digits(
        f'v = Add (w, one) {columns("q", "v")} y = ScatterND <reduction = "add"> (x, i, flat)'
    )
    assert_sound(model, *feeds(0, 1, 2, 5), left=0)


def test_counted_from_the_end() -> None:
    model = digits(f"v = Sub (w, four) {columns('q', 'v')} y = ScatterND (x, i, flat)")
    assert_sound(model, *feeds(0, 1, 2, 5), left=0)


def test_start_that_the_run_knows() -> None:
    model = parse(f"""g (float[3, 6] x, float[3, 4] u, int64 at) => (float[3, 6] y)
        <{CONSTANTS}, int64[1] ones = {{1}}> {{ {DIGITS} v = Add (w, at)
        {columns("q", "v")} y = ScatterND (x, i, flat) }}""")
    given = {"x": f32(np.arange(18).reshape(3, 6)), "u": -f32(np.arange(12).reshape(3, 4))}
    starts = ({**given, "at": i64(at)} for at in (0, 1, 2, -4, -5, -6, 3))
    assert_sound(model, *starts, left=0, rejected=1)


def test_digits_that_meet() -> None:
    # Columns 0 and 1 are written twice: the last update wins, in row-major order.
    model = digits(
        f"v = Mod (w, two) {columns('q', 'v')} y = ScatterND (x, i, flat)", more=", int64 two = {2}"
    )
    assert_sound(model, *feeds(1, 2, 5))


def test_flat_updates_that_others_read() -> None:
    model = digits(
        f"v = Add (w, one) {columns('q', 'v')} y = ScatterND (x, i, flat)",
        "float[N, 6] y, float[M] flat",
    )
    assert_sound(model, *feeds(0, 1, 3), left=0)


def test_known_positions_become_slices() -> None:
    model = parse("""g (float[4, 6] x, float[2, 2] u) => (float[4, 6] y)
        { flat = Reshape (u, [-1]) y = ScatterND (x, [[1, 2], [1, 3], [2, 2], [2, 3]], flat) }""")
    assert_sound(model, left=0)
    assert "Gather" not in {node.op_type for node in nodes(optimize(model))}


@pytest.mark.parametrize(
    ("order", "left"),
    [("{0, 1, 2}", 0), ("{2, 1, 0}", None), ("{0, 0, 2}", None), ("{0, 1}", None)],
)
def test_reads_in_between(order: str, left: int | None) -> None:
    """A Gather of all rows in their order is passed, any other is not."""
    count = order.count(",") + 1
    positions = [f"{row}, {column}" for row in range(count) for column in (1, 3)]
    model = parse(f"""g (float[4, 6] x, float[3, 2] u) => (float[4, 6] y)
        <int64[{2 * count}, 2] i = {{{", ".join(positions)}}},
         int64[{count}] order = {order}>
        {{ rows = Gather (u, order) flat = Reshape (rows, [-1]) y = ScatterND (x, i, flat) }}""")
    assert_sound(model, {"u": f32(np.arange(6).reshape(3, 2))}, left=left)


def test_read_along_another_axis() -> None:
    model = digits(
        f"v = Add (w, one) {columns('q', 'v')} read = Gather <axis = 1> (flat2, order)"
        " again = Reshape (read, last) y = ScatterND (x, i, again)",
        more=", int64[2] order = {1, 0}, int64[2] two = {-1, 2}",
    )
    flat2 = onnx.helper.make_node("Reshape", ["u", "two"], ["flat2"])
    model.graph.node.insert(0, flat2)
    assert_sound(model, *feeds(1, 2, 3))


@pytest.mark.parametrize(("short", "left"), [(0, 0), (4, None)])
def test_read_of_all_that_is_there_or_less(short: int, left: int | None) -> None:
    """Of ``[1, 4 N]`` the first ``4 N - short`` columns are read."""
    model = parse(f"""g (float[N, 6] x, float[N, 4] u) => (float[N, 6] y)
        <{CONSTANTS}, int64[1] ones = {{1}}, int64 short = {{{short}}}>
        {{ row = Reshape (u, [1, -1]) su = Size (u) n = Sub (su, short) r = Range (zero, n, one)
           read = Gather <axis = 1> (row, r) flat = Reshape (read, last)
           q = Div (r, four) w = Mod (r, four)
           {columns("q", "w")} y = ScatterND (x, i, flat) }}""")
    assert_sound(model, *feeds(1, 2, 3), left=left)


def test_read_of_as_many_as_there_may_be() -> None:
    # Of N rows only the first is read: that is all of them only where N is 1.
    model = parse("""g (float[4, 6] x, float[N, 2] u) => (float[4, 6] y)
        <int64[2, 2] i = {0, 1, 0, 2}, int64[1] last = {-1}, int64[1] first = {0}>
        { row = Gather (u, first) flat = Reshape (row, last) y = ScatterND (x, i, flat) }""")
    assert_sound(model, *({"N": n} for n in (1, 2, 3)))


@pytest.mark.parametrize(
    ("data", "order"),
    [("[1, 2]", "[1, 3] order = {0, 0, 0}"), ("[3, 1, 2]", "[1, 3] order = {0, 1, 2}")],
)
def test_reads_by_a_matrix(data: str, order: str) -> None:
    positions = ", ".join(f"{row}, {column}" for row in range(3) for column in (1, 3))
    model = f"""g (float[4, 6] x, float{data} u) => (float[4, 6] y)
        <int64[6, 2] i = {{{positions}}}, int64{order}>
        {{ rows = Gather (u, order) flat = Reshape (rows, [-1]) y = ScatterND (x, i, flat) }}"""
    assert_sound(model)


def test_reads_of_one_number_by_a_matrix() -> None:
    model = f"""g (float[N, 6] x, float[1] v) => (float[N, 6] y)
        <{CONSTANTS}, int64[1] ones = {{1}}, int64[1] start = {{0}}, int64[1] many = {{4}}> {{
        sx = Shape <end = 1> (x) all = Mul (sx, many) shape = Concat <axis = 0> (ones, all)
        order = ConstantOfShape <value = int64[1] {{0}}> (shape) u = Gather (v, order)
        n = Squeeze (all) r = Range (zero, n, one) q = Div (r, four) w = Mod (r, four)
        {columns("q", "w")} j = Unsqueeze (i, start) y = ScatterND (x, j, u) }}"""
    assert_sound(model, *({"N": n} for n in (0, 1, 2, 5)))


def test_size_of_which_a_multiple_is_asked_for() -> None:
    """``[1, 4 N]`` copies a dim where N is 0, and then the Reshape cannot run."""
    model = parse(f"""g (float[N, 6] x, float[N, 4] u) => (float[N, 6] y)
        <{CONSTANTS}, int64[1] ones = {{1}}, int64[1] first = {{0}}, int64[1] many = {{4}},
         int64[1] start = {{0}}, int64[1] pair = {{2}}>
        {{ su = Shape (u) nu = Gather (su, first) all = Mul (nu, many)
           target = Concat <axis = 0> (ones, all) row = Reshape (u, target)
           flat = Reshape (row, all) n = Squeeze (all) r = Range (zero, n, one)
           q = Div (r, four) w = Mod (r, four) {columns("q", "w")} j = Unsqueeze (i, start)
           rows = Concat <axis = 0> (all, pair) k = Reshape (j, rows)
           y = ScatterND (x, k, flat) }}""")
    assert_sound(model, *feeds(0, 1, 2, 5), left=0, rejected=1)


def test_blocks_of_a_size_that_is_not_known() -> None:
    """The positions of 3 blocks of 4 N: ``r // (4 N)``, ``r // 4 % N`` and ``r % 4``."""
    model = parse(f"""g (float[N, 6, 4] x, float[3, N, 4] u) => (float[N, 6, 4] y)
        <{CONSTANTS}, int64[1] ones = {{1}}>
        {{ {DIGITS} su = Shape (u) m = Gather (su, 1) block = Mul (m, four)
           a = Div (r, block) even = Mul (a, 2) b = Mod (q, m)
           {columns("b", "even", "w")} y = ScatterND (x, i, flat) }}""")
    assert_sound(model, *({"N": n} for n in (0, 1, 2, 5)), rejected=1, left=0)


def test_against_the_judge() -> None:
    """Boxes of all orders of digits, with steps and starts, at sizes 1 to 4."""
    rng = np.random.default_rng(0)
    for order, reduction in itertools.product(
        itertools.permutations(range(3)), ("none", "add", "mul")
    ):
        sizes = rng.integers(1, 5, 3)
        steps, starts = rng.integers(1, 3, 3), rng.integers(0, 3, 3)
        grid = np.array(list(np.ndindex(*map(int, sizes))))
        at = (grid * steps + starts)[:, order]
        shape = [int(n) for n in at.max(0) + 1 + rng.integers(0, 2, 3)]
        text = f"""g (float{shape} x, float{[int(n) for n in sizes]} u) => (float{shape} y)
            <int64[{len(at)}, 3] i = {{{", ".join(map(str, at.ravel()))}}}, int64[1] last = {{-1}}>
            {{ flat = Reshape (u, last)
               y = ScatterND <reduction = "{reduction}"> (x, i, flat) }}"""
        given = {"x": sample("float32", *shape), "u": sample("float32", *map(int, sizes))}
        assert_sound(text, given, left=0)
