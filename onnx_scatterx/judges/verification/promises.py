"""Whether inputs keep what a user promises of them, as the draws do: others refute no proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from onnx_scatterx.judges.verification.interface import Input
from onnx_scatterx.optimizer.assumptions.assumption import Assumption


@dataclass(frozen=True)
class Promises:
    """What is promised of sizes and of integer inputs, by name; and the inputs themselves.

    Dims that are numbers are promises, too. So are equal sizes of dims with one name, unless
    ``distrust_dims``.
    """

    inputs: Sequence[Input]
    assumed: Mapping[str, Assumption]
    distrust_dims: bool = False

    def kept(self, feeds: Mapping[str, np.ndarray]) -> bool:
        """Return whether inputs keep all promises; one that speaks of unknown sizes is kept.

        >>> import onnx_ir as ir
        >>> i = Input("i", ir.DataType.INT64, ("n",))
        >>> promises = Promises([i], {"i": Assumption.parse("unique, < n", "i")})
        >>> [promises.kept({"i": np.array(numbers)}) for numbers in ([1, 0], [1, 1], [1, 2])]
        [True, False, False]
        """
        together: dict[str, int] = {}
        fed = [(i, feeds[i.name]) for i in self.inputs if i.name in feeds]
        for i, array in fed:
            for name, size in _sizes(i, array):
                if together.setdefault(name, size) != size and not self.distrust_dims:
                    return False
        return all(self._kept_by(i, array, together) for i, array in fed)

    def _kept_by(self, i: Input, array: np.ndarray, together: Mapping[str, int]) -> bool:
        if i.dims is not None and any(
            isinstance(d, int) and d != n for d, n in zip(i.dims, array.shape, strict=False)
        ):
            return False
        own = dict(_sizes(i, array))
        sizes = {**together, **own}
        if any(not a.allows(sizes[n], sizes) for n, a in self.assumed.items() if n in own):
            return False
        said = self.assumed.get(i.name)
        return said is None or array.dtype.kind not in "iu" or said.holds(array, sizes)


def _sizes(i: Input, array: np.ndarray) -> list[tuple[str, int]]:
    """Return the sizes of an input that are not numbers, by their names or places."""
    dims = (None,) * array.ndim if i.dims is None else i.dims
    return [
        (d or f"{i.name}[{axis}]", n)
        for axis, (d, n) in enumerate(zip(dims, array.shape, strict=False))
        if not isinstance(d, int)
    ]
