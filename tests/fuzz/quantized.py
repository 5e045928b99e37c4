"""``python -m tests.fuzz.quantized``: random quantized models before and after ``optimize``.

Integers are drawn from the whole type, and both session options are compared: an output may only
differ in the sign of a zero.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
from onnx import helper, numpy_helper

import onnx_scatterx
from onnx_scatterx.errors import ScatterXError
from tests.helpers.pair import SESSIONS, agree, rejections
from tests.helpers.quantized import whole_range

_OPSETS = (13, 17, 19, 21, 23)
_TARGETS = ("standard", "scatterx", "ort-cpu", "qnn", "nnapi")
_TYPES = ("int8", "uint8", "int8", "uint8", "int16", "uint16", "int32")
_SCALES = (0.05, 0.05, 0.1, 0.3)
Shape = tuple[int, ...]


class Drawn:
    """A random graph: DequantizeLinear, nodes that move, writes and reads, QuantizeLinear."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.opset = rng.choice(_OPSETS)
        self.nodes: list[onnx.NodeProto] = []
        self.inputs: dict[str, tuple[str, Shape]] = {}
        self.stored: dict[str, np.ndarray] = {}
        self.outputs: dict[str, None] = {}
        self.names = 0
        self.main = rng.choice(_TYPES)

    def name(self) -> str:
        """Return a new name."""
        self.names += 1
        return f"v{self.names}"

    def constant(self, array: Any, dtype: str = "int64") -> str:
        """Return an initializer."""
        name = self.name()
        self.stored[name] = np.asarray(array, dtype)
        return name

    def given(self, dtype: str, shape: Shape) -> str:
        """Return an input of the graph."""
        name = self.name()
        self.inputs[name] = dtype, shape
        return name

    def node(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Return the output of a new node."""
        name = self.name()
        self.nodes.append(helper.make_node(op, inputs, [name], domain=domain, **attributes))
        return name

    def parameters(self, integers: str, shape: Shape) -> tuple[list[str], dict[str, int], str]:
        """Return a scale and perhaps a zero point, an axis, and the domain that takes the type."""
        rng = self.rng
        axis = rng.randrange(len(shape)) if shape and rng.random() < 0.15 else None
        size = () if axis is None else (shape[axis],)
        factor = np.ones(()) if axis is None else np.linspace(1, 2, shape[axis])
        found = [self.constant(rng.choice(_SCALES) * factor, "float32")]
        if rng.random() < 0.6:
            number = 0 if integers == "int32" else rng.choice((0, 0, 3, 100))
            found.append(self.constant(np.full(size, number), integers))
        domain = "com.microsoft" if integers.endswith("16") and self.opset < 21 else ""
        return found, {} if axis is None else {"axis": axis}, domain

    def floats(self, shape: Shape) -> str:
        """Return a tensor of floats: mostly one that was quantized."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.1:
            return self.given("float32", shape)
        if kind < 0.15:
            return self.constant(
                np.round(np.random.default_rng(0).normal(size=shape), 1), "float32"
            )
        integers = self.main if rng.random() < 0.8 else rng.choice(_TYPES)
        read, axis, domain = self.parameters(integers, shape)
        found = self.node(
            "DequantizeLinear", self.given(integers, shape), *read, domain=domain, **axis
        )
        return self.node(rng.choice(("Relu", "Neg")), found) if rng.random() < 0.1 else found

    def moved(self, x: str, shape: Shape) -> tuple[str, Shape]:
        """Move the elements of a tensor, or read some of them."""
        rows, columns = shape
        op = self.rng.choice(("Transpose", "Reshape", "Slice", "Gather", "Concat", "Squeeze", ""))
        if op == "Transpose":
            return self.node(op, x), (columns, rows)
        if op == "Reshape":
            return self.node(op, x, self.constant([columns, rows])), (columns, rows)
        if op == "Slice":
            start = self.rng.randrange(rows)
            bounds = self.constant([start]), self.constant([rows])
            return self.node(op, x, *bounds), (rows - start, columns)
        if op == "Gather":
            taken = self.rng.choice(([*range(rows)], [0], [*range(rows)][::-1], [rows - 1] * 2))
            return self.node(op, x, self.constant(taken)), (len(taken), columns)
        if op == "Concat":
            other = self.floats((1, columns))
            return self.node(op, x, other, axis=0), (rows + 1, columns)
        if op == "Squeeze":
            wide = self.node("Unsqueeze", x, self.constant([0]))
            return self.node(op, wide, self.constant([0])), shape
        return x, shape

    def written(self, x: str, shape: Shape) -> str:
        """Write into a tensor."""
        rng, (rows, columns) = self.rng, shape
        reduction = rng.choice(("none", "none", "none", "add", "mul", "max", "min"))
        if (reduction in ("max", "min") and self.opset < 18) or self.opset < 16:
            reduction = "none"
        attributes = {} if reduction == "none" else {"reduction": reduction}
        kind = rng.choice(("all", "box", "rows", "run", "mask", "elements", "columns"))
        if kind == "mask":
            mask = self.given("bool", shape)
            places = self.node("Transpose", self.node("NonZero", mask))
            updates = self.node("GatherND", self.floats(shape), places)
            return self.node("ScatterND", x, places, updates)
        if kind == "columns":
            turned = self.node("Transpose", x)
            count = rng.randint(1, columns)
            places = self.constant([[i] for i in range(count)])
            found = self.node("ScatterND", turned, places, self.floats((count, rows)), **attributes)
            return self.node("Transpose", found)
        if kind == "elements":
            count = rng.randint(1, rows)
            places = self.constant([[i] * columns for i in range(count)])
            updates = self.floats((count, columns))
            return self.node("ScatterElements", x, places, updates, axis=0, **attributes)
        chosen = {
            "all": [*range(rows)], "box": [*range(rng.randint(1, rows))],
            "rows": rng.sample(range(rows), rng.randint(1, rows)), "run": [0],
        }[kind]  # fmt: skip
        places = self.constant([[i] for i in chosen])
        if kind == "run":
            places = self.given("int64", (1, 1))
        return self.node("ScatterND", x, places, self.floats((len(chosen), columns)), **attributes)

    def ended(self, x: str, shape: Shape) -> None:
        """Quantize a tensor, compute with it, or give it out."""
        rng = self.rng
        for _ in range(rng.choice((1, 1, 1, 2))):
            y = x
            if rng.random() < 0.1:
                self.outputs[y] = None
            if rng.random() < 0.3:
                y, shape = self.moved(y, shape)
            if rng.random() < 0.15:
                y = self.node(rng.choice(("Add", "Mul")), y, self.floats(shape))
            elif rng.random() < 0.15:
                y = self.node(rng.choice(("Sigmoid", "Neg", "Relu")), y)
            if rng.random() < 0.75:
                integers = self.main if self.main != "int32" else "uint8"
                read, axis, domain = self.parameters(integers, shape)
                if len(read) == 1 and integers != "uint8":
                    size = (shape[axis["axis"]],) if axis else ()
                    read.append(self.constant(np.zeros(size), integers))
                y = self.node("QuantizeLinear", y, *read, domain=domain, **axis)
                if rng.random() < 0.2:
                    y = self.node("DequantizeLinear", y, *read, domain=domain, **axis)
            self.outputs[y] = None

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        shape: Shape = self.rng.randint(1, 4), self.rng.randint(1, 4)
        x = self.floats(shape)
        for _ in range(self.rng.randint(1, 3)):
            if self.rng.random() < 0.5:
                x, shape = self.moved(x, shape)
            x = self.written(x, shape)
        self.ended(x, shape)
        types = {
            n: helper.np_dtype_to_tensor_dtype(np.dtype(t)) for n, (t, _) in self.inputs.items()
        }
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info(n, types[n], s) for n, (_, s) in self.inputs.items()],
            [helper.make_empty_tensor_value_info(name) for name in self.outputs],
            [numpy_helper.from_array(array, name) for name, array in self.stored.items()],
        )
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return onnx.shape_inference.infer_shapes(model)


