"""Random chains of nodes with symbolic sizes: a node takes what the chain has.

A chain is grown node by node at one binding of its sizes, and only nodes that ONNX Runtime accepts
there are kept; other bindings are for the judge. ``tests/helpers/drawing`` grows graphs by steps
that know the shapes, and here a run says what any operator gives.
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import ArrayLike
from onnx import helper, numpy_helper

from tests.helpers.one_node.source import ANY, Draw, Draws
from tests.helpers.pair import Feed, open_session, rejections

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


class Chain(Draws):
    """A model that grows; `values` holds what its tensors are at the first pair of sizes."""

    def __init__(self, rng: random.Random, opset: int = 18) -> None:
        super().__init__(rng, opset, (0, 1, 2, 2, 3))
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, np.ndarray] = {}
        self.values: dict[str, np.ndarray] = dict(feed_of(*SIZES[0], 0))

    def constant(self, values: ArrayLike, dtype: str = "int64") -> str:
        """Add an initializer."""
        name = f"c{len(self.constants)}"
        self.constants[name] = self.values[name] = np.asarray(values).astype(dtype)
        return name

    def _some(
        self, fits: Callable[[np.ndarray], bool], chance: float, recent: float = 0
    ) -> np.ndarray | None:
        """Choose a tensor that the run gives, if there is one, with a chance; or the last ones."""
        found = [v for n, v in self.values.items() if n not in self.constants and fits(v)]
        if not found or not self.flag(chance):
            return None
        return self.rng.choice(found[-3:] if self.flag(recent) else found)

    def data(self, *dtypes: str, low: int = 0, high: int = 4) -> np.ndarray:
        known = [t for t in dtypes or ANY if t != "float32"]  # floats are not followed
        kinds = known if known and self.flag(0.8) else dtypes or ANY
        found = self._some(lambda v: v.dtype.name in kinds and low <= v.ndim <= high, 0.9, 0.6)
        return super().data(*kinds, low=low, high=min(high, 3)) if found is None else found

    def second(self, x: np.ndarray, dtype: str = "") -> np.ndarray:
        kind = dtype or x.dtype.name
        found = self._some(lambda v: v.dtype.name == kind, 0.5)
        return super().second(x, dtype) if found is None else found

    def beneath(self, x: np.ndarray, axis: int) -> np.ndarray:
        found = self._some(lambda v: v.dtype == x.dtype and v.ndim == x.ndim, 0.8)
        return super().beneath(x, axis) if found is None else found

    def numbers(self, values: ArrayLike, dtype: str = "int64") -> np.ndarray:
        shape = np.shape(values)
        found = self._some(lambda v: v.dtype.name == dtype and v.shape == shape, 0.4)
        return super().numbers(values, dtype) if found is None else found

    def index(self, shape: list[int], low: int, high: int) -> np.ndarray:
        found = self._some(lambda v: v.dtype == np.int64 and v.ndim == len(shape), 0.3)
        return super().index(shape, low, high) if found is None else found

    def image(self, shape: list[int], dtype: str = "float32") -> np.ndarray:
        first = self.node("Unsqueeze", ["f", self.constant([0])])
        (turned,) = self.node("Transpose", first, perm=[0, 2, 1])
        return self.values[turned]

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
        self.values |= dict(zip(names, map(np.asarray, found), strict=True))
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
        """Try to add a drawn node: inputs that the chain lacks are constants."""
        node = draw(self)
        names = {id(v): n for n, v in self.values.items()}
        inputs = [
            "" if v is None else names.get(id(v)) or self.constant(v, v.dtype.name)
            for v in node.inputs
        ]
        try:
            self.node(op, inputs, node.outputs, **node.attributes)
        except rejections():
            return False
        return True
