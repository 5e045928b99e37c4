"""Random graphs in graphs: the branches of an If, the bodies of Loop and Scan, and functions."""

from abc import abstractmethod
from collections.abc import Callable
from typing import TypeVar

import onnx
from onnx import helper

from tests.engine.fuzz.writes import Value, Writes
from tests.helpers.builder import typed

T = TypeVar("T")


class Nests(Writes):
    """A model whose nodes may be in graphs of other nodes; ``depth`` of them are open."""

    depth = 0

    @abstractmethod
    def steps(self, x: Value, count: int, *, keep: bool = False) -> Value:
        """Compute with a tensor; if ``keep``, the result has the same type and dims."""

    def inner(self, work: Callable[[], T]) -> tuple[list[onnx.NodeProto], T]:
        """Return the nodes that some work appends, and its result; the pool is kept."""
        nodes, self.nodes, pool = self.nodes, [], list(self.pool)
        self.depth += 1
        try:
            return self.nodes, work()
        finally:
            self.nodes, self.pool = nodes, pool
            self.depth -= 1

    def nested(self, x: Value) -> Value:
        """Compute in an If, a Loop, a Scan or a function."""
        ways = [self.in_if, self.in_if]
        if x.dtype != "object":  # ONNX Runtime loses strings that two Identities in a Loop read
            ways.append(self.in_loop)
        if not self.is_function:
            ways += [self.in_function, self.in_function]
        if x.dims and any(v.dims for v in self.pool):
            ways.append(self.in_scan)
        return self.rng.choice(ways)(x)

    def condition(self) -> str:
        """Return a scalar of bool."""
        if self.does(0.4):
            return self.constant(self.does(0.5), "bool")
        if self.does(0.5):
            like = self.tensor("float32", ("N",))
            return self.node("Less", self.dim(like, 0), self.constant(2))
        return self.tensor("bool", ()).name

    def in_if(self, x: Value) -> Value:
        """Compute in two branches."""
        condition = self.condition()
        start = self.names
        first, y = self.inner(lambda: self.of("Identity", self.steps(x, self.rng.randint(1, 2))))
        kept, again = self.names, self.does(0.3)
        if again:
            self.names = start  # names that the first branch has, too
        second, z = self.inner(lambda: self.of("Identity", self.other(y.dtype, y.dims)))
        self.names = max(kept, self.names)
        sides = [
            helper.make_graph(nodes, f"side{self.name()}", [], [typed(v.name, v.dtype, None)])
            for nodes, v in ((first, y), (second, z))
        ]
        if self.does(0.5):
            sides.reverse()
        return Value(self.node("If", condition, then_branch=sides[0], else_branch=sides[1]), *y[1:])

    def in_loop(self, x: Value) -> Value:
        """Compute in a loop, perhaps without iterations."""
        if self.is_function or self.does(0.5):
            trip = self.constant(self.rng.choice((0, 1, 2, 3)))
        else:
            trip = self.tensor("int64", ()).name
            self.limits[trip] = 4, False
        number, going = self.name(), self.name()
        state = Value(self.name(), x.dtype, x.dims)

        def work() -> tuple[Value, str, Value]:
            self.pool += [state, Value(number, "int64", ())]
            y = self.steps(state, self.rng.randint(1, 2), keep=True)
            shown = self.rng.choice([v for v in self.pool[-3:] if v.dtype != "object"])
            return self.of("Identity", y), self.node("Identity", going), self.of("Identity", shown)

        nodes, (y, goes_on, shown) = self.inner(work)
        taken = typed(number, "int64", ()), typed(going, "bool", ()), typed(*state[:2], None)
        given = typed(goes_on, "bool", ()), typed(*y[:2], None), typed(*shown[:2], None)
        body = helper.make_graph(nodes, f"body{self.name()}", taken, given)
        first = self.constant(True, "bool") if self.does(0.5) else ""
        last, stacked = self.several("Loop", trip, first, x.name, body=body, count=2)
        if not self.is_function and self.depth == 0 and self.does(0.6):
            self.outputs[stacked] = shown.dtype
        return Value(last, *x[1:])

    def in_scan(self, x: Value) -> Value:
        """Compute along the first axis of a tensor."""
        along = self.rng.choice([v for v in self.pool if v.dims])
        state = Value(self.name(), x.dtype, x.dims)
        row = Value(self.name(), along.dtype, along.dims[1:])

        def work() -> tuple[Value, Value]:
            self.pool += [state, row]
            y = self.steps(state, self.rng.randint(1, 2), keep=True)
            return self.of("Identity", y), self.of("Identity", self.steps(row, 1, keep=True))

        nodes, (y, made) = self.inner(work)
        ends = [[typed(*v[:2], None) for v in pair] for pair in ((state, row), (y, made))]
        body = helper.make_graph(nodes, f"body{self.name()}", ends[0], ends[1])
        inputs = x.name, along.name
        last, stacked = self.several("Scan", *inputs, count=2, body=body, num_scan_inputs=1)
        if self.does(0.5):
            self.pool.append(Value(stacked, along.dtype, along.dims))
        return Value(last, *x[1:])

    def in_function(self, x: Value) -> Value:
        """Call a function of the model, once or twice."""
        given = [x, *self.rng.sample(self.pool, min(len(self.pool), self.rng.randint(0, 2)))]
        formal = [Value(f"v{i}", *v[1:]) for i, v in enumerate(given)]
        names, self.names = self.names, len(given) if self.does(0.5) else self.names
        keep = self.does(0.6)

        def work() -> Value:
            self.pool[:] = formal
            self.is_function = True
            try:
                return self.of("Identity", self.steps(formal[0], self.rng.randint(1, 3), keep=keep))
            finally:
                self.is_function = False

        nodes, y = self.inner(work)
        self.names = max(names, self.names)
        op = self.rng.choice(("Part", "ScatterND", "Transpose", "NonZero", "Shape"))
        op += str(len(self.functions) or "")
        inputs = [v.name for v in formal]
        self.functions.append(helper.make_function("local", op, inputs, [y.name], nodes, []))
        called = self.node(op, *(v.name for v in given), domain="local")
        if keep and self.does(0.5):
            called = self.node(op, called, *(v.name for v in given[1:]), domain="local")
        return Value(called, *y[1:])
