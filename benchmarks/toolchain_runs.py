"""What one toolchain makes of the modules: ``toolchains.py`` runs this in its environment.

    cd benchmarks; python -m toolchain_runs TOOL MODULE/FORM ...

Each module is exported, and lowered as it is (``before``) or after ``remove_scatters`` (``after``),
and gives a line of JSON: how many partitions and nodes the delegate takes, which operators are
left, or why the toolchain refuses the program; and the largest difference from eager PyTorch.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

Found = dict[str, Any]
Tensors = tuple[Any, ...]


def copies(given: Tensors) -> Tensors:
    """Return copies of tensors, since a program may write to its inputs."""
    return tuple(tensor.clone() for tensor in given)


def listed(outputs: Any) -> list[Any]:
    """Return outputs as a list."""
    return list(outputs) if isinstance(outputs, tuple | list) else [outputs]


def shares(lowered: Any) -> Found:
    """Count the partitions of a lowered program, their nodes, and the operators that are left."""
    from executorch.devtools.backend_debug import get_delegation_info

    found = get_delegation_info(lowered.exported_program().graph_module)
    left = {
        name.removesuffix("_default").removesuffix("_tensor"): count.non_delegated
        for name, count in found.delegation_by_operator.items()
        if count.non_delegated and name != "getitem"  # it takes the outputs of a partition
    }
    return {
        "partitions": found.num_delegated_subgraphs,
        "taken": found.num_delegated_nodes,
        "left": dict(sorted(left.items())),
    }


def xnnpack(program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Lower to XNNPACK in float32, and run the file in ExecuTorch."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower
    from executorch.runtime import Runtime

    lowered = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()])
    found = shares(lowered)
    content = lowered.to_executorch().buffer  # what is loaded reads it, and owns its outputs
    loaded = Runtime.get().load_program(content)
    method = loaded.load_method("forward")
    return found, [output.clone() for output in method.execute(list(copies(given)))]


def arm(partitioner: Any, program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Lower by a partitioner of Arm's, and run the lowered program in PyTorch."""
    from executorch.exir import to_edge_transform_and_lower

    lowered = to_edge_transform_and_lower(program, partitioner=[partitioner])
    return shares(lowered), listed(lowered.exported_program().module()(*copies(given)))


