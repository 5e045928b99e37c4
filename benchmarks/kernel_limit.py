"""The limit of a case of kernel.py: what no kernel can be faster than, measured beside it.

    limit = max(fastest copy of what must move, one access for each run) + nodes that do nothing

What must move is data (where the output is not its memory), updates, and indices that are not
constants. A run is what goes to one contiguous place; its accesses are written in the order of the
updates, to places that are worked out before. The nodes that do nothing are as many as the case
has, in a session of their own. Where scatters write into a temporary, the nodes that make it and
read it are run as well, in their place: they are the runtime's own, and their time is not that of a
copy.

An index costs half of a copy, because it is read but not written. And it is needed twice: every
index must be checked before the first byte is written, or an invalid one would leave a cache that
is updated in place half old and half new; then each run needs its place. That is the index read
again, or 4 bytes kept and read, whichever is less. (Indices that count are needed once: there are
few runs.)
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from kernel_case import Array, Case

Run = Callable[[], None]
_HERE = Path(__file__).parent
_WAYS = 3


@functools.cache
def _library() -> ctypes.CDLL:
    """Compile kernel_limit.cc, for this process."""
    folder = Path(tempfile.mkdtemp())
    made = folder / "limit.so"
    compiler = [os.environ.get("CXX", "c++"), "-std=c++17", "-O3", "-shared", "-fPIC"]
    include = f"-I{_HERE.parent / 'custom_ops' / 'include'}"
    subprocess.run([*compiler, include, _HERE / "kernel_limit.cc", "-o", made], check=True)
    return ctypes.CDLL(str(made))


def limits(case: Case, copies: int, around: Run | None) -> tuple[list[Run], list[Run], list[Run]]:
    """Return the two fastest ways to copy, the accesses, and the nodes that do nothing.

    Each has memory of its own, as the sessions have: on memory that another one just read, a copy
    of what fits into the caches takes half of the time.

    Args:
        case: the case.
        copies: how many of it a run has.
        around: runs the nodes of the case that are not scatters.

    """
    half = case.indices // 2
    again = half if case.places is None else min(half, 4 * len(_starts(case.places)))
    size = case.moved + half + again
    ways = _fastest(size, copies) if size * copies else []
    empty = _empty(case.nodes * copies)

    def rest() -> None:
        if around is not None:
            around()
        empty()

    return ways, _accesses(case, copies), [rest]


def _fastest(size: int, copies: int) -> list[Run]:
    sides = _Sides(size, copies)
    found = sorted(range(_WAYS), key=lambda way: min(_seconds(sides.copy(way)) for _ in range(3)))
    return [sides.copy(found[0]), _Sides(size, copies).copy(found[1])]


def _seconds(run: Run) -> float:
    start = time.thread_time()
    run()
    return time.thread_time() - start


class _Sides:
    """Memory to copy from and to: so many copies of so many bytes."""

    def __init__(self, size: int, copies: int) -> None:
        self.sides = [np.ones((copies, size + 4096), np.uint8) for _ in range(2)]
        to, start = (side.ctypes.data for side in self.sides)
        pitch = self.sides[0].strides[0]
        self.arguments = [
            (
                ctypes.c_void_p(to + i * pitch),
                ctypes.c_void_p(start + i * pitch),
                ctypes.c_int64(size),
            )
            for i in range(copies)
        ]

    def copy(self, way: int) -> Run:
        """Return a call that copies all of it by this way."""
        library = _library()

        def run() -> None:
            for each in self.arguments:
                library.scatterx_copy(*each, way)

        return run


def _accesses(case: Case, copies: int) -> list[Run]:
    if case.places is None:
        return []
    places = np.ascontiguousarray(case.places[_starts(case.places)], np.int64)
    target = np.ones((copies, case.data.size), case.data.dtype)
    library, size = _library(), case.data.itemsize
    pointer = ctypes.c_void_p(places.ctypes.data)
    rows = [ctypes.c_void_p(target[i : i + 1].ctypes.data) for i in range(copies)]

    def run() -> None:
        for row in rows:
            library.scatterx_access(row, pointer, ctypes.c_int64(len(places)), size, case.adds)

    run.sides = (places, target)  # type: ignore[attr-defined]
    return [run]


def _starts(places: Array) -> Array:
    """Return the updates that begin a run."""
    return np.flatnonzero(np.diff(places, prepend=places[:1] - 2) != 1)


def _empty(nodes: int) -> Run:
    """Return the run of a session of so many nodes on one element, bound as kernel.py binds."""
    body = "\n".join(f"y{i + 1} = Add (y{i}, y0)" for i in range(nodes))
    head = '<ir_version: 8, opset_import: ["": 18]>'
    text = f"{head} g (float[1] y0) => (float[1] y{nodes}) {{ {body} }}"
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = onnx.parser.parse_model(text).SerializeToString()
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for bind, name in (
        (binding.bind_ortvalue_input, "y0"),
        (binding.bind_ortvalue_output, f"y{nodes}"),
    ):
        bind(name, ort.OrtValue.ortvalue_from_numpy(np.ones(1, np.float32)))
    return lambda: session.run_with_iobinding(binding)
