"""Values with several readers, dead scatters, and names that an optimizer would like to use."""

import onnx
import pytest

from tests.helpers.support import assert_sound, i64, parse, run_reference

ROWS = "int64[2,1] i = {1, 2}, int64[2,1] j = {0, 2}, int64[4,1] all = {0, 1, 2, 3}"


SHARED = {
    "data is read after it was scattered": f"""
        g (float[4,2] a, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
        x = Neg (a)
        s = ScatterND (x, i, u)
        y = Sub (s, x) }}""",
    "one data two scatters": f"""
        g (float[4,2] x, float[2,2] u) => (float[4,2] y, float[4,2] z) <{ROWS}> {{
        y = ScatterND (x, i, u)
        z = ScatterND (x, j, u) }}""",
    "one list of rows two scatters": f"""
        g (float[4,2] x, float[2,2] u, float[2,2] v) => (float[4,2] y) <{ROWS}> {{
        s = ScatterND (x, i, u)
        y = ScatterND (Neg (s), i, v) }}""",
    "updates come from the data": f"""g (float[4,2] x) => (float[4,2] y) <{ROWS}> {{
        y = ScatterND (x, i, GatherND (x, j)) }}""",
    "rows change places": f"""g (float[4,2] x) => (float[4,2] y) <{ROWS}> {{
        u = GatherND (x, i)
        v = GatherND (x, j)
        s = ScatterND (x, j, u)
        y = ScatterND (s, i, v) }}""",
    "data is its own update": f"""
        g (float[4,2] x) => (float[4,2] y) <{ROWS}> {{
        s = ScatterND (x, all, x)
        y = ScatterND (s, [[3], [2], [1], [0]], s) }}""",
    # x[1:3] += u as dynamo writes it: the region is read again and written a second time.
    "what was written is read and written back": f"""
        g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
            s = ScatterND (x, i, Add (Slice (x, [1], [3]), u))
            y = ScatterND (s, i, Slice (s, [1], [3])) }}""",
}


@pytest.mark.parametrize("model", SHARED.values(), ids=SHARED)
def test_values_with_several_readers(model: str) -> None:
    assert_sound(model, left=0)


def test_a_dead_scatter() -> None:
    model = f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
        dead = ScatterND (x, i, u)
        y = Neg (x) }}"""
    assert_sound(model)


def test_the_data_and_the_indices_are_one_value() -> None:
    model = """g (int64[3,1] x) => (int64[3,1] y, int64[3,1] z) {
        y = ScatterND ([[2], [0], [1]], [[2], [0], [1]], x)
        z = ScatterND (x, [[2], [0], [1]], [[2], [0], [1]]) }"""
    assert_sound(model, {"x": [[5], [6], [7]]}, left=0)


def test_data_that_is_its_own_indices() -> None:
    model = """g (int64[3,1] x, int64[3,1] u) => (int64[3,1] y) { y = ScatterND (x, x, u) }"""
    rows = ([2, 0, 1], [1, 1, 1], [-1, 0, 2])
    u = i64([[5], [6], [7]])
    assert_sound(model, *({"x": i64(r).reshape(3, 1), "u": u} for r in rows))


def test_indices_that_were_scattered() -> None:
    # Scatters of known values give known indices.
    model = """g (float[5,2] x, float[2,2] u) => (float[5,2] y) {
            y = ScatterND (x, ScatterND ([[0], [0]], [[1]], [[3]]), u) }"""
    assert_sound(model)


def test_a_known_tensor_is_changed_twice() -> None:
    # One constant, two scatters into it: neither may see the other's updates.
    model = """g (float[4,2] x, float[2,2] u) => (float[4,2] y, float[4,2] z) {
            y = ScatterND (x, ScatterND ([[0], [0]], [[1]], [[3]]), u)
            z = ScatterND (x, ScatterND ([[0], [0]], [[1]], [[2]]), u) }"""
    assert_sound(model)


TAKEN = """y_slice y_concat slice_0 concat_0 val_0 val_1 starts ends axes y_1 tmp const node_0
    Slice_0 Concat_0 Constant_0 scatterx_0 y/before"""


@pytest.mark.sampled(4)
@pytest.mark.parametrize("taken", TAKEN.split())
def test_names_that_are_taken(taken: str) -> None:
    # As an input, as an inner value, in a branch that captures the scatter.
    model = parse("""g (float[4,2] x, float[2,2] taken, bool c) => (float[4,2] y, float[4,2] z) {
            y = ScatterND (x, [[1], [2]], taken)
            z = If (c) <
                then_branch = a () => (float[4,2] p) {
                    inner = Neg (y)
                    p = ScatterND (inner, [[1], [2]], taken) },
                else_branch = b () => (float[4,2] q) {
                    inner = Abs (y)
                    q = ScatterND (inner, [[1], [2]], taken) }> }""")
    for role in ("taken", "inner"):
        named = onnx.load_from_string(model.SerializeToString())
        _rename(named.graph, role, taken)
        named.graph.node[0].name = taken
        assert_sound(named, {"c": True}, {"c": False}, left=0)


def _rename(graph: onnx.GraphProto, old: str, new: str) -> None:
    for value in graph.input:
        value.name = new if value.name == old else value.name
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [new if name == old else name for name in names]
        for attribute in node.attribute:
            _rename(attribute.g, old, new)


def test_nodes_without_names_and_with_one_name() -> None:
    model = parse(f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
        s = ScatterND (x, i, u)
        t = ScatterND (s, j, u)
        y = ScatterND (t, i, u) }}""")
    for node in model.graph.node[1:]:
        node.name = "same"
    assert_sound(model, left=0, judge=run_reference)
