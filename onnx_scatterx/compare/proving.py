"""The proof for `verify`: its assumptions, and the runs of its counterexamples.

Inputs that break a promise neither refute nor contradict a proof, and are not drawn, either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Assumption, Clause, by_name, names_in
from onnx_scatterx.compare.draws import SOLVER, ChosenDraws, Draw
from onnx_scatterx.compare.interface import Input, Interface
from onnx_scatterx.compare.result import Difference
from onnx_scatterx.compare.session_pair import SessionPair
from onnx_scatterx.errors import VerifyError
from onnx_scatterx.files import AnyModel, ModelSource, ir_tensors, to_proto, together

if TYPE_CHECKING:
    from onnx_scatterx.proof import InputClause, Proof, Source

_NUMBER = -(1 << 30)  # the number of a draw that the solver made


@dataclass(frozen=True)
class Promises:
    """The promises about sizes and integer inputs, by name; and the inputs that declare them.

    A dim that is a number is a promise. A name of several dims is the promise that their sizes are
    equal, unless ``distrust_dims``.
    """

    inputs: Sequence[Input]
    assumed: Mapping[str, Assumption]
    distrust_dims: bool = False
    chosen: ChosenDraws = field(default_factory=ChosenDraws)

    @classmethod
    def of(cls, model: ir.Model, promised: Iterable[Clause], distrust_dims: bool) -> Promises:
        """Return the promises about a model."""
        face, known = Interface.of(model), by_name(promised)
        inputs, chosen = (*face.inputs, *face.overridable), ChosenDraws.of(model, known)
        return cls(inputs, known, distrust_dims, chosen)

    def kept(self, feeds: Mapping[str, np.ndarray]) -> bool:
        """Return whether inputs keep all promises; a promise about unknown sizes counts as kept.

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
        own = all(self._kept_by(i, array, together) for i, array in fed)
        return own and self.chosen.kept(feeds, together)

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
        return said is None or array.dtype.kind not in "iub" or said.holds(array, sizes)


def _sizes(i: Input, array: np.ndarray) -> list[tuple[str, int]]:
    """Return the sizes of an input's dims that are not numbers, by their names or axes."""
    dims = (None,) * array.ndim if i.dims is None else i.dims
    return [
        (d or f"{i.name}[{axis}]", n)
        for axis, (d, n) in enumerate(zip(dims, array.shape, strict=False))
        if not isinstance(d, int)
    ]


def require_solver() -> None:
    """Raise VerifyError if a package that a proof needs is not installed."""
    try:
        import z3  # noqa: F401 - is it there?
    except ImportError as error:
        raise VerifyError(
            "a proof needs z3-solver, which is not installed: pip install z3-solver"
        ) from error


def proven(
    before: AnyModel,
    after: AnyModel,
    comparison: SessionPair,
    promises: Promises,
    effort: float,
    progress: Callable[[int, int], None] | None = None,
    strict_zeros: bool = False,
) -> Proof:
    """Return the proof of a solver for two models, after its counterexamples were run.

    The solver reads the files itself, and takes only the user's assumptions as facts. It does not
    know all promises, so a counterexample that breaks a promise is not run. With ``strict_zeros``,
    a proof must not assume that the sign of a zero does not count.
    """
    from onnx_scatterx.proof import prove

    count = 0

    def replay(sizes: dict[str, int], feeds: Mapping[str, np.ndarray]) -> str | None:
        nonlocal count
        if not promises.kept(feeds):
            return None
        count += 1
        seen = len(comparison.so_far.differences)
        comparison.one(Draw(_NUMBER + count, sizes, SOLVER, feeds))
        return next((str(difference) for difference in comparison.so_far.differences[seen:]), None)

    one, other = ModelSource.of(before), ModelSource.of(after)
    proof = prove(
        _source(one, other.directory),
        _source(other, one.directory),
        replay=replay,
        clauses=input_clauses(promises.assumed),
        distrust_dims=promises.distrust_dims,
        effort=effort,
        progress=progress,
        planner=lambda model: comparison.after.plan(model, comparison.timeout),
    )
    return _with_signs(proof) if strict_zeros else proof


def _with_signs(proof: Proof) -> Proof:
    """Return a proof, but "unknown" if it assumes that the sign of a zero does not count."""
    from onnx_scatterx.proof import SIGN_OF_ZERO, Verdict

    if SIGN_OF_ZERO not in proof.assumed:
        return proof
    doubt = Verdict(
        "unknown", "a Where, Min or Max may change the sign of a zero, which counts here"
    )
    outputs = {n: doubt if v.kind.startswith("proven") else v for n, v in proof.outputs.items()}
    return replace(proof, outputs=outputs, least=0, sizes=())


def unrun(why: str, *, refuted: bool) -> Proof:
    """Return the proof for two models that were not run: ``refuted`` or unknown."""
    from onnx_scatterx.proof import Proof, Verdict

    if refuted:
        return Proof({"": Verdict("refuted")}, refutation=why)
    return Proof({"": Verdict("unknown", why)})


def judged(proof: Proof, differences: Sequence[Difference], promises: Promises) -> Proof:
    """Return a proof after the runs: it is refuted if outputs differ, also if it was proven.

    This contradicts a proof, unless the inputs break a promise, or the first model runs on them
    only with graph optimizations: a proof is about other inputs.
    """
    if not differences or proof.kind == "refuted":
        return proof
    from onnx_scatterx.proof import Verdict

    return replace(
        proof,
        outputs={name: Verdict("refuted") for name in proof.outputs},
        refutation=str(differences[0]),
        inputs=differences[0].draw.feeds,
        contradicted=any(
            proof.covers(one.draw.sizes) and promises.kept(one.draw.feeds) and not one.only_fused
            for one in differences
        ),
    )


def _source(source: ModelSource, beside: Path | None) -> Source:
    """Return a model as the solver reads it: its file if there is one, otherwise a message.

    The tensors of an `onnx_ir.Model` name the directories of its external data. The external data
    of a message lie in the message's directory, or ``beside``.
    """
    from onnx_scatterx.proof import Placed

    if isinstance(source.model, Path):
        return source.model
    if not isinstance(source.model, ir.Model):
        return Placed(source.model, source.directory or beside)
    if not any(isinstance(t, ir.ExternalTensor) for t in ir_tensors(source.model)):
        return to_proto(source.model)
    model, directory = together(source.model) or (source.model, None)
    return Placed(to_proto(model), directory)


def input_clauses(assumed: Mapping[str, Assumption]) -> Sequence[InputClause]:
    """Return the clauses that the judge knows, in its form.

    Clauses such as ``unique`` and ``increasing`` are omitted. So are clauses whose bound is an
    expression, such as ``2*n``, because the judge would take it for the name of a size.
    """
    from onnx_scatterx.proof import InputClause

    clauses = []
    for name, assumption in assumed.items():
        for c in assumption.comparisons:
            if isinstance(c.bound, str) and names_in(c.bound) != {c.bound}:
                continue
            clauses.append(InputClause(name, c.sign, c.bound, c.modulus))
        if "nonnegative" in assumption.properties:
            clauses.append(InputClause(name, ">=", 0))
        if "contiguous" in assumption.properties:
            clauses.append(InputClause(name, "contiguous"))
    return clauses
