"""Many models at once: in processes, in threads, and in a Dask cluster; none stops the others."""

import json
import os
import signal
import warnings
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

import onnx_scatterx
from onnx_scatterx.doors.batch import many, optimize_many
from onnx_scatterx.doors.batch.gate import Gate
from onnx_scatterx.doors.batch.summary import ModelOutcome, Summary
from onnx_scatterx.doors.batch.workers import Task, failed
from onnx_scatterx.doors.cli import main
from onnx_scatterx.engine.device.violation import Violation
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.tell.inquiry import Inquiry, Optimized
from onnx_scatterx.tell.report import Report
from onnx_scatterx.theory.conventions import pytorch

pytestmark = [pytest.mark.slow, pytest.mark.sampled(2)]

ROW = """<ir_version: 8, opset_import: ["" : 18]> 
    row (float[N, 2] x, float[1, 2] y) => (float[N, 2] z)
    <int64[1, 1] i = {0}> { z = ScatterND(x, i, y) }"""


@pytest.fixture
def zoo(tmp_path: Path) -> Path:
    """Two good models in two folders, and four bad files."""
    folder = tmp_path / "zoo"
    (folder / "deep").mkdir(parents=True)
    onnx.save(onnx.parser.parse_model(ROW), folder / "a.onnx")
    (folder / "deep" / "b.onnxtxt").write_text(ROW)
    (folder / "broken.onnx").write_bytes(b"no model")
    (folder / "empty.onnx").write_bytes(b"")
    (folder / "invalid.onnxtxt").write_text(ROW.replace("(x, i, y)", "(x, i, nothing)"))
    (folder / "old.onnxtxt").write_text(ROW.replace("18", "7"))
    (folder / "notes.md").write_text("no model")
    return folder


def check(summary: Any, out: Path) -> None:
    by_name = {o.source.name: o for o in summary.outcomes}
    assert sorted(by_name) == [
        "a.onnx",
        "b.onnxtxt",
        "broken.onnx",
        "empty.onnx",
        "invalid.onnxtxt",
        "old.onnxtxt",
    ]
    written = sorted(str(p.relative_to(out)) for p in out.rglob("*") if p.is_file())
    assert written == ["a.onnx", "deep/b.onnxtxt"]
    for name, outcome in by_name.items():
        assert (outcome.error is None) == (name in ("a.onnx", "b.onnxtxt"))
        assert outcome.error is None or ("\n" not in outcome.error and name in outcome.error)
    assert len(summary.failed) == 4
    assert summary.summary().startswith("2 of 6 models written, 2 of 2 scatters removed, 4 failed")


