"""Random arrays of a shape: floats of a flavour, masks, and integers between two bounds."""

import numpy as np

FLAVOURS = ("plain", "special", "counting", "plain", "ties", "special", "unit", "tiny")


def integers(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    low: int,
    high: int,
    distinct: bool,
) -> np.ndarray:
    """Return integers from low to high, often different ones; ``distinct`` asks for those."""
    count = int(np.prod(shape))
    span = high - low + 1
    choice = rng.random()
    if count <= span and count > 1 and choice < 0.3:
        return np.arange(count).reshape(shape) + rng.integers(low, high - count + 2)
    if distinct and count <= span <= 1 << 20:
        return rng.permutation(span)[:count].reshape(shape) + low
    if distinct and shape and shape[-1] <= span <= 1 << 12:  # distinct in every row at least
        rows = rng.random((*shape[:-1], span)).argsort(axis=-1)
        return np.asarray(rows[..., : shape[-1]] + low)
    if choice > 0.95:
        low = high = int(rng.integers(low, high, endpoint=True))
    return rng.integers(low, high, size=shape, endpoint=True)


def mask(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return booleans: lengths along the last axis, or each drawn alone."""
    kind = rng.random()
    if kind < 0.2 and shape:  # lengths
        return np.broadcast_to(np.arange(shape[-1]) < rng.integers(shape[-1] + 1), shape).copy()
    return np.asarray(rng.random(shape) < rng.choice([0.0, 1.0, 0.1, 0.5, 0.5, 0.9]))


def floats(rng: np.random.Generator, shape: tuple[int, ...], flavour: str) -> np.ndarray:
    """Return numbers of a flavour, one of ``FLAVOURS``."""
    if flavour == "counting":  # every element differs from every other
        values = 1.0 + np.arange(np.prod(shape)).reshape(shape)
    elif flavour == "ties":
        values = rng.integers(-2, 3, shape).astype(np.float64)
    elif flavour == "unit":
        values = rng.random(shape)
    elif flavour == "tiny":
        values = rng.standard_normal(shape) * 1e-40
    else:
        values = rng.standard_normal(shape)
    if flavour in ("special", "tiny"):
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, 1e-42, -1e-42, 1e30])
        places = rng.random(shape) < rng.choice([0.05, 0.2, 0.5])
        values = np.where(places, rng.choice(special, shape), values)
    return values
