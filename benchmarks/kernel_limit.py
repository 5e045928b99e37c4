"""The limit of a case of kernel.py: what no kernel can be faster than, measured beside it.

    limit = max(fastest copy of what must move, one access for each run) + nodes that do nothing

What must move is data (where the output is not its memory), updates, and half of the indices,
which are read but not written. A run is what goes to one contiguous place; its accesses are written
in the order of the updates, to places that are worked out before. The nodes that do nothing are as
many as the case has, in a session of their own.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from kernel_case import Case

Run = Callable[[], None]
_HERE = Path(__file__).parent
_WAYS = 8


@functools.cache
def _library() -> ctypes.CDLL:
    """Compile kernel_limit.cc, for this process."""
    folder = Path(tempfile.mkdtemp())
    made = folder / "limit.so"
    compiler = [os.environ.get("CXX", "c++"), "-std=c++17", "-O3", "-shared", "-fPIC"]
    include = f"-I{_HERE.parent / 'custom_ops' / 'include'}"
    subprocess.run([*compiler, include, _HERE / "kernel_limit.cc", "-o", made], check=True)
    return ctypes.CDLL(str(made))


def limits(case: Case, copies: int) -> tuple[list[Run], list[Run], list[Run]]:
    """Return the ways to copy, the accesses, and the nodes that do nothing.

    Args:
        case: the case.
        copies: how many of it a run has.

    """
    indices = sum(v.nbytes for k, v in case.inputs.items() if k == "f" or k.startswith("f_"))
    size = case.moved + indices // 2
    sides = [np.ones((copies, size + 4096), np.uint8) for _ in range(2)]
    to, start = (side.ctypes.data for side in sides)
    pitch = sides[0].strides[0]
    library = _library()
    arguments = [
        (ctypes.c_void_p(to + i * pitch), ctypes.c_void_p(start + i * pitch), ctypes.c_int64(size))
        for i in range(copies)
    ]

    def copy(way: int) -> Run:
        def run() -> None:
            for each in arguments:
                library.scatterx_copy(*each, way)

        run.sides = sides  # type: ignore[attr-defined]
        return run

    ways = [copy(way) for way in range(_WAYS)] if size * copies else []
    return ways, _accesses(case, copies), [_empty(case.nodes * copies)]


def _accesses(case: Case, copies: int) -> list[Run]:
    if case.places is None:
        return []
    starts = np.flatnonzero(np.diff(case.places, prepend=case.places[:1] - 2) != 1)
    places = np.ascontiguousarray(case.places[starts], np.int64)
    target = np.ones((copies, case.data.size), case.data.dtype)
    library, size = _library(), case.data.itemsize
    pointer = ctypes.c_void_p(places.ctypes.data)
    rows = [ctypes.c_void_p(target[i : i + 1].ctypes.data) for i in range(copies)]

    def run() -> None:
        for row in rows:
            library.scatterx_access(row, pointer, ctypes.c_int64(len(places)), size, case.adds)

    run.sides = (places, target)  # type: ignore[attr-defined]
    return [run]


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
