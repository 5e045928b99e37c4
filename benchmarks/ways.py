"""Writes each model of some directories in every way, and reads it again with others' code.

    python benchmarks/ways.py models FOLDER [--target standard] [--only GLOB]

The ways are a path, a ModelProto and an ``onnx_ir.Model`` with ``Result.save``, external data that
are made and that are kept, the text of protobuf, the command to stdout and to a directory, and
``extract`` of each scatter. A model with every field set that ONNX Runtime loads is one of the
models.

Two things are counted for each way. A file is unreadable if ``onnx.load``, onnx's checker or ONNX
Runtime refuses it, with its default options or with optimizations off, though they take the
original. A field is lost if a model, graph, node, value, tensor, annotation or function that is
still there differs in what is said of it. The script exits with 1 if anything was counted.
"""

from __future__ import annotations

import argparse
import copy
import fnmatch
import logging
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import onnx
import onnx_ir as ir

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.files.test_every_field import together
from tests.helpers.pair import rejections
from tests.helpers.support import SCATTERS

Said = dict[tuple[Any, ...], bytes]
Way = Callable[[Path, Path], Path]
Tally = Counter[tuple[str, str]]

_COMMAND = [sys.executable, "-m", "onnx_scatterx"]
_REPLACED = {
    "ModelProto": {"graph", "functions", "opset_import", "metadata_props"},
    "GraphProto": {
        *("node", "initializer", "sparse_initializer", "input", "output", "value_info"),
        *("quantization_annotation", "metadata_props"),
    },
    "FunctionProto": {"node", "opset_import", "value_info", "metadata_props"},
    "NodeProto": {"attribute", "input", "output", "metadata_props"},
    "TensorProto": {
        *("external_data", "data_location", "raw_data", "float_data", "int32_data"),
        *("string_data", "int64_data", "double_data", "uint64_data", "metadata_props"),
    },
    "ValueInfoProto": {"metadata_props"},
    "TensorAnnotation": set[str](),
}
"""Fields that hold no notes: what is in them is compared, or runs, or does not count."""


def said(model: onnx.ModelProto) -> Said:
    """Return all that a model says of itself and of its parts, a field each."""
    found: Said = {}

    def add(place: tuple[Any, ...], message: Any) -> None:
        kind = message.DESCRIPTOR.name
        for entry in getattr(message, "metadata_props", ()):
            found[(*place, "metadata", entry.key)] = entry.value.encode()
        for field, value in message.ListFields():
            if field.name not in _REPLACED[kind]:
                parts = value if hasattr(value, "extend") else [value]
                found[(*place, field.name)] = b"|".join(
                    p.SerializeToString(deterministic=True)
                    if hasattr(p, "SerializeToString")
                    else str(p).encode()
                    for p in parts
                )

    def walk(graph: Any, place: tuple[Any, ...]) -> None:
        add(place, graph)
        for node in graph.node:
            here = (*place, "node", node.op_type, next(filter(None, node.output), node.name))
            add(here, node)
            for attribute in node.attribute:
                for i, inner in enumerate([attribute.g, *attribute.graphs]):
                    if inner.ByteSize():
                        walk(inner, (*here, attribute.name, i))
        if isinstance(graph, onnx.GraphProto):
            for value in (*graph.input, *graph.output):
                add((*place, "face", value.name), value)
            for tensor in graph.initializer:
                add((*place, "tensor", tensor.name), tensor)
            for annotation in graph.quantization_annotation:
                add((*place, "annotation", annotation.tensor_name), annotation)
        for value in graph.value_info:
            add((*place, "value", value.name), value)

    add((), model)
    walk(model.graph, ("graph",))
    for function in model.functions:
        walk(function, ("function", function.domain, function.name, function.overload))
    return found


