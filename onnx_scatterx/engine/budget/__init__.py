"""How much work one command, one scatter and one question may take.

Come here for the steps that remain (``budget``), for all limits (``LIMITS``) and what work costs
(``PRICES``), and for what ends work that takes too much (``LimitError``). Not for what is printed
when they are spent (that is in ``text.reasons``), nor for time: steps do not depend on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.budget.limits import AXIS_LIMIT as AXIS_LIMIT
    from onnx_scatterx.engine.budget.limits import LIMITS as LIMITS
    from onnx_scatterx.engine.budget.limits import NARROW as NARROW
    from onnx_scatterx.engine.budget.limits import PRICES as PRICES
    from onnx_scatterx.engine.budget.spending import Budget as Budget
    from onnx_scatterx.engine.budget.spending import LimitError as LimitError
    from onnx_scatterx.engine.budget.spending import PartSpentError as PartSpentError
    from onnx_scatterx.engine.budget.spending import QuestionSpentError as QuestionSpentError
    from onnx_scatterx.engine.budget.spending import SpentError as SpentError
    from onnx_scatterx.engine.budget.spending import TooLargeError as TooLargeError
    from onnx_scatterx.engine.budget.spending import budget as budget
    from onnx_scatterx.engine.budget.spending import of_command as of_command
    from onnx_scatterx.engine.budget.spending import of_scatter as of_scatter
    from onnx_scatterx.engine.budget.spending import own_budget as own_budget
    from onnx_scatterx.engine.budget.spending import within_limits as within_limits
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "limits": "AXIS_LIMIT LIMITS NARROW PRICES",
            "spending": "Budget LimitError PartSpentError QuestionSpentError SpentError "
            "TooLargeError budget of_command of_scatter own_budget "
            "within_limits",
        },
    )
