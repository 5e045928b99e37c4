"""The page of models is the one that the stored results make; no PyTorch is needed here."""

import hashlib
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest

from tests.helpers.support import parse

# The scripts are no package, and need PyTorch in part: mypy reads none of them.
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import gallery  # type: ignore[import-not-found]
import gallery_cells  # type: ignore[import-not-found]
from gallery_cells import (
    CHOSEN,
    EVERY,
    Asker,
    Cells,
    form,
    forms_of,
    hashed,
    without_notes,
)
from gallery_page import LEFT_OUT, TARGETS  # type: ignore[import-not-found]
from gallery_page import page as page_of
from gallery_rows import GALLERY  # type: ignore[import-not-found]
from real_steps import Record  # type: ignore[import-not-found]

RESULTS = json.loads(gallery.RESULTS.read_text(encoding="utf-8"))
SIZES = {"before": {"nodes": 9, "scatters": 2}, "after": {"nodes": 4, "scatters": 0}}
MADE: dict[str, Any] = {
    "export": {"nodes": 9, "scatters": 2},
    "size": {"MB": 1.5},
    "standard": SIZES | {"version": "0123"},
    "judge": {"proof": "unknown", "same": False},
    "times": {"ms": 200.0, "machine": "a machine", "runtime": "onnxruntime 1.32.0"}
    | {t: {"difference": 2e-7, "ratio": 1.25, "quartiles": [1, 2]} for t in TARGETS},
    "truth": {"sha": "a"},
    "form tract": {"sha": "b", "refused": 0, "version": "01"},
    "form standard": {"sha": "b", "refused": 0, "version": "01"},
}
REFUSED = {"version": "1", "verdict": "refused", "cause": "scatter", "message": "no ScatterND"}
RIGHT = {"version": "1", "verdict": "right", "error": 1e-7, "message": ""}


@pytest.fixture
def cells(tmp_path: Path) -> Cells:
    found = Cells(tmp_path / "cells.json")
    found.add("tract", "a", REFUSED)
    found.add("tract", "b", RIGHT)
    return found


def page(results: dict[str, Any], cells: Cells | None = None) -> str:
    text: str = page_of(results, cells or Cells(Path("no such file")))
    return text


def test_the_page_is_what_the_results_make() -> None:
    """Where it differs, ``python benchmarks/gallery.py --page`` writes it."""
    _, _, shown = gallery.PAGE.read_text(encoding="utf-8").partition(gallery.BEGINS)
    assert shown == f"\n{page(RESULTS, gallery.CELLS)}"


