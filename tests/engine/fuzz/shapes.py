"""``python -m tests.engine.fuzz.shapes``: random graphs around writes, nested, before and after.

Writes are connected by nodes that move elements, and are put into an If, a Loop, a Scan or a
function at random. Each model is optimized for a target, saved and loaded, and compared with the
original on several sizes. A few originals with quantizers end ONNX Runtime itself: then the run
ends, too, and goes on with ``--seed``.
"""

import random
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.targets.catalogue import target_of
from tests.engine.fuzz.drawn import campaign
from tests.engine.fuzz.nests import Nests
from tests.engine.fuzz.writes import TYPES, Value
from tests.helpers.pair import Feed
from tests.helpers.support import nodes
from tests.helpers.trial import FoundError, Options, compared

_LOST = "but got: (null)"
"""ONNX Runtime says so if a subgraph captures what a node gives that it removes itself."""


class Shapes(Nests):
    """A random graph of nodes that move, write, read and nest."""

    def __init__(self, seed: int) -> None:
        super().__init__(random.Random(seed))
        rng = self.rng
        self.is_fixed = self.does(0.3)
        dims = rng.choices(("N", "M", 1, 2, 3, 4, 0), (6, 2, 2, 4, 3, 1, 0.3), k=rng.randint(1, 3))
        if self.is_fixed:
            dims = [self.size(d) for d in dims]
        x = self.tensor(rng.choice(TYPES), tuple(dims))
        self.pool.append(x)
        x = self.steps(x, rng.randint(2, 5))
        if not self.nodes or self.does(0.9):
            x = self.written(x)
            self.pool.append(x)
            x = self.steps(x, rng.randint(0, 2))
        self.show(x)
        for value in self.pool:
            if self.does(0.12):
                self.show(value)

    def show(self, x: Value) -> None:
        """Let a value be an output."""
        self.outputs[x.name] = x.dtype

    def steps(self, x: Value, count: int, *, keep: bool = False) -> Value:
        """Compute with a tensor; if `keep`, the result has the same type and dims."""
        for _ in range(count):
            if not keep and self.does(0.15):
                x = self.rng.choice(self.pool)
            way = self.rng.choices(
                (self.written, self.moved, self.computed, self.nested, self.around),
                (5, 0 if keep else 4, 1, 1.5 if self.depth < 2 else 0, 1),
            )[0]
            y = way(x)
            if keep and y[1:] != x[1:]:
                continue
            self.pool.append(y)
            x = y
        return x

    def around(self, x: Value) -> Value:
        """Write into a tensor in another form, and turn it back."""
        if len(x.dims) > 1 and self.does(0.7):
            perm = self.rng.sample(range(len(x.dims)), len(x.dims))
            back = [perm.index(i) for i in range(len(perm))]
            turned = self.of("Transpose", x, perm=perm, dims=tuple(x.dims[p] for p in perm))
            return self.of("Transpose", self.written(turned), perm=back, dims=x.dims)
        flat = "*".join(f"({d})" for d in x.dims) or "1"
        row = self.of("Reshape", x, self.constant([-1]), dims=(flat,))
        return self.of("Reshape", self.written(row), self.node("Shape", x.name), dims=x.dims)

    def moved(self, x: Value) -> Value:
        """Move the elements of a tensor, or read some of them."""
        rng, rank = self.rng, len(x.dims)
        op = rng.choice(("Transpose", "Reshape", "Identity", "Cast", "Slice", "Concat", "Split",
                         "Unsqueeze", "Squeeze", "Expand", "Where", "Gather"))  # fmt: skip
        axis = rng.randrange(rank) if rank else 0
        before, after = x.dims[:axis], x.dims[axis + 1 :]
        if op == "Cast":
            wanted = rng.choice(("float32", "int64", "int32", "bool", "float16", x.dtype))
            wanted = x.dtype if x.dtype == "object" else wanted
            if x.dtype.startswith("float") and wanted.startswith("int"):
                wanted = "bool"  # no integer is known for NaN
            return Value(self.cast(x.name, wanted), wanted, x.dims)
        if op == "Unsqueeze":
            return self.of(op, x, self.constant([axis]), dims=(*before, 1, *x.dims[axis:]))
        if op == "Where" and x.dtype not in ("bool", "float16"):
            chosen, other = self.other("bool", x.dims), self.other(x.dtype, x.dims)
            return Value(self.node(op, chosen.name, x.name, other.name), *x[1:])
        if not rank or op in ("Identity", "Where"):
            return self.of("Identity", x)
        if op == "Transpose":
            return self.of(op, x, dims=x.dims[::-1])
        if op == "Reshape":
            if rank > 1 and self.does(0.5):
                shape = self.constant([-1, *self.shape(x.dims[2:])])
                return self.of(op, x, shape, dims=(f"({x.dims[0]})*({x.dims[1]})", *x.dims[2:]))
            shape = self.node("Concat", self.constant([1]), self.node("Shape", x.name), axis=0)
            return self.of(op, x, shape, dims=(1, *x.dims))
        if op == "Slice":
            start, end = rng.choice((0, 1, -1, -2)), rng.choice((1, 2, 2**63 - 1, -1, -(2**63)))
            step = rng.choice((1, 1, 1, 2, -1))
            bounds = (self.constant([n]) for n in (start, end, axis - rank * self.does(0.3), step))
            dim: int | str = f"len(range({x.dims[axis]})[{start}:{end}:{step}])"
            if isinstance(x.dims[axis], int):
                dim = self.size(dim)
            return self.of(op, x, *bounds, dims=(*before, dim, *after))
        if op == "Concat":
            part = self.other(x.dtype, (*before, rng.choice((1, 2, x.dims[axis])), *after))
            pair = [x, part] if self.does(0.5) else [part, x]
            total = f"({x.dims[axis]})+({part.dims[axis]})"
            joined = self.node(op, *(v.name for v in pair), axis=axis)
            return Value(joined, x.dtype, (*before, total, *after))
        if op == "Split":
            more: dict[str, Any] = {"num_outputs": 2} if self.opset >= 18 else {}
            if self.size(x.dims[axis]) < 2:
                return self.of("Identity", x)
            sizes = f"(({x.dims[axis]})+1)//2", f"({x.dims[axis]})//2"
            names = self.several(op, x.name, count=2, axis=axis, **more)
            dims = [(*before, size, *after) for size in sizes]
            self.pool += map(Value, names, [x.dtype] * 2, dims)
            return self.pool[-1 - self.does(0.5)]
        if op == "Squeeze":
            if x.dims[axis] != 1:
                return self.of("Identity", x)
            return self.of(op, x, self.constant([axis]), dims=(*before, *after))
        if op == "Expand":
            if x.dims[axis] != 1:
                return self.of("Identity", x)
            like = self.tensor("int32", (*before, rng.choice((2, "M")), *after))
            return self.of(op, x, self.node("Shape", like.name), dims=like.dims)
        places, count = self.indices(x, axis)
        return self.of(op, x, places, axis=axis, dims=(*before, count, *after))

    def model(self) -> onnx.ModelProto:
        """Return the model."""
        for function in self.functions:
            function.opset_import.extend(self.opsets())
        model = self.made()
        for given, (_, dims) in zip(model.graph.input, self.inputs.values(), strict=True):
            for place, (dim, number) in enumerate(zip(dims, self.shape(dims), strict=True)):
                shown = given.type.tensor_type.shape.dim[place]
                if self.is_fixed:
                    shown.dim_value = number
                elif isinstance(dim, str) and len(dim) > 1:
                    shown.dim_param = f"{given.name}_{place}"
        return onnx.shape_inference.infer_shapes(model) if self.does(0.5) else model

    def feed(self, sizes: dict[str, int]) -> Feed:
        """Draw inputs, and defaults that are given at times."""
        found = {}
        for name, (dtype, dims) in self.inputs.items():
            shape = tuple(self.size(d, sizes) for d in dims)
            if name in self.limits:
                limit, signed = self.limits[name]
                count, size = int(np.prod(shape)), max(self.size(limit, sizes), 1)
                drawn = self.rng.sample(range(size), min(count, size)) + [0] * max(0, count - size)
                array = [i - size * (signed and self.does(0.3)) for i in drawn]
                found[name] = np.array(array, "int64").reshape(shape)
            elif name not in self.stored:
                found[name] = self.numbers(shape, dtype)
            elif self.does(0.7):
                old = self.stored[name]
                other = np.asarray(old[::-1].copy() if old.ndim else old)
                if dtype != "int64":
                    other = self.numbers(shape, dtype)
                elif self.does(0.4):
                    # A size of the whole type would take all memory.
                    drawn = [self.rng.randrange(3) for _ in range(old.size)]
                    other = np.array(drawn, dtype).reshape(shape)
                found[name] = other
        return found


