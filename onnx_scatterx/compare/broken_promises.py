"""Names the promises that given inputs break: then an optimized model may give any result."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import onnx_ir as ir

from onnx_scatterx.assumptions import Clause, by_name, noted_assumptions
from onnx_scatterx.compare.draws import ChosenDraws
from onnx_scatterx.compare.interface import Input, Interface
from onnx_scatterx.compare.proving import Promises


def broken_promises(
    model: ir.Model, assumed: Iterable[Clause], feeds: Mapping[str, np.ndarray]
) -> tuple[str, ...]:
    """Return the promises about a model that inputs break.

    A promise about a value that the model computes counts as kept if no input decides it.

    >>> import onnx.parser
    >>> from onnx_scatterx.assumptions import read_clauses
    >>> head = '<ir_version: 8, opset_import: ["" : 18]> g (int64[n] i) => (int64[n] y)'
    >>> model = ir.from_proto(onnx.parser.parse_model(head + "{ y = Abs(i) }"))
    >>> broken_promises(model, read_clauses(["0 <= i < n", "n <= 8"]), {"i": np.array([0, 2])})
    ('i < n',)
    """
    face = Interface.of(model)
    inputs = [_of_any_size(i) for i in (*face.inputs, *face.overridable)]
    broken = []
    for clause in assumed:
        said = by_name([clause])
        promises = Promises(inputs, said, True, ChosenDraws.of(model, said))
        if not promises.kept(feeds):
            broken.append(str(clause))
    return tuple(broken)


def stated_and_broken(model: ir.Model, feeds: Mapping[str, np.ndarray]) -> tuple[str, ...]:
    """Return the promises that a model states in its metadata, and that inputs break."""
    return broken_promises(model, noted_assumptions(model.metadata_props), feeds)


def _of_any_size(i: Input) -> Input:
    """Return an input without the numbers of its dims: these are no promises of a user."""
    dims = i.dims if i.dims is None else tuple(None if isinstance(d, int) else d for d in i.dims)
    return replace(i, dims=dims)
