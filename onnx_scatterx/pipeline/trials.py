"""Changes of a job are tried, each on a copy of the model as it was, and the best result is kept.

    first run       harm: exposed no, refused 3, on the host 5
    another run     harm: exposed no, refused 0, on the host 6        it is better, and stays

The model is copied only if there is a change to try. This is the one place that restores a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import onnx_ir as ir

from onnx_scatterx.engine.passes import Job

Change: TypeAlias = Callable[[Job], None]
"""What another run does otherwise: it changes a job whose model was not rewritten yet."""


class Harm(NamedTuple):
    """What is wrong with a result, the worst first: of two results, the one with less is better."""

    is_exposed: bool
    """Whether ONNX Runtime would compute something else."""
    refused: int
    """How many violations of the target and its host there are."""
    violations: int
    """How many violations of the target there are."""

    @classmethod
    def of(cls, job: Job) -> Harm:
        """Return what is wrong with the result of a job.

        >>> from onnx_scatterx.engine.device.violations import Violation
        >>> on_host = Violation("y", "Where", "g", "npu takes no Where", on_host=True)
        >>> Harm.of(Job(ir.from_onnx_text('<ir_version: 8> g () => () {}'), violations=(on_host,)))
        Harm(is_exposed=False, refused=0, violations=1)
        """
        refused = sum(not violation.is_taken for violation in job.violations)
        return cls(bool(job.exposed), refused, len(job.violations))


def try_changes(
    job: Job,
    run: Callable[[Job], Job],
    changes: Callable[[Sequence[Job], Callable[[], Job]], Iterator[Change]],
    begin: Callable[[Job], None],
) -> tuple[Job, Job]:
    """Run a job, and others on copies of its model; return the best result, and the first one.

    ``changes`` yields what the next run does otherwise, from the results so far, of which the last
    one stands last; it may look at the job of the next run. ``begin`` does for another job what was
    done for this one. The best result has the least ``Harm``; of equals it is the first.
    """
    model = job.model
    first = run(job)
    results = [first]
    ahead: list[Job] = []

    def upcoming() -> Job:
        if not ahead:
            ahead.append(job.again())
            begin(ahead[0])
        return ahead[0]

    for change in changes(results, upcoming):
        again = upcoming()
        ahead.clear()
        change(again)
        results[:] = [min(results, key=Harm.of), run(again)]
    best = min(results, key=Harm.of)
    if best.model is not model:
        _become(model, best.model)
        best.model = model
    return best, first


def _become(model: ir.Model, other: ir.Model) -> None:
    """Give a model the graph and the functions of another model, which must not be used further.

    The IR version is that of the other model, too: it follows the operator sets and the functions.
    """
    model.graph = other.graph
    model.ir_version = other.ir_version
    model.functions.clear()
    model.functions.update(other.functions)
