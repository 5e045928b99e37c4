"""Tensors of many dims for targets that take fewer: the same elements, and fewer dims."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same

_LARGEST = 600  # elements of a tensor


@dataclass
class Chain:
    """Moves that follow each other, from rows of a scatter, with the shape after each."""

    shape: list[int]
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    deepest: int = 0

    def constant(self, numbers: object, dtype: type = np.int64) -> str:
        name = f"k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(numbers, dtype), name))
        return name

    def add(self, op: str, shape: list[int], *inputs: str, **attributes: Any) -> None:
        last = f"v{len(self.nodes) - 1}" if self.nodes else "w"
        given = [last if name == "last" else name for name in inputs]
        self.nodes.append(helper.make_node(op, given, [f"v{len(self.nodes)}"], **attributes))
        self.shape = [int(n) for n in shape]
        self.deepest = max(self.deepest, len(shape))


@st.composite
def _factors(draw: st.DrawFn, count: int, total: int) -> list[int]:
    """Return so many sizes, the product of which is a total."""
    sizes = []
    for _ in range(count - 1):
        sizes.append(draw(st.sampled_from([n for n in (1, 2, 3, 4) if total % n == 0])))
        total //= sizes[-1]
    return draw(st.permutations([*sizes, total]))


@st.composite
def chains(draw: st.DrawFn, moves: int = 6) -> Chain:
    chain = Chain([4, 6])
    for _ in range(draw(st.integers(1, moves))):
        op = draw(
            st.sampled_from(["Reshape", "Transpose", "Slice", "Concat", "Expand", "Gather", "Tile"])
        )
        shape, rank = chain.shape, len(chain.shape)
        axis = draw(st.integers(0, rank - 1)) if rank else 0
        if op == "Reshape" or not rank:
            new = draw(_factors(draw(st.integers(1, 6)), math.prod(shape)))
            chain.add("Reshape", new, "last", chain.constant(new))
        elif op == "Transpose":
            perm = list(draw(st.permutations(range(rank))))
            chain.add(op, [shape[d] for d in perm], "last", perm=perm)
        elif op == "Slice" and shape[axis]:
            picks = draw(st.sampled_from([(0, 2, 1), (1, 9, 1), (0, 9, 2), (-1, -9, -1)]))
            kept = len(
                range(shape[axis])[slice(picks[0], picks[1] if picks[2] > 0 else None, picks[2])]
            )
            parts = [
                chain.constant([n])
                for n in (*picks[:2], axis - draw(st.sampled_from([0, rank])), picks[2])
            ]
            chain.add(op, [*shape[:axis], kept, *shape[axis + 1 :]], "last", *parts)
        elif op == "Concat" and 2 * math.prod(shape) <= _LARGEST:
            chain.add(
                op, [*shape[:axis], 2 * shape[axis], *shape[axis + 1 :]], "last", "last", axis=axis
            )
        elif op == "Expand" and 2 * math.prod(shape) <= _LARGEST:
            new = [2 if n == 1 and draw(st.booleans()) else n for n in shape]
            new = [2, *new] if rank < 6 and draw(st.booleans()) else new
            if math.prod(new) <= _LARGEST:
                chain.add(op, new, "last", chain.constant(new))
        elif op == "Gather" and shape[axis] and math.prod(shape) <= _LARGEST / 4:
            dims = draw(st.sampled_from([[], [3], [2, 2]])) if rank < 6 else [3]
            if rank + len(dims) > 1:
                at = draw(
                    st.lists(
                        st.integers(-shape[axis], shape[axis] - 1),
                        min_size=math.prod(dims),
                        max_size=math.prod(dims),
                    )
                )
                rows = chain.constant(np.array(at).reshape(dims))
                chain.add(op, [*shape[:axis], *dims, *shape[axis + 1 :]], "last", rows, axis=axis)
        elif op == "Tile" and 2 * math.prod(shape) <= _LARGEST:
            counts = [2 if d == axis else 1 for d in range(rank)]
            chain.add(
                op,
                [n * c for n, c in zip(shape, counts, strict=True)],
                "last",
                chain.constant(counts),
            )
    size = math.prod(chain.shape)
    chain.add("Reshape", [size], "last", chain.constant([size]))
    return chain


def model_of(chain: Chain) -> onnx.ModelProto:
    at = helper.make_node("ScatterND", ["x", "rows", "u"], ["w"])
    rows = numpy_helper.from_array(np.array([[1], [2]]), "rows")
    values = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, s)
        for n, s in (("x", [4, 6]), ("u", [2, 6]))
    ]
    y = helper.make_tensor_value_info(chain.nodes[-1].output[0], TensorProto.FLOAT, chain.shape)
    graph = helper.make_graph([at, *chain.nodes], "g", values, [y], [rows, *chain.constants])
    return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 18)])


@examples(150)
@given(
    chains(),
    st.sampled_from(
        [
            "max_rank = {}",
            *(
                f"limits.{op}.max_rank = {{}}"
                for op in ("Transpose", "Slice", "Concat", "Gather", "Expand", "Tile")
            ),
        ]
    ),
    st.integers(3, 5),
)
def test_chains_of_moves(chain: Chain, limit: str, most: int) -> None:
    """The same bits; and with three dims for moves along one axis, nothing is too deep."""
    model = model_of(chain)
    result = onnx_scatterx.optimize(model, target=f"standard, {limit.format(most)}")
    rng = np.random.default_rng(0)
    feed = {"x": rng.random((4, 6), np.float32), "u": rng.random((2, 6), np.float32)}
    assert_same(model, result.model, [feed])
    left = [v for v in result.report.violations if v.op != "Transpose"]
    deep = (
        {"Reshape", "Unsqueeze", "Transpose"}
        if any(v.op == "Transpose" for v in result.report.violations)
        else set()
    )
    assert {v.op for v in left} <= deep, result.report.violations


@pytest.mark.parametrize("target", ["standard, max_rank = 4", "qnn", "ncnn", "rknn"])
def test_windows_of_an_image(target: str) -> None:
    """The windows of Swin are cut by a Transpose of six dims, of which four move apart."""
    chain = Chain([4, 6])
    for op, shape, key in (
        ("Reshape", [2, 2, 1, 3, 2, 1], {}),
        ("Transpose", [2, 1, 2, 3, 2, 1], {"perm": [0, 2, 1, 3, 4, 5]}),
        ("Reshape", [4, 6], {}),
    ):
        chain.add(op, shape, "last", *([] if key else [chain.constant(shape)]), **key)
    chain.shape = [4, 6]
    result = onnx_scatterx.optimize(model_of(chain), target=target)
    assert result.report.violations == ()
    assert sum(n.op_type == "Transpose" for n in result.model.graph.node) == 1


@pytest.mark.parametrize("op", ["Slice", "Concat", "Gather", "Tile", "Expand", "Gather [2, 2]"])
def test_a_move_along_an_axis_in_the_middle(op: str) -> None:
    """The axes before it are one, and those behind it are one."""
    chain = Chain([4, 6])
    shape = [2, 2, 1, 3, 2] if op == "Expand" else [2, 2, 3, 2]
    chain.add("Reshape", shape, "last", chain.constant(shape))
    if op == "Slice":
        parts = [chain.constant([n]) for n in (1, 3, 2)]
        chain.add(op, [2, 2, 2, 2], "last", *parts)
    elif op == "Concat":
        chain.add(op, [2, 2, 6, 2], "last", "last", axis=2)
    elif op == "Gather":
        chain.add(op, [2, 2, 4, 2], "last", chain.constant([2, 0, 0, 1]), axis=2)
    elif op == "Gather [2, 2]":
        indices = chain.constant(np.array([[2, 0], [0, 1]]))
        chain.add("Gather", [2, 2, 2, 2, 2], "last", indices, axis=2)
    elif op == "Tile":
        chain.add(op, [2, 2, 6, 2], "last", chain.constant([1, 1, 2, 1]))
    else:
        chain.add(op, [2, 2, 2, 3, 2], "last", chain.constant([2, 2, 2, 3, 2]))
    size = math.prod(chain.shape)
    chain.add("Reshape", [size], "last", chain.constant([size]))
    model = model_of(chain)
    result = onnx_scatterx.optimize(model, target="standard, max_rank = 3")
    assert result.report.violations == ()
    rng = np.random.default_rng(0)
    feed = {"x": rng.random((4, 6), np.float32), "u": rng.random((2, 6), np.float32)}
    assert_same(model, result.model, [feed])
