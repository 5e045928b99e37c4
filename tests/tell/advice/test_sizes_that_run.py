"""The numbers that advice proposes are numbers at which the original model runs."""

import re

import numpy as np
import onnx
import pytest

from onnx_scatterx import advise, optimize
from tests.helpers.pair import open_session
from tests.helpers.support import parse, sample

pytestmark = pytest.mark.sampled(2)

STATIC = "standard, static_only = true"
ROWS = "n = NonZero (m)  i = Transpose (n)"


@pytest.mark.parametrize(
    ("text", "needs", "times"),
    [
        ("float[N, 4] x, float[M, 5] u) => (y) { y = Concat <axis = 1> (x, u) }", "", 0),
        ("float[4, N] x, float[5, M] u) => (y) { y = Gemm <transB = 1> (x, u) }", "", 0),
        ("float[N, 4] x, float[M, 4] u) => (y) { y = Sub (x, u) }", "", 0),
        (
            "float[1, S, 4] x, int64[1, S] ids, float[N, 4] u) => (y) <int64 c = {7}>"
            f" {{ m = Equal (c, ids) {ROWS} y = ScatterND (x, i, u) }}",
            "ids == 7: exactly %d",
            1,
        ),
        (
            "float[B, S, 4] x, bool[B, S] m, float[N, 8, 4] u) => (y) <int64[2] s = {-1, 4}>"
            f" {{ {ROWS} r = Reshape (u, s)  y = ScatterND (x, i, r) }}",
            "m: exactly %d",
            8,
        ),
        (
            "float[S, 4] x, bool[S] k, float[N] u) => (y) <int64[1] one = {-1}>"
            " { w = Unsqueeze (k, one)  e = Shape (x)  m = Expand (w, e) "
            f"{ROWS} y = ScatterND (x, i, u) }}",
            "k: exactly %d",
            1 / 4,
        ),
        (
            f"float[S, 4] x, bool[S] m, float[N, 4] u) => (y) {{ {ROWS} r = GatherND (x, i)"
            "  y = Mul (r, u) }",
            "m: exactly %d or 1",
            1,
        ),
    ],
)
def test_the_numbers_run(text: str, needs: str, times: float) -> None:
    """If a mask decides, the line says how many of its elements must be true."""
    model = parse(f"g ({text.replace('(y)', '(float y)')}")
    model.graph.output[0].type.tensor_type.ClearField("shape")
    (way,) = advise(model, target=STATIC)[0].ways
    sizes = dict(re.findall(r"--fix (\w+)=(\d+)", way.command))
    assert {"N"} < sizes.keys()
    number = int(times * int(sizes["N"]))
    told = re.findall(r"only with (.*?);", way.condition)
    assert told == ([needs % number] if needs else [])
    assert re.findall(r"--assume '(.*?)'", way.command) == told  # or no draw runs
    fixed = optimize(model, target=STATIC, fix={name: int(n) for name, n in sizes.items()}).model
    feed = {}
    for value in fixed.graph.input:
        shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        chosen = (np.arange(np.prod(shape)) < number).reshape(shape)
        kind = value.type.tensor_type.elem_type
        feed[value.name] = {
            onnx.TensorProto.BOOL: chosen,
            onnx.TensorProto.INT64: np.where(chosen, 7, 0),
            onnx.TensorProto.FLOAT: sample("float32", *shape),
        }[kind]
    open_session(model).run(None, feed)


def test_what_the_users_sizes_need_is_promised_if_it_removes_something() -> None:
    """The original model runs at these sizes only if the promise is true, so it costs nothing."""
    text = f"""g (float[S, 4] x, int64[S] ids, float[N, 4] u) => (float[S, 4] y, int64 k)
        <int64 c = {{7}}> {{ m = Equal (ids, c)  {ROWS}  y = ScatterND (x, i, u)
            b = Cast <to = 7> (m)  k = ReduceSum <keepdims = 0> (b) }}"""
    lacking, fix = f"{STATIC}, avoid = ['ReduceSum']", {"S": 6, "N": 2}
    found = advise(parse(text), target=lacking, fix=fix)
    (way,) = (way for advice in found for way in advice.ways)
    assert "--assume 'ids == 7: exactly 2'" in way.command
    assert way.condition == "the model runs at these sizes only with ids == 7: exactly 2"
    promised = ["ids == 7: exactly 2"]
    done = optimize(parse(text), target=lacking, fix=fix, assume=promised, verify=True)
    assert not done.report.violations
    assert done.verification
    kept = advise(parse(text), target=STATIC, fix=fix)
    assert not any("--assume" in way.command for advice in kept for way in advice.ways)


def test_a_size_of_the_sample_is_found_in_the_constants() -> None:
    """If nothing is found, that does not show that the export is wrong."""
    text = """g (float[1, seq, 4] x, float[M, 2] u) => (float[5, 4] y, float[M, 2] z)
        <int64[2] s = {%s, 4}> { y = Reshape (x, s)  z = Neg (u) }"""
    (way,) = advise(parse(text % 5), target=STATIC)[0].ways
    assert "--fix seq=5 --fix M=" in way.command
    assert "runs only at seq=5, the size of its sample" in way.condition
    assert "or with numbers of your own: M = axis 0 of u" in way.condition
    (found,) = advise(parse(text.replace("float[1, seq", "float[3, seq") % 5), target=STATIC)
    assert "; it fails at all numbers that were tried: the node y (Reshape)" in found.missing
    assert "wrong" not in str(found)
