"""The cells of the gallery: what a compiler answers about one file, and where cells are missing.

A cell is stored under the compiler, its version and the hash of the file, so any run of
``benchmarks/gallery.py``, on any machine, goes on where the last one ended. A file without notes of
its exporter, from seeded weights, has the same bytes wherever it is made.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from gallery_rows import GALLERY, Shown
from real_steps import opened

import onnx_scatterx

EVERY = ("ncnn", "mnn", "rknn", "opencv", "tract", "openvino")
"""The compilers that are given all models."""

SOME = ("qnn", "tvm", "iree", "tflite", "ortweb")
"""The compilers that are given `CHOSEN` only, as they take long or take nearly all."""

CHOSEN = (
    *("yolov8n_pose", "conditional_detr_r50", "swin_tiny", "mvitv2_tiny", "groupvit"),
    *("speech_to_text_small", "wav2vec2_base", "marian", "bart_base", "t5_base"),
    *("whisper_small", "smollm2_360m_caches"),
)

ORIGINAL = "original"
FORMS = (ORIGINAL, "own", "standard")
"""The files that a compiler is given: the export, and those for its profile and `standard`."""

LARGEST = 1e9  # bytes of a file that is given to compilers here
TOO_LARGE = "too large here"
TAKEN = ("right", "close", "tied")
Cell = dict[str, Any]


def planned(compiler: str) -> list[str]:
    """Return the rows that a compiler is given."""
    return list(GALLERY) if compiler in EVERY else [row for row in GALLERY if row in CHOSEN]


def too_large(found: dict[str, Any]) -> bool:
    """Return whether the export of a row is too large for compilers here, by its known size."""
    return bool(found.get("size", {}).get("MB", 0) * 1e6 > LARGEST)


def hashed(path: str | Path) -> str:
    """Return the hash of a file."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:24]


def without_notes(model: onnx.ModelProto) -> None:
    """Remove what exporters note: texts, and metadata with paths of the machine."""
    model.doc_string = ""
    del model.metadata_props[:]
    for part in (model.graph, *model.functions):
        part.doc_string = ""
        for each in (*part.node, *part.value_info):
            each.doc_string = ""
            del each.metadata_props[:]


