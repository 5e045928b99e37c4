"""What a rule needs: rules import from here, and nothing else of the package but what they share.

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
``Facts`` prove inequalities. A ``TensorValue`` is what is known of a tensor; a symbol may be an
``ElementOf`` a tensor. ``made_by`` and ``attribute_of`` read a node of the model, ``described``
says what is known of its operator, such as how ``Rows`` run through it, ``is_lacked`` whether the
target has none or a slow one. ``reached`` walks over nodes, and ``rounds`` parts updates that
collide.

**Its answer.** A ``Plan`` is a function that writes nodes; their number is its cost. Only where
time is weighed, ``Traffic`` says how much the nodes move. ``cheapest`` chooses among plans. A
``Refusal`` has a ``Reason``, and may have a ``Detail`` whose text is made only if it is printed.
``MultiplyAdds`` say what a function costs. ``refuse_unless``, ``granted`` and ``only`` refuse where
a condition fails; ``attempt`` returns the refusal.

**Terms.** A ``Term`` is a polynomial over sizes and coordinates. ``term`` makes one of a number,
``coord`` of a coordinate; a ``Symbol`` is a run-time number, a ``FloorDiv`` a quotient, a
``Shape`` a tuple of terms. ``as_numbers`` and ``tabulated`` compute terms that are known.

**Writing.** ``context.writer`` adds nodes, and ``context.numbers`` nodes whose sizes are terms.
A ``Reducer`` combines tensors as a scatter does, a ``Cut`` finds the bounds of a Slice, and an
``Encoding`` writes a ScatterX node.
"""

from onnx_scatterx.engine.analysis import ElementOf as ElementOf
from onnx_scatterx.engine.analysis import Shape as Shape
from onnx_scatterx.engine.analysis import TensorValue as TensorValue
from onnx_scatterx.engine.device import Traffic as Traffic
from onnx_scatterx.engine.device import is_lacked as is_lacked
from onnx_scatterx.engine.lift import Gather as Gather
from onnx_scatterx.engine.lift import Scatter as Scatter
from onnx_scatterx.engine.mosaic import Cell as Cell
from onnx_scatterx.engine.mosaic import Reduced as Reduced
from onnx_scatterx.engine.mosaic import StridedInterval as StridedInterval
from onnx_scatterx.engine.mosaic import View as View
from onnx_scatterx.engine.plan import Context as Context
from onnx_scatterx.engine.plan import GatherRule as GatherRule
from onnx_scatterx.engine.plan import MultiplyAdds as MultiplyAdds
from onnx_scatterx.engine.plan import Plan as Plan
from onnx_scatterx.engine.plan import Planner as Planner
from onnx_scatterx.engine.plan import Region as Region
from onnx_scatterx.engine.plan import RegionRule as RegionRule
from onnx_scatterx.engine.plan import Rule as Rule
from onnx_scatterx.engine.plan import ScatterRule as ScatterRule
from onnx_scatterx.engine.plan import cheapest as cheapest
from onnx_scatterx.engine.terms import Facts as Facts
from onnx_scatterx.engine.terms import FloorDiv as FloorDiv
from onnx_scatterx.engine.terms import Symbol as Symbol
from onnx_scatterx.engine.terms import Term as Term
from onnx_scatterx.engine.terms import as_numbers as as_numbers
from onnx_scatterx.engine.terms import coord as coord
from onnx_scatterx.engine.terms import tabulated as tabulated
from onnx_scatterx.engine.terms import term as term
from onnx_scatterx.engine.write import Cut as Cut
from onnx_scatterx.engine.write import Encoding as Encoding
from onnx_scatterx.engine.write import Reducer as Reducer
from onnx_scatterx.graphs import attribute_of as attribute_of
from onnx_scatterx.graphs import made_by as made_by
from onnx_scatterx.graphs import reached as reached
from onnx_scatterx.operators import Rows as Rows
from onnx_scatterx.operators import described as described
from onnx_scatterx.text import Detail as Detail
from onnx_scatterx.text import Reason as Reason
from onnx_scatterx.text import Refusal as Refusal
from onnx_scatterx.text import attempt as attempt
from onnx_scatterx.text import granted as granted
from onnx_scatterx.text import only as only
from onnx_scatterx.text import refuse_unless as refuse_unless
from onnx_scatterx.theory.scattering import rounds as rounds