def _dims(model: onnx.ModelProto) -> list[Any]:
    return [d for given in model.graph.input for d in given.type.tensor_type.shape.dim]


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    drawn = Shapes(seed)
    model = drawn.model()
    sizes = [drawn.sizes] * 2
    if not drawn.is_fixed:
        sizes += [{"N": n, "M": m} for n, m in ((0, 1), (1, 1), (3, 2), (4, 1))]
    options = Options.drawn(drawn.rng)
    if drawn.is_quantized and not target_of(options.target).onnxruntime:
        options = replace(options, target="qnn")  # how ONNX Runtime moves quantizers is of interest
    # With fixed sizes, ONNX Runtime infers more for a Loop without iterations.
    loops = any(n.op_type == "Loop" for n in nodes(model))
    if not loops and drawn.does(0.25) and any(d.dim_param == "N" for d in _dims(model)):
        number = drawn.sizes["N"]
        options = replace(options, fix=(("N", number),))
        sizes = [s | {"N": number} for s in sizes]
    feeds = [drawn.feed(s) for s in sizes]
    try:
        done = compared(model, options, feeds, wanted=len(feeds))
    except FoundError as error:
        if _LOST in str(error):
            return "ONNX Runtime loses a captured value", None
        return f"DIFFERENT: {options}: {str(error)[:300]}", model
    except ScatterXError as error:
        return f"refused: {str(error)[:40]}", None
    except Exception as error:
        return f"DIFFERENT: {options} raises {error!r}", model
    if not done.off:
        return "not valid", None
    return "rewritten" if done.rewritten else "unchanged", None


if __name__ == "__main__":
    sys.exit(campaign("shapes", __doc__, trial))
