"""Random masks, and numbers that are hard to move."""

import numpy as np

RNG = np.random.default_rng(1)  # which begins again with each test: soundness/conftest.py
NAMES = "<int64[1] minus = {-1}, int64[1] two = {2}, int64[2] turn = {1, 0}>"


def hard(*shape: int, kind: str = "float32") -> np.ndarray:
    """Random numbers, with NaN, infinities and both zeros where there are such."""
    if kind == "bool":
        return RNG.random(shape) < 0.5
    if kind.startswith("int"):
        return RNG.integers(-9, 9, shape).astype(kind)
    found = RNG.standard_normal(shape).astype(kind)
    found.ravel()[::3] = -0.0
    found.ravel()[1::7] = np.nan
    found.ravel()[2::11] = -np.inf
    return found


def masks(*shape: int) -> list[np.ndarray]:
    """No element, all, and some."""
    return [RNG.random(shape) < share for share in (0, 1.1, 0.3, 0.7)]
