"""The bodies of Loops and Scans declare the dims that ONNX Runtime inferred of the original.

If a Loop runs no iteration, ONNX Runtime gives a scan output a 0 for each dim that it does not
infer. It infers less of some nodes than of the scatter that they replace. A Scan does not run if a
rank is not inferred.
"""

import itertools
import random

import numpy as np
import onnx
import onnx.parser
import pytest

import onnx_scatterx
from tests.helpers.examples import scaled
from tests.helpers.pair import SESSIONS, agree

MODEL = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
g (float[N,4] x, float[2,4] u, float[M,4] v, int64 n, bool p) => (f, s, w)
<bool t = {1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[2] dims = {2, 4},
 int64[2,1] first = {0, 1}, int64[2,1] apart = {2, 0}, int64[1] last = {-1}, float k = {0}> {
    OUTER
    LOOP
}
<domain: "local", opset_import: ["" : 18]>
write (c, i, u) => (y) { y = ScatterND (c, i, u) }
"""
LOOP = """f, s, w = Loop (n, t, START) <body = b (int64 turn, bool go, float[a,b] c)
    => (bool on, float[d,e] next, float[h,i] one_part, float[j,k] other) {
        on = Identity (go)
        WRITE
        next = Identity (y)
        one_part = ONE
        other = OTHER }>"""
"""The Loop; the dims in its body are replaced by others or removed."""
OUTER = ("z = ScatterND (x, first, u)", "z = Concat <axis = 0> (u, x)", "z = Identity (x)")
LENGTH = "l = Shape <start = 0, end = 1> (v) m = Squeeze (l) o = Constant <value_int = 1> () "
LENGTH += "q = Constant <value_int = 0> () r = Range (q, m, o) i = Unsqueeze (r, last) "
WRITES = (
    "y = ScatterND (c, first, u)",
    "y = ScatterND (c, apart, u)",
    'y = ScatterND <reduction = "add"> (c, first, u)',
    "y = local.write (c, first, u)",
    f"{LENGTH} y = ScatterND (c, i, v)",
    f"{LENGTH} y = ScatterND (z, i, v)",
    f"{LENGTH} d = Slice (c, zero, l, zero) y = ScatterND (d, i, v)",
    "d = Expand (k, dims) y = ScatterND (d, first, u)",
    "d = Slice (c, zero, two, zero) y = ScatterND (d, first, u)",
    "d = Shape (v) e = ConstantOfShape (d) y = ScatterND (e, first, u)",
    "y = If (p) <then_branch = yes () => (float[?,?] yy) { yy = ScatterND (c, first, u) },"
    " else_branch = no () => (float[?,?] nn) { nn = Identity (c) }>",
    "y, yy = Loop (n, t, c) <body = inner (int64 it, bool ig, float[?,?] ic)"
    " => (bool io, float[?,?] iy, float[?,?] iz)"
    " { io = Identity (ig) iy = ScatterND (ic, first, u) iz = Identity (iy) }>",
    "y, yy = Scan <num_scan_inputs = 1, body = inner (float[?,?] ic, float[4] row)"
    " => (float[?,?] iy, float[?,?] iz)"
    " { iy = ScatterND (ic, first, u) iz = Identity (iy) }> (c, u)",
)
ENDS = (
    *("Identity (y)", "Slice (y, zero, one, zero)", "Transpose (y)", "Neg (z)", "Identity (c)"),
    *("Reshape (y, last)", "Concat <axis = 0> (y, u)", "Shape (y)", "Identity (z)"),
)


def drawn(rng: random.Random) -> onnx.ModelProto:
    """Return a random model; some of the dims that its bodies declare are known, some are not."""
    loop = LOOP.replace("START", rng.choice(("x", "z", "u"))).replace("WRITE", rng.choice(WRITES))
    loop = loop.replace("ONE", rng.choice(ENDS)).replace("OTHER", rng.choice(ENDS))
    model = onnx.parser.parse_model(MODEL.replace("OUTER", rng.choice(OUTER)).replace("LOOP", loop))
    for graph in _bodies(model.graph):
        for value in (*graph.input, *graph.output):
            kind = value.type.tensor_type
            if kind.elem_type != onnx.TensorProto.FLOAT or len(kind.shape.dim) != 2:
                continue
            known = rng.choice(("no", "rank", "rank", "columns"))
            if known == "no" or value in graph.output:
                kind.ClearField("shape")
            elif known == "columns":
                kind.shape.dim[1].dim_value = 4
    for value in _loop(model).output:
        if value.name in ("one_part", "other"):
            made = next(n for n in _loop(model).node if value.name in n.output)
            kind = value.type.tensor_type
            kind.elem_type = onnx.TensorProto.INT64 if made.op_type == "Shape" else kind.elem_type
    return model


def held(model: onnx.ModelProto, holder: str) -> onnx.ModelProto:
    """Put the Loop into both branches of an If, or into a function."""
    loop = model.graph.node.pop()
    kinds = [onnx.TensorProto.FLOAT, *(v.type.tensor_type.elem_type for v in _scans(loop))]
    if holder == "function":
        names = sorted({v.name for v in (*model.graph.input, *model.graph.initializer)} | {"z"})
        inner = onnx.helper.make_function(
            "held", "held", names, list(loop.output), [loop], model.opset_import
        )
        model.functions.append(inner)
        model.opset_import.append(onnx.helper.make_opsetid("held", 1))
        model.graph.node.append(onnx.helper.make_node("held", names, loop.output, domain="held"))
        return model
    branches = {}
    for branch in ("then_branch", "else_branch"):
        copy = onnx.NodeProto()
        copy.CopyFrom(loop)
        copy.output[:] = [f"{name}_{branch}" for name in loop.output]
        results = [onnx.ValueInfoProto(name=name) for name in copy.output]
        for value, kind in zip(results, kinds, strict=True):
            value.type.tensor_type.elem_type = kind
        branches[branch] = onnx.helper.make_graph([copy], branch, [], results)
    model.graph.node.append(onnx.helper.make_node("If", ["p"], loop.output, **branches))
    return model


def _scans(loop: onnx.NodeProto) -> list[onnx.ValueInfoProto]:
    return list(loop.attribute[0].g.output[2:])


def _bodies(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    found = [a.g for n in graph.node for a in n.attribute if a.HasField("g")]
    return found + [inner for body in found for inner in _bodies(body)]


def _loop(model: onnx.ModelProto) -> onnx.GraphProto:
    (loop,) = (n for n in model.graph.node if n.op_type == "Loop")
    body: onnx.GraphProto = loop.attribute[0].g
    return body


def feed(count: int, rows: int = 3) -> dict[str, np.ndarray]:
    """Return inputs for a number of iterations."""
    rng = np.random.default_rng(count)
    x, u, v = (rng.normal(size=(n, 4)).astype("float32") for n in (rows, 2, 2))
    return {"x": x, "u": u, "v": v, "n": np.array(count), "p": np.array(True)}


def compare(before: onnx.ModelProto, after: onnx.ModelProto, *, may_differ: bool = False) -> int:
    """Compare two models, also for no iteration; return how many runs were compared.

    If ``may_differ``, the dims of empty scan outputs may differ.
    """
    runs = 0
    for load in SESSIONS:
        try:
            one = load(before)
        except Exception:  # ONNX Runtime rejects what was drawn
            continue
        other = load(after)
        for count in (0, 1, 2):
            for rows in (2, 3):
                try:
                    expected = one.run(None, feed(count, rows))
                except Exception:  # it cannot run
                    continue
                found = other.run(None, feed(count, rows))
                if count == 0 and may_differ:
                    assert all(len(s) == 0 for s in found[1:])
                    found[1:] = expected[1:]
                assert agree(expected, found), (count, rows)
                runs += 1
    return runs


def written(write: str, part: str = "Identity (y)", count: str = "n") -> onnx.ModelProto:
    """Return a model whose Loop gives out a part of what its body writes."""
    loop = LOOP.replace("(n, t, START)", f"({count}, t, x)").replace("float[a,b]", "float[a,4]")
    loop = loop.replace("WRITE", write).replace("ONE", part).replace("OTHER", "Identity (c)")
    model = onnx.parser.parse_model(MODEL.replace("OUTER", OUTER[2]).replace("LOOP", loop))
    if "local." not in write:
        del model.functions[:]
    return model


@pytest.mark.parametrize("write", WRITES[:4])
def test_dims_that_were_inferred_are_declared(write: str) -> None:
    model = written(write, "Identity (y)")
    result = onnx_scatterx.optimize(model, target="standard")
    assert all(s.reason is None for s in result.report.scatters)
    assert compare(model, result.model) >= 8


def test_dims_that_only_default_options_infer_are_not_declared() -> None:
    """Without optimizations, a shape that a Concat makes is not known: no iteration gives zeros."""
    shape = "s = Concat <axis = 0> (two, two) e = ConstantOfShape (s)"
    model = written(f"{shape} {WRITES[1]}", "Neg (e)")
    result = onnx_scatterx.optimize(model, target="standard")
    assert all(s.reason is None for s in result.report.scatters)
    assert compare(model, result.model) >= 4


SAME = "d = Slice (c, zero, two, zero) y = ScatterND (d, first, u)"


def test_a_loop_that_runs_needs_nothing() -> None:
    model = written(SAME, count="three")
    three = onnx.helper.make_tensor("three", onnx.TensorProto.INT64, [], [3])
    model.graph.initializer.append(three)
    result = onnx_scatterx.optimize(model, target="standard")
    assert all(s.reason is None for s in result.report.scatters)


@pytest.mark.slow
def test_random_bodies() -> None:
    runs = 0
    for seed in range(scaled(100)):
        rng = random.Random(seed)
        model, gathers = drawn(rng), rng.random() < 0.3
        holder = rng.choice(("none", "none", "if", "function"))
        model = model if holder == "none" else held(model, holder)
        target = rng.choice(("standard", "scatterx", "ort-cpu", "qnn", "rknn", "tflite"))
        after = onnx_scatterx.optimize(model, target=target, gathers=gathers).model
        runs += compare(model, after, may_differ=True)
    assert runs > scaled(500)


EVERY_OTHER_ROW = """l = Shape (c)
    n = Gather (l, zero)
    even = Range (zero, n, two)
    i = Unsqueeze (even, one)
    next = ScatterND (c, i, u)"""
SCANS = {
    "inside": f"""f, s = Scan <num_scan_inputs = 1, body = b (float[a,b] c, float[2] row)
        => (float[d,e] next, float[h] same) {{
            {EVERY_OTHER_ROW}
            same = Identity (row) }}> (x, r)""",
    "before": f"""c = Neg (x) {EVERY_OTHER_ROW}
        f, s = Scan <num_scan_inputs = 1, body = b (float[a,b] t, float[2] row)
            => (float[d,e] g, float[h,i] part) {{
                g = Neg (t)
                part = Neg (g) }}> (next, r)""",
}


@pytest.mark.parametrize("place", SCANS)
def test_a_scan_keeps_the_ranks_of_its_outputs(place: str) -> None:
    """A Reshape to a computed shape has no rank in shape inference."""
    model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 13]>
        g (float[N,3] x, float[M,3] u, float[k,2] r) => (f, s)
        <int64 zero = {{0}}, int64 two = {{2}}, int64[1] one = {{1}}> {{ {SCANS[place]} }}""")
    for value in (*_scan(model).input, *_scan(model).output):
        value.type.tensor_type.ClearField("shape")
    result = onnx_scatterx.optimize(model, target="standard")
    assert [s.reason for s in result.report.scatters] == [None]
    for load in SESSIONS:
        one, other = load(model), load(result.model)
        for rows, turns in itertools.product((1, 4, 5), (1, 3)):
            given = {"x": np.zeros((rows, 3), np.float32), "r": np.ones((turns, 2), np.float32)}
            given["u"] = np.ones(((rows + 1) // 2, 3), np.float32)
            assert agree(one.run(None, given), other.run(None, given)), (rows, turns)


def _scan(model: onnx.ModelProto) -> onnx.GraphProto:
    (body,) = _bodies(model.graph)
    return body
