"""Writes the models that session_test.cc runs, with the results of the equation in NumPy.

    python cases.py FILE        in a folder that has tests/, in an environment for them

The form of the file stands in session_test.cc.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from tests.helpers.scatterx_node import (
    CASES,
    FLOATS,
    INTEGERS,
    OPAQUE,
    REDUCTIONS,
    ROWS,
    Scatter,
    draw,
    dtype_of,
    one_node,
    scatter,
)


def main() -> None:
    """Write every case, and say how many there are."""
    written = list(_cases())
    Path(sys.argv[1]).write_bytes(b"".join(written))
    print(f"{len(written)} models")


def _cases() -> Iterator[bytes]:
    for name, node in CASES.items():
        for reduction in REDUCTIONS:
            yield _case(f"{name} {reduction}", node, "float32", reduction)
    for dtype in (*INTEGERS, *FLOATS, "bool"):
        for reduction in REDUCTIONS if dtype != "bool" else REDUCTIONS[:3]:
            yield _case(f"{dtype} {reduction}", ROWS, dtype, reduction)
    for dtype in OPAQUE:
        yield _case(dtype, ROWS, dtype, "none")
    wide = Scatter((0,), (1,), (0, 1), (600, 300), (900, 300))
    for reduction in REDUCTIONS:
        yield _case(f"much {reduction}", wide, "float32", reduction)


def _case(name: str, node: Scatter, dtype: str, reduction: str) -> bytes:
    node = Scatter(**{**vars(node), "reduction": reduction})
    rng = np.random.default_rng(7)
    inputs = (
        draw(rng, node.data, dtype),
        node.draw_table(rng),
        draw(rng, node.updates, dtype),
    )
    output = scatter(node, *inputs)
    texts = (_text(name.encode()), _text(one_node(node, dtype)))
    return b"".join((*texts, *map(_tensor, inputs), _text(output.tobytes())))


def _tensor(array: NDArray[Any]) -> bytes:
    kind = onnx.helper.np_dtype_to_tensor_dtype(dtype_of(str(array.dtype)))
    return struct.pack(f"<{2 + array.ndim}q", kind, array.ndim, *array.shape) + _text(
        np.ascontiguousarray(array).tobytes()
    )


def _text(content: bytes) -> bytes:
    return struct.pack("<q", len(content)) + content


if __name__ == "__main__":
    main()
