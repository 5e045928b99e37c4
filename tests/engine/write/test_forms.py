"""Other forms of nodes that a target does not take: the same bits, and all of it is taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.write.forms import FORMS
from onnx_scatterx.engine.write.forms.request import Request
from onnx_scatterx.engine.write.writer import Writer
from onnx_scatterx.fitting.check_target import violations
from onnx_scatterx.graphs.cleanup import Names
from onnx_scatterx.targets.limits import OperatorLimits
from onnx_scatterx.targets.target import STANDARD, Target
from onnx_scatterx.text.reasons import Refusal
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same, open_session
from tests.helpers.support import parse

T = ir.DataType
Inputs = Mapping[str, tuple[str, Sequence[int]]]
Write = Callable[[Writer, Sequence[ir.Value]], ir.Value]
_NAMES = {"float": T.FLOAT, "int64": T.INT64, "int32": T.INT32, "bool": T.BOOL}


def model_of(inputs: Inputs, output: str) -> ir.Model:
    given = ", ".join(f"{kind}{list(shape) or ''} {name}" for name, (kind, shape) in inputs.items())
    last = list(inputs)[-1]
    return ir.from_proto(parse(f"g ({given}) => ({output} z) {{ z = Identity ({last}) }}"))


def written(inputs: Inputs, output: str, write: Write, target: Target) -> onnx.ModelProto | Refusal:
    """Write the tested form for a target, in place of the only node of a model."""
    model = model_of(inputs, output)
    graph = model.graph
    scope = interpret(model).scopes[graph]
    writer = Writer(graph, scope, Names(model), constant_nodes=False, target=target)
    values = list(graph.inputs)
    with writer.graph.at(graph[0]):
        nodes = writer.fragment_of(lambda: write(writer, values))
        if isinstance(nodes, Refusal):
            return nodes
        committed = writer.graph.commit(nodes)
        graph[-1].replace_input_with(0, committed.result)
    assert len(committed.nodes) == nodes.cost
    output_value = graph.outputs[0]
    output_value.shape = None
    output_value.dtype = _NAMES[output]
    told = [v for v in violations(model, target) if v.op not in ("input", "Identity")]
    assert told == []
    return ir.to_proto(model)


def compare(
    inputs: Inputs,
    output: str,
    write: Write,
    target: Target,
    seed: int = 0,
) -> bool:
    """Compare a form with the operator itself; return whether there is one."""
    after = written(inputs, output, write, target)
    if isinstance(after, Refusal):
        return False
    before = written(inputs, output, write, STANDARD)
    assert isinstance(before, onnx.ModelProto)
    rng = np.random.default_rng(seed)
    feed = {name: drawn(rng, kind, shape) for name, (kind, shape) in inputs.items()}
    assert_same(before, after, [feed])
    return True


def drawn(rng: np.random.Generator, kind: str, shape: Sequence[int]) -> np.ndarray:
    if kind == "bool":
        return np.asarray(rng.integers(0, 2, shape), bool)
    if kind == "float":
        some = rng.standard_normal(shape).astype(np.float32)
        odd = rng.choice(np.array([np.nan, -0.0, -0.0, 0.0, np.inf], np.float32), shape)
        return np.asarray(np.where(rng.random(shape) < 0.5, odd, some))
    return np.asarray(rng.integers(-9, 9, shape), kind)


def limited(op: str, **limits: Any) -> Target:
    return Target("npu", limits={op: OperatorLimits(**limits)})


SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=3)
KINDS = st.sampled_from(["float", "int64", "bool"])


@examples(80)
@given(SHAPES, KINDS, st.data())
def test_listed_boxes(shape: list[int], kind: str, data: st.DataObject) -> None:
    """GatherND at positions that are a box, row by row, or nearly so."""
    shape = [max(n, 1) for n in shape]
    columns = data.draw(st.integers(1, len(shape)))
    starts = [data.draw(st.integers(0, n - 1)) for n in shape[:columns]]
    counts = [
        data.draw(st.integers(1, n - s)) for n, s in zip(shape[:columns], starts, strict=True)
    ]
    at = np.indices(counts).reshape(columns, -1).T + starts
    at -= data.draw(st.booleans()) * np.array(shape[:columns])
    is_box = data.draw(st.booleans()) or len(at) < 2
    at = at if is_box else at[::-1]
    at = at.reshape(data.draw(st.sampled_from([(-1, columns), (1, -1, 1, columns)])))

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("GatherND", [values[0], w.constant(at)], _NAMES[kind])

    avoid = frozenset({"GatherND", "Gather"})
    done = compare({"x": (kind, shape)}, kind, write, Target("npu", avoid=avoid))
    assert done or not is_box


@examples(80)
@given(SHAPES, KINDS, st.data())
def test_listed_elements(shape: list[int], kind: str, data: st.DataObject) -> None:
    """GatherElements at positions that differ along the axis alone, or nearly so."""
    shape = [max(n, 1) for n in shape]
    axis = data.draw(st.integers(0, len(shape) - 1))
    places = st.integers(-shape[axis], shape[axis] - 1)
    line = data.draw(st.lists(places, min_size=1, max_size=4))
    sizes = [data.draw(st.integers(1, n)) for n in shape]
    sizes[axis] = len(line)
    at = np.moveaxis(
        np.broadcast_to(line, [*sizes[:axis], *sizes[axis + 1 :], len(line)]), -1, axis
    )
    if data.draw(st.booleans()):
        at = at.copy()
        at.flat[-1] = data.draw(places)
    is_line = bool((at == at[tuple(slice(None if d == axis else 1) for d in range(at.ndim))]).all())

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("GatherElements", [values[0], w.constant(at)], _NAMES[kind], axis=axis)

    avoid = frozenset({"GatherElements", "Gather"})
    done = compare({"x": (kind, shape)}, kind, write, Target("npu", avoid=avoid))
    assert done == is_line


@examples(60)
@given(SHAPES, KINDS, st.data())
def test_pad(shape: list[int], kind: str, data: st.DataObject) -> None:
    pads = data.draw(st.lists(st.integers(0, 3), min_size=2 * len(shape), max_size=2 * len(shape)))
    avoid = data.draw(st.sampled_from([{"Pad"}, {"Pad", "Expand"}, {"Pad", "Expand", "Tile"}]))
    dtype = _NAMES[kind]

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        fill = w.constant(np.ones((), dtype.numpy()), dtype)
        return w.node("Pad", [values[0], w.constant(pads), fill], dtype)

    assert compare({"x": (kind, shape)}, kind, write, Target("npu", avoid=frozenset(avoid)))
    if kind == "bool":
        assert compare(
            {"x": (kind, shape)}, kind, write, limited("Pad", no_types=frozenset({kind}))
        )


@examples(80)
@given(SHAPES, KINDS, st.data())
def test_slices_with_steps(shape: list[int], kind: str, data: st.DataObject) -> None:
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    ends = st.sampled_from([-5, -2, -1, 0, 1, 2, 3, 4, 2**63 - 1])
    starts = [data.draw(ends) for _ in axes]
    stops = [data.draw(st.one_of(ends, st.just(-(2**63) + 1))) for _ in axes]
    steps = [data.draw(st.sampled_from([1, 2, 3, -1, -2])) for _ in axes]
    stops = [-1 if e == 2**63 - 1 and s < 0 else e for e, s in zip(stops, steps, strict=True)]
    avoid = data.draw(st.sampled_from([set(), {"Gather"}, {"Gather", "Concat"}, {"Reshape"}]))
    target = Target("npu", avoid=frozenset(avoid), limits={"Slice": OperatorLimits(steps=False)})

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        numbers = [w.constant(n) for n in (starts, stops, axes, steps)]
        return w.node("Slice", [values[0], *numbers], _NAMES[kind])

    assert compare({"x": (kind, shape)}, kind, write, target) or avoid


@examples(60)
@given(st.lists(st.integers(0, 4), min_size=3, max_size=5), st.integers(3, 5), KINDS, st.data())
def test_slices_with_steps_where_no_axis_can_be_added(
    shape: list[int], most: int, kind: str, data: st.DataObject
) -> None:
    """The axes around that of the step are merged; the ranks are looked at by `violations`."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    start, step = data.draw(st.integers(0, 2)), data.draw(st.integers(2, 3))
    limits = {
        "Slice": OperatorLimits(steps=False, max_rank=data.draw(st.sampled_from([None, most])))
    }
    target = Target(
        "npu", avoid=frozenset({"Gather", "Concat"}), max_rank=max(most, len(shape)), limits=limits
    )

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        numbers = [w.constant([n]) for n in (start, 2**63 - 1, axis, step)]
        return w.node("Slice", [values[0], *numbers], _NAMES[kind])

    is_there = compare({"x": (kind, shape)}, kind, write, target)
    whole = 0 not in shape and shape[axis] % step == 0 and start < step
    fits = most >= len(shape) and 2 + (axis > 0) + (axis < len(shape) - 1) <= most
    assert is_there or not whole or not fits


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("start", "end"), [(1, 6), (0, 5), (1, 4), (2, 6)])
def test_rows_between_the_ends_of_an_axis(axis: int, start: int, end: int) -> None:
    """The rows around them are cut off, and the others are rows of two; of the next axis, one."""
    shape = [3, 5, 2]
    shape[axis] = 7
    axes = [axis, (axis + 1) % 3]

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        numbers = [w.constant(n) for n in ([start, 1], [end, 2], axes, [2, 1])]
        return w.node("Slice", [values[0], *numbers], T.FLOAT)

    for rank in (3, 4):
        avoid = frozenset({"Gather", "Concat"})
        limits = {"Slice": OperatorLimits(steps=False)}
        target = Target("npu", avoid=avoid, max_rank=rank, limits=limits)
        fits = rank == 4 or axis != 1
        assert compare({"x": ("float", shape)}, "float", write, target) == fits


