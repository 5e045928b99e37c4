"""ncnn, on the CPU: pnnx converts the file to a network, and ncnn runs the network.

Weights and numbers are kept as float32, so that differences come from a layer.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, captured, reason_in, run_program

_INTEGERS = frozenset({"i8", "u8", "i16", "i32", "i64", "bool"})  # as pnnx writes element types


class Ncnn(Adapter):
    """Converts the file for the sizes of the inputs."""

    name = "ncnn"
    packages = ("--no-deps", "ncnn", "pnnx", "numpy")  # pnnx asks for PyTorch, and needs none
    one_file = True

    def version(self) -> str:
        from importlib.metadata import version

        import ncnn

        converter()
        return str(ncnn.__version__) if hasattr(ncnn, "__version__") else version("ncnn")

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import ncnn

        refusal = _converted(model, feeds, directory)
        if refusal is not None:
            return refusal
        code = (directory / "ncnn.py").read_text(encoding="utf-8")
        types = _output_types((directory / "pnnx.param").read_text(encoding="utf-8"))
        with captured() as printed, ncnn.Net() as net:
            for option in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage"):
                setattr(net.opt, f"use_{option}", False)
            net.opt.use_vulkan_compute = False
            for load, file in (net.load_param, "ncnn.param"), (net.load_model, "ncnn.bin"):
                if load(str(directory / file)) != 0:
                    why = reason_in(printed(), otherwise=f"it cannot load {file}")
                    return Answer("refused", message=why)
            outputs: list[np.ndarray] = []
            with net.create_extractor() as extractor:
                arrays = {f"in{n}": _array(array) for n, array in enumerate(feeds.values())}
                for blob in net.input_names():
                    axis = _batch_axis(code, rf"\b{blob}\.numpy\(\), batch_index=(\d+)")
                    mat = ncnn.Mat(arrays[blob], batch_index=axis).clone()
                    if extractor.input(blob, mat) != 0:
                        return Answer("refused", message=reason_in(printed()))
                for number, kind in enumerate(types):
                    status, mat = extractor.extract(f"out{number}")
                    if status != 0:
                        why = reason_in(printed(), otherwise="it does not run")
                        return Answer("refused", message=why)
                    axis = _batch_axis(code, rf"\bout{number}\.numpy\(batch_index=(\d+)")
                    outputs.append(np.array(_numbers(mat, kind, axis)))
        return Answer("taken", outputs)


def converter() -> Path:
    """Return the program pnnx of the package pnnx, whose Python module would need PyTorch."""
    spec = find_spec("pnnx")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("No module named 'pnnx'", name="pnnx")
    name = "pnnx.exe" if os.name == "nt" else "pnnx"
    return Path(spec.origin).parent / name


def _converted(model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer | None:
    """Write the network as ncnn.param and ncnn.bin, or return why pnnx cannot."""
    folder = directory / "model"
    folder.mkdir()
    _link(model, folder)
    arguments = ["fp16=0"]
    if feeds:
        files = []
        for number, array in enumerate(feeds.values()):
            files.append(directory / f"in{number}.npy")
            np.save(files[-1], array)
        arguments.append("input=" + ",".join(map(str, files)))
    names = "pnnx.param pnnx.bin ncnn.param ncnn.bin pnnx.py ncnn.py pnnx.onnx"
    arguments += [f"{name.replace('.', '')}={directory / name}" for name in names.split()]
    command = [str(converter()), str(folder / "to_convert.onnx"), *arguments]
    done = run_program(command, directory)
    # pnnx prints "ignore" for a layer that it writes but cannot translate, and that ncnn lacks.
    lost = re.findall(r"^ignore (\S+) (\S+)", done.stdout, re.MULTILINE)
    if lost:
        operators = ", ".join(dict.fromkeys(operator for operator, _ in lost))
        return Answer("refused", message=f"pnnx does not translate {operators}", node=lost[0][1])
    if done.returncode != 0 or not (directory / "ncnn.param").exists():
        return Answer("refused", message=f"{_end(done.returncode)}: {reason_in(done.stdout)}")
    return None


def _end(status: int) -> str:
    """Return how pnnx ended. A signal is named, since SIGKILL and SIGXCPU mean memory and time."""
    if status < 0:
        return f"pnnx was killed by {signal.Signals(-status).name}"
    return f"pnnx ended with exit status {status}"


def _link(model: Path, folder: Path) -> None:
    """Link a model and its data into a folder in which pnnx may write."""
    for file in model.parent.iterdir():
        if file.is_file() and not file.name.startswith("to_convert."):
            (folder / file.name).symlink_to(file.absolute())
    (folder / "to_convert.onnx").symlink_to(model.absolute())


def _array(array: np.ndarray) -> np.ndarray:
    """Return an input as ncnn takes it: as int32 or float32."""
    kind = np.float32 if array.dtype.kind == "f" else np.int32
    return np.ascontiguousarray(array.astype(kind))


def _output_types(text: str) -> list[str]:
    """Return the element types of the outputs, as the intermediate network of pnnx has them."""
    types: dict[int, str] = {}
    for line in text.splitlines():
        match = re.match(r"pnnx\.Output\s+out(\d+)\s+1 0 (\S+)", line)
        if match:
            blob = re.escape(match[2])
            kind = re.search(rf"#{blob}=\([^)]*\)(\w+)", line)
            types[int(match[1])] = kind[1] if kind else "f32"
    return [types[number] for number in sorted(types)]


def _batch_axis(code: str, pattern: str) -> int:
    """Return the batch axis in the example that pnnx writes; 233 means no batch axis."""
    match = re.search(pattern, code)
    return int(match[1]) if match else 233


def _numbers(mat: Any, kind: str, axis: int) -> np.ndarray:
    """Return a tensor of ncnn as an array. ``kind`` says whether its 32 bits are integers."""
    array: np.ndarray = mat.numpy(batch_index=axis)
    if kind in _INTEGERS and array.dtype == np.float32:
        return array.view(np.int32)
    return array


adapter = Ncnn()