def _runs(model: onnx.ModelProto, option: int, feeds: Sequence[dict[str, Any]]) -> list[Any] | None:
    """Return the outputs of a model for each input; None if it does not load or run."""
    try:
        session = SESSIONS[option](model)
        return [session.run(None, feed) for feed in feeds]
    except rejections():
        return None


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    rng = random.Random(seed)
    model = Drawn(rng).model()
    feeds = whole_range(model, seed, seed + 1)
    for feed in feeds:
        rows = {n: 1 for n, a in feed.items() if a.dtype == np.int64}
        feed.update({n: np.zeros((1, 1), np.int64) for n in rows})
    expected = [_runs(model, option, feeds) for option in (0, 1)]
    if expected[0] is None:
        return "not valid", None
    target, gathers, fixed = rng.choice(_TARGETS), rng.random() < 0.5, rng.random() < 0.3
    fix = None
    if fixed and model.graph.input:
        first = model.graph.input[0]
        number = first.type.tensor_type.shape.dim[0].dim_value
        first.type.tensor_type.shape.dim[0].dim_param = "N"
        fix = {"N": number}
        expected = [_runs(model, option, feeds) for option in (0, 1)]
    try:
        result = onnx_scatterx.optimize(model, target=target, gathers=gathers, fix=fix)
    except ScatterXError as error:
        return f"refused: {str(error)[:40]}", None
    found = f"{target}, {sum(s.reason is None for s in result.report.scatters)} removed"
    for option, before in enumerate(expected):
        if before is None:
            continue
        after = _runs(result.model, option, feeds)
        what = ("off", "default")[option]
        if after is None:
            return f"DIFFERENT: {what} {target} gathers={gathers} fix={fix}: it does not run", model
        for one, two in zip(before, after, strict=True):
            if not agree(one, two, zeros=True):
                return f"DIFFERENT: {what} {target} gathers={gathers} fix={fix}", model
    return found, None


def main() -> int:
    """Run a campaign; return 1 if a model became another."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.quantized", description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="how many models (300)")
    parser.add_argument("--seed", type=int, default=0, help="of the first model (0)")
    parser.add_argument("--keep", type=Path, help="a directory for the models that were found")
    given = parser.parse_args()
    tally: Counter[str] = Counter()
    for seed in range(given.seed, given.seed + given.count):
        told, model = trial(seed)
        tally[told] += 1
        if model is not None:
            print(seed, told, flush=True)
            if given.keep:
                ir.save(ir.from_proto(model), given.keep / f"{seed}.onnx")
    wrong = sum(n for told, n in tally.items() if told.startswith("DIFFERENT"))
    for told, count in sorted(tally.items()):
        print(f"{count:6} {told}")
    print(f"{given.count} models, {wrong} different")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
