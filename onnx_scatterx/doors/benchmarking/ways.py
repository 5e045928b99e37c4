"""Finds the fastest ways to copy in the ScatterX library on this machine.

    a way is chosen if  min over rounds of t(way)  <=  0.9 * min over rounds of t(the default)

In each round all ways take turns, so that other load on the machine affects all ways alike. A way
that is not clearly faster is not chosen, because a measurement may be wrong.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx.parser
import onnxruntime as ort

from onnx_scatterx.runtime.library import library_path

VARIABLE = "SCATTERX_COPY"
_ROUNDS = 7
_CLEARLY = 0.9
_HEAD = '<ir_version: 8, opset_import: ["": 18, "onnx_scatterx": 1]>'
_PAGE = 1024  # floats


@contextmanager
def ways(words: str) -> Iterator[None]:
    """Set the library's ways of copying in this process, and restore them afterwards.

    Args:
        words: as in the variable SCATTERX_COPY, "turns no-panels"; "" for the defaults.

    Raises:
        onnxruntime's error: the library does not know a word.

    Example:
        >>> with ways("turns"):  # doctest: +SKIP
        ...     session.run(None, feed)

    """
    before = os.environ.get(VARIABLE)
    try:
        _tell(words or "lines")
        yield
    finally:
        _tell(before)


def _tell(words: str | None) -> None:
    """Set the variable and register the library, which then reads the variable."""
    if words is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = words
    ort.SessionOptions().register_custom_ops_library(str(library_path()))


def fastest_ways(threads: int = 1, rows: int = 1 << 19) -> str:
    """Return the words for the ways that are clearly faster here than the defaults.

    Args:
        threads: how many threads run one node.
        rows: how many rows of 128 bytes the largest probe has.

    Returns:
        Words for `ways`, with spaces between them; no words if the defaults are best.

    Raises:
        ScatterXError: this installation has no library.

    Example:
        >>> fastest_ways()  # doctest: +SKIP
        'turns'

    """
    copies = [_copy(rows, 0, threads), *(_copy(rows // 32, shift, threads) for shift in (0, 4, 12))]
    # The clock of the thread does not count the time in which other threads run.
    clock = time.thread_time if threads == 1 else time.perf_counter
    chosen = [
        _fastest(["lines", "turns", "moves", "memcpy"], copies, clock),
        _fastest(["", "no-prefetch"], [_points(rows, threads)], clock),
        _fastest(["", "no-blocks"], [_columns(rows, threads)], clock),
    ]
    if threads > 1:
        chosen.append(_fastest(["", "no-panels"], [_sums(rows, threads)], clock))
    return " ".join(word for word in chosen if word not in ("", "lines"))


def _fastest(words: list[str], probes: list[Callable[[], None]], clock: Callable[[], float]) -> str:
    """Return the word whose way is the fastest over all probes; the first word is the default."""
    least: list[dict[str, float]] = [{} for _ in probes]
    for _ in range(_ROUNDS):
        for word in words:
            with ways(word):
                for best, probe in zip(least, probes, strict=True):
                    start = clock()
                    probe()
                    taken = clock() - start
                    best[word] = min(taken, best.get(word, taken))
    total = {word: sum(best[word] / best[words[0]] for best in least) for word in words}
    fastest = min(words, key=total.__getitem__)
    return fastest if total[fastest] <= _CLEARLY * total[words[0]] else words[0]


def _copy(rows: int, shift: int, threads: int) -> Callable[[], None]:
    """Copy rows of 32 floats; the output lies ``shift`` floats after data, modulo a page."""
    data, f = np.ones((rows, 32), np.float32), np.zeros((1, 1), int)
    memory = np.ones(rows * 32 + _PAGE, np.float32)
    start = ((data.ctypes.data - memory.ctypes.data) // 4 + shift) % _PAGE
    output = memory[start : start + data.size].reshape(data.shape)
    node = "p1: ints = [0], p2: ints = [1], p: ints = [0, 1], "
    return _bound(node, data, f, np.ones((1, 32), np.float32), threads, output)


def _points(rows: int, threads: int) -> Callable[[], None]:
    """Write to every fourth element, in random order."""
    f = np.random.default_rng(0).permutation(rows * 4)[:rows, None]
    node = "p1: ints = [0], p2: ints = [], p: ints = [0], "
    return _bound(node, np.ones(rows * 4, np.float32), f, np.ones(rows, np.float32), threads)


def _columns(rows: int, threads: int) -> Callable[[], None]:
    """Write one element of each row of 16."""
    f = np.random.default_rng(1).integers(0, 16, (rows, 1, 1))
    node = "p1: ints = [0, 1], p2: ints = [0], p: ints = [1, 0], "
    return _bound(node, np.ones((rows, 16), np.float32), f, np.ones((rows, 1), "f"), threads)


def _sums(rows: int, threads: int) -> Callable[[], None]:
    """Add rows of 64 to 100, with an index for each element."""
    f = np.random.default_rng(2).integers(0, 100, (max(1, rows // 64), 64, 1))
    node = 'p1: ints = [0, 1], p2: ints = [1], p: ints = [0, 1], reduction = "add", '
    return _bound(node, np.zeros((100, 64), "f"), f, np.ones(f.shape[:2], "f"), threads)


def _bound(
    attributes: str,
    data: np.ndarray,
    f: np.ndarray,
    updates: np.ndarray,
    threads: int,
    output: np.ndarray | None = None,
) -> Callable[[], None]:
    """Return a call that runs one node."""
    body = f"z = onnx_scatterx.ScatterX <{attributes}unique = 0> (x, f, u)"
    return bound(body, {"x": data, "f": f, "u": updates}, threads, output)


_TYPES = {np.dtype(np.float32): "float", np.dtype(np.int64): "int64"}


def bound(
    body: str,
    inputs: Mapping[str, np.ndarray],
    threads: int,
    output: np.ndarray | None = None,
    **options: Any,
) -> Callable[[], None]:
    """Return a call that runs the nodes of ``body``, which write z, with all tensors bound.

    ``options`` are fields of ONNX Runtime's SessionOptions.
    """
    declared = (f"{_TYPES[x.dtype]}[{','.join(map(str, x.shape))}] {n}" for n, x in inputs.items())
    text = f"{_HEAD} probe ({', '.join(declared)}) => (float z) {{ {body} }}"
    model = onnx.parser.parse_model(text)
    model.graph.output[0].type.tensor_type.ClearField("shape")
    session_options = ort.SessionOptions()
    for name, value in {"log_severity_level": 4, **options}.items():
        setattr(session_options, name, value)
    session_options.intra_op_num_threads = threads
    session_options.register_custom_ops_library(str(library_path()))
    content, providers = model.SerializeToString(), ["CPUExecutionProvider"]
    session = ort.InferenceSession(content, session_options, providers=providers)
    binding = session.io_binding()
    for name, array in inputs.items():
        binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(array))
    result = session.run(None, dict(inputs))[0] if output is None else output
    name = session.get_outputs()[0].name
    binding.bind_ortvalue_output(name, ort.OrtValue.ortvalue_from_numpy(result))
    return lambda: session.run_with_iobinding(binding)
