"""What an adapter is: one file that runs a model in one consumer of ONNX, and gives its answer.

An adapter is imported twice: here, for its name and packages, and in the process that runs the
consumer, perhaps by another Python (3.10 or newer) that has only NumPy and the consumer. So its
file imports the consumer inside its methods, and else nothing but the standard library, NumPy and
the modules `adapter` and `captured` of this folder. It ends with ``adapter = MyConsumer()``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

Outputs = Mapping[str, np.ndarray] | Sequence[np.ndarray]
"""Outputs by name, or in the order of the model's where the consumer forgets their names."""


@dataclass(frozen=True)
class Answer:
    """What a consumer says of a model.

    >>> Answer("refused", message="unknown operator ScatterND", node="node_ScatterND_3").kind
    'refused'
    """

    kind: Literal["taken", "refused"]
    outputs: Outputs | None = None
    """What it computed; None if it was refused."""
    message: str = ""
    """Why it was refused, in the words of the consumer."""
    node: str = ""
    """The name of the node that it refused, where it tells."""
    on_host: tuple[str, ...] = ()
    """The operators, or nodes, that the compiler leaves to the host."""
    version: str = ""
    """Filled in by the process that runs the adapter, if left empty."""


class Adapter(Protocol):
    """One consumer; subclass it, and set what has no default."""

    name: str
    """How it is called on the command line: the name of its file."""
    packages: tuple[str, ...]
    """What ``pip install`` installs for it."""
    profile: str
    """The shipped target that describes it."""
    tolerance: float = 1e-4
    """How far a float may be off, relative to the largest of its output."""

    def version(self) -> str:
        """Return its version; ImportError if it is not installed."""
        ...

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        """Compile a model and run it on these inputs.

        Any exception is a refusal with its text, so only what needs to be said otherwise is caught.
        `directory` is empty, and the current one; it is removed afterwards.
        """
        ...
