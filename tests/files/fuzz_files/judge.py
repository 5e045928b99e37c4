"""What must hold of every case."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import onnx

from tests.files.fuzz_files.cases import Case
from tests.helpers.isolation import Ended

_STATUSES = (0, 1, 2)
_OURS = "onnx-scatterx: "


def faults(case: Case, ended: Ended, directory: Path) -> Iterator[str]:
    """Yield what is wrong with how a command ended."""
    if ended.status not in _STATUSES:
        yield f"status {ended.status}"
    lines = ended.err.splitlines()
    named = {line.removeprefix(_OURS).partition(": ")[0] for line in lines}
    if bool(lines) != (ended.status != 0) or len(named) < len(lines):  # one for each model
        yield f"{len(lines)} lines on stderr"
    elif not all(line.startswith(_OURS) for line in lines):
        yield "a line that is not ours"
    if "this is a bug" in ended.err or "Traceback" in ended.err:
        yield "a bug"
    if not all(line.isprintable() for line in re.split("[\n\t]", ended.out + ended.err)):
        yield "something that cannot be seen"
    if "--json" in case.arguments and ended.out:
        try:
            json.loads(ended.out)
        except ValueError:
            yield "JSON that cannot be read"
    yield from _files(case, ended, directory)


def _files(case: Case, ended: Ended, directory: Path) -> Iterator[str]:
    for name, content in case.files.items():
        if not (directory / name).exists() or (directory / name).read_bytes() != content:
            yield f"{name} has changed"
    known = set(case.files)
    made = [p for p in directory.rglob("*") if p.is_file()]
    new = [p for p in made if str(p.relative_to(directory)) not in known]
    is_many = (directory / "in").is_dir()
    if ended.status == 2 and new and not is_many:
        yield f"{new[0].name} is written, and it could not run"
    for path in new:
        if path.name.startswith("."):
            yield f"{path.name} is left behind"
        if path.suffix == ".onnx":
            onnx.load(path)
