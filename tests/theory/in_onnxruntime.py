"""One operator of ONNX, run in ONNX Runtime."""

from functools import cache
from typing import Any

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import TensorProto, helper

Array = NDArray[Any]


@cache
def session(op: str, opset: int, kinds: tuple[tuple[Any, int], ...], attributes: Any) -> Any:
    names = ["data", "second", "third"][: len(kinds)]
    types = [
        helper.make_tensor_value_info(
            name,
            TensorProto.STRING if dtype.kind == "O" else helper.np_dtype_to_tensor_dtype(dtype),
            [None] * rank,
        )
        for name, (dtype, rank) in zip([*names, "output"], [*kinds, kinds[0]], strict=True)
    ]
    node = helper.make_node(op, names, ["output"], **dict(attributes))
    model = helper.make_model(
        helper.make_graph([node], "one_node", types[:-1], types[-1:]),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=10,
    )
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def by_runtime(op: str, opset: int, inputs: list[Array], **attributes: Any) -> Array | None:
    """The output, or None if ONNX Runtime refuses."""
    kinds = tuple((array.dtype, array.ndim) for array in inputs)
    names = ["data", "second", "third"]
    try:
        run = session(op, opset, kinds, tuple(sorted(attributes.items())))
        (output,) = run.run(None, dict(zip(names, inputs, strict=False)))
    except RUNTIME_ERRORS:
        return None
    return np.asarray(output)


_STATE = ort.capi.onnxruntime_pybind11_state
RUNTIME_ERRORS = (_STATE.Fail, _STATE.InvalidArgument, _STATE.InvalidGraph, _STATE.RuntimeException)
