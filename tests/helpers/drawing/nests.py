"""Steps in graphs of their own: the branches of an If, the bodies of Loop and Scan, functions."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import onnx
from onnx import helper

from tests.helpers.builder import typed
from tests.helpers.drawing.drawing import Drawing, Value, enter

T = TypeVar("T")
DEEPEST = 2


def inner(d: Drawing, work: Callable[[], T]) -> tuple[list[onnx.NodeProto], T]:
    """Return the nodes that some work appends, and its result; the pool is kept."""
    nodes, d.nodes, pool = d.nodes, [], list(d.pool)
    d.depth += 1
    try:
        return d.nodes, work()
    finally:
        d.nodes, d.pool = nodes, pool
        d.depth -= 1


@enter("steps")
def nest(d: Drawing, x: Value) -> Value | None:
    """Compute in an If, a Loop, a Scan or a function."""
    made: Value | None = d.draw("nests", x) if d.depth < DEEPEST else None
    return made


def condition(d: Drawing) -> str:
    """Return a scalar of bool."""
    if d.does(0.4):
        return d.constant(d.does(0.5), "bool")
    if d.does(0.5):
        return d.node("Less", d.dim(d.tensor("float32", ("N",)), 0), d.constant(2))
    return d.tensor("bool", ()).name


@enter("nests")
def if_(d: Drawing, x: Value) -> Value:
    """Compute in two branches."""
    given = condition(d)
    start = d.names
    first, y = inner(d, lambda: d.of("Identity", d.grow(x, d.rng.randint(1, 2))))
    names = d.names
    if d.does(0.3):
        d.names = start  # names that the first branch has, too
    second, z = inner(d, lambda: d.of("Identity", d.other(y.dtype, y.dims)))
    d.names = max(names, d.names)
    sides = [
        helper.make_graph(nodes, f"side{d.name()}", [], [typed(v.name, v.dtype, None)])
        for nodes, v in ((first, y), (second, z))
    ]
    if d.does(0.5):
        sides.reverse()
    return Value(d.node("If", given, then_branch=sides[0], else_branch=sides[1]), *y[1:])


@enter("nests")
def loop(d: Drawing, x: Value) -> Value | None:
    """Compute in a loop, perhaps without iterations."""
    if x.dtype == "object":  # ONNX Runtime loses strings that two Identities in a Loop read
        return None
    if d.is_function or d.does(0.5):
        trip = d.constant(d.rng.choice((0, 1, 2, 3)))
    else:
        trip = d.tensor("int64", (), draw=lambda _: np.array(d.rng.randrange(4))).name
    number, going = d.name(), d.name()
    state = Value(d.name(), x.dtype, x.dims)

    def work() -> tuple[Value, str, Value]:
        d.pool += [state, Value(number, "int64", ())]
        y = d.grow(state, d.rng.randint(1, 2), keep=True)
        shown = d.rng.choice([v for v in d.pool[-3:] if v.dtype != "object"])
        return d.of("Identity", y), d.node("Identity", going), d.of("Identity", shown)

    nodes, (y, goes_on, shown) = inner(d, work)
    taken = typed(number, "int64", ()), typed(going, "bool", ()), typed(*state[:2], None)
    made = typed(goes_on, "bool", ()), typed(*y[:2], None), typed(*shown[:2], None)
    body = helper.make_graph(nodes, f"body{d.name()}", taken, made)
    first = d.constant(True, "bool") if d.does(0.5) else ""
    last, stacked = d.several("Loop", trip, first, x.name, body=body, count=2)
    if not d.is_function and d.depth == 0 and d.does(0.6):
        d.outputs[stacked] = shown.dtype
    return Value(last, *x[1:])


@enter("nests")
def scan(d: Drawing, x: Value) -> Value | None:
    """Compute along the first axis of a tensor."""
    found = [v for v in d.pool if v.dims]
    if not x.dims or not found:
        return None
    along = d.rng.choice(found)
    state = Value(d.name(), x.dtype, x.dims)
    row = Value(d.name(), along.dtype, along.dims[1:])

    def work() -> tuple[Value, Value]:
        d.pool += [state, row]
        y = d.grow(state, d.rng.randint(1, 2), keep=True)
        return d.of("Identity", y), d.of("Identity", d.grow(row, 1, keep=True))

    nodes, (y, made) = inner(d, work)
    ends = [[typed(*v[:2], None) for v in pair] for pair in ((state, row), (y, made))]
    body = helper.make_graph(nodes, f"body{d.name()}", ends[0], ends[1])
    inputs = x.name, along.name
    last, stacked = d.several("Scan", *inputs, count=2, body=body, num_scan_inputs=1)
    if d.does(0.5):
        d.pool.append(Value(stacked, along.dtype, along.dims))
    return Value(last, *x[1:])


@enter("nests")
def function(d: Drawing, x: Value) -> Value | None:
    """Call a function of the model, once or twice."""
    if d.is_function:
        return None
    read = [x, *d.rng.sample(d.pool, min(len(d.pool), d.rng.randint(0, 2)))]
    formal = [Value(f"v{i}", *v[1:]) for i, v in enumerate(read)]
    names, d.names = d.names, len(read) if d.does(0.5) else d.names
    keep = d.does(0.6)

    def work() -> Value:
        d.pool[:] = formal
        d.is_function = True
        try:
            return d.of("Identity", d.grow(formal[0], d.rng.randint(1, 3), keep=keep))
        finally:
            d.is_function = False

    nodes, y = inner(d, work)
    d.names = max(names, d.names)
    op = d.rng.choice(("Part", "ScatterND", "Transpose", "NonZero", "Shape"))
    op += str(len(d.functions) or "")
    inputs = [v.name for v in formal]
    d.functions.append(helper.make_function("local", op, inputs, [y.name], nodes, []))
    called = d.node(op, *(v.name for v in read), domain="local")
    if keep and d.does(0.5):
        called = d.node(op, called, *(v.name for v in read[1:]), domain="local")
    return Value(called, *y[1:])
