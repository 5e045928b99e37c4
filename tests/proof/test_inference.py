"""The sizes that are believed of operators that are not modelled, against runs in ONNX Runtime."""

import numpy as np
import onnx
import pytest

from onnx_scatterx.proof.core.arithmetic import integer
from onnx_scatterx.proof.core.logic import both, equal
from onnx_scatterx.proof.core.terms import new_table
from onnx_scatterx.proof.inference import BELIEVED, BROADCAST, ONE_BY_ONE
from onnx_scatterx.proof.judge import deep
from tests.helpers.equivalence_support import _built, bound
from tests.helpers.pair import rejections
from tests.helpers.support import parse, run

X = "(float[A, B, C, D] x) => (float y)"
FLAT = "(float[A, B, C] x) => (float y)"
OF = {
    "ArgMax": (X, "ArgMax<axis = 2, keepdims = 0>(x)"),
    "ArgMin": (X, "ArgMin<axis = 1>(x)"),
    "BatchNormalization": (
        "(float[A, B, C] x, float[B] s) => (float y)",
        "BatchNormalization(x, s, s, s, s)",
    ),
    "ConvTranspose": (
        "(float[1, 2, C] x, float[2, 3, 3] w) => (float y)",
        "ConvTranspose<strides = [2], pads = [1, 0], output_padding = [1]>(x, w)",
    ),
    "CumSum": ("(float[A, B] x, int64 s) => (float y)", "CumSum(x, s)"),
    "DequantizeLinear": ("(uint8[A, B] u, float s) => (float y)", "DequantizeLinear(u, s)"),
    "Gemm": ("(float[A, B] x, float[C, A] w) => (float y)", "Gemm<transA = 1, transB = 1>(x, w)"),
    "GlobalAveragePool": (X, "GlobalAveragePool(x)"),
    "GlobalMaxPool": (X, "GlobalMaxPool(x)"),
    "GridSample": ("(float[A, B, C, D] x, float[A, E, F, 2] g) => (float y)", "GridSample(x, g)"),
    "Hardmax": (FLAT, "Hardmax<axis = 1>(x)"),
    "InstanceNormalization": (
        "(float[A, B, C] x, float[B] s) => (float y)",
        "InstanceNormalization(x, s, s)",
    ),
    "LRN": (X, "LRN<size = 3>(x)"),
    "LayerNormalization": (
        "(float[A, B, C] x, float[C] s) => (float y)",
        "LayerNormalization(x, s)",
    ),
    "LogSoftmax": (FLAT, "LogSoftmax(x)"),
    "LpNormalization": (FLAT, "LpNormalization<axis = 1>(x)"),
    "MatMul": ("(float[A, 1, B, C] x, float[D, C, E] w) => (float y)", "MatMul(x, w)"),
    "MatMulInteger": (
        "(uint8[A, 1, B, C] u, uint8[D, C, E] v) => (float y)",
        "MatMulInteger(u, v)",
    ),
    "MeanVarianceNormalization": (X, "MeanVarianceNormalization(x)"),
    "OneHot": ("(int64[A, B] i, int64 k, float[2] o) => (float y)", "OneHot<axis = 1>(i, k, o)"),
    "QuantizeLinear": ("(float[A, B] x, float s) => (float y)", "QuantizeLinear(x, s)"),
    "Softmax": (FLAT, "Softmax<axis = 1>(x)"),
    "Trilu": ("(float[A, B, C] x) => (float y)", "Trilu<upper = 0>(x)"),
    "TopK": ("(float[A, B] x, int64[1] k) => (float y)", "TopK<axis = 0>(x, k)"),
    "Conv": (
        "(float[A, 2, C] x, float[B, 2, 3] w) => (float y)",
        "Conv<strides = [2], pads = [1, 0], dilations = [2]>(x, w)",
    ),
    "QLinearConv": (
        "(uint8[A, 2, C] x, float s, uint8 z, uint8[B, 2, 3] w) => (uint8 y)",
        "QLinearConv<pads = [1, 1]>(x, s, z, w, s, z, s, z)",
    ),
    "QLinearAdd": (
        "(uint8[A, 1, B] x, float s, uint8 z, uint8[C, B] w) => (uint8 y)",
        "com.microsoft.QLinearAdd(x, s, z, w, s, z, s, z)",
    ),
    "QLinearSigmoid": (
        "(uint8[A, B] x, float s, uint8 z) => (uint8 y)",
        "com.microsoft.QLinearSigmoid(x, s, z, s, z)",
    ),
    "MaxPool": (FLAT, "MaxPool<kernel_shape = [3], strides = [2]>(x)"),
    "AveragePool": (FLAT, "AveragePool<kernel_shape = [3], ceil_mode = 1, strides = [2]>(x)"),
    "Einsum": (
        "(float[A, B] x, float[C, B] w) => (float y)",
        'Einsum<equation = "ij,kj->ki">(x, w)',
    ),
    "Resize": (
        "(float[A, B] x) => (float y) <float[2] f = {2, 0.7}>",
        'Resize<mode = "nearest">(x, , f)',
    ),
}
for name in BELIEVED:
    if name not in OF:
        OF[name] = (X, f"{name}(x)")
    if name.startswith("Reduce"):
        OF[name] = (X, f"{name}<keepdims = 0>(x, axes)")