def alive(model: onnx.ModelProto) -> dict[tuple[Any, ...], set[Any]]:
    """Return the places of a model that something can be said of.

    A node is known by its name or by its inputs: the passes may rename what a node reads.
    """
    found: dict[tuple[Any, ...], set[Any]] = {(): {""}}

    def walk(graph: Any, place: tuple[Any, ...]) -> set[str]:
        found.setdefault(place, {""})
        made, read = set(), set()
        for node in graph.node:
            here = (*place, "node", node.op_type, next(filter(None, node.output), node.name))
            found[here] = {node.name, tuple(node.input)}
            made |= set(node.output)
            read |= set(node.input)
            for attribute in node.attribute:
                for i, inner in enumerate([attribute.g, *attribute.graphs]):
                    if inner.ByteSize():
                        read |= walk(inner, (*here, attribute.name, i))
        if isinstance(graph, onnx.GraphProto):
            face = {v.name for v in (*graph.input, *graph.output)}
            found.update(((*place, "face", name), {""}) for name in face)
            read |= {v.name for v in graph.output}
            made |= face | {t.name for t in graph.initializer}
        for name in made:
            found[*place, "value", name] = {""}
        for name in made & read:
            found[*place, "tensor", name] = found[*place, "annotation", name] = {""}
        return read

    walk(model.graph, ("graph",))
    for function in model.functions:
        walk(function, ("function", function.domain, function.name, function.overload))
    return found


def lost(before: onnx.ModelProto, after: onnx.ModelProto) -> list[str]:
    """Return what is said before and not after, of what is still there.

    If another node makes a value now, names of its dims may be gone.
    """
    now, was, there = said(after), alive(before), alive(after)
    told, tells = types(before), types(after)
    other = {name for name, (node, _) in told.items() if name in tells and tells[name][0] != node}

    def stays(place: tuple[Any, ...]) -> bool:
        owner = place[:-2] if place[-2:-1] == ("metadata",) else place[:-1]
        return bool(was.get(owner, {""}) & there.get(owner, set()))

    def is_narrower(place: tuple[Any, ...]) -> bool:
        if place[:-2] != ("graph", "value") or place[-1] != "type" or place[-2] not in other:
            return False
        mine, theirs = copy.deepcopy(told[place[-2]][1]), tells[place[-2]][1]
        dims = zip(mine.tensor_type.shape.dim, theirs.tensor_type.shape.dim, strict=False)
        for dim, now_there in dims:
            if dim.dim_param and not now_there.WhichOneof("value"):
                dim.Clear()
        return bool(mine == theirs)

    return [
        "/".join(map(str, place))
        for place, value in said(before).items()
        if now.get(place) != value and stays(place) and not is_narrower(place)
    ]


def types(model: onnx.ModelProto) -> dict[str, tuple[Any, onnx.TypeProto]]:
    """Return for each value of the main graph the node that makes it, and the declared type."""
    made = {o: (node.op_type, list(node.input)) for node in model.graph.node for o in node.output}
    return {v.name: (made.get(v.name), v.type) for v in model.graph.value_info}


def unreadable(path: Path, checks: bool) -> str | None:
    """Return why onnx or ONNX Runtime refuses a file."""
    import onnxruntime as ort

    try:
        onnx.load(path)
        if checks:
            onnx.checker.check_model(path)
        for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL"):
            options = ort.SessionOptions()
            options.log_severity_level = 4
            options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
            ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except (*rejections(), onnx.checker.ValidationError, Exception) as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:160]
    return None


def ways(target: str) -> dict[str, Way]:
    """Return how a model can be written; each is given a model and the place of the output."""

    def optimized(model: Any) -> Any:
        return onnx_scatterx.optimize(model, target=target)

    def from_path(path: Path, out: Path) -> Path:
        optimized(path).save(out)
        return out

    def external(path: Path, out: Path) -> Path:
        optimized(path).save(out, external_data=True)
        return out

    def kept_outside(path: Path, out: Path) -> Path:
        given = out.with_name("given") / path.name
        given.parent.mkdir()
        onnx.save(
            onnx.load(path), given, save_as_external_data=True, location="w", size_threshold=256
        )
        return from_path(given, out)

    def message(path: Path, out: Path) -> Path:
        optimized(onnx.load(path)).save(out)
        return out

    def of_onnx_ir(path: Path, out: Path) -> Path:
        optimized(ir.load(path)).save(out)
        return out

    def text(path: Path, out: Path) -> Path:
        named = out.with_suffix(".textproto")
        optimized(path).save(named)
        onnx.save(onnx.load(named), out)
        return out

    def stdout(path: Path, out: Path) -> Path:
        command = [*_COMMAND, "optimize", path, "-o", "-", "--target", target, "-q"]
        out.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
        return out

    return {
        f.__name__: f
        for f in (from_path, external, kept_outside, message, of_onnx_ir, text, stdout)
    }


