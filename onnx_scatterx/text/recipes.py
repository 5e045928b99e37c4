"""What to write in a PyTorch module in place of a write that exports as a scatter.

The form that is written exports without a scatter, or with one that is removed; the one of a mean
exports with sums. The page kept_scatters.md has the same table.
"""

from __future__ import annotations

from typing import NamedTuple

from onnx_scatterx.text.reasons import Reason


class Recipe(NamedTuple):
    """What to write ``instead_of`` a write.

    >>> str(RECIPES["mask"])
    'in place of x[mask] = value: torch.where(mask[..., None], value, x)'
    """

    instead_of: str
    write: str

    def __str__(self) -> str:
        return f"in place of {self.instead_of}: {self.write}"


RECIPES = {
    "mask": Recipe("x[mask] = value", "torch.where(mask[..., None], value, x)"),
    "rows": Recipe(
        "x[mask] = rows, a row for each True",
        "torch.where(mask[..., None], rows[(mask.flatten().cumsum(0) - 1).clamp(min=0)"
        ".view_as(mask)], x), for at least one row",
    ),
    "step": Recipe(
        "x[:, at] = step, at of one position",
        "torch.where(torch.arange(n)[None, :, None] == at, step, x)",
    ),
    "labels": Recipe(
        "zeros.scatter(1, index, 1.0)", "torch.nn.functional.one_hot(index, n).amax(1)"
    ),
    "sum": Recipe(
        "zeros.index_add(0, segment, rows)",
        "torch.eye(n)[segment].T @ rows, for finite rows; it rounds in another order",
    ),
    "mean": Recipe(
        'zeros.scatter_reduce(0, index, rows, "mean", include_self=False)',
        "zeros.scatter_add(0, index, rows) / "
        "zeros.scatter_add(0, index, torch.ones_like(rows)).clamp(min=1)",
    ),
    "turns": Recipe("out[:, ::2] = a; out[:, 1::2] = b", "torch.stack((a, b), 2).flatten(1)"),
    "diagonal": Recipe("x.diagonal().copy_(value)", "torch.where(eye, value, x)"),
}
"""Each write by a word of its own."""

_OF_POSITIONS = {
    Reason.UNKNOWN_INDICES,
    Reason.UNKNOWN_SIGN,
    Reason.UNKNOWN_BOUNDS,
    Reason.NOT_IN_TARGET,
    Reason.TOO_LARGE,
    Reason.MAY_COLLIDE,
}


def recipe(reason: Reason, reduction: str, write: str = "") -> Recipe | None:
    """Return what to write in the module in place of a kept scatter; None if nothing is known.

    ``write`` is the word of ``RECIPES`` for a write at positions that are known only at run time;
    empty if none fits.

    >>> print(recipe(Reason.DIAGONAL, "none"))
    in place of x.diagonal().copy_(value): torch.where(eye, value, x)
    >>> recipe(Reason.INVALID, "none", "mask"), recipe(Reason.UNKNOWN_INDICES, "mul", "mask")
    (None, None)
    """
    if reduction == "add":
        return RECIPES["sum"] if reason in _OF_POSITIONS else None
    if reduction != "none":
        return None
    if reason is Reason.DIAGONAL:
        return RECIPES["diagonal"]
    if reason in (Reason.IRREGULAR, Reason.NO_CUT):
        return RECIPES["turns"]
    return RECIPES.get(write) if reason in _OF_POSITIONS else None
