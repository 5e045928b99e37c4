"""The cases of kernel.py, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kernel_case import Case
from kernel_writes import (
    along_axis_by_dynamo,
    along_axis_by_expand,
    box,
    cache,
    elements,
    in_a_row,
    one_hot,
    points,
    rows_0,
    rows_1,
    rows_last,
)

_ALL: list[Callable[[], Case]] = []


def _add(make: Callable[..., Case], name: str, *rest: object, **named: object) -> None:
    _ALL.append(partial(make, name, *rest, **named))


for _dtype in ("float32", "float16", "int8", "int64"):
    _add(rows_0, f"rows axis 0, random, 1M, {_dtype}", (2048, 128), 512, "random", _dtype)
_add(rows_0, "rows axis 0, random, 4K, float32", (32, 32), 8, "random", "float32")
_add(rows_0, "rows axis 0, random, 64M, float32", (65536, 256), 16384, "random", "float32")
_add(rows_0, "rows axis 0, random, 64M, float16", (65536, 512), 32768, "random", "float16")
_add(rows_0, "rows axis 0, sorted, 64M, int8", (65536, 1024), 32768, "sorted", "int8")
_add(rows_0, "rows axis 0, following, 256M, float32", (65536, 1024), 32768, "following", "float32")
_add(rows_0, "rows axis 0, random, 256M, int64", (65536, 512), 16384, "random", "int64")
_add(rows_1, "rows axis 1, pairs, 1M, float32", (16, 128, 128), 32, "random", "float32", "pairs")
_add(
    rows_1,
    "rows axis 1, pairs, 64M, float32",
    (64, 1024, 256),
    256,
    "following",
    "float32",
    "pairs",
)
_add(
    rows_1,
    "rows axis 1, transposes, 1M, float32",
    (16, 128, 128),
    32,
    "following",
    "float32",
    "chain",
)
_add(
    rows_1,
    "rows axis 1, transposes, 64M, float16",
    (64, 2048, 256),
    512,
    "random",
    "float16",
    "chain",
)
_add(rows_last, "rows last axis, 4K, float32", (8, 128), 16, "following", "float32")
_add(rows_last, "rows last axis, 1M, int64", (32, 32, 128), 32, "following", "int64")
_add(rows_last, "rows last axis, 64M, float32", (256, 256, 256), 64, "random", "float32")
_add(points, "points, 4K, float32", (32, 32), 256, "float32")
_add(points, "points, 1M, float32", (512, 512), 65536, "float32")
_add(points, "points, 1M, int8", (1024, 1024), 262144, "int8")
_add(points, "points, 64M, float32", (256, 256, 256), 2_000_000, "float32")
_add(points, "points, add, 1M, int64", (64, 2048), 500_000, "int64", "add")
_add(points, "points, max, 4M, float32", (1024, 1024), 500_000, "float32", "max")
_add(box, "box by points, 4K, float32", (8, 8, 16), (1, 1, 2), (6, 6, 10), "float32")
_add(box, "box by points, 1M, float32", (16, 128, 128), (2, 10, 20), (8, 64, 100), "float32")
_add(box, "box by points, 64M, float16", (64, 512, 1024), (2, 10, 20), (32, 256, 512), "float16")
_add(elements, "elements axis 0, random, 4K, float32", (32, 32), 0, 32, "float32")
_add(elements, "elements axis 0, random, 1M, float32", (2048, 128), 0, 2048, "float32")
_add(elements, "elements axis 0, random, 20M, float32", (65536, 80), 0, 65536, "float32")
_add(elements, "elements axis 1, random, 1M, int64", (1024, 128), 1, 128, "int64")
_add(elements, "elements axis 1, random, 64M, float32", (16384, 1024), 1, 256, "float32")
_add(elements, "elements axis 1, random, 16M, float16", (8192, 1024), 1, 512, "float16")
_add(elements, "elements axis 1, random, 8M, int8", (8192, 1024), 1, 512, "int8")
_add(elements, "elements axis 0, add, 1M, float32", (2048, 128), 0, 8192, "float32", "add")
_add(elements, "elements axis 1, max, 16M, float16", (8192, 1024), 1, 512, "float16", "max")
_add(
    elements,
    "broadcast indices axis 0, 1M, float32",
    (2048, 128),
    0,
    512,
    "float32",
    "none",
    "same",
)
_add(
    elements,
    "broadcast indices axis 0, 64M, float32",
    (65536, 256),
    0,
    16384,
    "float32",
    "none",
    "same",
)
_add(
    elements, "broadcast indices axis 0, 64M, int8", (65536, 1024), 0, 16384, "int8", "none", "same"
)
_add(
    rows_0, "segment sum, 64 to 1M, float32", (1024, 256), 65536 // 4, "colliding", "float32", "add"
)
_add(
    rows_0,
    "segment sum, 100k edges, width 16, float32",
    (10000, 16),
    100_000,
    "colliding",
    "float32",
    "add",
)
_add(
    elements, "segment sum by elements, width 64, float32", (1000, 64), 0, 50_000, "float32", "add"
)
_add(points, "segment sum, 1M scalars to 1000, int64", (1000,), 1_000_000, "int64", "add")
_add(one_hot, "one-hot, 1000 classes, 4M, int8", 4096, 1000, "int8")
_add(one_hot, "one-hot, 128 classes, 32M, float32", 65536, 128, "float32")
for _dtype, _shape in (("float32", (4, 32, 4096, 128)), ("float16", (4, 32, 4096, 128))):
    _mb = "256M" if _dtype == "float32" else "128M"
    for _form in ("TensorScatter", "ScatterND"):
        _add(cache, f"decode in place, {_form}, {_mb}, {_dtype}", _shape, 1, _dtype, _form, True)
        _add(cache, f"decode copying, {_form}, {_mb}, {_dtype}", _shape, 1, _dtype, _form, False)
_add(
    cache,
    "prefill 512 in place, ScatterND, 64M, float32",
    (1, 32, 4096, 128),
    512,
    "float32",
    "ScatterND",
    True,
)
_add(
    cache,
    "prefill 512 copying, TensorScatter, 64M",
    (1, 32, 4096, 128),
    512,
    "float32",
    "TensorScatter",
    False,
)
_add(
    cache,
    "prefill 2048 in place, TensorScatter, 64M",
    (1, 32, 4096, 128),
    2048,
    "float32",
    "TensorScatter",
    True,
)

_add(box, "box by constant points, 4K, float32", (8, 8, 16), (1, 1, 2), (6, 6, 10), "float32", True)
_add(
    box,
    "box by constant points, 1M, float32",
    (16, 128, 128),
    (2, 10, 20),
    (8, 64, 100),
    "float32",
    True,
)
# What exporters write for one statement, whole: PyTorch's dynamo moves the axis to the front and
# back, TorchScript expands the indices.
_CACHE = (1, 32, 4096, 128)
for _dtype in ("float32", "float16"):
    _mb = "64M" if _dtype == "float32" else "32M"
    for _count, _what in ((1, "decode"), (512, "prefill 512")):
        _add(
            along_axis_by_dynamo,
            f"{_what} by dynamo, {_mb}, {_dtype}",
            _CACHE,
            2,
            _count,
            "following",
            _dtype,
        )
        _add(
            along_axis_by_expand,
            f"{_what} by TorchScript, {_mb}, {_dtype}",
            _CACHE,
            2,
            _count,
            "following",
            _dtype,
        )
_add(
    along_axis_by_dynamo,
    "rows last axis by dynamo, 4K, float32",
    (8, 128),
    1,
    16,
    "random",
    "float32",
)
_add(
    along_axis_by_dynamo,
    "rows last axis by dynamo, 16M, float32",
    (64, 256, 256),
    2,
    64,
    "random",
    "float32",
)
_add(
    along_axis_by_dynamo,
    "pillars onto a canvas by dynamo, 52M",
    (64, 214272),
    1,
    12000,
    "random",
    "float32",
)
_add(
    along_axis_by_expand,
    "index_copy axis 1 by TorchScript, 1M, int8",
    (64, 128, 128),
    1,
    32,
    "random",
    "int8",
)
for _edges, _nodes, _width in ((50_000, 1000, 64), (100_000, 10_000, 16), (500, 64, 8)):
    _add(
        along_axis_by_expand,
        f"scatter_add of {_edges} edges by TorchScript, width {_width}",
        (_nodes, _width),
        0,
        _edges,
        "colliding",
        "float32",
        "add",
    )
_add(
    along_axis_by_expand,
    "index_add of experts by TorchScript, 16M",
    (4096, 1024),
    0,
    2048,
    "random",
    "float32",
    "add",
)
# Writes into a tensor that a node before made: into what a model computes, not what it is given.
_add(in_a_row, "4 writes of rows in a row, 4K, float32", (32, 32), 4, 8, "float32")
_add(in_a_row, "4 writes of rows in a row, 1M, float32", (2048, 128), 4, 256, "float32")
_add(in_a_row, "2 writes of rows in a row, 16M, float32", (4096, 1024), 2, 576, "float32")
_add(in_a_row, "10 writes of a row in a row, 8M, float32", (128, 16384), 10, 1, "float32")
_add(in_a_row, "4 writes of rows in a row, 64M, int8", (65536, 1024), 4, 4096, "int8")
_add(in_a_row, "3 sums of rows in a row, 4M, float32", (16384, 64), 3, 8192, "float32", "add")

CASES: dict[str, Callable[[], Case]] = {str(make.args[0]): make for make in _ALL}  # type: ignore[attr-defined]
