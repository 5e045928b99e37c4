"""interleave: strided cells that complete each other are a Concat on a new axis and a Reshape."""

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.targets.target import Target
from tests.helpers.rules import Case, each, row, sizes
from tests.helpers.support import parse

EVEN_AND_ODD = """g (float[6,N] x, float[3,N] u, float[3,N] v) => (float[6,N] y)
    <int64[3,1] even = {0, 2, 4}, int64[3,1] odd = {1, 3, 5}> {
        z = ScatterND (x, even, u)
        y = ScatterND (z, odd, v) }"""
EVEN = """g (float[6,N] x, float[3,N] u) => (float[6,N] y) <int64[3,1] i = {0, 2, 4}>
    { y = ScatterND (x, i, u) }"""


def every(step: int, shape: str, count: str, start: int = 0) -> str:
    """Return a model that writes every so many rows of an axis of symbolic size."""
    return f"""g (float[{shape}] x, float[{count}] u) => (float[{shape}] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] start = {{{start}}}, int64[1] axis = {{0}},
         int64[1] far = {{9223372036854775807}}, int64[1] step = {{{step}}}, int64[1] last = {{-1}}> {{
            s = Shape <end = 1> (x)
            n = Squeeze (s)
            r = Range (zero, n, one)
            some = Slice (r, start, far, axis, step)
            i = Unsqueeze (some, last)
            y = ScatterND (x, i, u) }}"""


GOLDEN = {
    "even and odd rows": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "every second row": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "classes of unequal length are filled up": row(*sizes(N=(0, 1, 5)), by=["view"]),
    "rows of a symbolic size": row(
        *({"N": n, "M": m, "H": (n + 1) // 2} for n in (0, 1, 2, 5) for m in (0, 1, 3)), by=["view"]
    ),
    "every third row of known width": row(
        *({"N": n, "H": (n + 1) // 3} for n in (0, 1, 2, 3, 7)), by=["view"]
    ),
    "a symbolic axis between others": row(*sizes(A=(0, 1, 2), B=(0, 1, 3)), by=["view"]),
    "a stride on each of two axes": row(by=["concat", "view"]),
    "a stride in the middle is counted from the start": row(
        *sizes(N=(0, 1, 5)), by=["concat", "view"], rules=["view", "concat", "interleave"]
    ),
    "a stride under a box of symbolic length": row(
        *sizes(N=(0, 1, 5), H=(0, 1, 4, 8)), by=["concat", "view"]
    ),
    "a stride behind an odd number of rows is written before": row(
        *sizes(N=(0, 1, 5)), by=["view"], rules=["view", "concat", "interleave"]
    ),
    "operator set 14": row(*sizes(N=(0, 1, 5)), by=["view"], opset=14),
    "sixteen classes": row(by=["view"], rules=["view", "interleave"]),
}
test_golden = each(GOLDEN, "golden")


KEPT = {
    "boxes have no classes": Case(
        EVEN.replace("0, 2, 4", "1, 2, 3"), Reason.NO_RULE, beside=["view"]
    ),
    "parts that no rule writes": Case(EVEN, Reason.NO_RULE),
    "more classes than are worth it": Case(every(17, "N,2", "H,2"), Reason.NO_CUT, beside=["view"]),
    "sizes that may be 0 behind the axis need operator set 14": Case(
        EVEN, Reason.OPSET, beside=["view"], opset=13
    ),
    "element types without kernels": Case(
        EVEN_AND_ODD.replace("float", "complex64"), Reason.NO_KERNEL, beside=["view"]
    ),
    "steps need operator set 10": Case(
        """g (float[7,1] x, float[4,1] u) => (float[7,1] y) <int64[4,1] i = {0, 2, 4, 6}>
        { y = Scatter (x, i, u) }""",
        Reason.OPSET,
        beside=["view"],
        opset=9,
    ),
    "filling up needs operator set 11": Case(
        """g (float[7,1] x, float[4,1] u, float[3,1] v) => (float[7,1] y)
        <int64[4,1] even = {0, 2, 4, 6}, int64[3,1] odd = {1, 3, 5}> {
            z = Scatter (x, even, u)
            y = Scatter (z, odd, v) }""",
        Reason.OPSET,
        beside=["view"],
        opset=10,
    ),
}
test_kept = each(KEPT, "refuses")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["inverse_wavelet_ts", "inverse_wavelet_dynamo"])
def test_a_target_without_one_dim_more(name: str) -> None:
    """The dims around are put together, so tensors of rank 4 are interleaved in rank 4."""
    path = f"models/{name}.onnx"
    result = onnx_scatterx.optimize(path, target=Target("npu", max_rank=4))
    assert result.report.removed == len(result.report.scatters)
    assert "Unsqueeze" not in {n.op_type for n in result.model.graph.node}
    assert not [v for v in result.report.violations if "rank" in v.why]
    assert onnx_scatterx.verify(path, result.model)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_classes_of_unequal_length_in_few_dims(axis: int) -> None:
    """On each axis of a tensor that may not get another."""
    shape = [7, 9, 11]
    taken = np.arange(1, shape[axis], 2)
    lines = np.expand_dims(taken, [d for d in range(3) if d != axis])
    part = [len(taken) if d == axis else n for d, n in enumerate(shape)]
    dims = ", ".join(map(str, part))
    numbers = ", ".join(map(str, np.broadcast_to(lines, part).ravel()))
    model = parse(f"""g (float[7, 9, 11] x, float[{dims}] u) => (float[7, 9, 11] y)
        <int64[{dims}] i = {{{numbers}}}> {{ y = ScatterElements <axis = {axis}> (x, i, u) }}""")
    avoid = frozenset({"Gather"})  # which takes less
    result = onnx_scatterx.optimize(model, target=Target("npu", avoid=avoid, max_rank=3))
    assert not [v for v in result.report.violations if "rank" in v.why]
    assert onnx_scatterx.verify(model, result.model)
