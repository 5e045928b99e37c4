"""row_read: a read whose index is the same for whole rows is a Gather of rows."""

import hypothesis.strategies as st
import numpy as np
import onnx
import pytest
from hypothesis import given

import onnx_scatterx
from onnx_scatterx.targets.limits import OperatorLimits
from onnx_scatterx.targets.target import Target
from tests.helpers.pair import Pair
from tests.helpers.rules import each, row
from tests.helpers.support import nodes, parse, sample

TARGETS = [
    Target(f"lacks {len(ops)}", avoid=frozenset(ops), dense_limit=0)
    for ops in (["GatherElements"], ["GatherElements", "GatherND"])
]
LACKS, NO_ND = TARGETS

ROWS = """g (float[4,6] x, int64[N] i) => (float[4,N] y) <int64[1] four = {4}> {
    n = Shape (i) s = Concat <axis = 0> (four, n) wide = Expand (i, s)
    y = GatherElements <axis = 1> (x, wide) }"""
SIGNED = """g (float[2,5,3] x, int32[2,4,1] at) => (float[2,4,3] y) {
    i = Expand (at, [1, 1, 3]) y = GatherElements <axis = -2> (x, i) }"""
ONE = """g (float[B,6] x, float[1,6] s) => (float[B,1] y) <int64[1] one = {1}> {
    best, at = TopK <axis = 1> (s, one) n = Shape <end = 1> (x) w = Concat <axis = 0> (n, one)
    i = Expand (at, w) y = GatherElements <axis = 1> (x, i) }"""


GOLDEN = {
    "one index for each column": row(
        *[{"i": np.array(at, np.int64)} for at in ([], [-6], [5, -1, 0, 0])], gathers=True
    ),
    "features of each batch": row(gathers=True),
    "features without gather nd": row(target=NO_ND),
    "from the end without gather nd": row(
        {"at": np.array([-5, 4, 0, -1] * 2, np.int32).reshape(2, 4, 1)}, target=NO_ND
    ),
    "equal rows of a constant": row(gathers=True),
    # The other axis may be empty, as the position of a TopK is within bounds.
    "bounds that are known": row({"B": 0}, {"B": 3}, gathers=True),
    "a gather as gather nd": row(
        {"i": [-5, 4, 0, 0]}, target=Target("nd", avoid=frozenset({"Gather"}), dense_limit=0)
    ),
    "a tuple of one": row({"i": [-5]}, {"i": [4]}, target=NO_ND),
    "tuples of one that were a scalar": row({"i": -5}, {"i": 4}, gathers=True),
    "tuples of one for each batch": row(
        {"i": np.array([-5, 4, 0, -1]).reshape(2, 2, 1)}, target=NO_ND
    ),
}
test_golden = each(GOLDEN, "golden")

KEPT = {
    "a position behind the last, if there are no rows": ONE.replace(
        "i = Expand (at, w)", "next = Add (at, one) i = Expand (next, w)"
    ),
    "unchecked if empty": ONE.replace("best, at = TopK <axis = 1> (s, one)", "at = Cast <to = 7> (s)")
    .replace("float[1,6] s", "int64[1,1] s"),
    "more rows": """g (float[4,6] x, int64[3] i) => (float[2,3] y) <int64[2] s = {2,3}> {
        wide = Expand (i, s) y = GatherElements <axis = 1> (x, wide) }""",
    "over an axis behind": """g (float[2,6,3] x, int64[2,1,3] i) => (float[2,1,3] y) {
        y = GatherElements <axis = 1> (x, i) }""",
    "all the same": """g (float[2,6] x, int64 i) => (float[2,3] y) <int64[2] s = {2,3}> {
        wide = Expand (i, s) y = GatherElements <axis = 1> (x, wide) }""",
    "string": ROWS.replace("float[", "string["),
}  # fmt: skip


@pytest.mark.parametrize("why", KEPT)
def test_kept(why: str) -> None:
    model = parse(KEPT[why])
    (entry,) = onnx_scatterx.optimize(model, gathers=True).report.entries
    assert entry.refusal is not None
    # For a target without the operator, it may have another form.
    assert all(
        entry.refusal for entry in onnx_scatterx.optimize(model, target=LACKS).report.entries
    )


def test_other_elements() -> None:
    """Without a wider index, a GatherND takes more nodes: it is written if it must be."""
    model = parse("""g (float[2,6] x, int64[2,3] i) => (float[2,3] y) {
        y = GatherElements <axis = 1> (x, i) }""")
    assert onnx_scatterx.optimize(model, gathers=True).model is model
    made = onnx_scatterx.optimize(model, target=LACKS).model
    assert sorted(n.op_type for n in nodes(made)) == ["GatherND", "Unsqueeze"]


