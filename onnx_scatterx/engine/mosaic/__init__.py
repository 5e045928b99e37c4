"""Where every element of a tensor comes from, as boxes with their sources.

Come here for the mosaic of a value, for the cells and regions that it consists of, for values that
are constants or views of others, and for whether updates of a scatter collide; not for how a mosaic
is written as nodes (that is in ``plan`` and the rules), nor for what a scatter writes alone (in
``lift``).

``strided_interval`` has the positions of a box on one axis and the sources of a box, ``cells`` the
boxes with their sources. ``mosaic`` joins neighbours. ``moves`` has the effect of operators on a
mosaic, ``scattered`` that of scatters and gathers. ``provenance`` finds the mosaic of each value of
a graph, and ``unique`` says whether two updates of a scatter can go to one element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.engine.mosaic.cells import Cell as Cell
    from onnx_scatterx.engine.mosaic.constants import Constants as Constants
    from onnx_scatterx.engine.mosaic.existing_view import existing_views as existing_views
    from onnx_scatterx.engine.mosaic.mosaic import Mosaic as Mosaic
    from onnx_scatterx.engine.mosaic.moves import MOVES as MOVES
    from onnx_scatterx.engine.mosaic.moves import connected_moves as connected_moves
    from onnx_scatterx.engine.mosaic.provenance import Lifted as Lifted
    from onnx_scatterx.engine.mosaic.provenance import Provenance as Provenance
    from onnx_scatterx.engine.mosaic.strided_interval import Reduced as Reduced
    from onnx_scatterx.engine.mosaic.strided_interval import StridedInterval as StridedInterval
    from onnx_scatterx.engine.mosaic.strided_interval import View as View
    from onnx_scatterx.engine.mosaic.unique import is_unique as is_unique
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "cells": "Cell",
            "constants": "Constants",
            "existing_view": "existing_views",
            "mosaic": "Mosaic",
            "moves": "MOVES connected_moves",
            "provenance": "Lifted Provenance",
            "strided_interval": "Reduced StridedInterval View",
            "unique": "is_unique",
        },
    )
