"""TensorScatter of float8 and 4-bit types: every code arrives, natively, by the fallback, by Cast.

ONNX Runtime has no TensorScatter of these types, so the judge is a loop over codes.
"""

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx.reference import ReferenceEvaluator

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.processes.serving import RawTensor
from onnx_scatterx.runtime.library import library_path
from onnx_scatterx.runtime.ort_session import run_raw
from tests.helpers.examples import scaled
from tests.helpers.native_support import since
from tests.helpers.support import nodes, parse

Codes = np.ndarray[Any, np.dtype[np.uint8]]
CAST = {
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
}
KEPT = {"float8e5m2": ml_dtypes.float8_e5m2, "float4e2m1": ml_dtypes.float4_e2m1fn}
TYPES = CAST | KEPT
UNSIZED = "float4e2m1"  # ONNX Runtime has no Shape of it, nor a Cast: its sizes must be numbers
LEVELS = (ort.GraphOptimizationLevel.ORT_DISABLE_ALL, ort.GraphOptimizationLevel.ORT_ENABLE_ALL)
CACHE = """g ({0}[{1}] x, {0}[{2}] u, int64[{3}] p) => ({0}[{1}] y)
    {{ y = TensorScatter <axis = 1, mode = "{4}"> (x, u, p) }}"""

pytestmark = since(1, 25, "TensorScatter")


def number(kind: str) -> int:
    return int(onnx.TensorProto.DataType.Value(kind.upper()))


def count(kind: str) -> int:
    """How many codes there are."""
    return 16 if kind in ("int4", "uint4", "float4e2m1") else 256


def packed(kind: str, codes: Codes) -> bytes:
    """The bytes of a tensor: two codes of 4 bits are a byte, the first one its low half."""
    if count(kind) == 256:
        return codes.tobytes()
    flat = np.append(codes.ravel(), np.zeros(codes.size % 2, np.uint8))
    return (flat[::2] | flat[1::2] << 4).tobytes()


def unpacked(kind: str, data: bytes, shape: tuple[int, ...]) -> Codes:
    flat = np.frombuffer(data, np.uint8)
    if count(kind) == 16:
        flat = np.stack([flat & 15, flat >> 4], axis=1).ravel()[: int(np.prod(shape))]
    return flat.reshape(shape)


def wanted(x: Codes, u: Codes, starts: Codes | None, mode: str) -> Codes:
    y = x.copy()
    for b, i in np.ndindex(u.shape[:2]):
        at = i + (0 if starts is None else int(starts[b]))
        y[b, at % x.shape[1] if mode == "circular" else at] = u[b, i]
    return y


def runs(model: onnx.ModelProto, kind: str, feed: dict[str, Any], *, native: bool) -> list[Codes]:
    """Return the codes of all outputs, without ONNX Runtime's optimizations and with them."""
    tensors = [
        RawTensor(name, 7, a.shape, a.tobytes())
        if a.dtype == np.int64
        else RawTensor(name, number(kind), a.shape, packed(kind, a))
        for name, a in feed.items()
        if name in {value.name for value in model.graph.input}
    ]
    found = []
    for level in LEVELS:
        options = ort.SessionOptions()
        options.graph_optimization_level = level
        options.log_severity_level = 4
        if native:
            options.register_custom_ops_library(str(library_path()))
        content = model.SerializeToString()
        session = ort.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        found += [unpacked(kind, bytes(t.data), t.shape) for t in run_raw(session, tensors)]
    return found


def drawn(rng: np.random.Generator, kind: str, *shape: int) -> Codes:
    return rng.integers(0, count(kind), shape, np.uint8)


def by_reference(model: onnx.ModelProto, kind: str, feed: dict[str, Any]) -> Codes:
    """Run the fallback function in the reference implementation."""
    given = {k: a if a.dtype == np.int64 else a.view(TYPES[kind]) for k, a in feed.items()}
    (y,) = ReferenceEvaluator(model).run(None, given)
    return np.asarray(y).view(np.uint8) & np.uint8(count(kind) - 1)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("kind", TYPES)
def test_which_codes_a_cast_to_a_wider_type_and_back_changes(
    kind: str, level: ort.GraphOptimizationLevel
) -> None:
    wide = {"int4": 3, "uint4": 2}.get(kind, 1)
    text = f"""g ({kind}[N] x) => ({kind}[N] y)
        {{ w = Cast <to = {wide}> (x)  y = Cast <to = {number(kind)}> (w) }}"""
    model = parse(text, opset=24, ir_version=11)
    codes = np.arange(count(kind), dtype=np.uint8)
    if kind == "float4e2m1":
        with pytest.raises(Exception, match="Could not find an implementation for Cast"):
            runs(model, kind, {"x": codes}, native=False)
        return
    changed = {0x7C, 0x7D, 0x7E, 0xFC, 0xFD, 0xFE} if kind == "float8e5m2" else set()
    for found in runs(model, kind, {"x": codes}, native=False):
        assert set(codes[found != codes].tolist()) == changed


def all_codes(kind: str) -> dict[str, Codes]:
    """Every code is among the data that are kept, and every code among the updates."""
    n = count(kind)
    codes = np.arange(n, dtype=np.uint8)
    x = np.stack([codes, codes], axis=0)[..., None]
    return {"x": np.concatenate([x, x], axis=1), "u": x[:, ::-1].copy(), "p": np.array([0, n])}


