"""How much work a target allows for the rows that a mask does not choose."""

from __future__ import annotations

import numpy as np
import pytest

import onnx_scatterx
from onnx_scatterx import ScatterXError, Target
from tests.helpers.pair import assert_same
from tests.helpers.support import nodes, parse, sample

ROUTED = """g (float[6,4] x, float[6,EXPERTS] scores, float[6,4] out) => (float[6,4] y)
    <float[4,8] up, float[8,4] down> {
    weights, at = TopK <axis = 1> (scores, [CHOICES])
    hot = Equal (at, [2])
    n = NonZero (hot)
    i = Slice (n, [0], [1], [0])
    t = Transpose (i)
    j = Transpose (n)
    r = GatherND (x, t)
    a = MatMul (r, up)
    b = Relu (a)
    c = MatMul (b, down)
    w = GatherND (weights, j)
    v = Unsqueeze (w, [1])
    u = Mul (c, v)
    y = ScatterND <reduction = "add"> (out, t, u)
    }"""


def routed(experts: int, choices: int) -> str:
    text = ROUTED.replace("EXPERTS", str(experts)).replace("CHOICES", str(choices))
    first = ", ".join(str(d % 5 - 2) for d in range(32))
    return text.replace("up,", f"up = {{{first}}},").replace("down>", f"down = {{{first}}}>")


def left(target: str, experts: int, choices: int) -> set[str]:
    model = parse(routed(experts, choices))
    result = onnx_scatterx.optimize(model, target=target, last_bits=True)
    feeds = [
        {name: sample("float32", *shape, seed=seed) for name, shape in shapes.items()}
        for seed in range(3)
        for shapes in [{"x": (6, 4), "scores": (6, experts), "out": (6, 4)}]
    ]
    assert_same(model, result.model, feeds)
    return {node.op_type for node in nodes(result.model)} & {"NonZero", "ScatterND"}


LACKS = 'standard, avoid = ["NonZero"]'


@pytest.mark.parametrize(
    ("target", "experts", "choices", "goes"),
    [
        (LACKS, 32, 2, True),
        (LACKS, 33, 2, False),
        (LACKS, 16, 1, True),
        (f"{LACKS}, work_limit = 9", 18, 2, True),
        (f"{LACKS}, work_limit = 9", 19, 2, False),
        (f"{LACKS}, work_limit = inf", 64, 1, True),
        (f"{LACKS}, work_limit = 1", 3, 3, True),
        ("standard", 3, 3, False),
        ("standard, work_limit = 4", 8, 2, True),
    ],
)
def test_experts_beside_choices(target: str, experts: int, choices: int, goes: bool) -> None:
    found = left(target, experts, choices)
    assert found == (set() if goes else {"NonZero"})


def test_one_where_is_enough_for_what_a_router_chooses_once() -> None:
    result = onnx_scatterx.optimize(parse(routed(4, 3)), target=LACKS, last_bits=True)
    assert sum(node.op_type == "ScatterND" for node in nodes(result.model)) == 0
    assert sum(node.op_type == "Add" for node in nodes(result.model)) == 1


TOKENS = "i = Slice (n, [0], [1], [0])"
INTEGERS = "j0 = Cast <to = 7> (scores) j1 = Mod (j0, [4])"


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        (6, {"Equal (at, [2])": "Less (at, [2])"}),  # two of the experts
        (6, {"Equal (at, [2])": "Equal (Mod (at, [2]), [0])"}),
        (
            6,  # all choices, if the first is 2
            {"hot =": "first = Slice (at, [0], [1], [1]) c0 = Equal (first, [2]) "
             "hot = Expand (c0, [6, 3]) other ="},
        ),
        (3, {TOKENS: "i = Slice (n, [1], [2], [0])"}),  # the rows are choices, not tokens
        (
            6,  # equal numbers, not their places
            {"weights, at = TopK <axis = 1> (scores": f"{INTEGERS} at, p = TopK <axis = 1> (j1",
             "hot =": "weights = Cast <to = 1> (at) hot ="},
        ),
    ],
)  # fmt: skip
def test_what_may_be_chosen_twice_is_written_twice(rows: int, changes: dict[str, str]) -> None:
    text = routed(4, 3)
    for name in ("x,", "out)", "y)"):
        text = text.replace(f"[6,4] {name}", f"[{rows},4] {name}")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    model = parse(text)
    result = onnx_scatterx.optimize(model, target=LACKS, last_bits=True)
    operators = [node.op_type for node in nodes(result.model)]
    assert "NonZero" not in operators
    assert operators.count("Add") > 1
    shapes = {"x": (rows, 4), "scores": (6, 4), "out": (rows, 4)}
    feeds = [
        {
            name: np.random.default_rng(seed).integers(0, 4, shape).astype("f4")
            for name, shape in shapes.items()
        }
        for seed in range(3)
    ]
    assert_same(model, result.model, feeds)


def test_the_report_names_multiply_adds() -> None:
    report = onnx_scatterx.inspect(parse(routed(4, 2)), target=LACKS, last_bits=True)
    (scatter,) = report.scatters
    assert scatter.multiply_adds == scatter.to_dict()["multiply_adds"]
    assert scatter.multiply_adds == "64 for each row, 384 for all"
    assert "(multiply-adds: 64 for each row, 384 for all)" in scatter.done


def test_a_profile_says_the_limit() -> None:
    assert Target("npu", avoid=frozenset({"NonZero"})).allows_work(16)
    assert not Target("npu", static_only=True).allows_work(16.5)
    assert not Target("npu").allows_work(1)
    with pytest.raises(ScatterXError, match="work_limit is at least 1"):
        onnx_scatterx.inspect(parse(routed(4, 2)), target="qnn, work_limit = 0")
