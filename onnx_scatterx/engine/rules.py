"""What a rule needs: every rule imports from here, and nothing else of the package but helpers.

**The rule.** It is a class with a method ``plan``, and is asked about what its base says:

- ``RegionRule``: about a region whose cells are known; the cheapest plan of all rules is taken.
- ``ScatterRule``: about a scatter whose positions are not known; the first plan is taken.
- ``GatherRule``: about a gather that the target lacks, or that takes fewer nodes without it.
- ``Rule`` is any of them.

**What it is asked about.** ``Scatter`` and ``Gather`` are nodes in canonical form: where each
point goes, as terms. A ``Region`` is a box of a tensor with the ``Cell`` that each of its elements
lies in. The source of a cell is a ``View`` of a tensor, or two, ``Reduced``. A cell covers a
``StridedInterval`` of each axis.

**What it may ask.** A ``Context`` has what is known of the values and scatters of the graph, the
target, and what writes nodes. A ``Planner`` also has the best plans for parts of a region.
``Facts`` prove inequalities. A ``TensorValue`` is what is known of a tensor. ``made_by`` and
``written`` read a node of the model, ``reached`` walks over nodes, and ``rounds`` parts updates
that collide.

**Its answer.** A ``Plan`` is a function that writes nodes; a dry run finds its cost. Only where
time is weighed, ``Work`` says how much the nodes move. ``cheapest`` chooses among plans. A
``Refusal`` has a ``Reason``, and may have a ``Detail`` whose text is made only if it is printed.
``refuse_unless``, ``granted`` and ``only`` refuse where a condition fails; ``attempt`` returns
the refusal.

**Terms.** A ``Term`` is a polynomial over sizes and coordinates. ``term`` makes one of a number,
``coord`` of a coordinate; a ``Symbol`` is a run-time number, a ``FloorDiv`` a quotient, a
``Shape`` a tuple of terms. ``as_numbers`` and ``tabulated`` compute terms that are known.

**Writing.** ``context.writer`` adds nodes, and ``context.numbers`` nodes whose sizes are terms.
A ``Reduction`` combines tensors as a scatter does, a ``Cut`` finds the bounds of a Slice, and an
``Encoding`` writes a ScatterX node.
"""

from onnx_scatterx.engine.analysis.domain.tensor import Shape as Shape
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue as TensorValue
from onnx_scatterx.engine.device.costs import Work as Work
from onnx_scatterx.engine.lift.lifting import Gather as Gather
from onnx_scatterx.engine.lift.lifting import Scatter as Scatter
from onnx_scatterx.engine.mosaic.cells import Cell as Cell
from onnx_scatterx.engine.mosaic.strided_interval import Reduced as Reduced
from onnx_scatterx.engine.mosaic.strided_interval import StridedInterval as StridedInterval
from onnx_scatterx.engine.mosaic.strided_interval import View as View
from onnx_scatterx.engine.plan.planner import Planner as Planner
from onnx_scatterx.engine.plan.rule import Context as Context
from onnx_scatterx.engine.plan.rule import GatherRule as GatherRule
from onnx_scatterx.engine.plan.rule import Plan as Plan
from onnx_scatterx.engine.plan.rule import Region as Region
from onnx_scatterx.engine.plan.rule import RegionRule as RegionRule
from onnx_scatterx.engine.plan.rule import Rule as Rule
from onnx_scatterx.engine.plan.rule import ScatterRule as ScatterRule
from onnx_scatterx.engine.plan.rule import cheapest as cheapest
from onnx_scatterx.engine.terms.prove import Facts as Facts
from onnx_scatterx.engine.terms.tabulate import tabulated as tabulated
from onnx_scatterx.engine.terms.terms import FloorDiv as FloorDiv
from onnx_scatterx.engine.terms.terms import Symbol as Symbol
from onnx_scatterx.engine.terms.terms import Term as Term
from onnx_scatterx.engine.terms.terms import as_numbers as as_numbers
from onnx_scatterx.engine.terms.terms import coord as coord
from onnx_scatterx.engine.terms.terms import term as term
from onnx_scatterx.engine.write.cuts import Cut as Cut
from onnx_scatterx.engine.write.native.nodes import Encoding as Encoding
from onnx_scatterx.engine.write.reduction import Reduction as Reduction
from onnx_scatterx.graphs.traversal import made_by as made_by
from onnx_scatterx.graphs.traversal import reached as reached
from onnx_scatterx.graphs.traversal import written as written
from onnx_scatterx.text.reasons import Detail as Detail
from onnx_scatterx.text.reasons import Reason as Reason
from onnx_scatterx.text.reasons import Refusal as Refusal
from onnx_scatterx.text.reasons import attempt as attempt
from onnx_scatterx.text.reasons import granted as granted
from onnx_scatterx.text.reasons import only as only
from onnx_scatterx.text.reasons import refuse_unless as refuse_unless
from onnx_scatterx.theory.scattering import rounds as rounds
