"""Nodes beside a scatter are not changed: other types, domains, kinds of values."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx.reference.op_run import OpRun

from tests.helpers.pair import Feed
from tests.helpers.support import (
    assert_sound,
    f32,
    i64,
    nodes,
    optimize,
    parse,
    run_reference,
    sample,
)

ROWS = "int64[2,1] i = {1, 2}"


def feed(seed: int = 0) -> Feed:
    return {"x": sample("float32", 4, 2, seed=seed), "u": sample("float32", 2, 2, seed=seed + 1)}


def kept(model: onnx.ModelProto, *ops: str) -> None:
    """Check that the nodes of these operators come through as they were."""
    for op in ops:
        before, after = (written(m, op) for m in (model, optimize(model)))
        assert before, f"the model has no {op}"
        assert before == after


def written(model: onnx.ModelProto, op: str) -> list[bytes]:
    """Serialize the nodes of an operator; an empty domain counts as none."""
    copy = onnx.load_from_string(model.SerializeToString())
    found = [node for node in nodes(copy) if node.op_type == op]
    for node in found:
        if not node.domain:
            node.ClearField("domain")
    return sorted(node.SerializeToString(deterministic=True) for node in found)


def test_quantized_values() -> None:
    model = parse(f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
            q = QuantizeLinear (x, float 0.05, uint8 128)
            s = ScatterND (q, i, QuantizeLinear (u, float 0.05, uint8 128))
            y = DequantizeLinear (s, float 0.05, uint8 128) }}""")
    finite = {name: np.nan_to_num(value, posinf=9, neginf=-9) for name, value in feed().items()}
    assert_sound(model, finite, left=0)
    kept(model, "QuantizeLinear", "DequantizeLinear")


def test_four_bit_integers_beside() -> None:
    # ONNX Runtime slices no int4: nothing may be done to it.
    model = parse(
        f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y, int8[6] z) <{ROWS}> {{
            y = ScatterND (x, i, u)
            z = Cast <to = 3> (w) }}""",
        opset=21,
        ir_version=10,
    )
    w = onnx.helper.make_tensor("w", onnx.TensorProto.INT4, [6], [-8, 7, 1, 0, -1, 3])
    model.graph.initializer.append(w)
    assert_sound(model, left=0)
    kept(model, "Cast")


@pytest.mark.parametrize("kind", ["int2", "uint2", "int4"])
def test_a_size_is_not_read_from_narrow_integers(kind: str) -> None:
    # ONNX Runtime has no Shape of them.
    model = parse(
        f"""g ({kind}[N,4] q, float[4] u) => (float[N,4] y) {{
            x0 = DequantizeLinear (q, float 0.5)  x = Neg (x0)
            n0 = Shape <end = 1> (x)  n = Squeeze (n0, [0])
            r = Range (0, n, 1)  i = Unsqueeze (r, [-1])
            o = Concat <axis = 0> (n0, [4])  v = Expand (u, o)
            y = ScatterND <reduction = "mul"> (x, i, v) }}""",
        opset=25,
        ir_version=13,
    )
    made = optimize(model)
    assert "ScatterND" not in {n.op_type for n in nodes(made)}
    assert not [n for n in nodes(made) if n.op_type == "Shape" and "q" in n.input]


def test_a_sparse_initializer() -> None:
    model = parse(f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
        s = ScatterND (x, i, u)
        y = Add (s, w) }}""")
    sparse = model.graph.sparse_initializer.add()
    sparse.dims.extend([4, 2])
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(f32([3.0, 5.0]), "w"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(i64([1, 6]), "w_indices"))
    assert_sound(model)
    assert optimize(model).graph.sparse_initializer == model.graph.sparse_initializer


def test_data_is_a_sparse_initializer() -> None:
    model = parse(f"g (float[2,2] u) => (float[4,2] y) <{ROWS}> {{ y = ScatterND (w, i, u) }}")
    sparse = model.graph.sparse_initializer.add()
    sparse.dims.extend([4, 2])
    sparse.values.CopyFrom(onnx.numpy_helper.from_array(f32([3.0, 5.0]), "w"))
    sparse.indices.CopyFrom(onnx.numpy_helper.from_array(i64([1, 6]), "w_indices"))
    assert_sound(model)


