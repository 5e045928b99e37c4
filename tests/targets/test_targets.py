"""Targets as data: the keys of a profile, the nodes that are written for it, and violations."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnx
import onnx.parser
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx import Reason
from onnx_scatterx.doors.cli import main
from onnx_scatterx.targets.catalogue import profile_names
from onnx_scatterx.targets.target import Target
from tests.helpers.examples import examples
from tests.helpers.pair import assert_same
from tests.helpers.profiles import BOX, EVEN, HEAD, written
from tests.helpers.support import parse, sample

MASK = f"""{HEAD} g (float[N,4] x, bool[N,4] m) => (float[N,4] y) {{
    i = Transpose <perm = [1, 0]> (NonZero (m))
    s = Shape (i)
    first = Constant <value = int64[1] {{0}}> ()
    y = ScatterND (x, i, Expand (float 0, Gather (s, first))) }}"""
# The file


# What is written


@pytest.mark.parametrize(
    ("model", "avoid", "gone"),
    [
        (BOX, [], True),
        (BOX, ["Where", "NonZero"], True),
        (BOX, ["Slice", "Gather", "GatherElements"], False),
        (BOX, ["Concat", "Where"], False),
        (MASK, ["NonZero", "ScatterND"], True),
        (MASK, ["Where"], False),
        (EVEN, ["Where"], True),
        (EVEN, ["Identity"], True),
        (EVEN, ["Identity", "Reshape"], True),
    ],
)
def test_what_is_avoided_is_not_written(model: str, avoid: list[str], gone: bool) -> None:
    proto = parse(model)
    result = onnx_scatterx.optimize(proto, target=Target("npu", avoid=frozenset(avoid)))
    assert {s.reason for s in result.report.scatters} == {None if gone else Reason.NOT_IN_TARGET}
    new = [n for n in result.model.graph.node if n.metadata_props]
    assert not {n.op_type for n in new} & set(avoid)


def test_an_output_keeps_its_name_by_an_identity_or_not_at_all() -> None:
    whole = f"""{HEAD} g (float[3] x, float[3] u) => (float[3] y)
        {{ y = ScatterND (x, [[0], [1], [2]], u) }}"""
    proto = parse(whole)
    assert onnx_scatterx.inspect(proto, target=Target("npu")).removed == 1
    assert onnx_scatterx.inspect(proto, target=Target("npu", avoid=frozenset({"Identity"}))).removed
    target = Target("npu", avoid=frozenset({"Identity", "Reshape"}))
    (scatter,) = onnx_scatterx.inspect(proto, target=target).scatters
    assert str(scatter.refusal).endswith("(Identity for npu)")


def test_ranks() -> None:
    proto = parse(EVEN)
    for rank in (None, 3, 2, 1):
        report = onnx_scatterx.inspect(proto, target=Target("npu", max_rank=rank))
        # Stacking takes a dim more than the data has.
        stacked = any("interleave" in s.rules for s in report.scatters)
        assert stacked == (rank in (None, 3))
        assert bool(report.violations) == (rank == 1)


def test_a_chain_may_cost_more_where_the_target_has_no_scatter() -> None:
    rows = ", ".join(str(16 * k) for k in range(16))
    text = f"""{HEAD} g (float[256,2] x, float[16,2] u) => (float[256,2] y)
        <int64[16,1] i = {{{rows}}}> {{ y = ScatterND (x, i, u) }}"""
    proto = parse(text)
    rules = ["view", "concat"]
    (kept,) = onnx_scatterx.inspect(proto, target="standard", rules=rules).scatters
    assert kept.reason is not None
    target = Target("npu", avoid=frozenset({"ScatterND"}))
    result = onnx_scatterx.optimize(proto, target=target, rules=rules)
    if result.report.removed:
        feed = {"x": sample("float32", 256, 2), "u": sample("float32", 16, 2)}
        assert_same(proto, result.model, [feed])


@examples(25)
@given(
    st.sets(
        st.sampled_from(
            [
                "Concat",
                "Slice",
                "Where",
                "Gather",
                "Pad",
                "Unsqueeze",
                "Reshape",
                "Equal",
                "Identity",
            ]
        )
    ),
    st.sampled_from([BOX, EVEN, MASK]),
    st.sampled_from([None, 2, 3]),
)
def test_for_any_profile_the_result_is_right(avoid: set[str], text: str, rank: int | None) -> None:
    proto = parse(text)
    target = Target("npu", avoid=frozenset(avoid), max_rank=rank)
    model = onnx_scatterx.optimize(proto, target=target).model
    had = {n.name or n.output[0] for n in proto.graph.node}
    new = [n for n in model.graph.node if (n.name or n.output[0]) not in had]
    assert not {n.op_type for n in new} & avoid
    feed = {"x": sample("float32", 8 if text is EVEN else 6, 2 if text is EVEN else 4)}
    if text is MASK:
        feed["m"] = sample("bool", 6, 4)
    else:
        feed["u"] = sample("float32", 4 if text is EVEN else 2, feed["x"].shape[1])
    if text is EVEN:
        feed["v"] = sample("float32", 4, 2, seed=1)
    assert_same(proto, model, [feed])


# What is left


def test_violations() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
        g (float[N,2,1] x, bool c, float[3] w) => (float[A,B,C] y, int64[1,K] n) {
            n = NonZero (w)
            y = If (c) <
                then_branch = yes () => (float[A,B,C] t) { t = own.f (x) },
                else_branch = no () => (float[A,B,C] e) { e = Neg (x) }>
        }
        <domain: "own", opset_import: ["" : 18]>
        f (x) => (y) { y = Abs (x) }"""
    proto = parse(text)
    target = Target("npu", avoid=frozenset({"Neg", "Abs", "If"}), max_rank=2, static_only=True)
    report = onnx_scatterx.inspect(proto, target=target)
    told = {(v.graph, v.node, v.op, v.why) for v in report.violations}
    assert told >= {
        ("g", "x", "input", "the size N is not a number"),
        ("g", "x", "input", "rank 3, and npu takes 2"),
        ("g", "n", "NonZero", "a size is known only when the model runs"),
        ("g", "y", "If", "npu takes no If"),
        ("no", "e", "Neg", "npu takes no Neg"),
        ("no", "e", "Neg", "rank 3, and npu takes 2"),
        ("own.f", "y", "Abs", "npu takes no Abs"),
    }
    assert str(report).startswith("no scatter in this model\n")
    assert "  e (Neg): npu takes no Neg" in str(report)
    assert [tuple(v.values()) for v in report.to_dict()["violations"]] == [
        (v.node, v.op, v.graph, v.why, v.on_host, v.slow, v.lacked) for v in report.violations
    ]
    assert "npu takes no Neg" in report.to_html()
    assert onnx_scatterx.inspect(proto, target="standard").violations == ()


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = written(
        tmp_path / "npu.toml", 'name = "npu"\navoid = ["ScatterND", "Concat", "Where"]'
    )
    model, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(parse(BOX), model)
    report = tmp_path / "r.json"
    arguments = ["optimize", str(model), "-o", str(out), "--target", profile]
    assert main([*arguments, "--report", str(report)]) == 0
    text = "\n1 node, not taken by npu: ScatterND\n"
    assert text in capsys.readouterr().out
    assert json.loads(report.read_text())["violations"][0]["op"] == "ScatterND"
    assert main([*arguments, "--strict", "--quiet"]) == 1
    printed = capsys.readouterr()
    but = f"; {out} is written, but npu does not take all of it"
    assert printed.err == f"onnx-scatterx: {model}: 1 violation of the target npu{but}\n"
    assert out.exists()
    assert main(["inspect", str(model), "--target", profile, "--strict"]) == 1
    assert main(["inspect", str(model), "--target", "qnn", "--strict"]) == 0
    capsys.readouterr()
    assert main(["targets"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in ("scatterx", "standard", *profile_names()))


def test_many_models(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in (("a", BOX), ("b", MASK)):
        onnx.save(parse(text), tmp_path / "in" / f"{name}.onnx")
    with ThreadPoolExecutor(1) as executor:
        summary = onnx_scatterx.optimize_many(
            *(tmp_path / "in", tmp_path / "out"),
            executor=executor,
            target=Target(
                "npu", avoid=frozenset({"ScatterND", "Concat", "Slice", "Gather", "GatherElements"})
            ),
            assume=["N <= 9"],
        )
    first, second = summary.outcomes
    assert first.done.startswith("failed: cannot assume anything of 'N'")
    assert "violation" not in second.done
    with ThreadPoolExecutor(1) as executor:
        target = Target(
            "npu", avoid=frozenset({"ScatterND", "Concat", "Slice", "Gather", "GatherElements"})
        )
        summary = onnx_scatterx.optimize_many(
            tmp_path / "in", tmp_path / "out", executor=executor, target=target
        )
    assert summary.outcomes[0].done.endswith(", 1 violation of the target")


def test_assumptions_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"""{HEAD} g (float[N,2] x, float[2,2] u) => (float[N,2] y)
        {{ y = ScatterND (x, [[3], [-1]], u) }}"""
    model, out = str(tmp_path / "m.onnx"), str(tmp_path / "out.onnx")
    onnx.save(parse(text), model)
    standard = ["--target", "standard"]
    assert main(["inspect", model, *standard, "--assume", "N >= 5"]) == 0
    assert "removed" in capsys.readouterr().out
    assert main(["explain", model, *standard, "--assume", "N <= 9", "--assume", "N >= 5"]) == 0
    told = capsys.readouterr().out
    assert "assumed   axis-limit: " in told
    assert "\n            N >= 5\n" in told
    arguments = [model, "-o", out, *standard, "--assume", "5 <= N", "--verify", "--samples", "5"]
    assert main(["optimize", *arguments]) == 0
    assert "\n  N >= 5\n" in capsys.readouterr().out
    assert main(["verify", model, out, "--samples", "5"]) == 0
    sizes = capsys.readouterr().out.split("N = ")[1]
    assert all(int(n) >= 5 for n in sizes.split(", "))
    for said in ("N >= ", "M >= 5", "x: unique", "5 <= N <= 4"):
        assert main(["optimize", model, "-o", out, "--assume", said]) == 2
        assert capsys.readouterr().err.count("\n") == 1
