"""Reads the tables of winml-cli: a row says whether a device compiled and ran a model of one node.

The package holds a file of Parquet for each device, operator and version of the operator. A column
is a fact of the node: an element type, the rank of an input, whether an input is a constant.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEVICES = {
    "intel-npu": "OpenVINOExecutionProvider_NPU",
    "tensorrt-rtx": "NvTensorRTRTXExecutionProvider_GPU",
    "qnn-gpu": "QNNExecutionProvider_GPU",
    "qnn": "QNNExecutionProvider_NPU",
}
"""The names of the tables of a device, by its profile."""
NEWEST = 20
"""The operator set whose versions of operators are read: exporters write none that is newer."""
_RESULT = "compile_run_success"
_FOLDER = "winml/modelkit/analyze/rules/runtime_check_rules"


@dataclass(frozen=True)
class Table:
    """What a device made of the models of one operator."""

    operator: str
    version: int
    rows: tuple[Mapping[str, Any], ...]
    """The facts of each model; ``ran`` says whether the device compiled and ran it."""


def tables(wheel: Path, device: str) -> Iterator[Table]:
    """Yield the tables of a device, in the versions that are in force in operator set 20."""
    name = re.escape(DEVICES[device])
    pattern = re.compile(rf"{_FOLDER}/{name}/(\w+?)_{name}_ai\.onnx_opset(\d+)\.parquet")
    found: dict[str, tuple[int, str]] = {}
    with zipfile.ZipFile(wheel) as package:
        for path in package.namelist():
            match = pattern.fullmatch(path)
            if match is not None and not match[1].endswith("Pattern"):
                version = int(match[2])
                if version <= NEWEST:
                    found[match[1]] = max(found.get(match[1], (0, "")), (version, path))
        for operator, (version, path) in sorted(found.items()):
            yield Table(operator, version, tuple(_rows(package.read(path))))


def _rows(content: bytes) -> Iterator[Mapping[str, Any]]:
    import pyarrow.parquet  # only this reads the files

    table = pyarrow.parquet.read_table(io.BytesIO(content))
    columns = {}
    for name in table.column_names:
        values = table[name].to_pylist()
        if name == _RESULT:
            columns["ran"] = [tuple(value) == (True, True) for value in values]
        else:
            read = {text: _value(json.loads(text)) for text in set(values)}
            columns[name] = [read[text] for text in values]
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _value(told: Mapping[str, Any]) -> Any:
    """Return a value that is written with its type, such as ``{"t": "int", "v": 3}``."""
    value: Any = told.get("v")
    return tuple(map(_value, value)) if told["t"] == "tuple" else value
