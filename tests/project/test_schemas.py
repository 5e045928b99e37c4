"""The JSON Schemas of what is written: they take all of it, and all that they name is written."""

import json
import math
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import Reason, Report, Verification
from onnx_scatterx.compare.array_diff import ArrayDifference, Kind, Tolerance
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.result import Answer as VerifyAnswer
from onnx_scatterx.compare.result import Difference
from onnx_scatterx.doors.batch.gate import Gate
from onnx_scatterx.doors.batch.summary import ModelOutcome, Summary
from onnx_scatterx.doors.cli.profile_draft import new_profile
from onnx_scatterx.doors.cli.program import main
from onnx_scatterx.engine.device.violation import Violation
from onnx_scatterx.lab.devices.adapter import Answer
from onnx_scatterx.lab.devices.causes import Cause
from onnx_scatterx.lab.devices.checking import Check, Verdict, judged
from onnx_scatterx.proof.answer import Kind as ProofKind
from onnx_scatterx.proof.answer import Proof
from onnx_scatterx.proof.answer import Verdict as ProofVerdict
from onnx_scatterx.proof.counterexample import Counterexample
from onnx_scatterx.tell.duplicates import Duplicates
from onnx_scatterx.tell.entries import Action, GatherReport, ScatterReport
from onnx_scatterx.tell.kept_advice import Advice, Way
from onnx_scatterx.text import Refusal, as_json
from tests.helpers.commands import saved
from tests.helpers.fake_consumer import NEGATION, fake
from tests.helpers.schemas import (
    NAMES,
    faults,
    properties_of,
    schema,
    tables,
    unfilled,
    validator,
)
from tests.helpers.support import parse

MODELS = Path(__file__).parents[2] / "models"
ENTRY: dict[str, Any] = {
    **{"node": "n", "op": "ScatterND", "graph": "main", "footprint": "?", "verdict": "unknown"},
    **{"rules": ("concat",), "facts": ("a fact",), "written": ("Concat",), "axes": (1, 0)},
    **{"action": Action.KEPT, "refusal": Refusal(Reason.NO_RULE), "in_onnxruntime": ("why",)},
}
REPORT = Report(
    "npu",
    tuple(
        ScatterReport(
            **(ENTRY | {"refusal": Refusal(reason, "a detail")}),
            reduction=reduction,
            unique=unique,
            duplicates=duplicates,
            work="N",
            multiply_adds="2 N",
            quantized="on the integers",
        )
        for reason, reduction, unique, duplicates in zip(
            (Reason.NO_RULE, Reason.UNKNOWN_INDICES, Reason.INVALID),
            ("none", "add", "unknown"),
            ("proven", "collides", "unknown"),
            (None, Duplicates(True, (((0, 1), (2, 3)),)), Duplicates(False, last_wins=True)),
            strict=True,
        )
    ),
    nodes_before=3,
    nodes_after=2,
    assumptions=("n <= 4",),
    ops_before=Counter(ScatterND=3),
    ops_after=Counter(Concat=2),
    gathers=tuple(GatherReport(**(ENTRY | {"action": action})) for action in Action),
    with_gathers=True,
    violations=(
        Violation("n", "Erf", "main", "no Erf", on_host=True, slow=True),
        Violation("n", "Erf", "main", "no Erf", lacked="Erf"),
    ),
    violations_if_kept=3,
    at_load=Counter(EyeLike=1),
    opset_lowered=17,
    opset_kept=18,
    defined=("a",),
    other_kernels=("b",),
    zeros=("c",),
    packed=("d",),
    needs_runtime="1.31",
    fixed=(("N", 4),),
    to_fix="--fix N=4",
    has_profile=True,
    advice=(
        Advice(
            ("n",), "why", "missing", (Way("x", "y", ("z",)),), too_large=(Way("x"),), instead="z"
        ),
    ),
    by_standard=2,
    cache_pairs=(("past", "present"),),
)
PROOF = Proof(
    {kind: ProofVerdict(kind, "why") for kind in get_args(ProofKind)},
    assumed=("a",),
    promised=("b",),
    fixed={"N": 4},
    least=1,
    sizes=({"N": 2},),
    refutation="they differ",
    counterexample=Counterexample({"N": 2}, (("x", (0,), 1), ("y", (), None), ("z", (1,), True))),
    regions=2,
)
FOUND = {
    "values": ArrayDifference("values", 1, 2, (0, 1), 1, 2, math.inf, math.nan),
    "rounding": ArrayDifference("rounding", 1.0, 1.5, (), 1, 1, 0.5, 0.5),
    "zero sign": ArrayDifference("zero sign", -0.0, math.nan, (0,), 1, 2, 0.0, 0.0),
    "shape": ArrayDifference("shape", (1, 2), (2, 1)),
    "dtype": ArrayDifference("dtype", "float32", "int64"),
    "missing": ArrayDifference("missing", True, None),
    "failed": ArrayDifference("failed", None, "a message"),
}
VERIFICATION = Verification(
    40,
    30,
    differences=tuple(
        Difference(Draw(-1, {"N": 2}, "given"), "y", found, fused=True) for found in FOUND.values()
    ),
    interface=("input x is missing",),
    sizes={"N": (1, 2)},
    rejections=("draw 3: no",),
    assumed=("a",),
    stated=("b",),
    unkept=("c",),
    broken_by={1: ("a",)},
    proof=PROOF,
    fixed={"M": 3},
    tolerance=Tolerance(rtol=0.1),
    in_onnxruntime=("why",),
    missing="ONNX Runtime is missing",
)


