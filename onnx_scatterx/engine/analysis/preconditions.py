"""What each operator demands of its inputs: one list for all who ask.

    learned        a node that did not fail proves its conditions (``facts_of``). The optimized
                   model may rely on them: it may accept more inputs than the original, never fewer
    false          a condition that is certainly false is why the node fails (``first_false``), and
                   its text is what a user is told. If a failure is not certain, there is none
    drawn within   ranges of indices, starts and counts are named by ``index_ranges``, which needs
                   no sizes; ``verify`` draws within them

Conditions are those that ONNX Runtime checks when a node runs. Two things stand elsewhere:

- Indices that are terms are bounded box by box, in ``engine.lift.bounds``: that needs their
  canonical form, and planning limits boxes by the same function.
- Ranges that ``verify`` prefers, though no runtime demands them, are in
  ``compare.draws.index_bounds``: small sizes, distinct rows, divisors other than 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

from onnx_scatterx.engine.analysis.domain.call import Call, NotKnownError, require, required
from onnx_scatterx.engine.analysis.domain.conditions import (
    AnyElement,
    Broadcast,
    Condition,
    Decided,
    Equal,
    NotNegative,
    SameCount,
    Within,
)
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.analysis.operators import slicing
from onnx_scatterx.engine.analysis.operators.arithmetic import COMPARISONS, SAME_TYPE
from onnx_scatterx.engine.analysis.operators.gathers import named_axes
from onnx_scatterx.engine.analysis.operators.index_ranges import index_ranges
from onnx_scatterx.engine.analysis.operators.reshaping import may_copy
from onnx_scatterx.engine.terms import Term, term
from onnx_scatterx.operators import READS

Conditions = Iterable[Condition]


class InfeasibleError(Exception):
    """A model cannot run at the sizes that are asked about."""


def conditions_of(call: Call) -> Iterator[Condition]:
    """Return what a node demands of its inputs, as far as they are known."""
    declared = PRECONDITIONS.get(call.node.op_type)
    if declared is None or call.node.domain != "" or not call.version:
        return
    for part in declared:
        try:
            yield from part(call)
        except NotKnownError:
            continue


def facts_of(call: Call) -> list[Term]:
    """Return terms that are >= 0 once the node has run."""
    return [t for c in conditions_of(call) if c.learned for t in c.terms(call.facts)]


def first_false(call: Call, outputs: Iterable[TensorValue | None] = ()) -> Condition | None:
    """Return a condition that is certainly false, so that the node fails wherever it is run.

    If ``outputs`` are given, no size of theirs is negative, either.
    """
    for condition in conditions_of(call):
        if condition.is_false(call.facts):
            return condition
    sizes = NotNegative(
        "an output has a negative size", [d for t in outputs if t for d in t.shape or ()]
    )
    return sizes if sizes.is_false(call.facts) else None


def _elementwise(call: Call) -> Conditions:
    shapes = [x.shape for x in call.inputs if x is not None and x.shape]
    if len(shapes) > 1:
        yield Broadcast("they cannot be broadcast", shapes)


def _expand(call: Call) -> Conditions:
    shapes = call.known(0).dims, tuple(call.vector(1))
    yield Broadcast("the first cannot be expanded to the second", shapes)


def _sizes(call: Call) -> Conditions:
    """A requested size is never negative, and unlike in a Reshape, -1 does not stand for a size."""
    sizes = call.vector(len(call.inputs) - 1)
    yield NotNegative("a size is negative", sizes, only_news=True)


def _along_axis(call: Call) -> Conditions:
    """An index names an element of an axis.

    If it is known only at run time, nothing is learned of a write: what replaces one is guarded
    against sizes of 0 in any case. There the original fails, but in older versions a Mod by 0 ends
    the process.
    """
    data, indices = call.known(0, 1).dims, call.present(1)
    (wanted,) = index_ranges(call.node, len(data), 0, call)
    axis, numbers = wanted.axis % len(data), indices.constant
    if numbers is not None and numbers.size:
        fault = f"an index is out of bounds on axis {axis} of size {data[axis]}"
        yield Within(fault, numbers, data[axis])
    elif indices.shape is not None:
        fault = f"axis {axis} has no element for an index"
        learned = call.node.op_type in READS
        yield AnyElement(fault, (data[axis],), indices.shape, learned=learned)


def _along_axes(call: Call) -> Conditions:
    """Each row of indices that is checked names an element of some axes; learned as above."""
    data, indices = call.known(0).dims, call.known(1, 1)
    named = required(named_axes(call, data, indices.dims))
    numbers = indices.constant
    if numbers is None or not numbers.size:
        fault = "an axis has no element for an index"
        learned = call.node.op_type in READS
        yield AnyElement(fault, named, indices.dims[:-1], learned=learned)
        return
    columns = numbers.reshape(-1, numbers.shape[-1])
    for wanted in index_ranges(call.node, len(data), columns.shape[1], call):
        size = data[wanted.axis]
        fault = f"an index is out of bounds on axis {wanted.axis} of size {size}"
        yield Within(fault, columns[:, required(wanted.column)], size)


def _ranks(call: Call) -> Conditions:
    """Data and indices are of one rank."""
    ranks = len(call.known(0).dims), len(call.known(1).dims)
    yield Decided(f"indices are of rank {ranks[1]}, data of rank {ranks[0]}", ranks[0] == ranks[1])


def _beside(call: Call) -> Conditions:
    """On axes that the indices do not name, at most the whole axis is read or written."""
    data, indices = call.known(0, 1).dims, call.known(1).dims
    require(len(data) == len(indices))
    axis = call.integer("axis", 0) % len(data)
    rooms = [a - b for d, (a, b) in enumerate(zip(data, indices, strict=True)) if d != axis]
    yield NotNegative(f"there are more indices than data beside axis {axis}", rooms)


def _depth(call: Call) -> Conditions:
    """Indices name at most all axes."""
    data, indices = call.known(0).dims, call.known(1, 1).dims
    first = call.integer("batch_dims", 0) if call.node.op_type == "GatherND" else 0
    depth = required(indices[-1].constant)
    batch = f" behind {first}" if first else ""
    fault = f"indices name {depth} axes{batch} of data of rank {len(data)}"
    yield Decided(fault, first + depth <= len(data))


def _updates(call: Call) -> Conditions:
    """The updates have a row for each index, of the dims that the indices do not name."""
    data, indices, updates = call.known(0).dims, call.known(1, 1).dims, call.known(2).dims
    wanted = (*indices[:-1], *data[required(indices[-1].constant) :])
    fault = f"the updates must be of shape [{', '.join(map(str, wanted))}]"
    yield Decided(fault, len(wanted) == len(updates))
    if len(wanted) == len(updates):
        yield Equal(fault, list(zip(wanted, updates, strict=True)))


def _starts(call: Call) -> Conditions:
    """What TensorScatter writes without wrapping fits behind its start."""
    data, updates, starts = call.known(0).dims, call.known(1).dims, call.present(2).constant
    (wanted,) = index_ranges(call.node, len(data), 0, call)
    require(len(updates) == len(data), starts is not None and starts.size)
    axis = wanted.axis % len(data)
    room = data[axis] - updates[axis] + 1
    if not wanted.wraps and starts is not None:
        fault = f"what is written does not fit behind its start on axis {axis}"
        yield Within(fault, starts, room, wanted.signed)


def _matrices(call: Call) -> Conditions:
    a, b = call.known(0, 1).dims, call.known(1, 1).dims
    inner = a[-1], b[-2 if len(b) > 1 else 0]
    yield Equal(f"{inner[0]} columns, {inner[1]} rows", [inner])


def _gemm(call: Call) -> Conditions:
    a, b = call.known(0, 2).dims, call.known(1, 2).dims
    inner = a[0 if call.integer("transA", 0) else 1], b[1 if call.integer("transB", 0) else 0]
    yield Equal(f"{inner[0]} columns, {inner[1]} rows", [inner])


def _joined(call: Call) -> Conditions:
    """Beside the axis, tensors that are joined have the same sizes, unless they may be empty."""
    shapes = [call.known(i).dims for i in range(len(call.inputs))]
    axis = call.integer("axis", 1) % max(len(shapes[0]), 1)
    first, *others = [s for s in shapes if all(call.facts.interval(n)[0] >= 1 for n in s)] or [()]
    pairs = [
        pair
        for shape in others
        for d, pair in enumerate(zip(first, shape, strict=False))
        if d != axis and pair[0] is not pair[1]
    ]
    yield Equal(f"the sizes beside axis {axis} differ", pairs)


def _unsqueeze(call: Call) -> Conditions:
    axes = required(call.numbers(1, "axes"))
    rank = len(call.known(0).dims) + len(axes)
    for axis in axes:
        yield Decided(f"an output of rank {rank} has no axis {axis}", -rank <= axis < rank)


def _top_k(call: Call) -> Conditions:
    """The number of chosen elements is between 0 and the number of elements."""
    data, count = call.known(0, 1).dims, required(call.present(1).scalar)
    (wanted,) = index_ranges(call.node, len(data), 0, call)
    size = data[wanted.axis % len(data)]
    fault = f"{count} of {size} elements cannot be chosen"
    yield NotNegative(fault, (size - count, count))


def _copied(call: Call) -> Conditions:
    """A 0 of a Reshape copies a dim, and -1 stands for one; the number of elements is kept."""
    shape, target = call.known(0).dims, call.vector(1)
    copies = not call.integer("allowzero", 0)
    missing = [i for i, t in enumerate(target[len(shape) :], len(shape)) if t.constant == 0]
    if copies and missing:
        yield Decided(f"the 0 at position {missing[0]} has no dim to copy", False)
    elif any(t.constant is not None and t.constant < -1 for t in target):
        yield Decided("a size is less than -1", False)
    else:
        yield SameCount("the numbers of elements differ", shape, target, copies)


def _filled(call: Call) -> Conditions:
    """A Reshape cannot compute the size that -1 stands for if another one is 0.

    If zeros do not copy, ONNX Runtime computes some size.
    """
    shape, target = call.known(0).dims, call.vector(1)
    require(not call.integer("allowzero", 0), any(t.constant == -1 for t in target))
    sizes = []
    for i, t in enumerate(target):
        if i < len(shape) and t.constant == 0:
            sizes.append(shape[i])
        elif t.constant is not None and t.constant < 0:
            continue
        elif i >= len(shape) or not may_copy(t, shape[i], call.facts):
            sizes.append(t)
    fault = "-1 stands for no size if another one is 0"
    yield NotNegative(fault, [n - 1 for n in sizes], only_news=True)


def _slid(call: Call) -> Conditions:
    fault = "the window of the convolution does not fit"
    yield NotNegative(fault, slicing.room_of_conv(call), only_news=True)


def _counted(call: Call) -> Conditions:
    x = call.known(0)
    require(x.static_shape is not None or len(x.dims) < 2)
    room = math.prod(x.dims, start=term(1)) - call.unknown_size(1)
    yield NotNegative("more elements are true than there are", [room])


def _axes(call: Call) -> Conditions:
    """No size is negative, even if it depends on numbers that are known only at run time."""
    sizes = [n for n in call.known(0).dims if call.facts.magnitude(n) == math.inf]
    yield NotNegative("a size is negative", sizes)


PRECONDITIONS: dict[str, tuple[Callable[[Call], Conditions], ...]] = {
    **dict.fromkeys((*SAME_TYPE, *COMPARISONS, "Where"), (_elementwise,)),
    "Expand": (_sizes, _expand),
    "ConstantOfShape": (_sizes,),
    "Gather": (_along_axis,),
    **dict.fromkeys(
        ("GatherElements", "Scatter", "ScatterElements"), (_ranks, _along_axis, _beside)
    ),
    "GatherND": (_depth, _along_axes),
    "ScatterND": (_depth, _updates, _along_axes),
    "TensorScatter": (_starts,),
    "MatMul": (_matrices,),
    "Gemm": (_gemm,),
    "Concat": (_joined,),
    "Unsqueeze": (_unsqueeze,),
    "TopK": (_top_k,),
    "Reshape": (_filled, _copied),
    **dict.fromkeys(("Conv", "ConvInteger"), (_slid,)),
    "NonZero": (_counted,),
    "Shape": (_axes,),
}
"""What each operator demands; a part of which something is not known gives no conditions."""
