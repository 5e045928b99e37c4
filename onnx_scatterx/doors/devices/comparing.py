"""Outputs of a consumer compared with ONNX Runtime's, within the accuracy of a device."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.doors.devices.adapter import Outputs

_FLOAT16 = 1e-3  # the least tolerance of such a number: it has 11 bits


@dataclass(frozen=True)
class Deviation:
    """The error of an output."""

    output: str
    what: str
    """In words: the wrong shape, or how many elements differ."""
    relative: float = math.inf
    """The largest distance of two elements, by the largest finite element of the true output."""


def deviation(
    expected: Mapping[str, np.ndarray], found: Outputs, tolerance: float
) -> Deviation | None:
    """Return the error of the first output that exceeds a tolerance; None if none does.

    Numbers of floats may be off by `tolerance` times the largest finite number of the output.
    Integers and booleans must be equal, and so must NaN and infinities. The element type may be
    another, and dims of size 1 may be missing or added: many devices know only float and 4 dims.

    >>> truth = {"y": np.array([1.0, 2.0])}
    >>> deviation(truth, [np.array([[1.0, 2.00001]], np.float32)], 1e-4)
    >>> deviation(truth, {"y": np.array([1.0, 3.0])}, 1e-4)
    Deviation(output='y', what='1 of 2 elements: 3.0 for 2.0 at (1,)', relative=0.5)
    """
    if not isinstance(found, Mapping):
        if len(found) != len(expected):
            return Deviation("", f"{len(found)} outputs for {len(expected)}")
        found = dict(zip(expected, found, strict=True))
    for name, truth in expected.items():
        if name not in found:
            return Deviation(name, f"missing; the outputs are: {', '.join(found) or 'none'}")
        off = _off(name, truth, np.asarray(found[name]), tolerance)
        if off is not None:
            return off
    return None


def _off(name: str, truth: np.ndarray, found: np.ndarray, tolerance: float) -> Deviation | None:
    if _squeezed(truth) != _squeezed(found):
        return Deviation(name, f"shape {list(found.shape)} for {list(truth.shape)}")
    found = found.reshape(truth.shape)
    if truth.dtype.kind in "OUS" or found.dtype.kind in "OUS":
        differ = np.asarray(truth.astype(str) != found.astype(str))
        relative, scale = math.inf, 1.0
    else:
        exact = truth.dtype.kind in "iub"
        if exact and found.dtype.kind in "iub":
            gap = np.abs(truth.astype(object) - found.astype(object)).astype(np.float64)
        else:
            with np.errstate(all="ignore"):
                one, other = truth.astype(np.float64), found.astype(np.float64)
                gap = np.abs(one - other)
                gap = np.where((one == other) | (np.isnan(one) & np.isnan(other)), 0.0, gap)
                gap = np.where(np.isnan(gap), math.inf, gap)
        scale = _scale(truth)
        if truth.dtype == np.float16:
            tolerance = max(tolerance, _FLOAT16)
        differ = gap > (0.0 if exact else tolerance * scale)
        relative = float(gap.max(initial=0.0) / scale)
    if not differ.any():
        return None
    index = tuple(int(i) for i in np.unravel_index(int(differ.argmax()), differ.shape))
    count = int(differ.sum())
    what = f"{count} of {truth.size} elements: {found[index]} for {truth[index]} at {index}"
    return Deviation(name, what, relative)


def _scale(truth: np.ndarray) -> float:
    """Return the largest finite magnitude, or 1 without a finite element."""
    if truth.size == 0:
        return 1.0
    magnitudes = np.abs(truth.astype(np.float64))
    finite = magnitudes[np.isfinite(magnitudes)]
    return float(finite.max(initial=0.0)) or 1.0


def _squeezed(array: np.ndarray) -> list[int]:
    return [extent for extent in array.shape if extent != 1]
