"""How near the outputs of a consumer are to those of ONNX Runtime: right, close or wrong.

Magnitudes from `LARGE` on are numbers of masks, mostly: one of them would hide every error of the
others. So each of them is compared by itself, and the scale and the cosine are those of the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from onnx_scatterx.lab.devices.adapter import Outputs

RIGHT, CLOSE = 1e-4, 1e-2
"""The largest error of an output that is right, and of one that is close."""

COSINE = 0.9999
"""The least cosine of an output that is close."""

LARGE = 1e4
"""The least magnitude of an element that is compared by itself."""

FEW = 16
"""Of fewer elements no cosine is taken: those of 3 elements are often near."""

Grade = Literal["right", "close", "wrong"]

_ORDER: tuple[Grade, ...] = ("right", "close", "wrong")


@dataclass(frozen=True)
class Nearness:
    """How near one output is, or all of them together.

    >>> str(Nearness("right", 2.5e-7, 0.99999999))
    'error 2.5e-07, cosine 1.0000000'
    """

    grade: Grade
    error: float
    """The largest distance, divided by the largest magnitude; of a large element, by its own.

    It is infinite if the shape is another, or if an integer, a boolean, a NaN or an infinity is.
    """
    cosine: float | None = None
    """The cosine of the elements, from which the mean of the expected ones is subtracted.

    It is None for few elements and for a constant, and if no float is expected.
    """
    output: str = ""
    """The worst output."""
    what: str = ""
    """How many of its elements are not right, and the worst one, in words."""

    def __str__(self) -> str:
        cosine = "" if self.cosine is None else f", cosine {self.cosine:.7f}"
        return f"error {self.error:.2g}{cosine}"


def nearness(expected: Mapping[str, np.ndarray], outputs: Outputs) -> Nearness:
    """Return how near all outputs are: the worst grade and error, and the least cosine.

    The element type may differ, and dims of size 1 may be missing or added, because many devices
    know only float and 4 dims. Integers and booleans must be equal; NaN and infinities must stand
    at the same places.

    >>> truth = {"y": np.linspace(-1, 1, 64)}
    >>> nearness(truth, [truth["y"][None].astype("float16")]).grade
    'close'
    >>> nearness({"y": np.array([1.0, 2.0])}, {"y": np.array([1.0, 3.0])})
    Nearness(grade='wrong', error=0.5, cosine=None, output='y',
             what='1 of 2 elements: 3.0 for 2.0 at (1,)')
    """
    if not isinstance(outputs, Mapping):
        if len(outputs) != len(expected):
            return Nearness("wrong", math.inf, what=f"{len(outputs)} outputs for {len(expected)}")
        outputs = dict(zip(expected, outputs, strict=True))
    found = []
    for name, truth in expected.items():
        if name not in outputs:
            names = ", ".join(outputs) or "none"
            return Nearness("wrong", math.inf, None, name, f"missing; the outputs are: {names}")
        found.append(_of_output(name, truth, np.asarray(outputs[name])))
    if not found:
        return Nearness("right", 0.0)
    worst = max(found, key=lambda near: (_ORDER.index(near.grade), near.error))
    cosines = [near.cosine for near in found if near.cosine is not None]
    cosine = min(cosines, default=None)
    return Nearness(worst.grade, worst.error, cosine, worst.output, worst.what)


def _of_output(name: str, truth: np.ndarray, output: np.ndarray) -> Nearness:
    if _squeezed(truth) != _squeezed(output):
        what = f"shape {list(output.shape)} for {list(truth.shape)}"
        return Nearness("wrong", math.inf, None, name, what)
    output = output.reshape(truth.shape)
    if {truth.dtype.kind, output.dtype.kind} & {*"OUS"}:
        errors = _unequal(truth.astype(str), output.astype(str))
        cosine = None
    elif truth.dtype.kind in "iub":
        errors = _unequal(truth.astype(object), output.astype(object))  # exact for all numbers
        cosine = None
    else:
        errors, cosine = _of_floats(_wide(truth), _wide(output))
        if truth.dtype.kind == "c":
            errors = errors.reshape(*truth.shape, 2).max(-1)
    error = float(errors.max(initial=0.0))
    grade: Grade = "wrong"
    if error <= RIGHT:
        grade = "right"
    elif error <= CLOSE and (cosine is None or cosine >= COSINE):
        grade = "close"
    return Nearness(grade, error, cosine, name, _worst(truth, output, errors))


def _wide(array: np.ndarray) -> np.ndarray:
    """Return an array of floats or complex numbers as float64."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array.astype(np.complex128)).view(np.float64)
    return array.astype(np.float64)


def _unequal(truth: np.ndarray, output: np.ndarray) -> np.ndarray:
    return np.where(np.asarray(truth != output, np.bool_), math.inf, 0.0)


def _of_floats(truth: np.ndarray, output: np.ndarray) -> tuple[np.ndarray, float | None]:
    """Return the error of each element, and the cosine of those below `LARGE`."""
    errors = np.zeros(truth.shape)
    finite = np.isfinite(truth)
    errors[~finite] = np.where(_same_kind(truth[~finite], output[~finite]), 0.0, math.inf)
    errors[finite & ~np.isfinite(output)] = math.inf
    both = finite & np.isfinite(output)
    small = both & (np.abs(truth) < LARGE)
    large = both & ~small
    expected, found = truth[small], output[small]
    usual = np.abs(truth[finite & (np.abs(truth) < LARGE)])
    with np.errstate(all="ignore"):  # a quotient may overflow to infinity
        errors[small] = np.abs(found - expected) / (float(usual.max(initial=0.0)) or 1.0)
        errors[large] = np.abs(output[large] / truth[large] - 1)
    return errors, _cosine(expected, found)


def _same_kind(truth: np.ndarray, output: np.ndarray) -> np.ndarray:
    return np.asarray((truth == output) | (np.isnan(truth) & np.isnan(output)))


def _cosine(truth: np.ndarray, output: np.ndarray) -> float | None:
    if truth.size < FEW or truth.min() == truth.max():
        return None
    mean = truth.mean()
    one, other = _scaled(truth - mean), _scaled(output - mean)
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return min(1.0, float(one @ other) / lengths) if lengths else 0.0


def _scaled(array: np.ndarray) -> np.ndarray:
    """Return an array divided by its largest magnitude, so that its squares are floats."""
    return array / (np.abs(array).max() or 1.0)


def _worst(truth: np.ndarray, output: np.ndarray, errors: np.ndarray) -> str:
    """Return in words how many elements are not right, and the worst one; "" if all are right."""
    count = int((errors > RIGHT).sum())
    if not count:
        return ""
    index = tuple(int(i) for i in np.unravel_index(int(errors.argmax()), errors.shape))
    return f"{count} of {errors.size} elements: {output[index]} for {truth[index]} at {index}"


def _squeezed(array: np.ndarray) -> list[int]:
    return [extent for extent in array.shape if extent != 1]