@examples(80)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), KINDS, st.data())
def test_constant_rows(shape: list[int], kind: str, data: st.DataObject) -> None:
    op = data.draw(st.sampled_from(["Gather", "GatherND"]))
    axis = 0 if op == "GatherND" else data.draw(st.integers(-len(shape), len(shape) - 1))
    row = st.integers(-shape[axis], shape[axis] - 1)
    rows = np.array(data.draw(st.one_of(row, st.lists(row, min_size=1, max_size=6))), np.int64)
    indices = rows[..., None] if op == "GatherND" else rows
    given_ = {} if op == "GatherND" else {"axis": axis}
    avoid = data.draw(st.sampled_from([{"GatherND"}, {"GatherND", "Gather"}]))

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node(op, [values[0], w.constant(indices)], _NAMES[kind], **given_)

    assert compare({"x": (kind, shape)}, kind, write, Target("npu", avoid=frozenset(avoid)))


@examples(60)
@given(st.lists(SHAPES, min_size=3, max_size=3), st.sampled_from(["float", "int64"]), st.data())
def test_where(shapes: list[list[int]], kind: str, data: st.DataObject) -> None:
    whole = data.draw(SHAPES)
    shapes = [
        [data.draw(st.sampled_from([1, n])) for n in whole[data.draw(st.integers(0, len(whole))) :]]
        for _ in shapes
    ]
    avoid = data.draw(st.sampled_from([set(), {"Expand"}]))
    target = Target(
        "npu", avoid=frozenset(avoid), limits={"Where": OperatorLimits(broadcast=False)}
    )
    kinds = ("bool", kind, kind)
    inputs = {name: (k, s) for name, k, s in zip("cab", kinds, shapes, strict=True)}

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("Where", values, _NAMES[kind])

    signs_differ = kind == "float" and np.broadcast_shapes(*shapes)[-1:] == (1,)
    assert compare(inputs, kind, write, target) or avoid or signs_differ


