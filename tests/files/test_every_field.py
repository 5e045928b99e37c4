"""A file that is written has every field of the message that was read, whatever onnx may add to it.

A field is set in each message of a model, one at a time, by the descriptors of protobuf. The model
is optimized and written in each way, and read again by onnx alone.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import onnx
import onnx.parser
import onnxruntime
import pytest

import onnx_scatterx
from onnx_scatterx.errors import ModelError
from onnx_scatterx.files import io
from onnx_scatterx.files.parse import difference
from onnx_scatterx.processes.scratch_folders import scratch
from tests.files.many_messages import model
from tests.helpers.examples import are_all, daily
from tests.helpers.protobuf_fields import Path_, absent, at, messages, set_field


@cache
def accepted(path: Path_, name: str) -> onnx.ModelProto | None:
    """Return the model with a field set, if that is a model."""
    changed = model()
    set_field(at(changed, path), name)
    with scratch() as directory:
        (directory / "m.onnx").write_bytes(changed.SerializeToString())
        try:
            io.load(directory / "m.onnx")
        except (ModelError, NotImplementedError):  # with this field it is no model
            return None
    return changed


FIELDS = absent(model())


def kept_part(message: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without what the optimizer replaces: the scatter, and the types near it."""
    part = onnx.ModelProto()
    part.CopyFrom(message)
    by_output = {node.output[0]: node for node in part.graph.node}
    kept = [by_output[name] for name in "pkqrz"]
    del part.graph.node[:]
    part.graph.node.extend(kept)
    known = {"q", "gone"}
    values = [v for v in part.graph.value_info if v.name in known]
    del part.graph.value_info[:]
    part.graph.value_info.extend(values)
    tensors = [t for t in part.graph.initializer if t.name in ("w", "s")]
    del part.graph.initializer[:]
    part.graph.initializer.extend(tensors)
    return part


def lost(before: onnx.ModelProto, after: onnx.ModelProto) -> str | None:
    return difference(kept_part(before), kept_part(after))


def from_path(given: onnx.ModelProto, directory: Path) -> onnx.ModelProto:
    (directory / "in.onnx").write_bytes(given.SerializeToString())
    onnx_scatterx.optimize(directory / "in.onnx", target="standard").save(directory / "out.onnx")
    return onnx.load(directory / "out.onnx")


def from_memory(given: onnx.ModelProto, directory: Path) -> onnx.ModelProto:
    onnx_scatterx.optimize(given, target="standard").save(directory / "out.textproto")
    return onnx.load(directory / "out.textproto")


@pytest.mark.slow
@pytest.mark.parametrize("way", [from_path, from_memory])
def test_every_field_is_kept(
    way: Callable[[onnx.ModelProto, Path], onnx.ModelProto], tmp_path: Path
) -> None:
    """Daily, each way has a tenth of the fields."""
    faults = []
    tried = removed = 0
    chosen = daily(map(str, FIELDS), 1 if are_all() else 10, way.__name__)
    fields = [field for field in FIELDS if str(field) in chosen]
    for path, name in fields:
        given = accepted(path, name)
        if given is None or (way is from_memory and name == "unknown"):
            continue
        tried += 1
        try:
            written = way(given, tmp_path)
        except Exception as error:
            faults.append(f"{path} {name}: {error!r}")
            continue
        removed += "ScatterND" not in {node.op_type for node in written.graph.node}
        found = lost(given, written)
        if found is not None:
            faults.append(f"{path} {name}: {found}")
    assert not faults, "\n".join(faults)
    assert tried > len(fields) / 3
    assert removed > tried * 0.9


@cache
def together() -> onnx.ModelProto:
    """Return the model with all fields set that can be set beside each other, and that loads."""
    full = model()
    with scratch() as directory:
        for path, name in FIELDS:
            if accepted(path, name) is None:
                continue
            trial = onnx.ModelProto()
            trial.CopyFrom(full)
            try:
                set_field(at(trial, path), name)
            except IndexError:  # another field has replaced its message
                continue
            try:
                onnxruntime.InferenceSession(
                    trial.SerializeToString(), providers=["CPUExecutionProvider"]
                )
                (directory / "m.onnx").write_bytes(trial.SerializeToString())
                io.load(directory / "m.onnx")
            except Exception:  # with this field it is no model that can be loaded
                continue
            full = trial
    return full


@pytest.mark.full
@pytest.mark.slow
def test_all_of_them_together(tmp_path: Path) -> None:
    """Fields that can be set beside each other are set, and the file runs."""
    full = together()
    written = from_path(full, tmp_path)
    assert lost(full, written) is None
    assert len(list(messages(full))) > 1.5 * len(list(messages(model())))
    onnxruntime.InferenceSession(tmp_path / "out.onnx", providers=["CPUExecutionProvider"])
