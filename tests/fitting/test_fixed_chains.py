"""Random computations on sizes are, at fixed sizes, the constants that ONNX Runtime computes."""

from __future__ import annotations

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.passes import FixSizes
from tests.helpers.pair import Pair
from tests.helpers.support import nodes, parse, sample

Draw = st.DrawFn

VECTORS = """
    {o} = Concat <axis = 0> ({a}, {b})
    {o} = Add ({a}, v{k})
    {o} = Mul ({a}, v{k})
    {o} = Sub (v{k}, {a})
    {o} = Div ({a}, v2)
    {o} = Mod ({a}, v3)
    {o} = Neg ({a})
    {o} = Max ({a}, v{k})
    {o} = Min ({a}, v{k})
    {o} = Slice ({a}, v1, v9)
    {o} = Slice ({a}, vn, v0, v0, vn)
    {o} = Gather ({a}, v0)
    {o} = CumSum ({a}, s0)
    {o} = Shape ({a})
    {o} = ReduceMax <keepdims = 1> ({f})
    {o} = ReduceProd <keepdims = 1> ({a})
    {o} = NonZero ({a})  # flat
    {o} = Size ({a})  # scalar
    {o} = Range (s0, {n}, s1)
    {o} = ConstantOfShape <value = int64[1] {{3}}> ({c})  # flat
    {o} = Equal ({a}, v{k})  # bool
    {o} = Cast <to = 1> ({a})  # half
    {o} = Cast <to = 1> ({a})  # root
    {o} = Expand (v{k}, {c})  # flat
    {o} = Tile ({a}, v2)
"""
STEPS = [line.strip() for line in VECTORS.strip().split("\n")]
AFTER = {
    "flat": "{p} = Reshape ({o}, vn)",
    "scalar": "{p} = Unsqueeze ({o}, v0)",
    "bool": "{p} = Where ({o}, v2, v0)",
    "half": "{o}1 = Mul ({o}, half)  {o}2 = Floor ({o}1)  {p} = Cast <to = 7> ({o}2)",
    "root": "{o}1 = Abs ({o})  {o}2 = Sqrt ({o}1)  {o}3 = Sin ({o}2)  f = Identity ({o}3)  "
    "{p} = Cast <to = 7> ({o}2)",
}
HEAD = """g (float[N, M, 2] x) => ({outputs}) <int64[1] v0 = {{0}}, int64[1] v1 = {{1}},
    int64[1] v2 = {{2}}, int64[1] v3 = {{3}}, int64[1] v9 = {{9}}, int64[1] vn = {{-1}},
    int64 s0 = {{0}}, int64 s1 = {{1}}, float half = {{0.5}}> {{ a0 = Shape (x)
    {body}
    y = Expand (x, ones)
}}""".replace("y = Expand (x, ones)\n", "y = Add (x, x)\n")


@st.composite
def chains(draw: Draw) -> onnx.ModelProto:
    """Draw a chain of vectors of integers, each of which is an output."""
    vectors, lines, floats = ["a0"], [], []
    for i in range(draw(st.integers(1, 7))):
        step, _, kind = draw(st.sampled_from(STEPS)).partition("  # ")
        a, b = (draw(st.sampled_from(vectors)) for _ in range(2))
        out = f"o{i}" if kind else f"b{i}"
        k = draw(st.sampled_from("0123"))
        # The largest of no integers is what the version of ONNX Runtime makes of it.
        if "{n}" in step or "{f}" in step:
            lines.append(f"m{i} = Min ({a}, v9)  f{i} = Concat <axis = 0> (v0, m{i})")
        if "{c}" in step:  # a shape of 27 elements at most: not all that is drawn fits in memory
            lines.append(f"m{i} = Min ({a}, v3)  c{i} = Slice (m{i}, v0, v3)")
        if "{n}" in step:
            lines.append(f"n{i} = ReduceMax <keepdims = 0> (f{i})")
        lines.append(step.format(o=out, a=a, b=b, k=k, n=f"n{i}", f=f"f{i}", c=f"c{i}"))
        if kind:
            after = AFTER[kind].format(o=out, p=f"b{i}").replace("f =", f"f{i} =")
            floats += [f"f{i}"] if kind == "root" else []
            lines.append(after)
        vectors.append(f"b{i}")
    names = [f"int64[d_{v}] {v}" for v in vectors] + [f"float[d_{f}] {f}" for f in floats]
    outputs = ", ".join(["float[p, q, r] y", *names])
    return parse(HEAD.format(outputs=outputs, body="\n    ".join(lines)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [0, 1, 3])
@given(model=chains(), m=st.integers(0, 4))
def test_chains(n: int, model: onnx.ModelProto, m: int) -> None:
    made = ir.from_proto(model)
    feed = {"x": sample("float32", n, m, 2)}
    refused = ""
    try:
        FixSizes({"N": n, "M": m})(made)
    except ScatterXError as error:  # such as a read from an empty vector
        refused = str(error)
    if refused:
        assert "cannot run" in refused
        assert not Pair(model, model).accepts(feed)
        return
    after = ir.to_proto(made)
    if Pair(model, after).accepts(feed):
        onnx.checker.check_model(after, full_check=True)
        assert {node.op_type for node in nodes(after)} <= {"Add", "Constant"}


def test_the_chains_are_of_every_kind() -> None:
    """Each step alone runs, and is folded whole."""
    folded = 0
    for step in STEPS:
        line, _, kind = step.partition("  # ")
        out = "o" if kind else "b"
        text = line.format(o=out, a="a0", b="a0", k="1", n="n", f="a0", c="a0")
        if kind:
            text += "  " + AFTER[kind].format(o=out, p="b")
        text = text.replace("f =", "f0 =")
        if "Range" in text:
            text = "n = ReduceMax <keepdims = 0> (a0)  " + text
        model = parse(HEAD.format(outputs="float[p, q, r] y, int64[d] b", body=text))
        made = ir.from_proto(model)
        FixSizes({"x": [2, 3, 2]})(made)
        assert Pair(model, ir.to_proto(made)).accepts({"x": np.ones((2, 3, 2), np.float32)})
        left = {node.op_type for node in made.graph} - {"Identity"}  # which nothing reads
        folded += left == {"Add", "Constant"}
    assert folded == len(STEPS)