def test_no_more_nodes() -> None:
    """A wide index that is needed elsewhere is kept, and then another form saves nothing."""
    text = SIGNED.replace("(float[2,4,3] y)", "(float[2,4,3] y, int32[2,4,3] i)")
    assert onnx_scatterx.optimize(parse(text), gathers=True).report.entries[0].refusal


def _indices(data: st.DataObject, shape: list[int], axis: int) -> tuple[np.ndarray, list[int]]:
    """Draw indices over some axes, and the shape that they are expanded to."""
    size = shape[axis]
    wide = [*shape]
    wide[axis] = data.draw(st.integers(0, 4)) if size else 0
    over = data.draw(st.sets(st.integers(0, axis)))
    narrow = [n if d in over else 1 for d, n in enumerate(wide)]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    # If nothing is read, indices are not checked.
    low = -size - 2 * (0 in wide)
    found = rng.integers(low, max(size, 1), narrow)
    drop = data.draw(st.integers(0, min([*over, axis])))
    return found.reshape(narrow[drop:]) if set(narrow[:drop]) <= {1} else found, wide


@given(st.data())
def test_any_rows(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    axis = data.draw(st.integers(0, len(shape) - 1))
    indices, wide = _indices(data, shape, axis)
    kind = data.draw(st.sampled_from(["int64", "int32"]))
    constant = data.draw(st.booleans())
    how = data.draw(st.sampled_from(["Expand (i, s)", "Add (i, z)"]))
    dims = [data.draw(st.sampled_from([str(n), f"n{d}"])) for d, n in enumerate(shape)]
    inputs = f"float[{','.join(dims)}] x" + ("" if constant else f", {kind}{list(indices.shape)} i")
    model = parse(f"""g ({inputs}) => (float[{",".join("?" * len(shape))}] y) {{
        w = {how} y = GatherElements <axis = {axis}> (x, w) }}""")
    given_at = {"i": indices.astype(kind)}
    held = {"s": np.array(wide), "z": np.zeros(wide, kind), **(given_at if constant else {})}
    held.pop("z" if how.startswith("Expand") else "s")
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, n) for n, a in held.items())
    feed = {"x": sample("float32", *shape), **({} if constant else given_at)}
    for target in (None, *TARGETS):
        made = onnx_scatterx.optimize(model, target=target or "standard", gathers=True).model
        onnx.checker.check_model(made, full_check=True)
        accepted = Pair(model, made).accepts(feed)
        assert accepted or 0 in wide or 0 in shape


@given(st.data())
def test_any_tuples_of_one(data: st.DataObject) -> None:
    """GatherND at one index, negative or not; if nothing is read, the index may be anything."""
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    batch = data.draw(st.integers(0, len(shape) - 1))
    more = data.draw(st.lists(st.integers(0, 3), max_size=2))
    count, size = [*shape[:batch], *more], shape[batch]
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    reads_nothing = 0 in [*shape[batch + 1 :], *count]
    low, high = (-9, 9) if reads_nothing else (-size, max(size, 1))
    indices = rng.integers(low, high, [*count, 1])
    dims = [data.draw(st.sampled_from([str(n), f"n{d}"])) for d, n in enumerate(shape)]
    rank = len(count) + len(shape) - batch - 1
    kind = data.draw(st.sampled_from(["float", "bool", "string", "int16"]))
    model = parse(f"""g ({kind}[{",".join(dims)}] x, int64{list(indices.shape)} i)
        => ({kind}[{",".join("?" * rank)}] y) {{
            y = GatherND <batch_dims = {batch}> (x, i) }}""")
    limits = {"GatherND": OperatorLimits(types=frozenset({"float16"}))}
    operators = frozenset({"Gather", "GatherND", "Squeeze"})
    refuses = Target("refuses", operators=operators, limits=limits)
    feed = {"x": sample("float32" if kind == "float" else kind, *shape), "i": indices}
    for target in (*TARGETS, refuses):
        passes = ["WriteOtherForms"] if target is refuses else None
        made = onnx_scatterx.optimize(model, target=target, passes=passes).model
        assert Pair(model, made).accepts(feed) or 0 in shape
        is_left = "GatherND" in [node.op_type for node in nodes(made)]
        known = all(map(str.isdecimal, dims)) and 0 not in shape
        if known and kind != "string" and target is not LACKS:
            assert is_left == (target is refuses and batch > 0)


def test_indices_of_unknown_rank() -> None:
    """Nothing is known of what an unknown operator computes: the GatherND is kept."""
    model = parse(
        """g (float[4,3] x, int64[1] s, int64[4] i) => (float y) {
        at = Reshape (i, s)  y = GatherND (x, at) }""".replace("int64[1] s", "int64[K] s")
    )
    target = Target("npu", operators=frozenset({"Gather", "Squeeze"}))
    made = onnx_scatterx.optimize(model, target=target, passes=["WriteOtherForms"]).model
    assert "GatherND" in [node.op_type for node in nodes(made)]
