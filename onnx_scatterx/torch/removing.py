"""Removes scatters from PyTorch's programs, before these are exported to ONNX or another format.

Exporters write a scatter for each assignment to a part of a tensor, and compute indices for a slice
that the program still has. Here the program itself is rewritten. Which toolchains gain by it is in
``docs/measured/before_onnx_toolchains.md``. PyTorch is imported when the function is called; the
rules do not import it.
"""

from __future__ import annotations

import importlib.util
from typing import Any

from onnx_scatterx.errors import ScatterXError

__all__ = ["remove_scatters"]


def remove_scatters(program: Any, *, last_bits: bool = False) -> Any:
    """Return an ExportedProgram that computes the same, without the scatters that a rule removes.

    Args:
        program: the result of ``torch.export.export``. It is not changed.
        last_bits: also compute ``x[m] = f(x[m])`` for all elements if f is a function, such as
            exp, whose last bits may depend on the place of an element.

    The new program takes the same inputs at the same sizes: it has the same guards, and mutates the
    same inputs and buffers. PyTorch makes the program functional first, as
    ``run_decompositions({})`` does; other operators than scatters are not changed.

    Raises:
        ScatterXError: if PyTorch is not installed.
        TypeError: if ``program`` is not an ExportedProgram.

    """
    require_torch()
    from torch.export import ExportedProgram
    from torch.fx.experimental import _config as config

    if not isinstance(program, ExportedProgram):
        kind = type(program).__name__
        raise TypeError(f"a program is that of torch.export.export(module, ...); this is a {kind}")

    from onnx_scatterx.torch.graph import remove

    program = program.run_decompositions({})
    with config.patch(backed_size_oblivious=True):  # otherwise the layout of a slice adds guards
        if remove(program, last_bits):
            program = program.run_decompositions({})
            remove(program, last_bits)
    return program


def require_torch() -> None:
    """Raise a ScatterXError if PyTorch is not installed."""
    if importlib.util.find_spec("torch") is None:
        raise ScatterXError("onnx_scatterx.torch needs PyTorch: pip install torch==2.13.0")
