"""Ask XLA, and write stablehlo.npz:  python -m tests.theory.golden.make_stablehlo (jax)."""

from pathlib import Path
from typing import Any

import numpy as np

from tests.theory.golden.draws import Array
from tests.theory.golden.replay import Arguments, record
from tests.theory.golden.stablehlo_draws import DRAWS, GATHER, SCATTER

PATH = Path(__file__).parent / "stablehlo.npz"


def run(call: str, arguments: Arguments) -> Array | None:
    """Return the answer of XLA on the CPU, or None if StableHLO refuses the module."""
    import jax
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import _jax
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import func, hlo

    jax.config.update("jax_enable_x64", True)
    given = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    if call == "dynamic_update_slice":
        starts = (np.array(n, np.int32) for n in arguments["start_indices"])
        given |= {f"start_{i}": start for i, start in enumerate(starts)}
    with mlir.make_ir_context(), ir.Location.unknown():

        def body(*inputs: Any) -> Any:
            of = {name: arguments[name] for name in (*GATHER, *SCATTER) if name in arguments}
            numbers = {name: list(v) if isinstance(v, tuple) else v for name, v in of.items()}
            if call == "gather":
                sizes = mlir.dense_int_array(arguments["slice_sizes"])
                return hlo.gather(*inputs, hlo.GatherDimensionNumbers.get(**numbers), sizes)
            if call == "dynamic_update_slice":
                return hlo.dynamic_update_slice(inputs[0], inputs[1], list(inputs[2:]))
            numbers["scattered_dims_to_operand_dims"] = numbers.pop(SCATTER[4])
            op = hlo.ScatterOp(
                [inputs[0].type],
                [inputs[0]],
                inputs[1],
                [inputs[2]],
                hlo.ScatterDimensionNumbers.get(**numbers),
            )
            scalar = ir.RankedTensorType.get([], ir.RankedTensorType(inputs[0].type).element_type)
            block = op.update_computation.blocks.append(scalar, scalar)
            with ir.InsertionPoint(block):
                name = arguments["update_computation"]
                old, new = block.arguments
                hlo.return_([new if name == "replace" else getattr(hlo, name)(old, new)])
            return op.results[0]

        try:
            module = ir.Module.create()
            module.operation.attributes["sym_name"] = ir.StringAttr.get("main")
            types = [
                ir.RankedTensorType.get(v.shape, mlir.dtype_to_ir_type(v.dtype))
                for v in given.values()
            ]
            with ir.InsertionPoint(module.body):
                func.FuncOp.from_py_func(*types, name="main")(body)
            module.operation.verify()
        except (ir.MLIRError, ValueError):
            return None
        devices = jax.devices("cpu")[:1]
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        listed = _jax.DeviceList(tuple(devices))
        try:
            client = devices[0].client
            program = compiler.backend_compile_and_load(client, module, listed, options, [])
        except jax.errors.JaxRuntimeError:
            if arguments["input"].dtype == arguments["updates"].dtype:
                raise
            return None  # StableHLO promotes some types, and XLA none
    placed = [jax.device_put(value, devices[0]) for value in given.values()]
    (answer,) = program.execute_sharded(placed).disassemble_into_single_device_arrays()
    return np.asarray(answer[0])


if __name__ == "__main__":
    import jax

    record(PATH, DRAWS, run, jax.__version__)
