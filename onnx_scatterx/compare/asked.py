"""What `verify` is asked: two models that can be compared, and what is promised of their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import (
    Assume,
    Clause,
    FixedSizes,
    at_sizes,
    read_clauses,
)
from onnx_scatterx.compare.broken_promises import broken_promises
from onnx_scatterx.compare.draws import GIVEN, noted_promises
from onnx_scatterx.compare.interface import (
    Input,
    Interface,
    differences,
    narrowed,
    narrowing,
    require_deterministic,
    require_same_names,
)
from onnx_scatterx.compare.light_model import lighten
from onnx_scatterx.compare.proving import Promises
from onnx_scatterx.errors import ScatterXError, VerifyError
from onnx_scatterx.files import AnyModel, ModelSource, load
from onnx_scatterx.runtime import DeclaredInput, ModelFile, as_file, validated_inputs

Feed = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Pair:
    """Two models that run on the same inputs, and their files.

    The external data of either may lie ``beside`` the other. ``different`` says how the declared
    inputs and outputs differ.
    """

    first: ir.Model
    second: ir.Model
    files: tuple[ModelFile, ModelFile]
    beside: Path | None
    different: tuple[str, ...]

    @classmethod
    def of(cls, before: AnyModel, after: AnyModel, directory: Path) -> Pair:
        """Read two models. Raise VerifyError if they cannot be compared."""
        beside = ModelSource.of(before).directory or ModelSource.of(after).directory
        first, file = _opened(before, beside, directory / "before.onnx")
        second, other_file = _opened(after, beside, directory / "after.onnx")
        require_deterministic(first, "the first model")
        require_deterministic(second, "the second model")
        face, other_face = Interface.of(first), Interface.of(second)
        require_same_names(face, other_face)
        different = differences(face, other_face)
        return cls(first, second, (file, other_file), beside, different)


@dataclass(frozen=True)
class Asked:
    """What is promised of the inputs of two models, and inputs that are ``given`` by the user.

    All draws keep what is ``assumed``: the ``promises`` of the user, and what only the second model
    has ``stated``. It has numbers for the sizes ``fixed``. The model ``looked_at`` is the first one
    at these sizes: it is analysed, and the original is run.
    """

    looked_at: ir.Model
    fixed: FixedSizes
    assumed: tuple[Clause, ...]
    stated: tuple[Clause, ...]
    promises: Promises
    given: tuple[Feed, ...]

    @classmethod
    def of(
        cls, pair: Pair, assume: Assume, feeds: Iterable[Feed] | None, distrust_dims: bool
    ) -> Asked:
        """Read promises and inputs. Raise VerifyError if the first model cannot take them."""
        try:
            fixed = narrowing(pair.first, pair.second, distrust_dims)
            promised = at_sizes(read_clauses(assume), fixed)
            own = at_sizes(noted_promises(pair.first, pair.second), fixed)
        except ScatterXError as error:
            raise VerifyError(str(error)) from error
        assumed = tuple(dict.fromkeys((*promised, *own)))
        stated = tuple(clause for clause in assumed if clause not in promised)
        face = Interface.of(pair.first)
        given = tuple(_validated(feed, number, face) for number, feed in enumerate(feeds or (), 1))
        looked_at = narrowed(pair.first, fixed)
        promises = Promises.of(looked_at, promised, distrust_dims)
        return cls(looked_at, fixed, assumed, stated, promises, given)

    def broken_by(self) -> dict[int, tuple[str, ...]]:
        """Return the promises that inputs of the user break, by the number of the set."""
        found = (broken_promises(self.looked_at, self.assumed, feed) for feed in self.given)
        return {number: broken for number, broken in enumerate(found, 1) if broken}


def _opened(source: AnyModel, beside: Path | None, written: Path) -> tuple[ir.Model, ModelFile]:
    """Return a model and its file. Large tensors of a model that was a file are only there."""
    model = load(source, beside)
    file = as_file(source, model, written)
    if ModelSource.of(source).path is not None:
        lighten(model, lambda: load(source, beside))
    return model, file


def _validated(feed: Feed, number: int, face: Interface) -> Feed:
    """Return inputs of the user as arrays that the models take; VerifyError if that fails."""
    required, overridable = (
        [_declared(i) for i in some] for some in (face.inputs, face.overridable)
    )
    try:
        return validated_inputs(feed, required, overridable)
    except ScatterXError as error:
        raise VerifyError(f"{GIVEN} {number}: {error}") from error


def _declared(source: Input) -> DeclaredInput:
    kind = "sequence, optional or map" if source.dtype is None else source.dtype.name.lower()
    return DeclaredInput(
        source.name, f"tensor({kind})" if source.dtype else kind, source.dims or ()
    )