def test_sequences() -> None:
    model = parse(f"""g (float[4,2] x, float[2,2] u) => (seq(float[4,2]) ys, float[4,2] y, int64 n)
        <{ROWS}> {{
            ys0 = SequenceConstruct (x, x)
            s = ScatterND (SequenceAt (ys0, 0), i, u)
            ys = SequenceInsert (ys0, s, 0)
            y = SequenceAt (ys, 0)
            n = SequenceLength (ys) }}""")
    assert_sound(model)
    kept(model, "SequenceConstruct", "SequenceAt", "SequenceInsert", "SequenceLength")


def test_a_sequence_that_is_fed() -> None:
    model = parse(f"""g (seq(float[4,2]) xs, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
        y = ScatterND (SequenceAt (xs, 1), i, u) }}""")
    xs = [sample("float32", 4, 2, seed=seed) for seed in range(2)]
    assert_sound(model, {"xs": xs, "u": sample("float32", 2, 2)})


def test_optional_values() -> None:
    model = parse(
        f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
        s = ScatterND (OptionalGetElement (Optional (x)), i, u)
        y = Clip (s, , top) }}""".replace("<int64", "<float top = {1}, int64")
    )
    assert_sound(model)
    kept(model, "Optional", "OptionalGetElement", "Clip")


def test_an_operator_of_onnx_runtime() -> None:
    model = parse(
        f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
            s = ScatterND (com.microsoft.QuickGelu <alpha: float = 1.5> (x), i, u)
            y = com.microsoft.QuickGelu <alpha: float = 0.5> (s) }}""",
        more=', "com.microsoft" : 1',
    )
    assert_sound(model)
    kept(model, "QuickGelu")


class Twice(OpRun):
    """An operator that nobody else knows."""

    op_domain = "acme"

    def _run(self, x: np.ndarray, **_: Any) -> tuple[np.ndarray]:
        return (x * 2,)


class ScatterND(OpRun):
    """No scatter: a sum that only shares the name."""

    op_domain = "acme"

    def _run(self, x: np.ndarray, i: np.ndarray, u: np.ndarray, **_: Any) -> tuple[np.ndarray]:
        return (x + u.sum(),)


def reference(model: onnx.ModelProto, given: Feed) -> list[Any]:
    return run_reference(model, given, [Twice, ScatterND])


def test_operators_that_nobody_knows() -> None:
    model = parse(
        f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
            s = ScatterND (acme.Twice <mode: string = "loud", speed: int = 3> (x), i, u)
            y = acme.Twice (s) }}""",
        more=', "acme" : 7',
    )
    assert_sound(model, judge=reference)
    kept(model, "Twice")
    assert {o.domain: o.version for o in optimize(model).opset_import}["acme"] == 7


def test_another_domain_has_a_scatter_too() -> None:
    model = parse(
        f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{
            y = acme.ScatterND (x, i, u) }}""",
        more=', "acme" : 1',
    )
    given = {name: np.nan_to_num(value, posinf=9, neginf=-9) for name, value in feed().items()}
    assert_sound(model, given, judge=reference)
    kept(model, "ScatterND")


def test_the_standard_domain_by_its_long_name() -> None:
    model = parse(
        f"g (float[4,2] x, float[2,2] u) => (float[4,2] y) <{ROWS}> {{ y = ScatterND (x, i, u) }}"
    )
    model.graph.node[0].domain = "ai.onnx"
    assert_sound(model)


def test_metadata_and_untouched_nodes_stay() -> None:
    model = parse(f"""g (float[4,2] x, float[2,2] u) => (float[4,2] y, float[4,2] z) <{ROWS}> {{
        y = ScatterND (x, i, u)
        z = Exp (Neg (x)) }}""")
    model.producer_name, model.doc_string, model.graph.doc_string = "someone", "about", "the graph"
    model.metadata_props.add(key="licence", value="MIT")
    model.graph.node[1].name, model.graph.node[1].doc_string = "my negation", "why not"
    model.graph.node[1].metadata_props.add(key="origin", value="by hand")
    kept(model, "Neg", "Exp")
    optimized = optimize(model)
    assert optimized.metadata_props[:] == model.metadata_props[:]
    assert (optimized.doc_string, optimized.graph.name) == ("about", "g")
    assert optimized.producer_name == "someone"
    assert (optimized.ir_version, optimized.opset_import) == (model.ir_version, model.opset_import)


def test_no_scatter_at_all() -> None:
    # Comes back unchanged, dead nodes and foldable ones included.
    model = parse("""g (float[4,2] x) => (float[4,2] y) <float[1] unused = {2}> {
        dead = Neg (x)
        y = Mul (x, Add (float [1], float [1])) }""")
    assert_sound(model, left=0)
    assert optimize(model) == model
