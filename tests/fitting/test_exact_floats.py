"""Floats that follow without a process are those of ONNX Runtime, for all bits of their types."""

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.fitting.constant_finder import EXACT, followed
from tests.helpers import integer_nodes as integers
from tests.helpers.support import f32, i64

KINDS: dict[str, Any] = {"float32": np.uint32, "float64": np.uint64}
OTHER_DRAWS = {
    "Div": integers.pair,
    "Ceil": integers.single,
    "Floor": integers.single,
    "Round": integers.single,
}
NOT_FOLLOWED = {"And", "IsInf", "IsNaN", "Not", "Or", "Pad", "Trilu", "Xor"}
"""They take booleans, or no transfer function follows their results for floats."""


def floats(rng: np.random.Generator, kind: str, *shape: int) -> np.ndarray:
    """Draw floats of a whole type; many are whole, or at its ends."""
    if kind not in KINDS:
        return INTEGERS(rng, kind, *shape)
    ends = np.array([0.0, -0.0, 1, -1, 0.5, 2.5, np.nan, np.inf, -np.inf, 1e-40, 3e38], kind)
    bits = rng.integers(0, np.iinfo(KINDS[kind]).max, shape, KINDS[kind], endpoint=True)
    near = rng.normal(0, 9, shape).astype(kind)
    which = rng.random(shape)
    drawn = np.where(which < 0.3, np.asarray(bits).view(kind), near)
    return np.asarray(np.where(which < 0.6, drawn, rng.choice(ends, shape)), kind)


INTEGERS = integers.whole


def without_a_process(op: str, case: integers.Case) -> list[np.ndarray] | None:
    arrays, attributes = case
    names = [f"i{n}" for n in range(len(arrays))]
    outputs = ["a", "b"][: 1 + (op == "Split")]
    kinds = [onnx.helper.np_dtype_to_tensor_dtype(a.dtype) for a in arrays]
    declared = [
        onnx.helper.make_tensor_value_info(name, kind, array.shape)
        for name, kind, array in zip(names, kinds, arrays, strict=True)
    ]
    held = [  # integers give the shapes of the outputs
        onnx.numpy_helper.from_array(a, n)
        for n, a in zip(names, arrays, strict=True)
        if a.dtype == np.int64
    ]
    given = [d for d in declared if d.name not in {h.name for h in held}]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node(op, names, outputs, **attributes)],
        "g",
        given,
        [onnx.ValueInfoProto(name=name) for name in outputs],
        held,
    )
    opsets = [onnx.helper.make_opsetid("", integers.VERSION)]
    model = ir.from_proto(onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8))
    job = Job(model, Settings.of(target="standard"))
    scope = job.analyses.full.knowledge.scopes[model.graph]
    return followed(model.graph[0], dict(zip(names, arrays, strict=True)), scope)


def test_zeros_that_are_moved_keep_their_sign() -> None:
    """Of a Where, ONNX Runtime decides about the sign: it is run."""
    zero, yes = f32([-0.0]), np.array([True])
    moved = without_a_process("Reshape", ([zero, i64([1, 1])], {}))
    assert moved is not None
    assert np.signbit(moved[0]).tolist() == [[True]]
    assert without_a_process("Where", ([yes, zero, zero], {})) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("op", sorted(EXACT - NOT_FOLLOWED))
def test_as_onnx_runtime_computes_it(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(integers, "whole", floats)
    draw = OTHER_DRAWS.get(op) or integers.CASES[op][0]
    cases: list[integers.Case] = []
    for number in range(40):
        rng = np.random.default_rng([number, len(op)])
        kind = list(KINDS)[number % 2]
        if op == "Cast":
            to = ir.DataType.FLOAT if kind == "float32" else ir.DataType.DOUBLE
            cases.append(([INTEGERS(rng, "int64", 3, 4)], {"to": to.value}))
        else:
            cases.append(draw(rng, kind))
    compared = 0
    for case, expected in zip(cases, integers.in_onnx_runtime(op, cases, False), strict=True):
        found = without_a_process(op, case)
        if found is None or expected is None:
            continue
        for one, other in zip(found, expected, strict=True):
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            same = (one == other) | ((one != one) & (other != other))
            if one.dtype.kind == "f":
                same &= (np.signbit(one) == np.signbit(other)) | (one != 0)
            assert same.all(), (case, one, other)
        compared += 1
    assert compared >= 8
