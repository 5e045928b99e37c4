"""Target `ort-cpu`: boxes written over a tensor by ScatterX, where slices would move more bytes."""

import random
from collections import Counter
from pathlib import Path

import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.optimizer.reports.entries import Action
from onnx_scatterx.optimizer.symbolic.terms import term
from onnx_scatterx.optimizer.targets.costs import (
    KINDS,
    Machine,
    NodeCosts,
    Sizes,
    TimeCosts,
    Work,
    calibration_file,
)
from tests.helpers.examples import scaled
from tests.helpers.native_support import (
    body,
    check,
    natives,
    operators,
    picks,
    unique,
)
from tests.helpers.pair import Feed, assert_same
from tests.helpers.slow_machine import SLOW, use_slow_machine
from tests.helpers.support import i64, parse, sample


@pytest.fixture(autouse=True)
def _machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work on a machine that is slow at all but ScatterX."""
    use_slow_machine(tmp_path, monkeypatch)


ROWS = """g (float[A, B] x, float[2, B] y) => (float[A, B] z)
          <int64[2, 1] i = {%s}> { w = Neg(x)  z = ScatterND(w, i, y) }"""
X, Y = sample("float32", 6, 4), sample("float32", 2, 4, seed=1)


def test_rows_in_place() -> None:
    model = check(ROWS % "1, 2", {"x": X, "y": Y}, target="ort-cpu")
    assert operators(model) == ["Neg", "ScatterX"]
    (node,) = natives(model)
    assert (picks(node), unique(node)) == (((0,), (1,), (0, 1)), 1)
    assert body(model, node) == ["ScatterND"]


def test_the_report_calls_it_a_scatter() -> None:
    report = onnx_scatterx.optimize(parse(ROWS % "1, 2"), target="ort-cpu").report
    (scatter,) = report.scatters
    assert (scatter.action, scatter.rules, report.native) == (Action.NATIVE, ("overlay", "view"), 1)


def test_columns_between_transposes() -> None:
    text = """g (float[A, B, C] x, float[A, 2, C] y) => (float[A, B, C] z)
        <int64[2, 1] i = {0, 1}> {
            t = Transpose <perm = [1, 0, 2]> (x)   u = Transpose <perm = [1, 0, 2]> (y)
            s = ScatterND(t, i, u)                 z = Transpose <perm = [1, 0, 2]> (s) }"""
    x, y = sample("float32", 3, 4, 2), sample("float32", 3, 2, 2, seed=1)
    model = check(text, {"x": x, "y": y}, {"x": x[:0], "y": y[:0]}, target="ort-cpu")
    assert operators(model) == ["ScatterX"]
    (node,) = natives(model)
    assert picks(node) == ((1,), (0, 2), (1, 0, 2))


def test_a_tail_of_symbolic_length_counts_with_a_range() -> None:
    text = """g (float[A, 2] x, float[T, 2] y) => (float[A, 2] z)
        <int64 zero = {0}, int64 one = {1}, int64[1] minus = {-1}, int64[1] zeros = {0},
         int64[1] first = {1}, int64[1] far = {9999}> {
            s = Shape(x)  n = Gather(s, zero)  all = Range(zero, n, one)  m = Unsqueeze(zero, zeros)
            some = Slice(all, first, far)  rows = Unsqueeze(some, minus)
            part = Slice(y, m, far)  z = ScatterND(x, rows, part) }"""
    x = sample("float32", 5, 2)
    feeds = [{"x": x[: n + 1], "y": sample("float32", n, 2, seed=1)} for n in range(5)]
    model = check(text, *feeds, target="ort-cpu")
    assert operators(model).count("ScatterX") == 1
    assert "Range" in operators(model)


def test_there_is_no_range_in_operator_set_9(tmp_path: Path) -> None:
    """Slices that the run bounds are not there either: the positions are what the model has."""
    text = "g (float[4] x, int64[1] i, float[1] u) => (float[4] y) { y = Scatter(x, i, u) }"
    original = parse(text, opset=9)
    result = onnx_scatterx.optimize(original, target="ort-cpu", assume=["i: nonnegative"])
    assert operators(result.model).count("ScatterX") == 1
    feed = {"x": X[0], "i": i64([3]), "u": Y[0, :1]}
    assert_same(original, result.model, [feed], library=True)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("opset", [9, 10, 11])
def test_the_fallback_is_of_operators_that_the_model_has(opset: int, axis: int) -> None:
    """Neither Range nor ScatterND stand in a set before 11."""
    part = ["2, 4", "6, 2"][axis]
    text = f"""g (float[6, 4] x, float[{part}] y) => (float[6, 4] z)
        <int64[{["2, 1", "1, 2"][axis]}] i = {{1, 2}}, int64[2] s = {{{part}}}> {{
            w = Neg(x)  j = Expand(i, s)
            z = {"Scatter" if opset < 11 else "ScatterElements"} <axis = {axis}> (w, j, y) }}"""
    feed = {"x": X, "y": sample("float32", *map(int, part.split(",")), seed=1)}
    model = check(parse(text, opset), feed, target="ort-cpu")
    assert len(natives(model)) == (opset >= 11)


def test_a_gather_of_what_is_written_over() -> None:
    text = """g (float[6, 4] x, float[2, 4] y) => (float[6, 4] z)
        <int64[2, 1] i = {1, 2}, int64[6] all = {0, 1, 2, 3, 4, 5}> {
            w = Neg(x)  s = ScatterND(w, i, y)  z = Gather(s, all) }"""
    result = onnx_scatterx.optimize(parse(text), target="ort-cpu", gathers=True)
    assert operators(result.model) == ["Neg", "ScatterX"]
    assert_same(parse(text), result.model, [{"x": X, "y": Y}], library=True)
    assert [e.done for e in result.report.entries] == [
        "becomes ScatterX",
        "removed without a node",
    ]


def test_a_gather_that_makes_the_last_update_win() -> None:
    text = """g (float[6, 4] x, float[3, 4] y) => (float[6, 4] z)
        <int64[3, 1] i = {2, 1, 2}> { w = Neg(x)  z = ScatterND(w, i, y) }"""
    y = sample("float32", 3, 4, seed=1)
    result = onnx_scatterx.optimize(parse(text), target="ort-cpu", gathers=True, deterministic=True)
    assert_same(parse(text), result.model, [{"x": X, "y": y}], library=True)
    assert [(e.op, e.action) for e in result.report.entries] == [
        ("ScatterND", Action.NATIVE),
        ("Gather", Action.REMOVED),
    ]


def test_strings_are_weighed() -> None:
    x, y = sample("string", 6, 4), sample("string", 2, 4, seed=1)
    check(
        ROWS.replace("float", "string").replace("Neg", "Identity") % "1, 2",
        {"x": x, "y": y},
        target="ort-cpu",
    )


def test_in_functions() -> None:
    text = """g (float[6, 4] x, float[2, 4] y) => (float[6, 4] z) { z = local.f(x, y) }
        <domain: "local", opset_import: ["" : 18]> f (x, y) => (z) {
            i = Constant <value = int64[2, 1] {1, 2}> ()  z = ScatterND(x, i, y) }"""
    feed = {"x": sample("float32", 6, 4), "y": sample("float32", 2, 4, seed=1)}
    assert natives(check(parse(text, more=', "local" : 1'), feed, target="ort-cpu"))


@pytest.mark.slow
def test_random_chains() -> None:
    """Writes of slices on any axis, plain or adding, strided or not, one on the other."""
    rng = random.Random(0)
    written: Counter[str] = Counter()
    for _ in range(scaled(100)):
        text, feed = _chain(rng)
        written.update(operators(check(text, feed, target="ort-cpu")))
    assert written["ScatterX"] > scaled(66)
    assert written["Transpose"] < written["ScatterX"]


def _chain(rng: random.Random) -> tuple[str, Feed]:
    shape = [rng.randint(1, 5) for _ in range(rng.randint(1, 3))]
    rank = len(shape)
    dims = [rng.choice((str(n), f"N{d}")) for d, n in enumerate(shape)]
    lines, constants, inputs = ["v0 = Neg(x)"], [], [f"float[{', '.join(dims)}] x"]
    feed = {"x": sample("float32", *shape, seed=rng.randint(0, 99))}
    value = "v0"
    for k in range(rng.randint(1, 3)):
        axis = rng.randrange(rank)
        start = rng.randrange(shape[axis])
        rows = range(start, rng.randint(start, shape[axis]), rng.choice((1, 1, 2)))
        perm = [axis, *(d for d in range(rank) if d != axis)]
        back = [perm.index(d) for d in range(rank)]
        part = [len(rows) if d == axis else n for d, n in enumerate(shape)]
        feed[f"y{k}"] = sample("float32", *part, seed=rng.randint(0, 99))
        sizes = [str(len(rows)) if d == axis else name for d, name in enumerate(dims)]
        inputs.append(f"float[{', '.join(sizes)}] y{k}")
        constants.append(f"int64[{len(rows)}, 1] i{k} = {{{', '.join(map(str, rows))}}}")
        reduction = rng.choice(("none", "none", "add"))
        lines += [
            f"t{k} = Transpose <perm = {perm}> ({value})",
            f"u{k} = Transpose <perm = {perm}> (y{k})",
            f's{k} = ScatterND <reduction = "{reduction}"> (t{k}, i{k}, u{k})',
            f"v{k + 1} = Transpose <perm = {back}> (s{k})",
        ]
        value = f"v{k + 1}"
    head = f"g ({', '.join(inputs)}) => (float[{', '.join(dims)}] z) <{', '.join(constants)}>"
    return f"{head} {{ {' '.join(lines)} z = Abs({value}) }}", feed


def test_time_is_nodes_and_bytes_and_runs() -> None:
    machine = Machine(100.0, dict.fromkeys(KINDS, 0.5), dict.fromkeys(KINDS, 2.0))
    costs = TimeCosts(machine, Sizes())
    work = [Work("Slice", (term(3), term(4)), 1)]
    assert costs.weigh(2, work, ir.DataType.FLOAT) == 2 * 100 + 3 * 4 * 4 * 0.5 + 3 * 2
    assert NodeCosts().weigh(2, work, ir.DataType.FLOAT) == 2


def test_sizes_decide() -> None:
    """Here ScatterX copies slowly: for few rows it still saves a launch."""
    text = """g (float[rows, 64] x, float[1, 64] y) => (float[rows, 64] z)
              <int64[1, 1] i = {0}> { z = ScatterND(x, i, y) }"""
    speed = dict.fromkeys(KINDS, 0.1) | {"ScatterX": 1.0}
    machine = Machine(1000.0, speed, dict.fromkeys(KINDS, 0.0))
    calibration_file().write_text(machine.to_toml())
    feed = {"x": sample("float32", 3, 64), "y": sample("float32", 1, 64)}
    for rows, expected in ((2, ["ScatterX"]), (10**6, ["Slice", "Concat"])):
        made = onnx_scatterx.optimize(parse(text), target="ort-cpu", size_hint={"rows": rows}).model
        assert operators(made) == expected
        assert_same(parse(text), made, [feed], library=True)


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("launch = ", "is not TOML"),
        ("launch = 1", "must have launch"),
        (SLOW.to_toml().replace("Pad", "Pat"), "must have Concat"),
        (SLOW.to_toml().replace("launch = 1", "launch = -1"), "are numbers"),
    ],
)
def test_a_machine_that_cannot_be_read(tmp_path: Path, text: str, because: str) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(text)
    with pytest.raises(onnx_scatterx.ScatterXError, match=because):
        Machine.read(path)
    with pytest.raises(onnx_scatterx.ScatterXError, match="cannot be read"):
        Machine.read(tmp_path / "nothing.toml")