def parts(path: Path, directory: Path) -> Iterator[Path]:
    """Write the part around each scatter of the main graph that has a name, three at most."""
    names = [n.name for n in onnx.load(path).graph.node if n.op_type in SCATTERS and n.name]
    for i, name in enumerate(names[:3]):
        out = directory / f"part{i}.onnx"
        try:
            onnx_scatterx.extract(path, name).save(out)
        except ScatterXError as error:
            print(f"  {path.name}, {name}: {error}")
            continue
        yield out


def judge(tally: Tally, way: str, path: Path, out: Path, loads: bool, checks: bool) -> None:
    """Count what is wrong with a file."""
    tally[way, "files"] += 1
    why = unreadable(out, checks) if loads else None
    if why is not None:
        tally[way, "unreadable"] += 1
        print(f"  {path.name}, {way}: {why}", flush=True)
    if way == "extract" or why is not None:
        return
    before = onnx.load(path, load_external_data=False)
    if way == "of_onnx_ir":
        before = ir.to_proto(ir.from_proto(before))
    tally[way, "fields"] += len(said(before))
    gone = lost(before, onnx.load(out, load_external_data=False))
    tally[way, "lost"] += len(gone)
    for place in gone:
        print(f"  {path.name}, {way}: {place}", flush=True)


def main() -> int:
    """Write every model in every way, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--target", default="standard")
    parser.add_argument("--only", default="*", help="a glob of file names")
    given = parser.parse_args()
    logging.disable(logging.WARNING)  # of onnx_ir: what it does not write
    tally: Tally = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        (place / "set").mkdir()
        full = place / "set" / "every_field.onnx"
        full.write_bytes(together().SerializeToString())
        paths = [full, *(p for folder in given.folders for p in sorted(folder.glob("*.onnx")))]
        paths = [p for p in paths if fnmatch.fnmatch(p.name, given.only)]
        states: dict[Path, tuple[bool, bool]] = {}
        for number, path in enumerate(paths):
            loads = unreadable(path, False) is None
            states[path] = loads, unreadable(path, True) is None
            here = place / str(number)
            here.mkdir()
            for name, way in ways(given.target).items():
                try:
                    out = way(path, here / f"{name}.onnx")
                except (ScatterXError, subprocess.CalledProcessError) as error:
                    tally[name, "refused"] += 1
                    print(f"  {path.name}, {name}: {error}", flush=True)
                    continue
                judge(tally, name, path, out, *states[path])
            for out in parts(path, here):
                judge(tally, "extract", path, out, *states[path])
            shutil.rmtree(here)
        folder = place / "all"
        folder.mkdir()
        for path in paths:
            shutil.copyfile(path, folder / path.name)
        for way, option in (("directory", []), ("directory, data", ["--save-as-external-data"])):
            written = place / way
            command = [*_COMMAND, "optimize", folder, "-o", written, "--target", given.target]
            subprocess.run([*command, "-q", *option], check=False, stdout=subprocess.DEVNULL)
            for path in paths:
                if (written / path.name).exists():
                    judge(tally, way, path, written / path.name, *states[path])
                else:
                    tally[way, "refused"] += 1
    columns = ("files", "refused", "unreadable", "fields", "lost")
    print(f"{'way':18}" + "".join(f"{c:>12}" for c in columns))
    for way in dict.fromkeys(way for way, _ in tally):
        print(f"{way:18}" + "".join(f"{tally[way, c]:12}" for c in columns))
    loaded = sum(loads for loads, _ in states.values())
    print(f"{len(paths)} models, and ONNX Runtime loads {loaded} of them")
    return int(any(count for (_, what), count in tally.items() if what in ("unreadable", "lost")))


if __name__ == "__main__":
    raise SystemExit(main())