@pytest.mark.sampled(3)
@pytest.mark.parametrize("c", [[], [1], [3], [2, 1], [2, 3]])
def test_a_where_of_expanded_floats_keeps_the_signs_of_zeros(c: list[int]) -> None:
    """Operands with one element along an axis decide which signs ONNX Runtime's Where loses."""

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("Where", values, T.FLOAT)

    for a, b in itertools.product([[], [1], [3], [2, 1], [2, 3]], repeat=2):
        if np.broadcast_shapes(c, a, b)[-1:] == (3,):
            inputs = {"c": ("bool", c), "a": ("float", a), "b": ("float", b)}
            assert compare(inputs, "float", write, limited("Where", broadcast=False))


@examples(60)
@given(SHAPES, st.sampled_from(["int64", "int32", "bool"]), st.data())
def test_cumsum(shape: list[int], kind: str, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    given = {"exclusive": data.draw(st.integers(0, 1)), "reverse": data.draw(st.integers(0, 1))}
    target = data.draw(
        st.sampled_from(
            [
                limited("CumSum", exclusive=False),
                limited("CumSum", exclusive=False, no_types=frozenset({"int64"})),
                limited("CumSum", types=frozenset({"float"})),
                Target("npu", avoid=frozenset({"CumSum"})),
            ]
        )
    )

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        x = values[0]
        if kind == "bool":
            x = w.node("Cast", [x], T.INT64, to=T.INT64.value)
        dtype = T.INT64 if kind == "bool" else _NAMES[kind]
        return w.node("CumSum", [x, w.constant(np.array(axis))], dtype, **given)

    output = "int64" if kind == "bool" else kind
    compare({"x": (kind, shape)}, output, write, target)


@pytest.mark.parametrize("shape", [[2, 0], [0, 2]])
def test_no_product_has_the_sums_of_empty_lines(shape: list[int]) -> None:
    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        x = w.node("Cast", [values[0]], T.INT64, to=T.INT64.value)
        return w.node("CumSum", [x, w.constant(np.array(1))], T.INT64)

    target = Target("npu", avoid=frozenset({"CumSum"}))
    assert not compare({"x": ("bool", shape)}, "int64", write, target)


@pytest.mark.parametrize("exclusive", [0, 1])
def test_a_count_needs_no_cumsum_of_int64(exclusive: int) -> None:
    """What masked writes need: the sum of a mask before each element."""

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        ones = w.node("Cast", [values[0]], T.INT64, to=T.INT64.value)
        axis = w.constant(np.array(0))
        return w.node("CumSum", [ones, axis], T.INT64, exclusive=exclusive)

    for target in (
        limited("CumSum", exclusive=False, no_types=frozenset({"int64"})),
        Target("npu", avoid=frozenset({"CumSum"})),
    ):
        for n in (1, 7, 12, 360):
            assert compare({"m": ("bool", [n])}, "int64", write, target)


@pytest.mark.parametrize("exclusive", [0, 1])
def test_a_count_in_a_line_of_any_length(exclusive: int) -> None:
    """No line, of the data or of the sums of its rows, need be cut evenly."""
    target, rng = Target("npu", avoid=frozenset({"CumSum"})), np.random.default_rng(exclusive)

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        ones = w.node("Cast", [values[0]], T.INT64, to=T.INT64.value)
        axis = w.constant(np.array(-1))
        return w.node("CumSum", [ones, axis], T.INT64, exclusive=exclusive)

    for shape in (
        [257],
        [2, 509],
        [4096],
        [16384],
        [16381],
        [int(rng.integers(1, 20000))],
        [70001],
    ):
        model = written({"m": ("bool", shape)}, "int64", write, target)
        assert isinstance(model, onnx.ModelProto), shape
        shares = rng.random(shape)
        for mask in (shares < 0, shares < rng.random(), shares < 1):
            sums = np.cumsum(mask, axis=-1) - (mask if exclusive else 0)
            for fused in (True, False):
                (counts,) = open_session(model, fused=fused).run(None, {"m": mask})
                assert counts.tolist() == sums.tolist(), shape


@pytest.mark.parametrize("avoid", ["Not", "Not Equal", "And", "Or", "Greater", "Less", "IsNaN"])
def test_logic(avoid: str) -> None:
    target = Target("npu", avoid=frozenset(avoid.split()))

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        x, m = values
        more = w.node("Greater", [x, w.constant(np.zeros((), np.float32), T.FLOAT)], T.BOOL)
        less = w.node("Less", [x, w.constant(np.ones((), np.float32), T.FLOAT)], T.BOOL)
        no = w.node("Not", [m], T.BOOL)
        both = w.node("And", [more, less], T.BOOL)
        found = w.node("Or", [both, no], T.BOOL)
        return w.node("Or", [found, w.node("IsNaN", [x], T.BOOL)], T.BOOL)

    inputs = {"x": ("float", [5, 3]), "m": ("bool", [5, 3])}
    assert compare(inputs, "bool", write, target)


@pytest.mark.parametrize("op", ["Equal", "Less", "Greater", "Where", "Concat", "Pad", "Gather"])
def test_bools_and_positions_are_written_in_another_type(op: str) -> None:
    target = limited(op, no_types=frozenset({"int64", "bool"}))

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        line = w.node("Cast", [values[0]], T.INT64, to=T.INT64.value)
        if op in ("Equal", "Less", "Greater"):
            return w.node(op, [line, w.constant([1])], T.BOOL)
        if op == "Where":
            chosen = w.node(op, [values[0], line, w.constant([7])], T.INT64)
            return w.node("Cast", [chosen], T.BOOL, to=T.BOOL.value)
        if op == "Concat":
            return w.node(op, [values[0], values[0]], T.BOOL, axis=0)
        if op == "Pad":
            return w.node(op, [values[0], w.constant([1, 2])], T.BOOL)
        return w.node(op, [values[0], w.constant([0, -1])], T.BOOL, axis=0)

    assert compare({"m": ("bool", [6])}, "bool", write, target)


def test_indices_that_may_be_negative() -> None:
    target = limited("Gather", negative=False)

    def constant(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("Gather", [values[0], w.constant([-1, 0, -3])], T.FLOAT, axis=1)

    def computed(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("Gather", [values[0], values[1]], T.FLOAT, axis=1)

    assert compare({"x": ("float", [2, 4])}, "float", constant, target)
    inputs = {"x": ("float", [2, 4]), "i": ("int64", [1])}
    after = written(inputs, "float", computed, target)
    assert isinstance(after, onnx.ModelProto)
    assert sum(node.op_type == "Max" for node in after.graph.node) == 1
    found = written(
        inputs, "float", computed, replace(target, avoid=frozenset({"Clip", "Max", "Where"}))
    )
    assert str(found).endswith("(Where and Max for npu)")


def test_all_that_is_missing_is_named_at_once() -> None:
    target = Target("npu", avoid=frozenset({"Tanh", "Sin", "Cos"}), max_rank=2)

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        x = w.node("Sin", [w.node("Cos", [values[0]], T.FLOAT)], T.FLOAT)
        return w.node("Tanh", [w.axes("Unsqueeze", x, T.FLOAT, [0])], T.FLOAT)

    found = written({"x": ("float", [2, 4])}, "float", write, target)
    assert str(found).endswith("(Cos, Sin and Tanh for npu)")


@pytest.mark.parametrize("avoid", ["Identity", "Squeeze", "Unsqueeze", "Expand", "Neg", "Mod"])
def test_shapes_and_numbers(avoid: str) -> None:
    target = Target("npu", avoid=frozenset({avoid}))

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        x = w.node("Cast", [values[0]], T.INT64, to=T.INT64.value)
        x = w.axes("Squeeze", w.axes("Unsqueeze", x, T.INT64, [0, 2]), T.INT64, [2])
        x = w.node("Expand", [x, w.constant([2, 1, 5])], T.INT64)
        x = w.node("Mod", [x, w.constant([2])], T.INT64)
        return w.node("Identity", [w.node("Neg", [x], T.INT64)], T.INT64)

    assert compare({"m": ("bool", [5])}, "int64", write, target)


@pytest.mark.parametrize("shape", ["", "[1]", "[2]", "[1, 2]", "[0]"])
@pytest.mark.parametrize("least", [-3, 0])
def test_a_remainder_has_the_shape_of_both(shape: str, least: int) -> None:
    """Also if the number itself is the remainder, which need not have that shape."""
    before = parse(f"""g (bool{shape} x) => (int64 z)
        <int64[2, 2] n = {{4, 5, 6, 7}}, int64 least = {{{least}}}> {{
        c = Cast <to = 7> (x)  y = Add (c, least)  z = Mod (y, n) }}""")
    before.graph.output[0].type.tensor_type.ClearField("shape")
    if shape == "[0]":
        before.graph.initializer[0].CopyFrom(
            onnx.numpy_helper.from_array(np.array([4]), before.graph.initializer[0].name)
        )
    target = limited("Mod", native=False)
    after = onnx_scatterx.optimize(before, target=target, passes=["WriteOtherForms"]).model
    assert all(node.op_type != "Mod" for node in after.graph.node)
    dims = [int(d) for d in shape.strip("[]").split(",") if d]
    assert_same(before, after, [{"x": np.resize(np.array([True, False]), dims)}])


@examples(60)
@given(st.sampled_from(["int64", "int32"]), st.data())
@pytest.mark.parametrize("limit", [{"native": False}, {"negative": False}])
def test_remainders(limit: dict[str, bool], kind: str, data: st.DataObject) -> None:
    """Of numbers of the whole type by a positive divisor, which is as large as a half of it."""
    ends = np.iinfo(kind)
    numbers = st.integers(ends.min, ends.max) | st.integers(-9, 9)
    x = np.array([ends.min, ends.max, *data.draw(st.lists(numbers, max_size=6))], kind)
    divisors = st.integers(1, ends.max // 2) | st.integers(1, 9)
    least = data.draw(st.sampled_from([None, -3, 0]))  # is known
    if least is not None:
        x = x.clip(least, 3)
    n = np.array(data.draw(st.lists(divisors, min_size=1, max_size=1)), kind)
    before = parse(f"""g ({kind}[N] x) => ({kind}[N] z) <{kind}[1] n = {{{n[0]}}}> {{
        {"y = Identity (x)" if least is None else "y = Clip (x, least, most)"}
        z = Mod (y, n) }}""")
    if least is not None:
        for name, number in (("least", least), ("most", 3)):
            before.graph.initializer.append(
                onnx.numpy_helper.from_array(np.array(number, kind), name)
            )
    target = limited("Mod", **limit)
    after = onnx_scatterx.optimize(before, target=target, passes=["WriteOtherForms"]).model
    count = sum(node.op_type == "Mod" for node in after.graph.node)
    assert count in ((0,) if "native" in limit else (0, 1) if least == 0 else (0, 2))
    assert_same(before, after, [{"x": x}])


def test_the_remainder_of_a_number_without_an_upper_bound() -> None:
    before = parse("""g (int64[N] x) => (int64[N] z) {
        y = Max (x, 0)  z = Mod (y, 5) }""")
    target = limited("Mod", native=False)
    after = onnx_scatterx.optimize(before, target=target, passes=["WriteOtherForms"]).model
    assert all(node.op_type != "Mod" for node in after.graph.node)
    assert_same(before, after, [{"x": np.array([-(2**63), -1, 0, 4, 5, 2**63 - 1])}])


@pytest.mark.parametrize("limited", ["Add", "Sub"])
def test_the_remainder_of_one_needs_an_addition_and_no_subtraction(limited: str) -> None:
    """A form asks for all that it needs before it writes, and gives none of it another form."""
    before = parse("""g (uint8[N] x) => (int64[N] z) {
        n = Max (Cast <to = 7> (x), 1)  z = Mod (1, n) }""")
    limits = {
        "Mod": OperatorLimits(native=False),
        limited: OperatorLimits(no_types=frozenset({"int64"})),
    }
    target = Target("npu", limits=limits)
    after = onnx_scatterx.optimize(before, target=target, passes=["WriteOtherForms"]).model
    operators = {"Cast", "Max"} | ({"Mod"} if limited == "Add" else {"Div", "Mul", "Add"})
    assert {node.op_type for node in after.graph.node} == operators
    assert_same(before, after, [{"x": np.array([0, 1, 2, 255], np.uint8)}])


@pytest.mark.parametrize("limit", [{"native": False}, {"negative": False}])
@pytest.mark.parametrize("kind", ["int64", "int32"])
def test_a_divisor_that_cannot_be_added_to_a_remainder(kind: str, limit: dict[str, bool]) -> None:
    most = np.iinfo(kind).max
    before = parse(f"""g ({kind}[N] x) => ({kind}[N] z) <{kind} n = {{{most // 2 + 1}}}> {{
        z = Mod (x, n) }}""")
    target = limited("Mod", **limit)
    after = onnx_scatterx.optimize(before, target=target, passes=["WriteOtherForms"]).model
    assert [node.op_type for node in after.graph.node] == ["Mod"]


@pytest.mark.parametrize("shape", [[4, 0], [0, 4], [4, 3], [1, 6, 0], [6, 0, 4]])
@pytest.mark.parametrize("lacks", [{"Gather"}, {"Gather", "Identity", "Unsqueeze", "Squeeze"}])
def test_no_form_copies_a_size(shape: list[int], lacks: set[str]) -> None:
    """A 0 in the shape of a Reshape copies the size at its place; devices misread it."""
    limits = {"Slice": OperatorLimits(steps=False)}
    target = Target("npu", avoid=frozenset(lacks), limits=limits)
    rank = len(shape)

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        x = w.node("Identity", [w.node("Neg", [values[0]], T.FLOAT)], T.FLOAT)
        steps = [w.constant([n] * rank) for n in (0, 2**31)]
        found = w.node(
            "Slice", [x, *steps, w.constant(range(rank)), w.constant([2] * rank)], T.FLOAT
        )
        return w.axes("Squeeze", w.axes("Unsqueeze", found, T.FLOAT, [0]), T.FLOAT, [0])

    made = written({"x": ("float", shape)}, "float", write, target)
    if isinstance(made, Refusal):
        assert 0 in shape
        return
    found = {v.name: list(onnx.numpy_helper.to_array(v)) for v in made.graph.initializer}
    reshapes = [node for node in made.graph.node if node.op_type == "Reshape"]
    assert reshapes or "Identity" not in lacks
    assert all(0 not in found[node.input[1]] for node in reshapes)
    session = open_session(made)
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    (result,) = session.run(None, {"x": x})
    np.testing.assert_array_equal(result, -x[(slice(None, None, 2),) * rank])


def test_a_row_without_elements_is_not_reshaped() -> None:
    """A 0 in the shape of a Reshape would copy the 1 of the row's axis."""

    def write(w: Writer, values: Sequence[ir.Value]) -> ir.Value:
        return w.node("Gather", [values[0], w.constant(np.array(1))], T.FLOAT, axis=0)

    for width in (0, 3):
        made = written(
            {"x": ("float", [4, width])}, "float", write, Target("npu", avoid=frozenset({"Gather"}))
        )
        assert isinstance(made, Refusal) == (width == 0)


@given(st.data())
@examples(60)
def test_pad_with_axes(data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    axes = data.draw(st.permutations(range(rank)))[: data.draw(st.integers(1, rank))]
    axes = [a - rank * data.draw(st.booleans()) for a in axes]
    amounts = data.draw(st.lists(st.integers(0, 2), min_size=2 * len(axes), max_size=2 * len(axes)))
    shape = data.draw(st.lists(st.integers(0, 3), min_size=rank, max_size=rank))
    model = parse(f"""g (float{shape} v, float[1] u) => (float[{",".join("abc"[:rank])}] y)
        <int64[{len(amounts)}] p = {{{str(amounts)[1:-1]}}}, float f = {{7}},
         int64[{len(axes)}] a = {{{str(axes)[1:-1]}}}, int64[1,1] i = {{0}}> {{
            w = ScatterND (u, i, u)
            x = Add (v, w)
            y = Pad (x, p, f, a) }}""")
    optimized = onnx_scatterx.optimize(model, target="standard, avoid = ['Pad']").model
    assert not any(node.op_type == "Pad" for node in optimized.graph.node)
    feed = {"v": np.ones(shape, np.float32), "u": np.ones(1, np.float32)}
    assert_same(model, optimized, [feed])


@pytest.mark.parametrize("op", sorted(op for op, known in FORMS.items() if known.forms))
def test_what_an_operator_set_adds_is_read_or_refused(op: str) -> None:
    forms, newest = FORMS[op], onnx.defs.get_schema(op)
    assert forms.inputs == newest.max_input
    assert forms.attributes >= set(newest.attributes)
    values = [ir.Value(name=i.name) for i in newest.inputs]
    node = Request(
        op, values, None, {}, [], TensorValue(None, None), cast(Any, None), cast(Any, None)
    )
    assert forms.know(node)
    assert forms.know(replace(node, inputs=[*values, None]))
    takes_more = newest.max_input > len(values)
    assert forms.know(replace(node, inputs=[*values, ir.Value(name="added")])) == takes_more
    assert not forms.know(replace(node, attributes={"added": 1}))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("g (float[9,4] x) => (float[9,4] z) { y = Expand (x, [1, 4])  z = Exp (y) }", ["Exp"]),
        ("g (float[N,4] x) => (float[N,4] y) { y = Expand (x, Shape (x)) }", ["Identity"]),
        ("g (bool[N] x) => (bool[1,N] y) { y = Expand (x, [1, 1]) }", ["Reshape"]),
        ("g (float[N,4] x, float[M,4] w) => (float[K,4] y) { y = Expand (x, Shape (w)) }", None),
    ],
)
def test_an_expand_that_repeats_nothing(text: str, written: list[str] | None) -> None:
    model = parse(text)
    result = onnx_scatterx.optimize(model, target="standard, avoid = ['Expand', 'Tile']")
    found = [node.op_type for node in result.model.graph.node]
    assert found == (written or [node.op_type for node in model.graph.node])
    assert bool(result.report.violations) == (written is None)
    if written is not None:
        assert onnx_scatterx.verify(model, result.model, samples=4)
