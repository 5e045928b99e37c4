"""Numbers for the symbolic sizes of a model, to try what follows if they are fixed."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from onnx_scatterx.assumptions.expressions import names
from onnx_scatterx.assumptions.fixed_sizes import dims_of, is_tensor

_USUAL = 64  # of a size whose name says nothing


def example_sizes(model: ir.Model, known: Mapping[str, int] | None = None) -> dict[str, int]:
    """Return a number for each symbolic size of the inputs, by its name; ``known`` has some.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[batch, 4, N] x) => (float[batch, 4, N] y) { y = Identity(x) }''')
    >>> example_sizes(model), example_sizes(model, {"N": 8})
    ({'batch': 1, 'N': 64}, {'batch': 1, 'N': 8})
    """
    found: dict[str, int] = {}
    for value in model.graph.inputs:
        if not is_tensor(value) or value.name in model.graph.initializers:
            continue
        for axis, dim in enumerate(dims_of(value) or ()):
            if isinstance(dim, int):
                continue
            for name in [f"{value.name}[{axis}]"] if dim is None else sorted(names(dim)):
                usual = 1 if "batch" in name.lower() or name.lower() == "b" else _USUAL
                found[name] = (known or {}).get(name, usual)
    return found
