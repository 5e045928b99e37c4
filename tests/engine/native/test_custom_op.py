"""The native ScatterX operator in ONNX Runtime, held against the equation in NumPy.

output = data;  for I in row-major order of updates:
    J = p(f[p1(I)] ++ p2(I));  output[J] = reduce(output[J], updates[I])
"""

from __future__ import annotations

import ctypes
import re
import threading
from itertools import product
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.helpers.native_support import since
from tests.helpers.scatterx_node import (
    CASES,
    INTEGERS,
    OPAQUE,
    PACKED,
    REDUCTIONS,
    ROWS,
    Scatter,
    bits,
    draw,
    dtype_of,
    make_model,
    make_node,
    one_node,
    open_session,
    scatter,
)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("case", CASES)
def test_picks_and_reductions(case: str, reduction: str) -> None:
    node = Scatter(**{**vars(CASES[case]), "reduction": reduction})
    rng = np.random.default_rng(0)
    session = open_session(one_node(node, "float32"))
    for _ in range(3):
        data, updates = (draw(rng, shape, "float32") for shape in (node.data, node.updates))
        table = node.draw_table(rng)
        (output,) = session.run(None, {"data": data, "f": table, "updates": updates})
        assert output.shape == data.shape
        np.testing.assert_array_equal(bits(output), bits(scatter(node, data, table, updates)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("dtype", "reduction"),
    [
        *product([*INTEGERS, "float32", "float64", "float16", "bool"], REDUCTIONS),
        ("object", "none"),
    ],
)
def test_dtypes(dtype: str, reduction: str) -> None:
    node = Scatter(**{**vars(CASES["scatter_elements_axis_0"]), "reduction": reduction})
    rng = np.random.default_rng(1)
    data, updates = (draw(rng, shape, dtype) for shape in (node.data, node.updates))
    table = node.draw_table(rng).astype(np.int32)
    session = open_session(one_node(node, dtype, "int32"))
    (output,) = session.run(None, {"data": data, "f": table, "updates": updates})
    np.testing.assert_array_equal(bits(output), bits(scatter(node, data, table, updates)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("dtype", "reduction"),
    [*product(["bfloat16"], REDUCTIONS), *product([*OPAQUE, *PACKED], ["none"])],
)
@since(1, 20, "other types than NumPy's from Python")
@pytest.mark.parametrize("case", ["scatter_nd", "scatter_elements_axis_0", "a_constant_place"])
def test_dtypes_that_numpy_lacks(case: str, dtype: str, reduction: str) -> None:
    """Their tensors are constants of the model, and the output is read as bytes."""
    node = Scatter(**{**vars(CASES[case]), "reduction": reduction})
    rng = np.random.default_rng(2)
    data, updates = (draw(rng, shape, dtype) for shape in (node.data, node.updates))
    table = node.draw_table(rng)
    model = make_model(
        [make_node(node, "data", "f", "updates", "output")],
        {},
        {"output": helper.np_dtype_to_tensor_dtype(dtype_of(dtype))},
        {"data": data, "f": table, "updates": updates},
        opset=23,
    )
    (output,) = open_session(model).run_with_ort_values(None, {})
    wanted = numpy_helper.from_array(scatter(node, data, table, updates)).raw_data
    assert ctypes.string_at(output.data_ptr(), len(wanted)) == wanted


@pytest.mark.sampled(2)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("reduction", ["none", "add"])
@pytest.mark.parametrize("axis", [0, 1])
def test_large_scatter_elements(axis: int, reduction: str, threads: int) -> None:
    """Enough work for several threads; NumPy's ufunc.at keeps the order as well."""
    node = Scatter((0, 1), (1 - axis,), (axis, 1 - axis), (3000, 200), (3000, 200), reduction)
    rng = np.random.default_rng(3)
    data, updates = (draw(rng, shape, "float32") for shape in (node.data, node.updates))
    indices = rng.integers(0, node.data[axis], node.updates)
    feed = {"data": data, "f": indices[..., None], "updates": updates}
    (output,) = open_session(one_node(node, "float32"), threads).run(None, feed)
    wanted = data.copy()
    grid = list(np.indices(node.updates))
    grid[axis] = indices
    if reduction == "add":
        np.add.at(wanted, tuple(grid), updates)
    else:
        wanted[tuple(grid)] = updates
    np.testing.assert_array_equal(output, wanted)


@pytest.mark.parametrize(
    ("rows", "unique"),
    [("ascending", 0), ("ascending", 1), ("random", 0), ("random", 1), ("colliding", 0)],
)
def test_large_rows(rows: str, unique: int) -> None:
    node = Scatter((0,), (1,), (0, 1), (4000, 300), (2000, 300))
    rng = np.random.default_rng(4)
    table = rng.permutation(4000)[:2000]
    if rows == "ascending":
        table.sort()
    if rows == "colliding":
        table %= 50
    data, updates = (draw(rng, shape, "float32") for shape in (node.data, node.updates))
    session = open_session(one_node(node, "float32", unique=unique), threads=2)
    (output,) = session.run(None, {"data": data, "f": table[:, None], "updates": updates})
    wanted = data.copy()
    for row, update in zip(table, updates, strict=True):
        wanted[row] = update
    np.testing.assert_array_equal(output, wanted)


def test_no_colliding_update_is_lost() -> None:
    """Two million updates add to four cells, on two threads, again and again."""
    node = Scatter((0,), (), (0,), (4,), (2_000_000,), "add")
    session = open_session(one_node(node, "int64"), threads=2)
    table = np.random.default_rng(5).integers(0, 4, (2_000_000, 1))
    feed = {"data": np.zeros(4, np.int64), "f": table, "updates": np.ones(2_000_000, np.int64)}
    for _ in range(50):
        (output,) = session.run(None, feed)
        assert output.tolist() == np.bincount(table[:, 0], minlength=4).tolist()


def test_one_session_on_several_threads() -> None:
    """The plan that is kept for a constant f is used with two shapes of data at once."""
    node = Scatter((0,), (1,), (0, 1), (-1, -1), (2, -1), "add")
    model = make_model(
        [make_node(node, "data", "f", "updates", "output")],
        {name: (TensorProto.FLOAT, [None, None]) for name in ("data", "updates")},
        {"output": TensorProto.FLOAT},
        {"f": np.array([[1], [-1]])},
    )
    session = open_session(model)
    wrong: list[int] = []

    def run(width: int) -> None:
        feed = {
            "data": np.zeros((width, width), np.float32),
            "updates": np.ones((2, width), np.float32),
        }
        for _ in range(200):
            (output,) = session.run(None, feed)
            if output[1].sum() != width or output[-1].sum() != width or output.sum() != 2 * width:
                wrong.append(width)

    threads = [threading.Thread(target=run, args=(width,)) for width in (3, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.parametrize("shape", [None, [None, None], ["N", 4], [5, 4]])
def test_the_inferred_shape_is_exact(shape: list[Any] | None) -> None:
    """Shape of the output is not folded to something that data's declaration does not say."""
    code = TensorProto.FLOAT
    model = make_model(
        [
            make_node(ROWS, "data", "f", "updates", "output"),
            helper.make_node("Shape", ["output"], ["s"]),
        ],
        {"data": (code, shape), "f": (TensorProto.INT64, [3, 1]), "updates": (code, [3, 4])},
        {"output": code, "s": TensorProto.INT64},
    )
    feed = {
        "data": np.zeros((5, 4), np.float32),
        "f": np.zeros((3, 1), np.int64),
        "updates": np.zeros((3, 4), np.float32),
    }
    assert open_session(model).run(["s"], feed)[0].tolist() == [5, 4]


@pytest.mark.parametrize(
    ("data", "table", "updates", "message"),
    [
        ((5, 4), [[0], [5], [0]], (3, 4), "update [1, 0] is out of bounds: component 0 of f is 5,"),
        ((5, 4), [[0], [0], [-6]], (3, 4), "but axis 0 of data has size 5"),
        ((5, 4), [[0], [0]], (3, 4), "f has shape [2, 1], but updates of shape [3, 4]"),
        ((5, 3), [[0], [0], [0]], (3, 4), "which p2 puts on axis 1 of data, of size 3"),
        ((0, 4), [[0], [0], [0]], (3, 4), "axis 0 of data has size 0"),
    ],
)
def test_refusals(data: Any, table: Any, updates: Any, message: str) -> None:
    """The bound output keeps every byte."""
    session = open_session(one_node(ROWS, "float32"))
    before = np.full(data, 9, np.float32)
    value = ort.OrtValue.ortvalue_from_numpy(before)
    binding = session.io_binding()
    binding.bind_ortvalue_input("data", value)
    binding.bind_cpu_input("f", np.array(table))
    binding.bind_cpu_input("updates", np.zeros(updates, np.float32))
    binding.bind_ortvalue_output("output", value)
    with pytest.raises(RuntimeError, match=re.escape(message)):
        session.run_with_iobinding(binding)
    np.testing.assert_array_equal(value.numpy(), before)


def test_out_of_bounds_is_an_invalid_argument() -> None:
    feed = {
        "data": np.zeros((5, 4), np.float32),
        "f": np.full((3, 1), 5),
        "updates": np.zeros((3, 4), np.float32),
    }
    with pytest.raises(Exception, match="INVALID_ARGUMENT") as caught:
        open_session(one_node(ROWS, "float32")).run(None, feed)
    assert type(caught.value).__name__ == "InvalidArgument"


@pytest.mark.parametrize(
    ("node", "dtype", "message"),
    [
        (Scatter((), (), (), (), (), "sum"), "float32", "reduction is 'sum', not one of"),
        (Scatter((), (), (), (), (), "add"), "object", "no reduction but none is supported"),
        (Scatter((0,) * 17, (), (), (), ()), "float32", "more than 16 dims are not supported"),
    ],
)
def test_nodes_that_mean_nothing(node: Scatter, dtype: str, message: str) -> None:
    node = Scatter(**{**vars(node), "updates": (1,)})
    with pytest.raises(Exception, match=re.escape(message)):
        open_session(one_node(node, dtype))


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("p", None, "the attribute p is missing"),
        ("p1", 0, "the attribute p1 is not a list of integers"),
        ("p1", [0.5], "the attribute p1 is not a list of integers"),
        ("p2", 1.5, "the attribute p2 is not a list of integers"),
        ("p", "01", "the attribute p is not a list of integers"),
        ("reduction", 1, "the attribute reduction is not a string"),
        ("reduction", 1.5, "the attribute reduction is not a string"),
        ("reduction", ["add"], "the attribute reduction is not a string"),
        ("reduction", helper.make_tensor("t", TensorProto.INT64, [1], [1]), "is not a string"),
        ("unique", "yes", "the attribute unique is not an integer"),
        ("unique", 1.0, "the attribute unique is not an integer"),
        ("unique", [1], "the attribute unique is not an integer"),
    ],
)
def test_attributes_of_a_wrong_type(name: str, value: Any, wanted: str) -> None:
    """ONNX Runtime reports them like absent ones; the node is refused when a session is made."""
    node = make_node(ROWS, "data", "f", "updates", "output")
    others = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend(others)
    if value is not None:
        node.attribute.append(helper.make_attribute(name, value))
    shapes = {"data": ROWS.data, "f": ROWS.table, "updates": ROWS.updates}
    types = {"data": TensorProto.FLOAT, "f": TensorProto.INT64, "updates": TensorProto.FLOAT}
    model = make_model([node], {k: (types[k], shapes[k]) for k in shapes}, {"output": 1})
    with pytest.raises(Exception, match=f"ScatterX: .*{wanted}"):
        open_session(model)


def test_optional_attributes() -> None:
    """Without the attributes, the reduction is "none", and updates may collide."""
    node = make_node(ROWS, "data", "f", "updates", "output")
    kept = [attribute for attribute in node.attribute if attribute.name.startswith("p")]
    del node.attribute[:]
    node.attribute.extend(kept)
    model = make_model(
        [node],
        {"data": (1, ROWS.data), "f": (7, ROWS.table), "updates": (1, ROWS.updates)},
        {"output": 1},
    )
    rng = np.random.default_rng(3)
    feed = {
        "data": draw(rng, ROWS.data, "float32"),
        "f": ROWS.draw_table(rng),
        "updates": draw(rng, ROWS.updates, "float32"),
    }
    (output,) = open_session(model).run(None, feed)
    np.testing.assert_array_equal(output, scatter(ROWS, *feed.values()))
