"""The page of models is the one that the stored results make; no PyTorch is needed here."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

from tests.helpers.support import parse

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import gallery  # type: ignore[import-not-found]
from gallery_page import LEFT_OUT, TARGETS, page  # type: ignore[import-not-found]
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
    "tract": {
        "compiler": "tract 1",
        "before": {"verdict": "refused", "why": "no ScatterND"},
        "after": {"verdict": "right", "why": ""},
    },
}


def test_the_page_is_what_the_results_make() -> None:
    """Where it differs, ``python benchmarks/gallery.py --page`` writes it."""
    _, _, shown = gallery.PAGE.read_text(encoding="utf-8").partition(gallery.BEGINS)
    assert shown == f"\n{page(RESULTS)}"


def test_there_are_enough_models_and_none_twice() -> None:
    assert sum("standard" in found for found in RESULTS.values()) >= 25
    assert len({shown.title for shown in GALLERY.values()}) == len(GALLERY)
    threads = [s.thread for s in GALLERY.values()] + [t for _, t in LEFT_OUT]
    assert [t for t in threads if t and not re.fullmatch(r"[\w.-]+/[\w.-]+#\d+", t)] == []


def test_a_row() -> None:
    text = page({"own": MADE})
    cells = "2 → 0 | 9 → 4 | 1.5 | - → yes | 200 | 160 (1.25) | 160 (1.25) | compared: 2e-07"
    assert f"| own, a file | - | {cells} |" in text
    assert "- own, a file, tract, before: no ScatterND" in text
    assert "- tract 1: 0 models of 1 taken and right before, 1 after" in text
    equal = page({"own": MADE | {"judge": {"proof": "unknown", "same": True}}})
    assert "| compared: equal |" in equal
    proven = page({"own": MADE | {"judge": {"proof": "proven", "same": True}}})
    assert "| proven |" in proven
    unequal = page({"own": MADE | {"judge": {"proof": "proven", "same": False}}})
    assert "| proven |" not in unequal


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
