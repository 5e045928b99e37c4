"""tpu-mlir: the compiler of Sophgo's TPUs, and its simulator of the bm1684x, in float32.

The wheels are for Python 3.10, so tpu-mlir needs an environment of its own (``--python PATH``). The
wheels contain a C library with which programs of a newer system do not start. So the path of
libraries names the system's library first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, reason_in, run_program

# When the package is imported, it changes the path of libraries: this program restores the path.
_START = """
import os, runpy, sys
libraries = os.environ["LD_LIBRARY_PATH"]
import tpu_mlir
os.environ["LD_LIBRARY_PATH"] = libraries
del sys.argv[0]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_SIGNS = ("rror:", "Exception:", "ssertion", "not support", "UNREACHABLE", "LLVM ERROR")


class Sophgo(Adapter):
    """Converts to MLIR, compiles, and runs the binary in the simulator: three programs."""

    name = "sophgo"
    packages = ("tpu-mlir[onnx,torch]", "psutil")
    processor = "bm1684x"

    def version(self) -> str:
        from importlib.metadata import version
        from importlib.util import find_spec

        for module in ("tpu_mlir", "onnx", "onnxsim", "torch", "psutil"):
            if find_spec(module) is None:
                raise ModuleNotFoundError(f"No module named {module!r}", name=module)
        return version("tpu-mlir")

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import onnx

        graph = onnx.load(str(model), load_external_data=False).graph
        environment = _environment(directory)
        np.savez(directory / "inputs.npz", **feeds)  # type: ignore[arg-type]
        steps = (
            ("model_transform.py", "--model_name", "model", "--model_def", str(model.absolute()),
             "--mlir", "model.mlir"),
            ("model_deploy.py", "--mlir", "model.mlir", "--quantize", "F32",
             "--processor", self.processor, "--model", "model.bmodel"),
            ("model_runner.py", "--input", "inputs.npz", "--model", "model.bmodel",
             "--output", "outputs.npz"),
        )  # fmt: skip
        for step in steps:
            error = _run(step, directory, environment)
            if error is not None:
                return Answer("refused", message=f"{step[0]}: {error}")
        with np.load(directory / "outputs.npz") as file:
            arrays = {name: file[name] for name in file.files}
        return Answer("taken", _named([output.name for output in graph.output], arrays))


def _run(step: tuple[str, ...], directory: Path, environment: Mapping[str, str]) -> str | None:
    """Run one of the programs; return the error if it fails."""
    program = _package() / "python" / "tools" / step[0]
    command = [sys.executable, "-c", _START, str(program), *step[1:]]
    done = run_program(command, directory, env=environment)
    if not done.returncode and (directory / step[-1]).exists():
        return None
    printed = [line for line in done.stdout.splitlines() if "[!Error]" not in line]
    return reason_in("\n".join(printed), *_SIGNS)


def _package() -> Path:
    """Return the folder of the package without importing it: an import changes the environment."""
    from importlib.util import find_spec

    spec = find_spec("tpu_mlir")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _environment(directory: Path) -> dict[str, str]:
    """Return the environment of the programs: the system's C library before that of the wheel."""
    libraries = directory / "libraries"
    libraries.mkdir()
    for name, path in _loaded_libraries().items():
        (libraries / name).symlink_to(path)
    bundled = [_package() / "lib" / part for part in (".", "capi", "third_party")]
    old = os.environ.get("LD_LIBRARY_PATH")
    folders = [str(libraries), *map(str, bundled), *([old] if old else [])]
    return {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(folders)}


def _loaded_libraries() -> dict[str, str]:
    """Return the paths of the C library with which this process runs."""
    import ctypes

    parts = ("libc.so.6", "libm.so.6", "libpthread.so.0")
    for part in parts:
        ctypes.CDLL(part)
    locations: dict[str, str] = {}
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            path = line.rstrip("\n").rpartition(" ")[2]
            if Path(path).name in parts:
                locations[Path(path).name] = path
    return locations


def _named(names: list[str], arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the outputs by their names, to which the compiler appends the operator.

    If the compiler removes a Cast, the name of its output is lost. The outputs without a name get
    the remaining arrays, in order.
    """
    named: dict[str, np.ndarray] = {}
    for name in names:
        near = [key for key in arrays if key == name or key.startswith(f"{name}_")]
        if near:
            named[name] = arrays.pop(min(near, key=len))
    lost = [name for name in names if name not in named]
    return {**named, **dict(zip(lost, arrays.values(), strict=False))}


adapter = Sophgo()
