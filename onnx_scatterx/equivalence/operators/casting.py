"""Cast: exact between integers and conditions, else an unknown function."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from onnx_scatterx.equivalence.core.arithmetic import (
    ZERO,
    integer,
)
from onnx_scatterx.equivalence.core.logic import (
    below,
    choose,
    either,
    equal,
    from_condition,
    negation,
)
from onnx_scatterx.equivalence.core.reading import Node, dtype_name
from onnx_scatterx.equivalence.core.tensor import Tensor
from onnx_scatterx.equivalence.core.terms import Term, UnsupportedError, apply
from onnx_scatterx.equivalence.core.types import (
    constant,
    float_constant,
    range_of,
    sort_of,
    wrapped,
)
from onnx_scatterx.equivalence.core.world import World
from onnx_scatterx.equivalence.operators.registry import Inputs, needed, operator


@operator("Cast")
def cast(node: Node, inputs: Inputs, world: World) -> list[Tensor]:
    a = needed(inputs, 0)
    to = dtype_name(node.get("to"))
    if a.dtype == to:
        return [a]
    if a.dtype == "string":
        raise UnsupportedError("Cast of strings, which may fail")
    # Small floats saturate or round by attributes, which other types ignore.
    way = (to, node.flavour) if to.startswith(("float8", "float4")) else (to,)
    return [Tensor(to, a.shape, lambda at: converted(a.at(at), a.dtype, to, way))]


def converted(x: Term, dtype: str, to: str, way: Hashable) -> Term:
    """Return an element in another type; ``way`` names the conversion."""
    target = sort_of(to)
    low, high = range_of(to)
    if x.op == "choose":
        condition, yes, no = x.args
        return choose(condition, converted(yes, dtype, to, way), converted(no, dtype, to, way))
    if x.sort == "condition":
        if target == "integer":
            return from_condition(x)
        zero, one = float_constant(to, 0.0), float_constant(to, 1.0)
        if zero is not None and one is not None:
            return choose(x, one, zero)
        return choose(x, apply(("Cast true", way), ()), apply(("Cast false", way), ()))
    if x.sort == "integer":
        if target == "integer":
            return wrapped(x, to)
        if target == "condition":
            return either(below(x, ZERO), below(ZERO, x))
        if x.op == "integer" and to in ("float32", "float64") and abs(x.data) < 2**24:
            return constant(np.dtype(to).type(x.data), to)
        return apply(("Cast", dtype, way), (x,))
    if target == "condition" and x.op == "literal" and dtype in ("float32", "float64", "float16"):
        return negation(equal(integer(int(np.frombuffer(x.data[1], dtype)[0] != 0)), ZERO))
    return apply(("Cast", dtype, way), (x,), target, low, high)
