"""Sets of inputs for a model: which sizes, which numbers, and how many sets.

Come here for a source of draws (``SampleSource``), for promises of how many elements are chosen
(``ChosenDraws``), and for how many draws are run. Not for a run (``session_pair``), and not for
what its outputs say (``result``).

``sample_source`` has the streams of draws, and a ``stream`` draws at the ``sizes`` that its search
proposes. ``sampler`` draws one input: within the bounds that ``uses`` finds, and at the
``landmarks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.compare.draws.chosen_draws import ChosenDraws as ChosenDraws
    from onnx_scatterx.compare.draws.chosen_draws import noted_promises as noted_promises
    from onnx_scatterx.compare.draws.chosen_draws import probed_model as probed_model
    from onnx_scatterx.compare.draws.draw import GIVEN as GIVEN
    from onnx_scatterx.compare.draws.draw import SOLVER as SOLVER
    from onnx_scatterx.compare.draws.draw import Draw as Draw
    from onnx_scatterx.compare.draws.how_many import FEW as FEW
    from onnx_scatterx.compare.draws.how_many import MOST_DRAWS as MOST_DRAWS
    from onnx_scatterx.compare.draws.refusals import Refusals as Refusals
    from onnx_scatterx.compare.draws.sample_source import SampleSource as SampleSource
    from onnx_scatterx.compare.draws.sampler import MOST_ELEMENTS as MOST_ELEMENTS
    from onnx_scatterx.compare.draws.stream import SamplingPolicy as SamplingPolicy
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "chosen_draws": "ChosenDraws noted_promises probed_model",
            "draw": "GIVEN SOLVER Draw",
            "how_many": "FEW MOST_DRAWS",
            "refusals": "Refusals",
            "sample_source": "SampleSource",
            "sampler": "MOST_ELEMENTS",
            "stream": "SamplingPolicy",
        },
    )
