"""Arguments as TVM takes them: axes that count from the end, integers of any width."""

from typing import Any

from numpy.typing import NDArray


def wrap(name: str, axis: int, rank: int) -> int:
    """Count an axis from the start; ``ValueError`` if the axis does not exist."""
    if not -rank <= axis < rank:
        raise ValueError(f"{name} is {axis}, and must be in [{-rank}, {rank - 1}]")
    return axis % rank


def check_integers(name: str, array: NDArray[Any]) -> None:
    """Raise ``ValueError`` if an array does not hold integers."""
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, not {array.dtype}")
