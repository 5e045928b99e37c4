"""The limits of the analysis, changed for a while."""

from collections.abc import Iterator
from contextlib import contextmanager

from onnx_scatterx.engine.budget.limits import LIMITS


@contextmanager
def limited(**limits: int) -> Iterator[None]:
    """Have other limits."""
    before = {name: getattr(LIMITS, name) for name in limits}
    for name, value in limits.items():
        object.__setattr__(LIMITS, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            object.__setattr__(LIMITS, name, value)
