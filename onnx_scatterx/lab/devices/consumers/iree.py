"""IREE: its importer of ONNX and its compiler, for the CPU by LLVM."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer, input_names, reason_in


class IREE(Adapter):
    """Imports the file to MLIR in this process, compiles it and runs its one function."""

    name = "iree"
    packages = ("iree-base-compiler[onnx]", "iree-base-runtime")

    def version(self) -> str:
        from importlib.metadata import version

        import iree.compiler
        import iree.runtime  # noqa: F401 - is it there?
        import onnx  # noqa: F401 - its importer needs it

        return version("iree-base-compiler")

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import iree.compiler as compiler
        import iree.runtime as runtime
        import onnx
        from iree.compiler.tools.import_onnx import __main__ as importer

        text = directory / "model.mlir"
        importer.main(importer.parse_arguments([str(model), "-o", str(text)]))
        try:
            binary = compiler.compile_file(
                str(text),
                target_backends=["llvm-cpu"],
                input_type="onnx",
                extra_args=["--iree-llvmcpu-target-cpu=host"],
            )
        except compiler.CompilerToolError as error:
            return Answer("refused", message=_reason(str(error)))
        config = runtime.Config("local-task")
        module = runtime.load_vm_module(
            runtime.VmModule.copy_buffer(config.vm_instance, binary), config
        )
        names = input_names(onnx.load(str(model), load_external_data=False).graph)
        exported = [name for name in module.vm_module.function_names if name[:2] != "__"]
        function = next(name for name in exported if not name.endswith("$async"))
        outputs = module[function](*(feeds[name] for name in names))
        if not isinstance(outputs, (tuple, list)):
            outputs = [outputs]
        return Answer("taken", [np.array(output) for output in outputs])


def _reason(output: str) -> str:
    r"""Return the first line with an error, without the folder of the file.

    >>> _reason("Traceback\nwork/model.mlir:7:10: error: failed to legalize")
    'model.mlir:7:10: error: failed to legalize'
    """
    return re.sub(r"^\S*[/\\](?=model\.mlir:)", "", reason_in(output, "error:", "Error:"))


adapter = IREE()
