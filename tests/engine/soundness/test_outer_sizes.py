"""Bodies of If, Loop and Scan whose sizes only tensors of outer graphs have."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest

from tests.helpers.examples import scaled
from tests.helpers.support import assert_sound, i64, nodes, optimize, parse

TARGET = "standard, avoid = ['ScatterND', 'ScatterElements']"
HEAD = "(float[N,3] x, float[K,3] v, int64[K,1] i, int64 n, bool c) => (float[?,?] y)"
ROWS: tuple[list[int], ...] = ([], [-1], [1, -3], [0, 3, 0])


def feeds(**more: Any) -> list[Mapping[str, Any]]:
    return [
        {"N": 4, "i": [[r] for r in rows], "K": len(rows), "n": i64(steps), "c": steps > 0, **more}
        for rows in ROWS
        for steps in (0, 1, 2)
    ]


def sound(text: str, opset: int = 18) -> onnx.ModelProto:
    """Compare a model with its optimized one, which has no scatter, and return this."""
    model = parse(text, opset)
    assert_sound(model, *feeds(t=np.ones((2, 1, 3), bool)), left=0, target=TARGET)
    return optimize(model, TARGET)


def captured(model: onnx.ModelProto, op: str = "Shape") -> set[str]:
    """Return what the nodes of an operator read."""
    return {node.input[0] for node in nodes(model) if node.op_type == op}


def if_(write: str, other: str = "x") -> str:
    return f"""If (c) <then_branch = t () => (float[?,?] p) {{ {write} }},
        else_branch = e () => (float[?,?] q) {{ q = Identity ({other}) }}>"""


LOOP = """Loop (n, c, x) <body = b (int64 k, bool go, float[?,?] d)
    => (bool more, float[?,?] o) { more = Identity (go)  o = ScatterND (d, i, v) }>"""
SCAN = """w = Unsqueeze (v, [0])
    last, all = Scan <num_scan_inputs = 1, body = b (float[?,?] d, float[?,?] u)
        => (float[?,?] o, float[?,?] a) { o = ScatterND (d, i, u)  a = Identity (o) }> (x, w)
    y = Squeeze (all, [0])"""
NESTED = """y = Loop (n, c, x) <body = b (int64 k, bool go, float[?,?] d)
    => (bool more, float[?,?] o) {
        more = Identity (go)
        o = If (go) <
            then_branch = t () => (float[?,?] p) { p = ScatterND (d, i, v) },
            else_branch = e () => (float[?,?] q) { q = ScatterND (x, i, v) }> }>"""
IF = if_("p = ScatterND (x, i, v)")


@pytest.mark.parametrize("opset", [13, 16, 21])
@pytest.mark.parametrize("body", [f"y = {IF}", f"y = {LOOP}", SCAN, NESTED])
def test_bodies(body: str, opset: int) -> None:
    sound(f"g {HEAD} {{ {body} }}", opset=opset)


def test_the_body_of_an_if_in_a_function() -> None:
    sound(f"""g {HEAD} {{ y = own.pick (c, x, i, v) }}
        <domain: "own", opset_import: ["" : 18]> pick (c, x, i, v) => (y) {{ y = {IF} }}""")


def test_a_number_of_the_outer_graph() -> None:
    write = """r = Range (0, many, 1)  j = Unsqueeze (r, [1])  p = ScatterND (x, j, u)"""
    sound(f"""g {HEAD} {{ length = Shape (x)  most = Gather (length, 0)
        k = Squeeze (Shape <end = 1> (v))  many = Min (k, most)
        u = Slice (v, [0], Reshape (many, [1]), [0])
        y = {if_(write)} }}""")


def test_a_name_between_hides_the_outer_value() -> None:
    """The carried value of the Loop has the name of an outer tensor; z has its sizes, too."""
    result = sound("""g (float[N,3] x, float[1,3] s, float[K,3] v, int64[K,1] i, int64 n, bool c)
        => (float[?,?] y) {
        z = Neg (x)
        y = Loop (n, c, s) <body = b (int64 k, bool go, float[?,?] x)
            => (bool more, float[?,?] o) {
                more = Identity (go)
                w = ScatterND (z, i, v)
                a = If (go) <
                    then_branch = t () => (float[?,?] p) { p = ScatterND (z, i, v) },
                    else_branch = e () => (float[?,?] q) { q = Identity (w) }>
                b = Add (a, w)
                o = Add (x, ReduceSum <keepdims = 1> (b, [0])) }> }""")
    assert "z" in captured(result)
    assert "x" not in captured(result)


def test_a_value_after_the_node_is_not_read() -> None:
    """Only a tensor that is computed later has as many rows as the data of the body."""
    write = "m = NonZero (t)  r = Transpose (m)  f = Cast <to = 1> (r)  p = ScatterND (f, i, v)"
    result = sound(
        f"""g (bool[2,1,3] t, {HEAD[1:]} {{
        y = {if_(write)}
        late = NonZero (t)
        z = Shape (late) }}""".replace("float[?,?] y)", "float[?,?] y, int64[2] z)")
    )
    assert captured(result) == {"late", "m", "v"}  # m before it is transposed


def test_what_a_removed_scatter_gives_is_read_in_its_new_form() -> None:
    """The outer scatters are removed before the bodies are written."""
    sound(f"""g {HEAD} {{
        a = ScatterND (x, i, v)
        b = Slice (a, [1], [9], [0])
        y = {if_("w = ScatterND (a, i, v)  p = Slice (w, [1], [9], [0])", "b")} }}""")


def test_an_if_whose_result_is_data_of_a_write() -> None:
    sound(f"""g {HEAD} {{ a = {IF}  y = ScatterND (a, i, v) }}""")


def _drawn(rng: random.Random) -> str:
    """Return a graph with bodies in bodies, which read and write tensors of all graphs around."""
    names = iter(range(1000))

    def write(data: list[str]) -> tuple[str, str]:
        name = f"s{next(names)}"
        return f"{name} = ScatterND ({rng.choice(data)}, i, v)\n", name

    def steps(data: list[str], depth: int) -> tuple[str, str]:
        text, data = "", list(data)
        for _ in range(rng.randint(1, 2)):
            more, name = nested(data, depth) if depth and rng.random() < 0.7 else write(data)
            data.append(f"a{next(names)}")
            text += f"{more}{data[-1]} = Add ({name}, {data[-2]})\n"
        return text, data[-1]

    def nested(data: list[str], depth: int) -> tuple[str, str]:
        z = next(names)
        x, kind = rng.choice(data), rng.choice(["if", "loop", "scan"])
        if kind == "if":
            (first, a), (second, b) = (steps(data, depth - 1) for _ in range(2))
            text = f"""r{z} = If (c) <
                then_branch = t{z} () => (float[?,?] p{z}) {{ {first} p{z} = Identity ({a}) }},
                else_branch = e{z} () => (float[?,?] q{z}) {{ {second} q{z} = Identity ({b}) }}>"""
            return f"{text}\n", f"r{z}"
        state = rng.choice([f"d{z}", "x"])  # x hides that of the outer graph
        body, a = steps([*(d for d in data if d != "x"), state], depth - 1)
        body += f"o{z} = Identity ({a})"
        if kind == "loop":
            text = f"""r{z} = Loop (n, , {x}) <
                body = b{z} (int64 k{z}, bool g{z}, float[?,?] {state})
                => (bool m{z}, float[?,?] o{z}) {{ {body}  m{z} = Identity (g{z}) }}>"""
        else:
            text = f"""r{z}, f{z} = Scan <num_scan_inputs = 1,
                body = b{z} (float[?,?] {state}, int64[1] k{z})
                => (float[?,?] o{z}, int64[1] h{z}) {{ {body}  h{z} = Neg (k{z}) }}> ({x}, steps)"""
        return f"{text}\n", f"r{z}"

    text, name = steps(["x"], 3)
    return f"g {HEAD} <int64[2,1] steps = {{4, 7}}> {{ {text} y = Identity ({name}) }}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("part", range(4))
def test_random_bodies(part: int) -> None:
    for seed in range(scaled(12)):
        text = _drawn(random.Random(4 * seed + part))
        assert_sound(parse(text), *feeds(), left=0, target=TARGET)