class Cells:
    """All cells, in a file with one of them in each line."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._stamp = 0
        self._cells: dict[str, Cell] = {}
        self._by_file: dict[str, list[Cell]] = {}

    def of(self, compiler: str, file: str) -> Cell | None:
        """Return what the newest version of a compiler that was asked said of a file."""
        self._read()
        found = self._by_file.get(_key(compiler, "", file), [])
        return max(found, key=lambda cell: _numbers(cell["version"]), default=None)

    def add(self, compiler: str, file: str, cell: Cell) -> None:
        """Store a cell."""
        self._read()
        cells = self._cells | {_key(compiler, cell["version"], file): cell}
        lines = (f"{json.dumps(key)}: {json.dumps(cells[key])}" for key in sorted(cells))
        beside = self.place.with_suffix(".new")
        beside.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        beside.replace(self.place)

    def _read(self) -> None:
        """Read the file again if it has changed."""
        stamp = self.place.stat().st_mtime_ns if self.place.exists() else 0
        if stamp == self._stamp:
            return
        self._stamp, self._by_file = stamp, {}
        self._cells = json.loads(self.place.read_text())
        for key, cell in self._cells.items():
            compiler, file = key.partition(" ")[0], key.rpartition(" ")[2]
            self._by_file.setdefault(_key(compiler, "", file), []).append(cell)


def _key(compiler: str, version: str, file: str) -> str:
    return f"{compiler} {version} {file}"


def _numbers(version: str) -> list[int]:
    """Return a version as it is ordered: 1.10 is newer than 1.9."""
    parts = "".join(c if c.isdigit() else " " for c in version).split()
    return [int(part) for part in parts]


def form(model: str, name: str, place: str, shown: Shown | None) -> dict[str, Any]:
    """Optimize a model for a compiler's profile, or for a target.

    Return the hash, and what `--strict=taken` counts.
    """
    options: dict[str, Any] = {"assume": shown.assumed(name), "fix": shown.fixed} if shown else {}
    result = onnx_scatterx.optimize(model, target=_profile(name), **options)
    result.save(place)
    refused = [str(v) for v in result.report.violations if not v.on_host]
    first = [text[:160] for text in refused[:1]]
    return {"sha": hashed(place), "refused": len(refused), "first": first}


def truth(model: str, feeds: str, place: str) -> dict[str, Any]:
    """Run a model without graph optimizations; fail if no answer about its outputs means anything.

    They are constants; of a single number nobody can say that it is one. Or ONNX Runtime's own
    optimizations change them, as where last bits decide which of many near elements are the first.
    """
    from onnx_scatterx.lab.devices.checking import truths
    from onnx_scatterx.lab.devices.nearness import nearness

    taken = given(model, feeds)
    found = truths(Path(model), [taken], timeout=600)[0]
    if all(array.size != 1 and (array == array.flat[:1]).all() for array in found.values()):
        return {"failed": "its outputs are constant, so that no answer about it means anything"}
    again = dict(zip(found, opened(model, "default").run(list(found), taken), strict=True))
    if nearness(found, again).grade == "wrong":
        return {"failed": "ONNX Runtime's optimizations change its outputs: last bits decide them"}
    np.savez(place, **found)  # type: ignore[arg-type]
    return {"sha": hashed(model), "outputs": len(found)}


def given(model: str, feeds: str) -> dict[str, np.ndarray]:
    """Return the inputs of a file, in its order."""
    with np.load(feeds) as file:
        arrays = dict(file)
    names = [value.name for value in onnx.load(model, load_external_data=False).graph.input]
    return {name: arrays[name] for name in names if name in arrays}


def version_of(compiler: str, python: str) -> dict[str, Any]:
    """Return the version of a compiler."""
    from onnx_scatterx.lab.devices.consumer import ConsumerProcess, consumer_of

    with ConsumerProcess(consumer_of(compiler), python) as process:
        return {"version": process.version}


def ask(compiler: str, python: str, file: str, folder: str, limit: float) -> Cell:
    """Give a file to a compiler, and return the cell."""
    from onnx_scatterx.lab.devices.checking import asked
    from onnx_scatterx.lab.devices.consumer import ConsumerProcess, consumer_of

    consumer = consumer_of(compiler)
    original = Path(folder, "model.onnx")
    feeds = given(str(original), str(Path(folder, "feeds.npz")))
    with np.load(Path(folder, "truth.npz")) as arrays:
        expected = dict(arrays)
    names = {n.name for n in onnx.load(original, load_external_data=False).graph.node}
    now = {n.name for n in onnx.load(file, load_external_data=False).graph.node}
    with ConsumerProcess(consumer, python, limit) as process:
        check = asked(process, consumer, Path(file), feeds, expected, now - names)
    found = {name: told for name, told in asdict(check).items() if told not in (None, "", ())}
    del found["consumer"]
    return {**found, "limit": limit}


def forms_of(found: dict[str, Any], compiler: str) -> dict[str, str]:
    """Return the files that a compiler is given of a row, by the hash: those that are known.

    The result for `standard` is given to it only if it differs from both others.
    """
    hashes = {
        ORIGINAL: found.get("truth", {}).get("sha"),
        "own": found.get(f"form {compiler}", {}).get("sha"),
        "standard": found.get("form standard", {}).get("sha"),
    }
    files = {name: sha for name, sha in hashes.items() if sha}
    if list(files.values()).count(files.get("standard", "")) > 1:
        del files["standard"]
    return files


@dataclass(frozen=True)
class Asker:
    """Fills the cells of a row, each in a process of its own."""

    cells: Cells
    compilers: dict[str, str]
    limit: float
    again: frozenset[str]
    forms: tuple[str, ...] = FORMS
    code: str = ""
    """The version of the package that must have made the files; "": any."""

    def todo(self, row: str, found: dict[str, Any]) -> bool:
        """Return whether a cell of a row may be missing."""
        if too_large(found) or ("failed" in found.get("truth", {}) and "truth" not in self.again):
            return False
        return any(self.missing(compiler, row, found) for compiler in self.compilers)

    def missing(self, compiler: str, row: str, found: dict[str, Any]) -> bool:
        """Return whether a cell of a row and a compiler may be missing."""
        if compiler in (*EVERY, *SOME) and row in GALLERY and row not in planned(compiler):
            return False
        files = forms_of(found, compiler)
        made = [found.get(f"form {target}", {}).get("version") for target in (compiler, "standard")]
        return (
            "truth" not in found
            or None in made
            or any(self.code not in ("", version) for version in made)
            or compiler in self.again
            or any(self.cells.of(compiler, files[f]) is None for f in self.forms if f in files)
        )

    def fill(self, record: Any, shown: Shown | None, apart: Any) -> None:
        """Ask all compilers about the files of a row that have no cell yet."""
        if too_large(record.known()):
            return
        folder = record.folder
        model, feeds = str(folder / "model.onnx"), str(folder / "feeds.npz")
        place = str(folder / "truth.npz")
        again = "truth" in self.again or not Path(place).exists()
        found = record.find("truth", truth, model, feeds, place, versioned=False, again=again)
        if "failed" in found:
            return
        for compiler in self.compilers:
            if not self.missing(compiler, folder.name, record.known()):
                continue
            paths = {ORIGINAL: model}
            for name, target in (("own", compiler), ("standard", "standard")):
                paths[name] = str(folder / f"form {Path(target).stem}.onnx")
                work = form, model, target, paths[name], shown
                record.find(f"form {target}", *work, again=not Path(paths[name]).exists())
            files = forms_of(record.known(), compiler)
            for name in (name for name in self.forms if name in files):
                if self.cells.of(compiler, files[name]) is None or compiler in self.again:
                    self._fill(compiler, files[name], Path(paths[name]), folder, apart)
            Path(paths["own"]).unlink(missing_ok=True)

    def _fill(self, compiler: str, sha: str, file: Path, folder: Path, apart: Any) -> None:
        python = self.compilers[compiler]
        if file.stat().st_size > LARGEST:
            cell = apart(version_of, compiler, python)
            cell |= {} if "failed" in cell else {"verdict": TOO_LARGE}
        else:
            cell = apart(ask, compiler, python, str(file), str(folder), self.limit)
        print(folder.name, compiler, file.stem, cell, flush=True)
        if "failed" not in cell:  # that is a failure of this machine, not an answer
            cell["message"] = _shortened(cell.get("message", ""))
            self.cells.add(compiler, sha, cell)


def _profile(target: str) -> str:
    """Return the profile of a consumer, or the target of this name."""
    from onnx_scatterx.lab.devices.consumer import consumer_names, consumer_of

    is_consumer = target in consumer_names() or target.endswith(".py")
    return consumer_of(target).adapter.profile if is_consumer else target


def _shortened(message: str) -> str:
    from gallery_page import shortened

    return shortened(message)
