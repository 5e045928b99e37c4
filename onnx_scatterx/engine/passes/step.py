"""A pass: a step of the pipeline, with the name by which a user chooses it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum
from functools import cache
from typing import NamedTuple

from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings


class Kind(Enum):
    """Whether a pass runs if the user chose others."""

    CHOICE = "no"
    GUARD = "yes: without it the result may be wrong or refused"
    REPORT = "yes, but it changes nothing, and says why nodes are kept"


class Pass(NamedTuple):
    """A step of the pipeline: ``run`` changes the model of a job, and returns whether it did.

    >>> def drop_nothing(job: Job) -> bool:
    ...     return False
    >>> DropNothing = Pass(drop_nothing)
    >>> DropNothing.name, DropNothing.kind.name
    ('DropNothing', 'CHOICE')
    """

    run: Callable[[Job], bool]
    kind: Kind = Kind.CHOICE
    applies: Callable[[Settings], object] = lambda _: True
    """Whether there is anything to do under some settings."""
    looks_for: Collection[str] = ()
    """Operators without which it does nothing; if none is named, it may always do something."""

    @property
    def name(self) -> str:
        """The name for ``--passes`` and ``--print-after``: of lower_scatters, LowerScatters."""
        return _named(self.run.__name__)


@cache
def _named(function: str) -> str:
    return function.title().replace("_", "")
