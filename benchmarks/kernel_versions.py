"""Probes which kernels an installed ONNX Runtime has: for operators, operator sets and types.

    python benchmarks/kernel_versions.py                    what the installed one has, as JSON
    python benchmarks/kernel_versions.py A.json B.json ...  since which version each is there

Run it in one environment for each release (before 1.19 with NumPy 1). Each model has one node,
and is loaded with optimizations off on the CPU. The second form prints what came after the oldest
version: without the operator sets that the older ones do not read at all, this is the table `LATER`
of onnx_scatterx/operators/kernels.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

SETS = (9, 10, 11, 12, 13, 14, 16, 18, 19, 20, 21, 23, 24)
TYPES = {
    **{n.lower(): getattr(TensorProto, n) for n in ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16")},
    **{f"{s}int{bits}": getattr(TensorProto, f"{s}INT{bits}".upper()) for s in ("", "u")
       for bits in (8, 16, 32, 64)},
    "bool": TensorProto.BOOL,
}  # fmt: skip
_INT64 = TensorProto.INT64
UNARY = ("IsNaN", "Identity", "Not", "Abs")
BINARY = ("Add", "Mul", "And", "Or", "Greater", "Less", "Equal", "Max", "Min")
OPERATORS = (
    *UNARY, *BINARY, "Concat", "CumSum", "Expand", "Gather", "GatherElements", "Pad", "Range",
    "ReduceMax", "ReduceMin", "ReduceSum", "Reshape", "Slice", "Squeeze", "TopK", "Transpose",
    "Unsqueeze", "Where",
)  # fmt: skip


def model_of(op: str, version: int, kind: int) -> onnx.ModelProto | None:
    """Return a model of one node on a vector of a type, None if ONNX lacks the node."""
    numbers = {"axis": [0], "scalar": 0, "shape": [2], "index": [0, 1], "pads": [0, 1]}
    extra, inputs, settings = [], ["x"], {}
    if op in BINARY or op == "Concat":
        inputs = ["x", "x"]
        settings = {"axis": 0} if op == "Concat" else {}
    elif op == "Where":
        inputs = ["c", "x", "x"]
    elif op == "Range":
        inputs = ["s", "s", "s"]
    elif op in ("Expand", "Reshape"):
        inputs = ["x", "shape"]
    elif op in ("Gather", "GatherElements"):
        inputs, settings = ["x", "index"], {"axis": 0}
    elif op == "CumSum":
        inputs = ["x", "scalar"]
    elif op == "Transpose":
        settings = {"perm": [0]}
    elif op == "TopK":
        inputs = ["x", "axis_one"]
        numbers["axis_one"] = [1]
    elif op == "Slice":
        inputs = ["x", "axis", "shape"] if version >= 10 else ["x"]
        settings = {} if version >= 10 else {"starts": [0], "ends": [2]}
    elif op == "Pad":
        inputs = ["x", "pads"] if version >= 11 else ["x"]
        settings = {} if version >= 11 else {"pads": [0, 1]}
    elif op in ("Squeeze", "Unsqueeze", "ReduceMax", "ReduceMin", "ReduceSum"):
        by_input = version >= (13 if op in ("Squeeze", "Unsqueeze", "ReduceSum") else 18)
        inputs = ["row" if op == "Squeeze" else "x", "axis"] if by_input else ["x"]
        inputs[0] = "row" if op == "Squeeze" else "x"
        settings = {} if by_input else {"axes": [0]}
    shapes = {"x": [2], "row": [1, 2], "s": [], "c": [2]}
    used = [n for n in dict.fromkeys(inputs) if n in shapes]
    given = [
        helper.make_tensor_value_info(n, TensorProto.BOOL if n == "c" else kind, shapes[n])
        for n in used
    ]
    for name in dict.fromkeys(inputs):
        if name in numbers:
            value = numbers[name]
            dims = [len(value)] if isinstance(value, list) else []
            extra.append(helper.make_tensor(name, _INT64, dims, value if dims else [value]))
    outputs = ["y", "z"] if op == "TopK" else ["y"]
    node = helper.make_node(op, inputs, outputs, **settings)
    infos = [onnx.ValueInfoProto(name=name) for name in outputs]
    graph = helper.make_graph([node], "g", given, infos, extra)
    imports = [helper.make_opsetid("", version)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    try:
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except Exception:  # the type or the node is not in this operator set
        return None
    return model


def probe() -> list[str]:
    """Return the names `operator set type` of what loads."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    found = []
    for op in OPERATORS:
        for version in SETS:
            for name, kind in TYPES.items():
                model = model_of(op, version, kind)
                if model is None:
                    continue
                try:
                    proto = model.SerializeToString()
                    ort.InferenceSession(proto, options, providers=["CPUExecutionProvider"])
                except Exception:  # ONNX Runtime has many
                    continue
                found.append(f"{op} {version} {name}")
    return found


def changes(paths: list[str]) -> dict[str, str]:
    """Return since which version each kernel is there, without those of the oldest one."""
    read = [json.loads(Path(path).read_text()) for path in paths]
    read.sort(key=lambda each: [int(n) for n in each["version"].split(".")])
    seen, since = set(read[0]["kernels"]), {}
    for each in read[1:]:
        new = set(each["kernels"]) - seen
        since.update(dict.fromkeys(sorted(new), each["version"]))
        seen |= new
        gone = seen - set(each["kernels"])
        if gone:
            print(f"# gone in {each['version']}: {sorted(gone)}", file=sys.stderr)
    return since


if __name__ == "__main__":
    if len(sys.argv) > 1:
        json.dump(changes(sys.argv[1:]), sys.stdout, indent=1)
    else:
        import onnxruntime

        json.dump({"version": onnxruntime.__version__, "kernels": probe()}, sys.stdout, indent=1)