def tosa(program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Lower to TOSA 1.0 in float32."""
    from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
    from executorch.backends.arm.tosa.partitioner import TOSAPartitioner

    return arm(TOSAPartitioner(TosaCompileSpec("TOSA-1.0+FP")), program, given)


def ethos(program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Quantize to int8, and compile for an Ethos-U55 by Vela.

    The program is made functional first: PyTorch quantizes a slice, and a write to what it has
    quantized is lost.
    """
    import torch
    from executorch.backends.arm.ethosu import EthosUCompileSpec, EthosUPartitioner
    from executorch.backends.arm.quantizer import (
        EthosUQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    spec = EthosUCompileSpec("ethos-u55-128")
    quantizer = EthosUQuantizer(spec)
    quantizer.set_global(get_symmetric_quantization_config())
    functional = program.run_decompositions({})
    prepared = prepare_pt2e(functional.module(check_guards=False), quantizer)
    prepared(*copies(given))
    quantized = torch.export.export(convert_pt2e(prepared), copies(given))
    return arm(EthosUPartitioner(spec), quantized, given)


def litert(program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Convert to a file of LiteRT, and run it on a CPU with LiteRT's XNNPACK delegate."""
    import litert_torch
    import torch
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    model = litert_torch.convert(program.module(), copies(given))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model.tflite"))
        model.export(path)
        plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        names = [
            [op["op_name"] for op in run._get_ops_details()]
            for run in (
                Interpreter(path, num_threads=1, experimental_op_resolver_type=plain),
                allocated(Interpreter(path, num_threads=1)),
            )
        ]
    partitions = names[1].count("DELEGATE")
    found = {
        "partitions": partitions,
        "nodes": len(names[0]),
        "operators": dict(sorted(Counter(names[0]).items())),
    }
    whole = {torch.int64: torch.int32}  # the file has no input of int64
    fed = (tensor.to(whole.get(tensor.dtype, tensor.dtype)) for tensor in copies(given))
    outputs = [torch.from_numpy(array.copy()) for array in listed(model(*fed))]
    return found, outputs


def allocated(interpreter: Any) -> Any:
    """Return an interpreter whose delegates have taken their nodes."""
    interpreter.allocate_tensors()
    return interpreter


def coreml(program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Convert to Core ML's intermediate language; it runs on a Mac only."""
    import coremltools

    converted = coremltools.convert(
        program.run_decompositions({}),
        convert_to="milinternal",
        minimum_deployment_target=coremltools.target.iOS18,
    )
    names = [op.op_type for f in converted.functions.values() for op in f.operations]
    return counted([name for name in names if name != "const"]), []


def tico(program: Any, given: Tensors) -> tuple[Found, list[Any]]:
    """Convert to a file of Circle, the format of Samsung's compiler; run TICO's own interpreter."""
    import tico
    import torch
    from circle_schema import circle

    errors = Errors()
    logging.getLogger("tico").addHandler(errors)
    try:
        converted = tico.convert_from_exported_program(program)
    except Exception as error:
        names = re.findall(r"\(op\) (\S+)", "\n".join(errors.texts))
        kinds = ", ".join(sorted({*names}))
        raise RuntimeError(f"not supported: {kinds}" if kinds else str(error)) from error
    root = circle.Model.Model.GetRootAs(converted.circle_binary, 0)
    model = circle.Model.ModelT.InitFromObj(root)
    known = {v: k for k, v in vars(circle.BuiltinOperator.BuiltinOperator).items() if k[0] != "_"}
    codes = [known[code.builtinCode] for code in model.operatorCodes]
    names = [codes[op.opcodeIndex] for graph in model.subgraphs for op in graph.operators]
    outputs = [torch.as_tensor(array) for array in listed(converted(*copies(given)))]
    return counted(names), outputs


class Errors(logging.Handler):
    """Keeps the errors that TICO logs: they name the operators that it does not support."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a text."""
        self.texts.append(record.getMessage())


def counted(names: Sequence[str]) -> Found:
    """Return the number of nodes, and of each operator."""
    return {"nodes": len(names), "operators": dict(sorted(Counter(names).items()))}


TOOLS: dict[str, Callable[[Any, Tensors], tuple[Found, list[Any]]]] = {
    "xnnpack": xnnpack,
    "tosa": tosa,
    "ethos-u55": ethos,
    "litert": litert,
    "coreml": coreml,
    "tico": tico,
}


def record(tool: str, name: str, form: str) -> Found:
    """Lower a module, and return what is found."""
    import torch
    from toolchain_modules import MODULES, seeded

    from onnx_scatterx.torch import remove_scatters

    module, given = seeded(MODULES[name])
    program = torch.export.export(module, copies(given))
    program = remove_scatters(program) if form == "after" else program
    try:
        found, outputs = TOOLS[tool](program, given)
    except Exception as error:  # of the toolchain: it refuses the program
        return {"refused": refusal(error)}
    module, given = seeded(MODULES[name])
    wanted = listed(module(*copies(given)))[-len(outputs) :] if outputs else []
    apart = [
        float((a - b).abs().max() / a.abs().max())
        for a, b in zip(wanted, outputs[-len(wanted) :], strict=True)
    ]
    return found | ({"apart": float(f"{max(apart):.0e}")} if apart else {})


def refusal(error: Exception) -> str:
    """Return the kind of an error, and its first line that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:2])}"[:200]


def main(arguments: Sequence[str]) -> None:
    """Print a line for each module and form."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the toolchains print is no answer
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    tool, *wanted = arguments
    for name, _, form in (text.partition("/") for text in wanted):
        found = record(tool, name, form)
        print(json.dumps([name, form, found]), file=answers, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
