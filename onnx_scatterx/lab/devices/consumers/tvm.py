"""Apache TVM: its Relax importer of ONNX, compiled for the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, input_names


class TVM(Adapter):
    """Gives TVM the shapes of the inputs, and compiles with the LLVM of TVM's wheel."""

    name = "tvm"
    packages = ("apache-tvm", "onnx")

    def version(self) -> str:
        import onnx  # noqa: F401 - its importer needs it
        import tvm
        import tvm.relax.frontend.onnx

        return str(tvm.__version__)

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import onnx
        import tvm
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx

        loaded = onnx.load(str(model))
        names = input_names(loaded.graph)
        shapes = {name: list(feeds[name].shape) for name in names}
        types = {name: str(feeds[name].dtype) for name in names}
        module = relax.transform.DecomposeOpsForInference()(from_onnx(loaded, shapes, types))
        machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
        tensors = [tvm.runtime.tensor(feeds[name]) for name in names]
        result = machine["main"](*tensors)
        outputs = [result] if hasattr(result, "numpy") else list(result)
        return Answer("taken", [output.numpy() for output in outputs])


adapter = TVM()
