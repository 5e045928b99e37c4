"""Cases: what stands in a directory, and a command line about it."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx

from tests.files.fuzz_files.mutation import change_bytes, change_fields, change_text

ROOT = Path(__file__).parents[3]
MODELS = ROOT / "models"
_TARGETS = ("scatterx", "standard", "ort-cpu", "qnn", "rknn", "coreml", "p.toml")
_PROFILE = """name = "p"
description = "a device"
base = "standard"
avoid = ["ScatterND", "NonZero"]
max_rank = 4
static_only = true
dense = true
dense_limit = 100000
"""
_PARTS = (
    "N", "x", "seq", "n", "0", "1", "7", "-3", "1000000000", "9" * 30, "<", "<=", ">", ">=", "==",
    "!=", "=", "%", "% 8 == 0", ":", ",", "*", "+", "-", "//", "(", ")", "[0]", " ", " " * 2000,
    "nonnegative", "contiguous", "unique", "\x1b", "\n",
)  # fmt: skip


@dataclass
class Case:
    """A command line, and the files that it is about."""

    arguments: list[str]
    files: dict[str, bytes]
    environment: dict[str, str] = field(default_factory=dict)

    def write(self, directory: Path) -> None:
        """Put the files into an empty directory."""
        for name, content in self.files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def case(seed: int, number: int, models: Path = MODELS) -> Case:
    """Return a case, the same for the same numbers."""
    rng = Random(f"{seed}.{number}")
    kinds: tuple[tuple[Callable[[Random, Path], Case], int], ...] = (
        (_of_model, 60), (_of_text, 8), (_of_profile, 4), (_of_arrays, 5), (_of_assumption, 8),
        (_of_directory, 3),
    )  # fmt: skip
    (make,) = rng.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])
    return make(rng, models)


@functools.cache
def _files(models: Path) -> tuple[Path, ...]:
    return tuple(sorted(models.rglob("*.onnx")))


def _two(rng: Random, models: Path) -> tuple[bytes, bytes]:
    first, second = rng.sample(_files(models), 2)
    return first.read_bytes(), second.read_bytes()


def _broken(rng: Random, models: Path) -> tuple[bytes, bytes]:
    """Return a model with mistakes, and the same without."""
    content, other = _two(rng, models)
    if rng.random() < 0.15:
        return change_bytes(content, other, rng), content
    model, donor = onnx.load_from_string(content), onnx.load_from_string(other)
    change_fields(model, donor, rng)
    return model.SerializeToString(), content


def _of_model(rng: Random, models: Path) -> Case:
    broken, content = _broken(rng, models)
    return Case(_command(rng, "m.onnx"), {"m.onnx": broken, "good.onnx": content})


def _command(rng: Random, name: str) -> list[str]:
    target = ["--target", rng.choice(_TARGETS[:-1])] if rng.random() < 0.6 else []
    flags = [f for f in ("--gathers", "--deterministic", "--distrust-dims") if rng.random() < 0.2]
    common = [*target, *flags]
    report = ["--report", rng.choice(("r.json", "r.html"))] if rng.random() < 0.3 else []
    opset = ["--opset", str(rng.choice((9, 18, 21, 24)))] if rng.random() < 0.15 else []
    verify = ["--verify", "--samples", "2"] if rng.random() < 0.15 else []
    pair = rng.choice(([name, "good.onnx"], ["good.onnx", name], [name, name]))
    return rng.choice(
        (
            ["optimize", name, "-o", "out.onnx", *common, *report, *opset, *verify],
            ["optimize", name, "-o", "out.onnx", *common, *report],
            ["inspect", name, *common],
            ["inspect", name, *common, "--json"],
            ["explain", name, *common],
            ["verify", *pair, "--samples", "2", *flags[2:]],
            ["run", name, "--output", "out.npz"],
            ["run", name, "--no-library"],
            ["bench", *pair, "--rounds", "6"],
            ["bench", name, "--target", "standard,scatterx", "--rounds", "6", "--json"],
        )
    )


def _of_text(rng: Random, models: Path) -> Case:
    """Make mistakes in a model that is written as text."""
    content, other = (onnx.load_from_string(c) for c in _two(rng, models))
    name = rng.choice(("m.onnxtxt", "m.textproto", "m.json"))
    form = onnx.serialization.registry.get_format_from_file_extension(name[1:])
    assert form is not None
    writer = onnx.serialization.registry.get(form)
    text, other_text = (_as_bytes(writer.serialize_proto(m)) for m in (content, other))
    files = {name: change_text(text, other_text, rng), "good.onnx": content.SerializeToString()}
    return Case(_command(rng, name), files)


def _as_bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _of_profile(rng: Random, models: Path) -> Case:
    content, _ = _two(rng, models)
    profile = change_text(_PROFILE.encode(), _PROFILE.encode(), rng)
    files = {"m.onnx": content, "p.toml": profile}
    command = rng.choice((["inspect", "m.onnx"], ["optimize", "m.onnx", "-o", "out.onnx"]))
    return Case([*command, "--target", "p.toml"], files)


def _of_arrays(rng: Random, models: Path) -> Case:
    content, _ = _two(rng, models)
    (archive, array), arguments = _arrays(content), []
    names = [v.name for v in onnx.load_from_string(content).graph.input]
    arguments = rng.choice((["a.npz"], [f"{name}=a.npy" for name in names]))
    files = {
        "m.onnx": content,
        "a.npz": change_bytes(archive, array, rng),
        "a.npy": change_bytes(array, archive, rng),
    }
    command = rng.choice((["run", "m.onnx"], ["bench", "m.onnx", "m.onnx", "--rounds", "6"]))
    return Case([*command, "--input", *arguments], files)


def _arrays(content: bytes) -> tuple[bytes, bytes]:
    """Return inputs of a model as a .npz, and one of them as a .npy."""
    arrays: dict[str, Any] = {}
    for value in onnx.load_from_string(content).graph.input:
        shape = [d.dim_value or 4 for d in value.type.tensor_type.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        arrays[value.name] = np.zeros(shape, dtype)
    archive, array = io.BytesIO(), io.BytesIO()
    np.savez(archive, **{name.replace("/", "_"): a for name, a in arrays.items()})
    np.save(array, next(iter(arrays.values()), np.zeros(3)))
    return archive.getvalue(), array.getvalue()


def _of_assumption(rng: Random, models: Path) -> Case:
    content, _ = _two(rng, models)
    graph = onnx.load_from_string(content).graph
    dims = [d.dim_param for v in graph.input for d in v.type.tensor_type.shape.dim if d.dim_param]
    names = [*dims, *(v.name for v in graph.input)] or ["x"]
    options = []
    for _ in range(rng.choice((1, 1, 2, 20))):
        parts = [rng.choice(_PARTS) for _ in range(rng.choice((2, 3, 5, 40)))]
        if rng.random() < 0.8:
            parts.insert(0, rng.choice(names))
        options += [f"--assume={''.join(parts)}"]
    command = rng.choice(
        (
            ["inspect", "m.onnx"],
            ["optimize", "m.onnx", "-o", "out.onnx", "--verify", "--samples", "2"],
            ["explain", "m.onnx"],
            ["verify", "m.onnx", "m.onnx", "--samples", "2"],
        )
    )
    return Case([*command, *options], {"m.onnx": content})


def _of_directory(rng: Random, models: Path) -> Case:
    broken = [_broken(rng, models) for _ in range(3)]
    files: Mapping[str, bytes] = {
        **{f"in/m{i}.onnx": bad for i, (bad, _) in enumerate(broken)},
        "in/deep/good.onnx": broken[0][1],
    }
    options = ["--jobs", "1", *(["--report", "r.json"] if rng.random() < 0.5 else [])]
    return Case(["optimize", "in", "-o", "out", *options], dict(files))