@pytest.mark.parametrize(
    "way", ["forked", pytest.param("started", marks=[pytest.mark.full, pytest.mark.started])]
)
def test_processes(way: str, zoo: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    out = tmp_path / "out"
    summary = onnx_scatterx.optimize_many(
        zoo, out, jobs=2, target="standard", on_progress=lambda *done: told.append(done)
    )
    check(summary, out)
    assert {stage.partition(": ")[0] for stage, _, _ in told} == {"optimizing"}
    assert any("b.onnxtxt" in stage for stage, _, _ in told)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
    assert told[-1] == ("optimizing", 6, 6)


def test_the_models_at_work_are_named(monkeypatch: pytest.MonkeyPatch, zoo: Path) -> None:
    """At most three of them."""
    sources = [zoo / f"{name}.onnx" for name in "abcd"]
    for source in sources:
        source.write_bytes(b"")
    told: list[tuple[str, int, int]] = []
    tasks = [Task(source, None, {}, None) for source in sources]
    events = [*tasks, *(failed(task, "bad") for task in reversed(tasks))]
    monkeypatch.setattr(many, "run_in_processes", lambda *_: (event for event in events))
    onnx_scatterx.inspect_many(sources, on_progress=lambda *said: told.append(said))
    assert told == [
        ("inspecting: a.onnx", 0, 4),
        ("inspecting: a.onnx, b.onnx", 0, 4),
        ("inspecting: a.onnx, b.onnx, c.onnx", 0, 4),
        ("inspecting: a.onnx, b.onnx, c.onnx, ...", 0, 4),
        ("inspecting: a.onnx, b.onnx, c.onnx", 1, 4),
        ("inspecting: a.onnx, b.onnx", 2, 4),
        ("inspecting: a.onnx", 3, 4),
        ("inspecting", 4, 4),
    ]


@pytest.mark.started
def test_threads_and_a_list_of_paths(zoo: Path, tmp_path: Path) -> None:
    paths = [p for p in zoo.rglob("*") if p.suffix.startswith(".onnx")]
    out = tmp_path / "out"
    with ThreadPoolExecutor(4) as threads:
        summary = onnx_scatterx.optimize_many(paths, out, executor=threads, verify=True)
    check(summary, out)
    assert [o.source for o in summary.outcomes] == paths
    assert {o.same for o in summary.outcomes} == {True, None}
    assert len(str(summary).splitlines()) >= 6
    content = json.loads(summary.to_json())
    assert content["schema"] == 1
    assert content["models"][0]["source"] == str(paths[0])


def test_a_model_that_differs_is_not_written(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Inquiry.optimized

    def wrong(asked: Inquiry, **options: Any) -> Optimized:
        result = right(asked, **options)
        nodes = result.model.graph.node
        nodes[-1].input[1], nodes[-1].input[0] = nodes[-1].input[0], nodes[-1].input[1]
        return result

    monkeypatch.setattr(Inquiry, "optimized", wrong)
    out = tmp_path / "out"
    with ThreadPoolExecutor(1) as threads:
        paths, checks = [zoo / "a.onnx"], {"samples": 1}
        summary = onnx_scatterx.optimize_many(paths, out, executor=threads, verify=checks)
    (outcome,) = summary.outcomes
    assert (outcome.same, outcome.error) == (False, None)
    assert not list(out.rglob("*.onnx"))


def test_what_is_promised_is_promised_to_the_proof(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[4] x, float[2] y, int64[2, 1] i) => (float[4] z) { z = ScatterND(x, i, y) }"""
    model = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), model)
    with ThreadPoolExecutor() as threads:
        summary = optimize_many(
            [model],
            tmp_path / "out",
            executor=threads,
            verify={"prove": True, "samples": 3},
            target="standard",
            assume=["i: contiguous, nonnegative"],
        )
    (outcome,) = summary.outcomes
    assert (outcome.error, outcome.answer) == (None, "proven")


def test_advice_is_given_if_it_is_asked_for(tmp_path: Path) -> None:
    text = ROW.replace("<int64[1, 1] i = {0}>", "").replace(
        "float[1, 2] y)", "float[1, 2] y, int64[1, 1] i)"
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    paths, out = [tmp_path / "m.onnx"], tmp_path / "out"
    with ThreadPoolExecutor(1) as threads:
        for advice in (False, True):
            options: dict[str, Any] = {"executor": threads, "target": "qnn"}
            summary = onnx_scatterx.optimize_many(paths, out, advice=advice, **options)
            (report,) = (outcome.report for outcome in summary.outcomes)
            assert report is not None
            assert bool(report.advice) is advice


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signals of a thread")
def test_the_handler_of_ctrl_c_is_restored(zoo: Path, tmp_path: Path) -> None:
    def mask() -> set[signal.Signals]:
        return {signal.Signals(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, ())}

    assert signal.SIGINT not in mask()
    with ThreadPoolExecutor(2) as threads:
        onnx_scatterx.optimize_many(zoo, tmp_path / "threads", executor=threads)
        assert signal.SIGINT not in threads.submit(mask).result()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        onnx_scatterx.optimize_many([zoo / "a.onnx"], tmp_path / "processes", jobs=1)
        assert signal.SIGINT in mask()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    assert signal.SIGINT not in mask()


@pytest.mark.full
@pytest.mark.started
@pytest.mark.filterwarnings("ignore")  # of Dask, about ports and processes that end
def test_a_dask_cluster(zoo: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    out = tmp_path / "out"
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as here,
        distributed.Client(here) as client,
    ):
        summary = onnx_scatterx.optimize_many(zoo, out, executor=client.get_executor())
    check(summary, out)


def test_many_threads_prove_as_much_as_one(tmp_path: Path) -> None:
    models = sorted(Path("models").glob("*.onnx"))[:12]
    one = onnx_scatterx.optimize_many(models, tmp_path / "one", jobs=1)
    with ThreadPoolExecutor(8) as threads:
        many = onnx_scatterx.optimize_many(models, tmp_path / "many", executor=threads)
    for a, b in zip(one.outcomes, many.outcomes, strict=True):
        assert a.report == b.report
        assert a.output is not None
        assert b.output is not None
        assert a.output.read_bytes() == b.output.read_bytes()


class _Kills(dict[str, int]):
    """What ends a process that receives it."""

    def __reduce__(self) -> tuple[Any, tuple[int]]:
        return os._exit, (9,)


def test_a_worker_that_dies_is_reported(zoo: Path, tmp_path: Path) -> None:
    kills: Any = _Kills()
    summary = onnx_scatterx.optimize_many([zoo / "a.onnx"], tmp_path / "o", jobs=1, size_hint=kills)
    assert (
        summary.outcomes[0].error
        == f"{zoo / 'a.onnx'}: its process died, perhaps because memory was short"
    )


class _Lost(Executor):
    """An executor whose workers have gone."""

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(OSError("the worker is out of reach"))
        return future


def test_an_executor_that_fails_is_reported(zoo: Path, tmp_path: Path) -> None:
    summary = onnx_scatterx.optimize_many([zoo / "a.onnx"], tmp_path / "o", executor=_Lost())
    assert "the worker is out of reach" in str(summary.outcomes[0].error)


@pytest.fixture
def cases(zoo: Path, tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "none").mkdir()
    (tmp_path / "file").write_text("")
    return {
        "is not a directory; give": (zoo / "a.onnx", tmp_path / "out"),
        "is a directory without": (tmp_path / "none", tmp_path / "out"),
        "no model was given": ([], tmp_path / "out"),
        "is not a directory; many": (zoo, tmp_path / "file"),
        "the output is the input": (zoo, zoo),
        "two paths name the same": ([zoo / "a.onnx", zoo / "deep" / ".." / "a.onnx"], tmp_path),
    }


def test_arguments_with_which_it_cannot_begin(cases: dict[str, Any]) -> None:
    for message, (paths, out) in cases.items():
        with pytest.raises(ScatterXError, match=message):
            onnx_scatterx.optimize_many(paths, out)


def test_an_output_inside_the_input_is_not_read_again(zoo: Path) -> None:
    with ThreadPoolExecutor(1) as threads:
        first = onnx_scatterx.optimize_many(zoo, zoo / "out", executor=threads)
        again = onnx_scatterx.optimize_many(zoo, zoo / "out", executor=threads)
    assert [o.source for o in first.outcomes] == [o.source for o in again.outcomes]


def test_models_that_share_their_data(tmp_path: Path) -> None:
    zoo, out = tmp_path / "zoo", tmp_path / "out"
    zoo.mkdir()
    (zoo / "weights").write_bytes(bytes(8))
    for name in "abcd":
        model = onnx.parser.parse_model(ROW)
        weight = model.graph.initializer.add(name="w", data_type=1, dims=[2], data_location=1)
        weight.external_data.add(key="location", value="weights")
        onnx.save(model, zoo / f"{name}.onnx")
    with ThreadPoolExecutor(4) as threads:
        summary = onnx_scatterx.optimize_many(zoo, out, executor=threads)
    assert not summary.failed
    assert sorted(p.name for p in out.iterdir()) == [*(f"{n}.onnx" for n in "abcd"), "weights"]


def test_the_command_line(zoo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report, out = tmp_path / "r.json", tmp_path / "out"
    command = ["optimize", str(zoo), "-o", str(out), "--jobs", "1", "--report", str(report)]
    assert main(command) == 2
    captured = capsys.readouterr()
    assert "2 of 6 models written" in captured.out
    assert captured.err.count("\n") == 4  # a line for each model that failed
    assert len(json.loads(report.read_text())["models"]) == 6
    for bad in ("broken.onnx", "empty.onnx", "invalid.onnxtxt", "old.onnxtxt"):
        (zoo / bad).unlink()
    assert main([*command, "--verify", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "because"),
    [
        ({"target": "npu"}, "no target is called 'npu'"),
        ({"rules": ["x"]}, "no rule is called 'x'"),
        ({"opset": 999}, "operator set 999"),
        ({"assume": ["N"]}, "'N' is not like"),
    ],
)
def test_an_error_for_every_model_is_reported_once(
    options: dict[str, Any], because: str, tmp_path: Path
) -> None:
    """And before there is a process, or a folder."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.onnxtxt").write_text(ROW)
    with pytest.raises(ScatterXError, match=because):
        optimize_many(tmp_path / "in", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_profile_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.onnxtxt").write_text(ROW)
    profile = tmp_path / "npu.toml"
    profile.write_text('name = "npu"\navoid = ["NonZero"]')

    class Late(ThreadPoolExecutor):
        """Begins after the profile was removed."""

        def submit(self, *arguments: Any, **options: Any) -> Any:
            profile.unlink(missing_ok=True)
            return super().submit(*arguments, **options)

    with Late() as executor:
        summary = optimize_many(
            tmp_path / "in", tmp_path / "out", executor=executor, target=str(profile)
        )
    assert [o.error for o in summary.outcomes] == [None]


def test_the_summary_counts_scatters(tmp_path: Path) -> None:
    """No scatter is not 0 of 0, and gathers are counted where they are listed."""
    (tmp_path / "in").mkdir()
    text = """<ir_version: 8, opset_import: ["" : 18]> g (float[N, 3] x) => (float[N, 2] y)
        <int64[2] i = {0, 1}> { y = Gather <axis = 1> (x, i) }"""
    (tmp_path / "in" / "m.onnxtxt").write_text(text)
    for gathers, told in (False, "1 of 1 models written ("), (True, ", 1 of 1 gathers removed ("):
        with ThreadPoolExecutor() as executor:
            summary = optimize_many(
                tmp_path / "in", tmp_path / "out", executor=executor, gathers=gathers
            )
        assert told in summary.summary()
        assert "scatters" not in summary.summary()


def test_a_summary_is_true_if_all_went_well(zoo: Path, tmp_path: Path) -> None:
    right = zoo / "a.onnx"
    (tmp_path / "no.onnx").write_bytes(b"no model")
    for paths, well in ([right], True), ([right, tmp_path / "no.onnx"], False):
        assert bool(onnx_scatterx.inspect_many(paths, jobs=1)) == well
        assert bool(onnx_scatterx.optimize_many(paths, tmp_path / "out", jobs=1)) == well


def test_the_headline_says_what_scatterx_needs(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[5, 4] x, int64[N, 1] i, float[N, 4] y) => (float[5, 4] z)
        { z = ScatterND(x, i, y) }"""
    (tmp_path / "in" / "m.onnxtxt").write_text(text)
    with ThreadPoolExecutor() as executor:
        summary = optimize_many(tmp_path / "in", tmp_path / "out", executor=executor)
    needs = "ScatterX is for ONNX Runtime: `--target standard` for other runtimes"
    told = "0 of 1 scatters removed, 1 written as ScatterX"
    assert f", {told}; {needs} (" in summary.summary()
    assert summary.outcomes[0].done.startswith(f"{told}, ")


def test_files_of_the_process_are_not_changed(
    zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import onnx.reference.ops.op_sqrt  # noqa: F401 - it keeps what it imports of `warnings`

    # Two threads that set filters of warnings and put them back take each other's for the old ones.
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the filters of warnings are every thread's")

    for name in ("catch_warnings", "simplefilter", "filterwarnings"):
        monkeypatch.setattr(warnings, name, refuse)
    text = tmp_path / "text.onnxtxt"
    text.write_text('<ir_version: 8, opset_import: ["": 18]> g (float x) => (float y) {y = Neg(x)}')
    assert onnx_scatterx.optimize(text, opset=24).model.opset_import[0].version == 24
    written = pytorch.select_scatter(np.zeros(2, np.float32), np.array(1 + 2j), 0, 1)
    assert written.run().tolist() == [0, 1]


def test_how_many_results_a_target_takes() -> None:
    """Those that differ are not counted; a target without a profile promises nothing."""
    whole = Report("npu", (), 3, 3, has_profile=True)
    lacks = replace(whole, violations=(Violation("a", "Erf", "main", "npu takes no Erf"),))
    hosted = replace(lacks, violations=(replace(lacks.violations[0], on_host=True),))

    def said(*reports: Report, agrees: bool | None = None) -> str:
        path = Path("m.onnx")
        made = [ModelOutcome(path, path, report, agrees, None, 1.0) for report in reports]
        return Summary(tuple(made), 1.0).summary()

    outcomes = tuple(
        ModelOutcome(Path(f"{name}.onnx"), None, report, None, None, 1.0)
        for name, report in {"whole": whole, "lacks": lacks, "hosted": hosted, "none": None}.items()
    )
    for strict, told in (
        (True, ["pass", "allowed", "pass", "fail"]),
        ("native", ["pass", "allowed", "fail", "fail"]),
    ):
        gate = Gate(strict, "npu", {"lac*": "known"})  # type: ignore[arg-type]
        _, head, *rows = Summary(outcomes, 1.0, gate).plain().splitlines()
        assert [head.split("\t")[0], *(row.split("\t")[0] for row in rows)] == ["result", *told]
    assert ", 1 of 3 results taken whole by npu, 1 more with nodes on its host (" in said(
        whole, lacks, hosted
    )
    planned = replace(whole, planned=True)
    assert said(planned).endswith(", 1 of 1 results would be taken whole by npu (1.0 s)")
    assert "taken" not in said(whole, agrees=False)
    assert "taken" not in said(replace(whole, has_profile=False))
