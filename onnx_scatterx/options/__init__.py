"""The options that functions, passes and commands share, in one list.

Come here for an option: its type, its default, its text after ``--help``, and how a command reads
and writes its value. Not for what the options of one run are, once they are checked (those are the
``Settings`` of ``engine.passes``), and not for the arguments of one command (``doors``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.options.table import DEFAULTS as DEFAULTS
    from onnx_scatterx.options.table import OF_READING as OF_READING
    from onnx_scatterx.options.table import OPTIONS as OPTIONS
    from onnx_scatterx.options.table import STRICT as STRICT
    from onnx_scatterx.options.table import Options as Options
    from onnx_scatterx.options.table import Rules as Rules
    from onnx_scatterx.options.table import Strict as Strict
    from onnx_scatterx.options.table import check_words as check_words
    from onnx_scatterx.options.table import checked_strict as checked_strict
    from onnx_scatterx.options.table import command_words as command_words
    from onnx_scatterx.options.table import comparison as comparison
    from onnx_scatterx.options.values import above_zero as above_zero
    from onnx_scatterx.options.values import count as count
    from onnx_scatterx.options.values import from_zero as from_zero
    from onnx_scatterx.options.values import listed_names as listed_names
    from onnx_scatterx.options.values import named_size as named_size
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "table": "DEFAULTS OF_READING OPTIONS STRICT Options Rules Strict check_words "
            "checked_strict command_words comparison",
            "values": "above_zero count from_zero listed_names named_size",
        },
    )
