"""Measures the prices of the steps that a command may take.

They are in ``onnx_scatterx/engine/budget/limits.py``.

    python benchmarks/prices.py

Each row does much of one kind of work, and compares its CPU seconds with the steps that it is
charged. The table is right for this machine if all rows are near 5 microseconds a step; a faster
machine has smaller numbers in all rows. The exit status is 1 if a row takes more than 15: then the
limits would allow too much time.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx_ir as ir

from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.model_analysis import interpret
from onnx_scatterx.engine.budget.spending import own_budget
from onnx_scatterx.engine.mosaic.provenance import Provenance
from onnx_scatterx.engine.terms import Term, coord, maximum, minimum, size, term
from onnx_scatterx.engine.terms.counterexamples import Sample
from onnx_scatterx.engine.terms.facts import Facts
from onnx_scatterx.engine.terms.one_size import never_negative
from onnx_scatterx.engine.terms.symbol_ids import fresh_symbols
from onnx_scatterx.engine.terms.tabulate import tabulated

WANTED = 5.0  # microseconds
MOST = 15.0
_GIVEN = 1e15
_TIMES = 3

SIZES = 12


def _sizes() -> list[Term]:
    return [size(f"n{i}") for i in range(SIZES)]


def questions() -> Callable[[], object]:
    """Questions about many sizes, with cases and divisions."""
    n = _sizes()
    facts = Facts(known=[a - b for a, b in itertools.pairwise(n)])
    asked = [
        maximum(n[i], n[j] + k) - minimum(n[j], 7 * n[i]) + n[k] // 2 - n[k]
        for i in range(SIZES)
        for j in range(SIZES)
        for k in range(2)
    ]
    return lambda: [facts.is_nonnegative(t) for t in asked]


def one_size() -> Callable[[], object]:
    """Terms of one size, which are decided completely."""
    n = size("n")
    (leaf,) = n.leaves()
    asked = [(n + i) // 7 + maximum(n, 50) - n // 3 + i for i in range(100)]
    return lambda: [never_negative(t, leaf, 0) for t in asked]


def sampled() -> Callable[[], object]:
    """Terms at random points."""
    n = _sizes()
    asked = [maximum(a, b + 3) - b + a * b for a in n for b in n]
    sample = Sample()
    return lambda: [sample.of(t, {}, {}) for t in asked]


def products() -> Callable[[], object]:
    """Products of long terms."""
    total = sum(_sizes(), start=term(0))
    return lambda: [(total + i) * (3 * total - i) for i in range(50)]


def replaced() -> Callable[[], object]:
    """Terms with another number in place of a size."""
    n = _sizes()
    long = sum((a * b for a in n for b in n), start=term(0))
    ((atom,),) = (n[0].atoms,)
    return lambda: [long.replace({atom: n[1] + i}) for i in range(50)]


def tables() -> Callable[[], object]:
    """A term at a million coordinates."""
    t = 3 * coord(0) + (coord(1) // 2) * coord(0) + 7
    return lambda: tabulated(t, {0: 1000, 1: 1000})


def small_tables() -> Callable[[], object]:
    """Terms at 30 coordinates."""
    asked = [3 * coord(0) + (coord(1) // 2) * coord(0) + i for i in range(200)]
    return lambda: [tabulated(t, {0: 3, 1: 10}) for t in asked]


def arrays() -> Callable[[], object]:
    """The index map of a million stored indices."""
    given = TensorValue.of(np.random.default_rng(0).permutation(1 << 20).reshape(1024, 1024))
    return lambda: given.index_map


def small_arrays() -> Callable[[], object]:
    """The index maps of 32 stored indices."""
    draw = np.random.default_rng(0)
    given = [TensorValue.of(draw.permutation(32)) for _ in range(200)]
    return lambda: [value.index_map for value in given]


def _model() -> ir.Model:
    lines = (
        f"a{i + 1} = Add(a{i}, a0) s{i} = Shape(a{i}) b{i} = Transpose<perm = [1, 0]>(a{i})"
        for i in range(400)
    )
    return ir.from_onnx_text(f"""<ir_version: 8, opset_import: ["" : 18]>
        g (float[N, 4] a0) => (float[N, 4] a400) {{ {" ".join(lines)} }}""")


def nodes() -> Callable[[], object]:
    """The interpretation of 1 200 nodes."""
    model = _model()
    return lambda: interpret(model)


def mosaics() -> Callable[[], object]:
    """The mosaics of 400 transposes."""
    model = _model()
    scope = interpret(model).scopes[model.graph]
    return lambda: Provenance(model.graph, scope, whole=True)


ROWS: tuple[Callable[[], Callable[[], object]], ...] = (
    questions,
    one_size,
    sampled,
    products,
    replaced,
    tables,
    small_tables,
    arrays,
    small_arrays,
    nodes,
    mosaics,
)


def measured(make: Callable[[], Callable[[], Any]]) -> tuple[float, float]:
    """Return the least CPU seconds of some work, and the steps that it is charged."""
    best, steps = float("inf"), 0.0
    for _ in range(_TIMES):
        with fresh_symbols(), own_budget(_GIVEN) as own:
            work = make()
            before, start = own.steps, time.process_time()
            work()
            best, steps = min(best, time.process_time() - start), before - own.steps
    return best, steps


def main() -> int:
    """Print a table; return 1 if something costs far more than its price."""
    worst = 0.0
    print(f"{'work':14}{'steps':>9}{'ms':>9}{'us/step':>9}  of")
    for make in ROWS:
        seconds, steps = measured(make)
        each = seconds / steps * 1e6
        worst = max(worst, each)
        what = (make.__doc__ or "").rstrip(".")
        over = "  TOO CHEAP" if each > MOST else ""
        print(f"{make.__name__:14}{steps:9.0f}{seconds * 1e3:9.1f}{each:9.2f}  {what}{over}")
    print(f"wanted: about {WANTED:.0f} microseconds a step")
    return int(worst > MOST)


if __name__ == "__main__":
    raise SystemExit(main())
