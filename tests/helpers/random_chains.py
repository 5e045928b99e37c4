"""Random chains of integer operators with symbolic sizes, for the tests of the interpreter.

A chain is grown node by node at one binding of its sizes, and only nodes that ONNX Runtime accepts
there are kept; other bindings are for the judge.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.helpers.pair import Feed, open_session, rejections

Value = tuple[str, np.ndarray]
Drawn = tuple[list[str], dict[str, Any], int]  # inputs, attributes, number of outputs
Draw = Callable[["Chain"], Drawn]

INPUTS: dict[str, tuple[str, list[str | int | None]]] = {
    "x": ("int64", ["N", "M"]),
    "y": ("int64", ["N"]),
    "z": ("int32", [None, "N"]),
    "u": ("uint8", ["M"]),
    "b": ("bool", ["N", "M"]),
    "f": ("float32", ["M", 3]),
    "s": ("int64", []),
}
SIZES = [(3, 2), (0, 0), (1, 1), (2, 3), (0, 2), (5, 1), (17, 2), (2, 17), (1, 5), (4, 4)]
INTEGERS = ("int64", "int32", "uint8", "int8", "int16", "uint16", "uint32", "uint64")


def feed_of(n: int, m: int, seed: int) -> Feed:
    """Draw inputs with sizes N and M (the unnamed one is theirs in turn)."""
    rng = np.random.default_rng([n, m, seed])
    feed = {}
    for name, (dtype, dims) in INPUTS.items():
        extents = {"N": n, "M": m, None: (n + m) % 4, 3: 3}
        shape = [extents[d] for d in dims]
        low = 0 if dtype in ("uint8", "bool") else -4
        feed[name] = np.asarray(rng.integers(low, 2 if dtype == "bool" else 5, shape)).astype(dtype)
    return feed


def feeds(seed: int) -> list[Feed]:
    """Draw one feed for every pair of sizes."""
    return [feed_of(n, m, seed) for n, m in SIZES]


class Chain:
    """A model that grows; `values` holds what its tensors are at the first pair of sizes."""

    def __init__(self, rng: random.Random, opset: int = 18) -> None:
        self.rng, self.opset = rng, opset
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self.values: dict[str, np.ndarray] = dict(feed_of(*SIZES[0], 0))

    def constant(self, values: Any, dtype: str = "int64") -> str:
        """Add an initializer."""
        name = f"c{len(self.constants)}"
        self.constants[name] = self.values[name] = np.asarray(values).astype(dtype)
        return name

    def ints(self, count: int, low: int = -4, high: int = 4) -> list[int]:
        return [self.rng.randint(low, high) for _ in range(count)]

    def array(self, *shape: int, low: int = -4, high: int = 4) -> np.ndarray:
        return np.array(self.ints(int(np.prod(shape)), low, high)).reshape(shape)

    def flag(self) -> bool:
        return self.rng.random() < 0.5

    def some(self, *kinds: str, ranks: Sequence[int] = (0, 1, 2, 3)) -> str:
        """Choose a tensor of one of these types and ranks, new ones before old ones."""
        names = [
            n
            for n, v in self.values.items()
            if v.dtype.name in (kinds or INTEGERS) and v.ndim in ranks and n not in self.constants
        ]
        if not names or self.rng.random() < 0.1:
            rank = self.rng.choice(list(ranks))
            shape = [self.rng.choice([0, 1, 2, 2, 3]) for _ in range(rank)]
            return self.constant(self.array(*shape, low=0), kinds[0] if kinds else "int64")
        recent = names[-3:] if self.rng.random() < 0.6 else names
        return self.rng.choice(recent)

    def vector(self, length: int, value: Any = None) -> str:
        """Choose a vector of this length, or make one: constant, or of a shape."""
        fitting = [
            n
            for n, v in self.values.items()
            if v.shape == (length,) and v.dtype == np.int64 and n not in self.constants
        ]
        if value is None or (fitting and self.rng.random() < 0.4):
            if fitting:
                return self.rng.choice(fitting)
            value = self.ints(length)
        return self.constant(value)

    def axis(self, rank: int) -> int:
        return self.rng.randrange(-rank, rank) if rank else 0

    def node(
        self, op: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any
    ) -> list[str]:
        """Add a node; raises one of ONNX Runtime's exceptions if it does not run."""
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        node = helper.make_node(op, inputs, names, **attributes)
        used = {i: self.values[i] for i in inputs if i}
        infos = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), None)
            for n, v in used.items()
        ]
        found = open_session(self._model([node], infos, names, {})).run(None, used)
        if any(np.size(f) > 400 for f in found):
            raise rejections()[0]("too large")
        self.nodes.append(node)
        self.values |= dict(zip(names, found, strict=True))
        return names

    def _model(
        self,
        nodes: list[onnx.NodeProto],
        inputs: list[onnx.ValueInfoProto],
        outputs: list[str],
        constants: dict[str, np.ndarray],
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            nodes,
            "chain",
            inputs,
            [onnx.ValueInfoProto(name=n) for n in outputs],
            [numpy_helper.from_array(v, n) for n, v in constants.items()],
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def model(self) -> onnx.ModelProto:
        """Return the model; its outputs are those of its last node."""
        infos = [
            helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), dims)
            for n, (t, dims) in INPUTS.items()
        ]
        return self._model(self.nodes, infos, list(self.nodes[-1].output), self.constants)

    def grow(self, op: str, draw: Draw) -> bool:
        """Try to add a node that a drawing function proposes."""
        inputs, attributes, outputs = draw(self)
        try:
            self.node(op, inputs, outputs, **attributes)
        except rejections():
            return False
        return True
