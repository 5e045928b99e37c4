"""What was done becomes words: the report, its page, explanations, advice, parts of a model.

``builder`` makes an entry for each node, ``report`` has the sentences, ``terminal`` puts them in
order for a terminal, and ``page`` for a browser.

Come here for ``Inquiry``, which opens a model, runs the pipeline and makes the report, and for what
a person reads of it. Not for what is done (``pipeline``), not for the words of reasons (``text``),
and not for the comparison of two models (``compare``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.tell.advice.change import Command as Command
    from onnx_scatterx.tell.explanation import advised as advised
    from onnx_scatterx.tell.explanation import explain as explain
    from onnx_scatterx.tell.explanation import explanations as explanations
    from onnx_scatterx.tell.extraction.cutting import extract as extract
    from onnx_scatterx.tell.inquiry import Inquiry as Inquiry
    from onnx_scatterx.tell.inquiry import ModelT as ModelT
    from onnx_scatterx.tell.inquiry import optimized as optimized
    from onnx_scatterx.tell.page import ComparedNote as ComparedNote
    from onnx_scatterx.tell.page import OneModel as OneModel
    from onnx_scatterx.tell.page import directory_page as directory_page
    from onnx_scatterx.tell.page.document import tables as tables
    from onnx_scatterx.tell.rendering import Group as Group
    from onnx_scatterx.tell.rendering import ShownInTables as ShownInTables
    from onnx_scatterx.tell.rendering import TextTable as TextTable
    from onnx_scatterx.tell.rendering import laid_out as laid_out
    from onnx_scatterx.tell.report import NEEDS as NEEDS
    from onnx_scatterx.tell.report import OTHERWISE as OTHERWISE
    from onnx_scatterx.tell.report import SCHEMA as SCHEMA
    from onnx_scatterx.tell.report import Report as Report
    from onnx_scatterx.tell.report import tallies as tallies
    from onnx_scatterx.tell.reporting import optimize_ir as optimize_ir
    from onnx_scatterx.tell.sections import settled as settled
    from onnx_scatterx.tell.terminal import screen as screen
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "advice.change": "Command",
            "explanation": "advised explain explanations",
            "extraction.cutting": "extract",
            "inquiry": "Inquiry ModelT optimized",
            "page": "ComparedNote OneModel directory_page",
            "page.document": "tables",
            "rendering": "Group ShownInTables TextTable laid_out",
            "report": "NEEDS OTHERWISE Report SCHEMA tallies",
            "reporting": "optimize_ir",
            "sections": "settled",
            "terminal": "screen",
        },
    )