def cache(kind: str, mode: str, x: str = "B,S,D", u: str = "B,N,D") -> onnx.ModelProto:
    return parse(CACHE.format(kind, x, u, x.split(",")[0], mode), opset=24, ir_version=11)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("kind", CAST)
def test_every_code_by_cast(kind: str, mode: str) -> None:
    result = onnx_scatterx.optimize(cache(kind, mode), target="standard")
    onnx.checker.check_model(result.model, full_check=True)
    assert "TensorScatter" not in {node.op_type for node in nodes(result.model)}
    feed: dict[str, Any] = all_codes(kind)
    for found in runs(result.model, kind, feed, native=False):
        np.testing.assert_array_equal(found, wanted(feed["x"], feed["u"], feed["p"], mode))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("float8e5m2", "Cast to a wider type and back changes the codes 7C to 7E and FC to FE"),
        ("float4e2m1", "of float4e2m1, and Cast to a wider type"),
    ],
)
@pytest.mark.parametrize("p", ["p", ""])
def test_types_that_are_kept(kind: str, why: str, p: str) -> None:
    model = cache(kind, "linear")
    model.graph.node[0].input[2] = p
    result = onnx_scatterx.optimize(model, target="standard")
    (entry,) = result.report.scatters
    assert entry.reason is Reason.NO_KERNEL
    assert why in entry.done
    assert result.model == model


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["linear", "circular"])
@pytest.mark.parametrize("kind", TYPES)
def test_every_code_by_scatterx(kind: str, mode: str) -> None:
    n = count(kind)
    shapes = (f"2,{2 * n},1", f"2,{n},1") if kind == UNSIZED else ("B,S,D", "B,N,D")
    result = onnx_scatterx.optimize(cache(kind, mode, *shapes))
    onnx.checker.check_model(result.model, full_check=True)
    assert [n.op_type for n in result.model.graph.node].count("ScatterX") == 1
    feed: dict[str, Any] = all_codes(kind)
    expected = wanted(feed["x"], feed["u"], feed["p"], mode)
    found = runs(result.model, kind, feed, native=True)
    if kind in CAST:
        found += runs(result.model, kind, feed, native=False)
    else:
        found.append(by_reference(result.model, kind, feed))
    for y in found:
        np.testing.assert_array_equal(y, expected)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("kind", "static"),
    [*product(TYPES, [True]), *product([k for k in TYPES if k != UNSIZED], [False])],
)
def test_random_caches(kind: str, *, static: bool) -> None:
    """Sizes 0 and 1, rings, starts anywhere or left out, two writes to one cache, both targets."""
    rng = np.random.default_rng(count(kind) + static)
    for _ in range(scaled(20)):
        mode, with_start = str(rng.choice(["linear", "circular"])), rng.random() < 0.8
        b, d = (int(n) for n in rng.integers(0, 4, 2))
        s = int(rng.integers(1, 7))
        n = int(rng.integers(0, s + 1))
        last = 3 * s if mode == "circular" else s - n
        feed: dict[str, Any] = {
            "x": drawn(rng, kind, b, s, d),
            "u": drawn(rng, kind, b, n, d),
            "p": rng.integers(0, last + 1, b),
        }
        shapes = (f"{b},{s},{d}", f"{b},{n},{d}") if static else ("B,S,D", "B,N,D")
        model = cache(kind, mode, *shapes)
        starts = feed["p"] if with_start else None
        y = wanted(feed["x"], feed["u"], starts, mode)
        if not with_start:
            model.graph.node[0].input.pop()
        if rng.random() < 0.5:
            second = model.graph.node.add()
            second.CopyFrom(model.graph.node[0])
            model.graph.node[0].output[0] = second.input[0] = "t"
        native = onnx_scatterx.optimize(model).model
        standard = onnx_scatterx.optimize(model, target="standard").model
        found = runs(native, kind, feed, native=True)
        if kind in CAST:
            found += runs(native, kind, feed, native=False)
        if kind in CAST and (with_start or mode == "linear"):
            assert "TensorScatter" not in {node.op_type for node in nodes(standard)}
            found += runs(standard, kind, feed, native=False)
        for other in found:
            np.testing.assert_array_equal(other, y)


@pytest.mark.parametrize("kind", CAST)
def test_equal_writes_are_two_outputs(kind: str) -> None:
    # ONNX Runtime has no Identity of 4-bit integers, so each output has a Cast of its own.
    text = f"""g ({kind}[2,4,3] x, {kind}[2,N,3] u, {kind}[2,4,3] v)
        => ({kind}[2,4,3] y, {kind}[2,4,3] z, {kind}[2,4,3] w) {{
            y = TensorScatter <axis = 1> (x, u)
            z = TensorScatter <axis = 1> (x, u)
            w = TensorScatter <axis = 1> (x, v) }}"""
    model = onnx_scatterx.optimize(parse(text, opset=24, ir_version=11), target="standard").model
    rng = np.random.default_rng(5)
    feed: dict[str, Any] = {name: drawn(rng, kind, 2, 4, 3) for name in "xv"}
    feed["u"] = drawn(rng, kind, 2, 2, 3)
    y = wanted(feed["x"], feed["u"], None, "linear")
    assert "TensorScatter" not in {node.op_type for node in nodes(model)}
    for found, expected in zip(
        runs(model, kind, feed, native=False), [y, y, feed["v"]] * 2, strict=True
    ):
        np.testing.assert_array_equal(found, expected)