def test_there_are_enough_models_and_none_twice() -> None:
    assert sum("standard" in found for found in RESULTS.values()) >= 25
    assert len({shown.title for shown in GALLERY.values()}) == len(GALLERY)
    threads = [s.thread for s in GALLERY.values()] + [t for _, t in LEFT_OUT]
    assert [t for t in threads if t and not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", t)] == []


def test_a_row(cells: Cells) -> None:
    text = page({"own": MADE}, cells)
    answers = "refused → right | 200 | 160 (1.25) | 160 (1.25) | compared: 2e-07"
    assert f"| own, a file | - | 2 → 0 | 9 → 4 | 1.5 | {answers} |" in text
    assert "- own, a file, tract, before: refused, by scatter, no ScatterND" in text
    counts = "0 right, 0 close, 0 tied before; 1 right, 0 close, 0 tied after its profile"
    strict = "`--strict=taken`: 0 false alarms, 0 misses"
    assert f"- tract 1: of 1 models; {counts}; lost: none; left: none; {strict}" in text
    assert "- 20 of 22 cells before and after the own profile are missing; not asked yet: " in text
    equal = page({"own": MADE | {"judge": {"proof": "unknown", "same": True}}})
    assert "| compared: equal |" in equal
    proven = page({"own": MADE | {"judge": {"proof": "proven", "same": True}}})
    assert "| proven |" in proven
    unequal = page({"own": MADE | {"judge": {"proof": "proven", "same": False}}})
    assert "| proven |" not in unequal


def test_what_is_lost_and_left(cells: Cells) -> None:
    lost = MADE | {"truth": {"sha": "b"}, "form tract": {"sha": "a", "refused": 1}}
    text = page({"own": lost}, cells)
    assert "lost: own; left: 1 by scatter; `--strict=taken`: 0 false alarms, 0 misses" in text
    alarm = MADE | {"form tract": {"sha": "b", "refused": 2}, "form standard": {"sha": "c"}}
    cells.add("tract", "c", RIGHT | {"verdict": "no answer", "out_of": "time"})
    text = page({"own": alarm}, cells)
    assert "1 false alarms, 0 misses" in text
    assert "| refused → right (time) |" in text


def test_a_model_of_constant_outputs_is_asked_about_by_nobody(cells: Cells) -> None:
    constant = MADE | {"truth": {"failed": "its outputs are constant"}}
    text = page({"own": constant}, cells)
    assert "- own, a file, truth: its outputs are constant" in text
    assert "- 0 of 0 cells" in text


def test_a_model_that_is_too_large_is_asked_about_by_nobody(cells: Cells, tmp_path: Path) -> None:
    """Its size is enough to say so: no truth, no file and no compiler are needed."""
    large = {key: MADE[key] for key in ("export", "standard", "judge", "times")}
    large["size"] = {"MB": 1000.1}
    text = page({"own": large, "small": MADE}, cells)
    assert "- 20 of 44 cells before and after the own profile are missing" in text
    assert "| 1000.1 |" + " too large → too large |" * 11 in text
    left = "lost: none; left: 1 too large; `--strict=taken`: 0 false alarms, 0 misses"
    (line,) = (line for line in text.splitlines() if left in line and "tract 1:" in line)
    assert line.startswith("- tract 1: of 2 models; 0 right, 0 close, 0 tied before; 1 right")
    assert "own, a file, tract" not in text
    asker = Asker(cells, {"tract": "no such python"}, 600.0, frozenset({"tract"}))
    assert not asker.todo("own", large)
    assert asker.todo("own", large | {"size": {"MB": 1000.0}})
    asker.fill(SimpleNamespace(known=lambda: large), None, None)


def test_a_model_that_last_bits_decide_has_no_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ONNX Runtime answers by default is another answer, or the same."""
    model = parse("g (float[8] x) => (float[8] y) { y = Neg (x) }")
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "feeds.npz", x=np.arange(8, dtype=np.float32))
    files = [str(tmp_path / name) for name in ("m.onnx", "feeds.npz", "truth.npz")]
    assert gallery_cells.truth(*files)["outputs"] == 1
    turned = SimpleNamespace(run=lambda names, feeds: [feeds["x"][::-1]])
    monkeypatch.setattr(gallery_cells, "opened", lambda path, level: turned)
    assert "last bits decide them" in gallery_cells.truth(*files)["failed"]


def test_the_files_that_a_compiler_is_given() -> None:
    """`standard` is a file of its own only if its bytes differ from both others."""
    found = {"truth": {"sha": "a"}, "form npu": {"sha": "b"}, "form standard": {"sha": "c"}}
    assert forms_of(found, "npu") == {"original": "a", "own": "b", "standard": "c"}
    for same in "ab":
        other = found | {"form standard": {"sha": same}}
        assert forms_of(other, "npu") == {"original": "a", "own": "b"}
    assert forms_of({"truth": {"sha": "a"}}, "npu") == {"original": "a"}


def test_a_cell_is_of_a_version_and_a_file(cells: Cells) -> None:
    assert cells.of("tract", "a") == REFUSED
    assert (cells.of("tract", "z"), cells.of("mnn", "a")) == (None, None)
    for version in ("1.10", "1.9"):
        cells.add("tract", "a", RIGHT | {"version": version})
    newest = cells.of("tract", "a")
    assert newest is not None
    assert newest["version"] == "1.10"
    assert len(cells.place.read_text().splitlines()) == 6, "a line for each, so that files merge"


def test_what_is_still_to_be_asked(cells: Cells) -> None:
    def todo(found: dict[str, Any], **more: Any) -> bool:
        asker = Asker(cells, {"tract": "python"}, 600.0, **({"again": frozenset()} | more))
        return bool(asker.todo("own", found))

    assert not todo(MADE)
    assert todo(MADE, again=frozenset({"tract"}))
    assert todo(MADE | {"form tract": {"sha": "new", "version": "01"}})
    assert (todo(MADE, code="01"), todo(MADE, code="02")) == (False, True)
    assert todo({"truth": {"sha": "a"}})
    assert not todo({"truth": {"failed": "constant"}})
    other = MADE | {"form standard": {"sha": "new", "version": "01"}}
    assert (todo(other), todo(other, forms=("original", "own"))) == (True, False)


def test_every_file_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    hashes = set()
    for folder in ("/one/place", "/another"):
        model = parse("g (float[2] x) => (float[2] y) { y = Neg (x) }")
        model.doc_string = model.graph.node[0].doc_string = folder
        model.graph.node[0].metadata_props.add(key="trace", value=f"{folder}/model.py")
        without_notes(model)
        onnx.save(model, tmp_path / "m.onnx")
        hashes.add(hashed(tmp_path / "m.onnx"))
    assert len(hashes) == 1


def test_compilers_and_rows() -> None:
    assert len(CHOSEN) == 12
    assert set(CHOSEN) <= set(GALLERY)
    assert len(EVERY) == 6
    labelled = {n for n, s in GALLERY.items() if "labels" in s.built_from(n).inputs}
    assert labelled == {name for name, shown in GALLERY.items() if shown.promises}


def test_all_symbolic_sizes_of_a_row_are_fixed_for_compilers(tmp_path: Path) -> None:
    for name, shown in GALLERY.items():
        inputs = shown.built_from(name).inputs.values()
        named = {word.rpartition("=")[0]: int(word.rpartition("=")[2])
                 for text in inputs for word in text.split() if "=" in word}  # fmt: skip
        assert shown.fixed == (named if shown.how.endswith("dynamic") else {})
    text = "g (float[n] x, float[1] u) => (float[n] y) { y = ScatterND (x, [[1]], u) }"
    onnx.save(parse(text), tmp_path / "model.onnx")
    shown = replace(GALLERY["led_4096"], fixed={"n": 4}, promises=("n >= 2",))
    assert shown.options == ["--fix n=4", "--assume 'n >= 2'"]
    place = tmp_path / "own.onnx"
    assert not form(str(tmp_path / "model.onnx"), "ncnn", str(place), shown)["refused"]
    (x, _) = onnx.load(place).graph.input
    assert [dim.dim_value for dim in x.type.tensor_type.shape.dim] == [4]


def test_a_promise_for_one_compiler(tmp_path: Path) -> None:
    """The others get the file that they had."""
    text = """g (int64[1, 2] i) => (float[1, 2, 2] y) <float[8, 2] w = {1, 2, 3, 4, 5, 6, 7, 8,
        9, 10, 11, 12, 13, 14, 15, 16}> { y = Gather (w, i) }"""
    onnx.save(parse(text), tmp_path / "model.onnx")
    shown = replace(GALLERY["swin_tiny"], more={"ncnn": ("i: nonnegative",)})
    assert shown.options == []
    assert shown.for_one == ["for ncnn `--assume 'i: nonnegative'`"]
    place, model = str(tmp_path / "own.onnx"), str(tmp_path / "model.onnx")
    assert not form(model, "ncnn", place, shown)["refused"]
    assert form(model, "ncnn", place, replace(shown, more={}))["refused"]
    texts = [form(model, "standard", place, each) for each in (shown, replace(shown, more={}))]
    assert texts[0] == texts[1]


@pytest.mark.slow
def test_cells_are_filled_once(tmp_path: Path) -> None:
    """From the export to the cells, by a compiler that refuses the scatter."""
    from tests.helpers.fake_consumer import fake

    runs = """
        import onnx, onnxruntime
        if any(node.op_type == "ScatterND" for node in onnx.load(model).graph.node):
            raise ValueError("no ScatterND")
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        return Answer("taken", session.run(None, dict(feeds)))"""
    adapter = str(fake(tmp_path, runs).path)  # its profile is `standard`
    text = "g (float[4,2] x, float[1,2] u) => (float[4,2] y) { y = ScatterND (x, [[1]], u) }"
    folder = tmp_path / "row"
    folder.mkdir()
    onnx.save(parse(text), folder / "model.onnx")
    feeds = {"x": np.ones((4, 2), np.float32), "u": np.zeros((1, 2), np.float32)}
    np.savez(folder / "feeds.npz", **feeds)  # type: ignore[arg-type]  # allow_pickle is no array
    record, cells = Record(folder, tmp_path / "all.json", "1"), Cells(tmp_path / "cells.json")
    asker = Asker(cells, {adapter: sys.executable}, 60.0, frozenset())
    asker.fill(record, None, lambda step, *work: step(*work))
    files = forms_of(record.known(), adapter)
    assert [*files] == ["original", "own"]
    told = {form: cells.of(adapter, sha) for form, sha in files.items()}
    assert told["original"] is not None
    assert told["own"] is not None
    assert (told["original"]["verdict"], told["original"]["cause"]) == ("refused", "scatter")
    assert told["own"]["verdict"] == "right"
    assert not asker.todo("row", record.known())


def test_a_truth_that_is_constant_is_refused(tmp_path: Path) -> None:
    from gallery_cells import truth

    np.savez(tmp_path / "feeds.npz", x=np.arange(4, dtype=np.float32))
    sums = "ReduceSum <keepdims = 0> (x)"
    for dims, written, failed in ((4, "Sub (x, x)", 1), (4, "Neg (x)", 0), ("", sums, 0)):
        text = f"g (float[4] x) => (float[{dims}] y) {{ y = {written} }}"
        onnx.save(parse(text), tmp_path / "m.onnx")
        found = truth(
            str(tmp_path / "m.onnx"), str(tmp_path / "feeds.npz"), str(tmp_path / "t.npz")
        )
        assert ("failed" in found) == failed


def test_a_step_that_failed_is_named() -> None:
    text = page({"own": {"export": {"failed": "MemoryError: in /mine/code/x.py"}}})
    assert "- own, a file, export: MemoryError: in x.py" in text
    assert "- 0 models" in text
    text = page({"own": MADE | {"times": {"failed": "Exception: std::bad_alloc"}}})
    assert "- own, a file, times: it needs more than 9 GiB of memory" in text


def test_rows_of_another_clock_are_named() -> None:
    cpu = MADE | {"times": MADE["times"] | {"clock": "processor"}}
    text = page({"one": MADE, "two": MADE, "three": cpu})
    runtime = "a machine, onnxruntime 1.32.0"
    assert f"- timed on {runtime}\n- timed on {runtime}, in processor time: three\n" in text


@pytest.mark.parametrize("right", [True, False])
def test_a_file_is_taken_by_its_hash(right: bool, tmp_path: Path) -> None:
    model = parse("g (float[2] x) => (float[2] y) { y = Neg (x) }")
    path = tmp_path / "mine.onnx"
    onnx.save(model, path)
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    found = gallery.take(str(path), content if right else "0" * 64, str(tmp_path))
    assert found == (
        {"nodes": 1, "scatters": 0} if right else {"failed": f"the hash of the file is {content}"}
    )
    assert (tmp_path / "feeds.npz").exists() == right


def test_a_record_goes_on_where_it_ended(tmp_path: Path) -> None:
    """What is known is not done again, unless its file is lost or another version found it."""
    stored, ran = tmp_path / "all.json", tmp_path / "ran"
    stored.write_text(json.dumps({"row": {"old": {"nodes": 1, "version": "1"}}}))
    record = Record(tmp_path / "row", stored, "2")

    def step() -> dict[str, Any]:
        ran.write_text(f"{ran.read_text() if ran.exists() else ''}.")
        return {"nodes": 2}

    assert record.find("old", step) == {"nodes": 1, "version": "1"}
    assert record.find("new", step) == record.find("new", step) == {"nodes": 2, "version": "2"}
    assert ran.read_text() == "."
    lost = str(tmp_path / "lost")
    assert record.find("new", step, made=lost) == {"nodes": 2, "version": "2"}
    assert record.find("new", step, made=str(ran)) == {"nodes": 2, "version": "2"}
    assert ran.read_text() == ".."
    assert "failed" in record.find("new", lambda: {"failed": "no memory"}, made=lost)
    assert record.find("new", step) == {"nodes": 2, "version": "2"}
    assert ran.read_text() == ".."
    assert record.find("new", step, again=True) == {"nodes": 2, "version": "2"}
    assert ran.read_text() == "..."
    anew = Record(tmp_path / "row", stored, "2", anew=True)
    assert anew.find("old", step) == anew.find("old", step) == {"nodes": 2, "version": "2"}
    assert ran.read_text() == "...."
