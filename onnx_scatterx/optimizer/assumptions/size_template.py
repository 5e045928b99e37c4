"""The options that give every size of a model a number, to be pasted and filled in."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import onnx_ir as ir

from onnx_scatterx.optimizer.assumptions.expressions import names
from onnx_scatterx.optimizer.assumptions.fixed_sizes import dims_of, is_tensor


def template(model: ir.Model, known: Mapping[str, int] | None = None) -> str:
    """Return the options that give every size of a model a number, "" if they all have one.

    ``known`` has the numbers of some sizes; the others are N.

    >>> model = ir.from_onnx_text('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[b, 4, ?] x) => (float[b, 4, M] y) { y = Identity(x) }''')
    >>> template(model, {"b": 4})
    "--fix b=4 --fix 'x[2]=N'"
    """
    options: dict[str, None] = {}
    for value in model.graph.inputs:
        if not is_tensor(value) or value.name in model.graph.initializers:
            continue
        dims = dims_of(value)
        if dims is None:
            options[f"{value.name}:N,N"] = None
        for axis, dim in enumerate(dims or ()):
            if isinstance(dim, int):
                continue
            called = [f"{value.name}[{axis}]"] if dim is None else sorted(names(dim))
            options |= {f"{name}={(known or {}).get(name, 'N')}": None for name in called}
    return " ".join(f"--fix {shlex.quote(option)}" for option in options)
