"""Writes the operations of the rules as nodes of a torch.fx graph.

The values of the nodes are computed on fake tensors, in the program's own shape environment. Only
comparisons that are known statically decide, so the program gets no new guards.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from onnx_scatterx.torch.ops import Number, Ops, Tensor

ALIKE = {
    *("abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "clamp"),
    *("div", "eq", "floor", "ge", "gt", "le", "logical_and", "logical_not", "logical_or"),
    *("logical_xor", "lt", "maximum", "minimum", "mul", "ne", "neg", "reciprocal", "relu"),
    *("round", "rsub", "sign", "sqrt", "sub", "where"),
}
"""Operators that compute the same bits wherever an element stands, and fail for no element."""

PADDED = ("bool", "float16", "float32", "float64", "int32", "int64", "int8", "uint8")
SHOWN = {f"aten.{name}" for name in ("slice.Tensor", "select.int", "expand.default")}
SHOWN |= {f"aten.{name}.default" for name in ("clone", "unsqueeze", "permute", "view")}
FULL: dict[str, int | None] = {f"aten.{kind}.default": None for kind in ("full_like", "new_full")}
FULL |= {f"aten.{kind}.default": 0 for kind in ("zeros", "new_zeros", "zeros_like")}
FULL |= {f"aten.{kind}.default": 1 for kind in ("ones", "new_ones", "ones_like")}
"""Operators that fill a tensor with a number, and this number; None: the last argument has it."""

END = 2**63 - 1


class Fx(Ops):
    """Inserts nodes into a graph of torch.fx."""

    def __init__(self, program: Any, graph: Any, last_bits: bool) -> None:
        super().__init__()
        import torch
        from torch._dispatch.python import enable_python_dispatcher
        from torch.fx.experimental import symbolic_shapes

        self.symbolic_kernels = enable_python_dispatcher
        self.torch, self.symbolic, self.aten = torch, symbolic_shapes, torch.ops.aten
        self.program, self.graph, self.last_bits = program, graph, last_bits
        self.inputs = [node for node in graph.nodes if node.op == "placeholder"]
        self.numbers: dict[str, Any] = {}
        constants = program.graph_signature.inputs_to_lifted_tensor_constants
        self.constants = {name: program.constants[at] for name, at in constants.items()}
        self.diagonals: dict[Any, tuple[Any, Any, Any]] = {}
        values = (node.meta.get("val") for node in graph.nodes)
        self.mode: Any = next((v.fake_mode for v in values if hasattr(v, "fake_mode")), None)

    def call(self, target: Any, *args: Any, **kwargs: Any) -> Any:
        """Insert a node, and compute its value. Return an int if the value is a known number."""
        node = self.graph.call_function(target, args, kwargs)
        value = node.meta["val"] = self._computed(target, args, kwargs)
        value = self._plain(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, self.torch.SymInt):
            return self.numbers.setdefault(str(value.node.expr), node)
        return node

    def _computed(self, target: Any, args: Any, kwargs: Any) -> Any:
        take = self.torch.fx.node.map_arg
        args, kwargs = (take(a, lambda node: node.meta["val"]) for a in (args, kwargs))
        with self.mode, self.symbolic_kernels():  # kernels that take symbols add fewer guards
            return target(*args, **kwargs)

    def _plain(self, value: Any) -> Any:
        """Return a value; if the shape environment knows it as a number, return an int."""
        known = isinstance(value, self.torch.SymInt) and value.node.expr.is_Integer
        return int(value.node.expr) if known else value

    @staticmethod
    def value(x: Any) -> Any:
        return x if isinstance(x, int) else x.meta["val"]

    def size(self, x: Tensor, dim: int) -> Number:
        size = self._plain(self.value(x).shape[dim])
        if isinstance(size, int):
            return size
        expr = str(size.node.expr)
        if expr not in self.numbers:
            for node in self.inputs:  # read a size from an input if possible
                shape = getattr(node.meta.get("val"), "shape", ())
                for at, s in enumerate(shape):
                    if str(getattr(getattr(s, "node", None), "expr", s)) == expr:
                        with self.graph.inserting_after(self.inputs[-1]):
                            return self.call(self.aten.sym_size.int, node, at)
            return self.call(self.aten.sym_size.int, x, dim)
        return self.numbers[expr]

    def rank(self, x: Tensor) -> int:
        return int(self.value(x).dim())

    def is_bool(self, x: Tensor) -> bool:
        return bool(self.value(x).dtype == self.torch.bool)

    def number(self, name: str, *args: Number) -> Number:
        torch = self.torch
        function = {"max": torch.sym_max, "ite": torch.sym_ite}.get(name)
        return self.call(function or getattr(operator, name), *args)

    def known(self, a: Number, b: Number) -> bool:
        return bool(self.symbolic.statically_known_true(self.value(a) <= self.value(b)))

    def fits(self, new: Tensor, x: Tensor) -> bool:
        sizes = zip(self.value(new).shape, self.value(x).shape, strict=True)
        return all(self.symbolic.statically_known_true(a == b) for a, b in sizes)

    def _bound(self, x: Tensor, dim: int, at: Number) -> Number:
        """Return a position; if its distance from the end is constant, as a negative number."""
        if isinstance(at, int):
            return at
        distance = getattr(self.value(x).shape[dim] - self.value(at), "node", None)
        if distance is None or not distance.expr.is_Integer:
            return at
        return -int(distance.expr) or END

    def slice(self, x: Tensor, dim: int, lo: Number, hi: Number, step: int = 1) -> Tensor:
        hi = END if self.holds(self.size(x, dim), hi) else self._bound(x, dim, hi)
        return self.call(self.aten.slice.Tensor, x, dim, self._bound(x, dim, lo), hi, step)

    def cat(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        return self.call(self.aten.cat.default, list(parts), dim)

    def unsqueeze(self, x: Tensor, dim: int) -> Tensor:
        return self.call(self.aten.unsqueeze.default, x, dim)

    def permute(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return self.call(self.aten.permute.default, x, list(axes))

    def view(self, x: Tensor, sizes: Sequence[Number]) -> Tensor:
        if [isinstance(size, int) for size in sizes].count(False) == 1 and 0 not in sizes:
            sizes = [size if isinstance(size, int) else -1 for size in sizes]
        return self.call(self.aten.reshape.default, x, list(sizes))

    def expand(self, x: Tensor, sizes: Sequence[Number]) -> Tensor | None:
        shape, wanted = self.value(x).shape, [self.value(size) for size in sizes]
        pairs = zip(reversed(shape), reversed(wanted), strict=False)
        equal = [self.symbolic.statically_known_true(a == b) for a, b in pairs]
        if len(wanted) == len(shape) and all(equal):
            return x
        ones = (isinstance(self._plain(a), int) and a == 1 for a in reversed(shape))
        fine = len(wanted) >= len(shape) and all(map(operator.or_, equal, ones))
        return self.call(self.aten.expand.default, x, list(sizes)) if fine else None

    def where(self, condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
        return self.call(self.aten.where.self, condition, x, y)

    def arange(self, start: int, stop: Number, like: Tensor) -> Tensor:
        device = self.value(like).device
        return self.call(self.aten.arange.start_step, start, stop, device=device)

    def take(self, x: Tensor, dim: int, index: Tensor) -> Tensor:
        return self.call(self.aten.index_select.default, x, dim, index)

    def calc(self, name: str, x: Tensor, y: Tensor | Number) -> Tensor:
        overloads = getattr(self.aten, name)
        if name == "logical_and":
            return self.call(overloads.default, x, y)
        if name == "min":
            return self.call(self.aten.clamp.default, x, None, y)
        scalar = name in ("eq", "ge", "lt", "fmod") and not (
            isinstance(y, self.torch.fx.Node) and hasattr(self.value(y), "dim")
        )
        return self.call(overloads.Scalar if scalar else overloads.Tensor, x, y)

    def cumsum(self, mask: Tensor) -> Tensor:
        ones = self.call(self.aten._to_copy.default, mask, dtype=self.torch.int64)
        return self.call(self.aten.cumsum.default, ones, 0)  # some converters add no booleans

    def largest(self, x: Tensor) -> Tensor:
        return self.call(self.aten.amax.default, x, [-1])

    def cast(self, x: Tensor, like: Tensor) -> Tensor:
        dtype = self.value(like).dtype
        same = self.value(x).dtype == dtype
        return x if same else self.call(self.aten._to_copy.default, x, dtype=dtype)

    def same(self, x: Tensor) -> Tensor:
        return x

    def line(self, index: Tensor, dim: int) -> list[int] | None:
        constant = self.constants.get(behind(index, COPIES).name)
        if constant is None or not constant.numel():
            return None
        rows = constant.movedim(dim, -1).reshape(-1, constant.shape[dim])
        return rows[0].tolist() if bool((rows == rows[0]).all()) else None

    def progression(self, index: Tensor) -> tuple[Number, int] | None:
        node = behind(index, COPIES)
        if not str(node.target).startswith("aten.arange."):
            return None
        start = node.args[0] if len(node.args) > 1 else 0
        step = node.args[2] if len(node.args) > 2 else 1
        whole = isinstance(start, int | self.torch.fx.Node) and isinstance(step, int) and step > 0
        return (start, step) if whole and self.holds(0, start) else None

    def constant(self, elements: list[int]) -> Tensor | None:
        from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

        if self.graph is not self.program.graph:  # a branch has no constants of its own
            return None
        name = f"c_positions_{len(self.program.constants)}"
        self.program.constants[name] = value = self.torch.tensor(elements)
        with self.graph.inserting_before(next(iter(self.graph.nodes))):
            node = self.graph.placeholder(name)
        node.meta["val"] = self.mode.from_tensor(value, static_shapes=True)
        spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), name)
        self.program.graph_signature.input_specs.insert(0, spec)
        return node

    def full(self, number: float, like: Tensor) -> Tensor:
        x = self.value(like)
        return self.call(self.aten.full.default, [], number, dtype=x.dtype, device=x.device)

    def filled(self, x: Tensor) -> float | None:
        if str(self.value(x).dtype).removeprefix("torch.") not in PADDED:
            return None
        number = self._number(x)
        return None if number is None else number.to(self.value(x).dtype).item()

    def _number(self, x: Any) -> Any:
        name = str(getattr(x, "target", ""))
        if name in ("aten.fill.Tensor", "aten.fill.Scalar", "aten.full.default"):
            number = self._number(x.args[1])
        elif name in FULL:
            number = self._number(FULL[name] if FULL[name] is not None else x.args[-1])
        elif name in SHOWN or name == "aten._to_copy.default":
            number = self._number(x.args[0])
        elif isinstance(x, bool | int | float):  # with all bits, whatever the default type is
            return self.torch.tensor(x, dtype=self.torch.float64 if type(x) is float else None)
        else:
            number = self.constants.get(getattr(x, "name", None))
            return number if number is not None and number.numel() == 1 else None
        return None if number is None else number.to(self.value(x).dtype)

    def pad(self, x: Tensor, dim: int, before: int, after: int, fill: float) -> Tensor:
        widths = [0, 0] * (self.rank(x) - 1 - dim) + [before, after]
        pad = self.aten.constant_pad_nd.default
        value = fill if self.value(x).dtype.is_floating_point else int(fill)
        same = x.target is pad and [repr(v) for v in x.args[2:]] == [repr(value)]
        if same and all(isinstance(w, int) and w >= 0 for w in x.args[1]):
            longest = max(len(widths), len(x.args[1]))
            both = ([*w, *[0] * (longest - len(w))] for w in (widths, x.args[1]))
            x, widths = x.args[0], [a + b for a, b in zip(*both, strict=True)]
        return self.call(pad, x, widths, value)

    def unmasked(self, values: Tensor, mask: Tensor, x: Tensor) -> Tensor | None:
        if values.op != "call_function":
            return None
        if str(values.target) == "aten.index.Tensor":
            source, chosen = values.args
            same = len(chosen) == 1 and chosen[0] is not None and _equal(chosen[0], mask)
            same = same and self.rank(source) == self.rank(x) and self.fits(source, x)
            return source if same else None
        name, _, overload = str(values.target).removeprefix("aten.").partition(".")
        exact = name in ALIKE or (self.last_bits and self.torch.Tag.pointwise in values.target.tags)
        if not exact or values.kwargs or overload not in ("default", "Tensor", "Scalar", "self"):
            return None
        args, rest = list(values.args), self.rank(x) - self.rank(mask)
        for i, arg in enumerate(args):
            if hasattr(arg, "meta") and getattr(arg.meta["val"], "ndim", 0) > rest:
                args[i] = self.unmasked(arg, mask, x)
        changed = None not in args and args != list(values.args)
        return self.call(values.target, *args) if changed else None


COPIES = "aten.clone.default", "aten.lift_fresh_copy.default"
PARTS = "aten.slice.Tensor", "aten.select.int"


def behind(node: Any, operators: Sequence[str]) -> Any:
    """Follow a node back through these operators to the node whose value they copy or cut."""
    while str(node.target) in operators:
        node = node.args[0]
    return node


def _equal(a: Any, b: Any, depth: int = 8) -> bool:
    """Return whether two nodes are known to compute the same value."""
    if a is b or not hasattr(a, "meta") or not hasattr(b, "meta"):
        return bool(a is b or (type(a) is type(b) and repr(a) == repr(b)))
    random = any(
        str(tag).endswith("nondeterministic_seeded") for tag in getattr(a.target, "tags", ())
    )
    one, other = ((x.op, x.target, repr(x.kwargs), len(x.args)) for x in (a, b))
    if not depth or random or one != other or a.op != "call_function":
        return False
    return all(_equal(*pair, depth - 1) for pair in zip(a.args, b.args, strict=True))