PUT = """g (float[4, 2] x, float[1, 2] u) => (float[4, 2] y)
    {{ y = ScatterND <reduction = "{}"> (x, [[{}]], u) }}"""


def verifications() -> list[Verification]:
    """Return answers about pairs of models: each answer, and one of a proof."""
    kept, other = parse(PUT.format("none", 1)), parse(PUT.format("add", 1).replace("4, 2", "5, 2"))
    same = onnx_scatterx.optimize(kept, target="standard").model
    return [
        onnx_scatterx.verify(kept, same, samples=2),
        onnx_scatterx.verify(kept, same, samples=2, prove=True),
        onnx_scatterx.verify(kept, parse(PUT.format("add", 1)), samples=2, rtol=0.1),
        onnx_scatterx.verify(kept, other, samples=2),
        onnx_scatterx.verify(parse(PUT.format("none", 7)), kept, samples=2),
    ]


def documents(name: str) -> list[Any]:
    if name == "verify":
        told = [VERIFICATION, replace(VERIFICATION, proof=None, tolerance=None)]
        return [json.loads(as_json(one)) for one in told]
    if name == "check":
        one = Check("a", "1", "refused", "why", ("n",), ("m",), 0.5, 0.9, "time", "fault", ("Erf",))
        return [json.loads(as_json([one]))]
    outcomes = [
        ModelOutcome(Path("a"), Path("b"), REPORT, True, None, 1.5, (), PROOF.to_dict(), 0, ("n",)),
        ModelOutcome(Path("c"), None, None, None, "no such file", 0.0),
    ]
    gate = Gate(True, "npu", {"known": "a reason"})
    outcomes += [replace(outcomes[0], source=Path(at)) for at in ("known",)]
    summary = Summary(tuple(outcomes), 2.5, gate=gate)
    return [json.loads(told) for told in (REPORT.to_json(VERIFICATION), summary.to_json())]


@pytest.mark.parametrize("name", NAMES)
def test_they_describe_each_key_and_are_closed(name: str) -> None:
    validator(name).check_schema(schema(name))
    found = dict(properties_of(schema(name)))
    assert [key for key, one in found.items() if not one.keys() & {"description", "$ref"}] == []
    closing = ({"additionalProperties": False}, {"unevaluatedProperties": False})
    is_open = [
        at
        for at, table in tables(schema(name))
        if not any(c.items() <= table.items() for c in closing)
    ]
    # Scatter and gather close the entry; the document, the model and its report the report.
    assert is_open == (["report", "entry"] if name == "report" else [])


@pytest.mark.parametrize("name", ["report", "verify", "check"])
def test_all_that_may_be_written_is_in_them(name: str) -> None:
    written = documents(name)
    assert [found for one in written for found in faults(name, one)] == []
    assert unfilled(name, written) == set()