OF |= {name: (FLAT, f"{name}(x)") for name in ONE_BY_ONE}
OF["Cast"] = (FLAT, "Cast<to = 11>(x)")
for name in BROADCAST:
    kind = "uint8" if name.startswith("Bit") else "float"
    ways = {"BitShift": '<direction = "LEFT">', "Mod": "<fmod = 1>"}
    head = f"({kind}[A, 1, B] x, {kind}[C, B] e) => ({kind} y)"
    OF[name] = (head, f"{name}{ways.get(name, '')}(x, e)")

OTHER = {
    **dict.fromkeys(("ArgMax", "ArgMin"), onnx.TensorProto.INT64),
    **dict.fromkeys(("IsInf", "IsNaN", "Equal"), onnx.TensorProto.BOOL),
    **dict.fromkeys(("Greater", "GreaterOrEqual", "Less", "LessOrEqual"), onnx.TensorProto.BOOL),
    **{"Cast": onnx.TensorProto.DOUBLE, "MatMulInteger": onnx.TensorProto.INT32},
    "QuantizeLinear": onnx.TensorProto.UINT8,
}
"""The types of results that are not those of the head."""


def model_of(op: str) -> onnx.ModelProto:
    """Return a model whose output has no shape."""
    head, call = OF[op]
    if "axes" in call:
        head += " <int64[2] axes = {1, -1}>"
    text = f"g {head} {{ {'y, z' if op == 'TopK' else 'y'} = {call} }}"
    made = parse(text, {"Swish": 24, "Gelu": 20}.get(op, 18))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    if op in OTHER:
        made.graph.output[0].type.tensor_type.elem_type = OTHER[op]
    return made


def drawn(model: onnx.ModelProto, rng: np.random.Generator, least: int) -> dict[str, np.ndarray]:
    """Return inputs of small sizes, 0 and 1 among them."""
    sizes: dict[str, int] = {}
    feed = {}
    for value in model.graph.input:
        shape = []
        for d in value.type.tensor_type.shape.dim:
            drawn_size = int(rng.choice([least, 1, 2, 3, 5, 8]))
            fixed = d.HasField("dim_value")
            shape.append(d.dim_value if fixed else sizes.setdefault(d.dim_param, drawn_size))
        kind = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        feed[value.name] = rng.integers(0, 3, shape).astype(kind)
    return feed


def test_every_operator_is_tried() -> None:
    assert set(OF) >= BELIEVED


@pytest.mark.sampled(6)
@pytest.mark.parametrize("op", sorted(OF))
def test_believed_sizes_are_those_of_runs(op: str) -> None:
    """The facts of the model and the sizes of a run do not exclude each other."""
    model, rng = model_of(op), np.random.default_rng(0)
    seen = 0
    least = 1 if op == "Einsum" else 0  # of which ONNX Runtime's process would die
    for _ in range(60):
        feed = drawn(model, rng, least)
        try:
            (array,) = run(model, feed)
        except rejections():
            continue
        if not array.size and op.startswith(("Arg", "Reduce")):
            continue  # printed as an assumption of a proof
        seen += 1
        with deep(), new_table():
            world, _, _, inputs, scope = _built(model)
            given = [
                f for name, fed in feed.items() if fed.size < 9 for f in bound(inputs[name], fed)
            ]
            shapes = [(inputs[name], fed) for name, fed in feed.items()] + [(scope["y"], array)]
            for tensor, fed in shapes:
                if tensor.dims is not None:
                    given += [
                        equal(d, integer(n)) for d, n in zip(tensor.dims, fed.shape, strict=True)
                    ]
            assert world.solver.satisfiable([both(*given)]).status != "impossible", (
                feed,
                array.shape,
            )
        if seen == 12:
            break
    assert seen >= 5
