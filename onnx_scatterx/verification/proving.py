"""The proof for `verify`: its assumptions, and the runs of its counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.assumptions.clauses import Clause, by_name
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.ir.clone import cloned
from onnx_scatterx.ir.data import ir_tensors, to_proto
from onnx_scatterx.ir.save import MESSAGE_LIMIT
from onnx_scatterx.verification.result import Draw
from onnx_scatterx.verification.session_pair import Comparison

if TYPE_CHECKING:
    from onnx_scatterx.equivalence.givens import Given
    from onnx_scatterx.equivalence.proof import Proof

_NUMBER = -(1 << 30)  # of the draws that a solver made


def needed() -> None:
    """Raise VerifyError if a package that a proof needs is not installed."""
    try:
        import z3  # noqa: F401 - is it there?
    except ImportError as error:
        raise VerifyError(
            'a proof needs z3-solver, which is not installed: pip install "onnx-scatterx[prove]"'
        ) from error


def proven(
    first: ir.Model,
    second: ir.Model,
    comparison: Comparison,
    assumed: Iterable[Clause],
    distrust_dims: bool,
    progress: Callable[[int, int], None] | None = None,
) -> Proof:
    """Return a solver's verdict on two models; its counterexamples are run."""
    from onnx_scatterx.equivalence.proof import prove

    count = 0

    def replay(sizes: dict[str, int], feeds: Mapping[str, np.ndarray]) -> str | None:
        nonlocal count
        count += 1
        seen = len(comparison.found)
        comparison.one(Draw(_NUMBER + count, sizes, "of the solver", feeds))
        return str(comparison.found[seen]) if len(comparison.found) > seen else None

    return prove(
        _whole(first),
        _whole(second),
        replay=replay,
        given=givens(assumed),
        distrust_dims=distrust_dims,
        progress=progress,
    )


def _whole(model: ir.Model) -> onnx.ModelProto:
    """Return a model with all its data inside."""
    tensors = list(ir_tensors(model))
    if sum(t.nbytes for t in tensors) > MESSAGE_LIMIT:
        raise VerifyError("a model of more than 2 GB cannot be proven")
    if any(isinstance(t, ir.ExternalTensor) for t in tensors):
        model = ir.external_data.load_to_model(cloned(model))
    return to_proto(model)


def givens(assumed: Iterable[Clause]) -> Sequence[Given]:
    """Return clauses in the judge's form.

    That no two elements are equal, or that they are sorted, is omitted.
    """
    from onnx_scatterx.equivalence.givens import Given

    found = []
    for name, assumption in by_name(assumed).items():
        for c in assumption.comparisons:
            found.append(Given(name, c.sign, c.bound, c.modulus))
        if "nonnegative" in assumption.properties:
            found.append(Given(name, ">=", 0))
        if "contiguous" in assumption.properties:
            found.append(Given(name, "contiguous"))
    return found