@pytest.mark.parametrize(
    ("target", "met"), [("scatterx", None), ("standard, avoid = ['Erf']", True), ("qnn", False)]
)
def test_one_model_has_the_keys_of_each_of_many(
    target: str, met: bool | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also if it cannot be read: then it lacks those of the report."""
    (tmp_path / "zoo").mkdir()
    saved(tmp_path / "zoo" / "m.onnx", PUT.format("none", 1).replace("4, 2", "N, 2"))
    (tmp_path / "zoo" / "broken.onnx").write_bytes(b"no model")
    told = []
    alone: list[tuple[str, list[str]]] = [("zoo/m.onnx", []), ("zoo/broken.onnx", [])]
    for source, jobs in [*alone, ("zoo", ["--jobs", "1"])]:
        main(["inspect", str(tmp_path / source), "--target", target, "--json", *jobs])
        told.append(json.loads(capsys.readouterr().out))
        assert not faults("report", told[-1])
    (one, unread, summary) = told
    broken, many = summary["models"]
    assert unread | {"seconds": 0} == broken | {"seconds": 0}
    assert one.keys() == many.keys()
    assert [one["strict_met"], many["strict_met"], broken["strict_met"]] == [met, met, None]
    differ = {key for key in one if one[key] != many[key]}
    assert differ <= {"seconds"}


@pytest.mark.parametrize("name", ["report", "verify", "check"])
def test_all_that_they_name_is_always_written(name: str) -> None:
    optional = {
        f"{at}.{key}"
        for at, table in tables(schema(name))
        for key in table["properties"].keys() - {*table["required"]}
    }
    asked = {".proof", "model.proof", "report.verification"}
    assert optional <= asked | {"report.gathers", "report.gathers_removed"}


def test_an_entry_has_no_other_key() -> None:
    (report, _) = documents("report")
    report["scatters"][0]["other"] = report["gathers"][0]["reduction"] = "none"
    assert len(faults("report", report)) == 2


def words(name: str, *path: str | int) -> set[Any]:
    found = schema(name)
    for key in path:
        found = found[key]
    return set(found["enum"])


def test_their_words_are_those_of_the_tables() -> None:
    entry, scatter = (("report", "$defs", name, "properties") for name in ("entry", "scatter"))
    assert words(*entry, "reason") == {*(reason.name.lower() for reason in Reason), None}
    assert words(*entry, "action") == {action.name.lower() for action in Action}
    assert words(*scatter, "unique") == {"proven", "collides", "unknown"}
    assert words("verify", "properties", "answer") == {*get_args(VerifyAnswer)}
    kinds = words("verify", "$defs", "difference", "properties", "kind")
    assert kinds == {*get_args(Kind)} == {*FOUND}
    assert words("verify", "$defs", "proof", "properties", "answer") == {*get_args(ProofKind)}
    assert words("check", "items", "properties", "verdict") == {*get_args(Verdict)}
    assert words("check", "items", "properties", "cause") == {*get_args(Cause), None}


def test_reports_of_models() -> None:
    """Of exports with caches, masks, windows, quantizers and fixed sizes, as they are written."""
    models: dict[str, dict[str, Any]] = {
        "kv_cache_dynamo_dynamic": {"target": "tensorrt"},
        "kv_cache_qdq_int8": {"target": "scatterx"},
        "letterbox_dynamo_dynamic": {"target": "qnn", "fix": {"batch": 1}, "gathers": True},
        "mask_fill_dynamo": {"target": "rknn"},
        "read_steps_ts": {"target": "ethos-u55", "gathers": True},
        "swin_shift_mask_dynamo_dynamic": {"target": "standard", "opset": 21},
        "take_along_dynamo": {"target": "coreml", "gathers": True},
    }
    for name, options in models.items():
        result = onnx_scatterx.optimize(str(MODELS / f"{name}.onnx"), **options)
        assert faults("report", json.loads(result.report.to_json())) == [], name


def test_verifications_of_models() -> None:
    """The same, proven, different, with other inputs, and not compared."""
    found = [json.loads(as_json(one)) for one in verifications()]
    answers = ["same", "same", "different", "different", "not compared"]
    assert [one["answer"] for one in found] == answers
    assert [why for one in found for why in faults("verify", one)] == []


def test_checks_of_consumers(tmp_path: Path) -> None:
    """Of each verdict: right, close, tied, wrong, refused, and no answer."""
    model = tmp_path / "model.onnx"
    onnx.save(NEGATION, model)
    right = np.linspace(-1, 1, 32, dtype=np.float32)
    answers = [
        *(Answer("taken", {"y": right + off}) for off in (0, 1e-3, 0.5)),
        Answer("taken", {"y": right[:3]}),
        Answer("refused", message="no", node="n"),
        Answer("refused", message="late", out_of="time"),
    ]
    consumer = fake(tmp_path)
    found = [judged(consumer, answer, {"y": right}, model) for answer in answers]
    found += [replace(found[2], verdict="tied"), replace(found[4], cause="fault", part=("Neg",))]
    assert {one.verdict for one in found} == {*get_args(Verdict)}
    assert faults("check", json.loads(as_json(found))) == []


def test_what_commands_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, report = str(MODELS / "mask_fill_dynamo_dynamic.onnx"), tmp_path / "report.json"
    written = ["--report", str(report), "--advice", "--json", "--verify", "--samples", "2"]
    assert main(["optimize", model, "-o", str(tmp_path / "o.onnx"), *written]) == 0
    assert faults("report", json.loads(capsys.readouterr().out)) == []
    assert faults("report", json.loads(report.read_text("utf-8"))) == []
    assert main(["verify", model, str(tmp_path / "o.onnx"), "--samples", "2", "--json"]) == 0
    assert faults("verify", json.loads(capsys.readouterr().out)) == []
    assert main(["inspect", model, "--target", "qnn", "--json", "--advice"]) == 0
    assert faults("report", json.loads(capsys.readouterr().out)) == []


def test_the_command_prints_the_schema_of_a_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["targets", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out) == schema("profile")
    draft = new_profile("npu", ["Add"], ir.from_proto(NEGATION))
    assert faults("profile", tomllib.loads(draft)) == []
    assert main(["targets", "qnn", "--schema"]) == 2
    assert "--schema" in capsys.readouterr().err


def test_each_is_found_by_its_file_name() -> None:
    """As `$id`; linters of TOML read that of a profile, and refuse an `$id` without a host."""
    named = {name: schema(name).get("$id") for name in NAMES}
    assert named == {name: f"{name}.json" for name in NAMES} | {"profile": None}
