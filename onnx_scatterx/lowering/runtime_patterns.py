"""What ONNX Runtime's optimizer does around nodes that move elements, beside quantizers.

Under its default options, ONNX Runtime moves DequantizeLinear down and QuantizeLinear up past
Slice, Transpose, Reshape, Squeeze, Unsqueeze and MaxPool, and removes pairs of them. It does so
beside no scatter and no gather: where such a node goes, it begins. ``PATTERNS`` has one entry for
each of its faults, with the smallest model that shows it. Every pass that writes or removes nodes
asks ``obstacle`` about a node that it replaces, and ``objection`` about the nodes for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import onnx_ir as ir

from onnx_scatterx.analysis.domain.scope import Scope
from onnx_scatterx.emit.dry_run import DryRun
from onnx_scatterx.lift.element_moves import operands_of
from onnx_scatterx.lift.quantization import QUANTIZERS, Quantization, is_quantizer, quantization_of
from onnx_scatterx.mosaic.constants import Constants
from onnx_scatterx.symbolic.budget import LimitError, budget
from onnx_scatterx.symbolic.limits import LIMITS
from onnx_scatterx.text.quantized import OnFloats

MEASURED = "1.32"
"""The version of ONNX Runtime that showed each pattern; others are taken to do the same."""

_TYPED = 21  # from this operator set on QuantizeLinear has the attribute output_dtype


MOVED_PAST = {"Identity", "MaxPool", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze"}
"""Past these ONNX Runtime moves quantizers; it removes Identity."""
_ALONE = {"Conv", "ConvTranspose", "Gemm", "MatMul"}
"""These are computed in integers behind DequantizeLinear, without a QuantizeLinear behind them."""
_OF_ONE = {
    *("ArgMax", "AveragePool", "Clip", "GlobalAveragePool", "LeakyRelu", "ReduceMax", "ReduceMin"),
    *("Relu", "Resize", "Sigmoid", "Softmax"),
}
_IN_INTEGERS = {"Add", "Mul", "Where"} | _ALONE | _OF_ONE
"""Between quantizers these are computed in integers."""


_PACKED = {
    **dict.fromkeys(("Conv", "ConvTranspose"), (1,)),
    **dict.fromkeys(("Gemm", "MatMul"), (0, 1)),
    **dict.fromkeys(("GRU", "LSTM", "RNN"), (1, 2)),
}


class Pattern(NamedTuple):
    """A fault of ONNX Runtime: the smallest model that shows it, and its effect."""

    model: str  # in ONNX's text form; its default outputs differ from those without optimizations
    loads: bool = True  # under default options


_MOVED_DOWN = """<ir_version: 10, opset_import: ["" : {0}]>
    g ({1}[4] x) => (float[2] y)
    <float s = {{0.5}}, {2}int64[1] b = {{0}}, int64[1] e = {{2}}> {{
        a = DequantizeLinear ({3})
        c = Slice (a, b, e)
        y = Neg (c) }}"""
_BETWEEN = """<ir_version: 8, opset_import: ["" : 13]>
    g (uint8[4, 64] u, uint8[4, 64] v, bool[4, 64] m) => (uint8[4, 64] y)
    <float{0} r = {{{2}}}, float{0} s = {{{3}}}, float{0} t = {{{4}}}> {{
        a = DequantizeLinear {1} (u, r)
        b = DequantizeLinear {1} (v, s)
        c = {5}
        y = QuantizeLinear {1} (c, t) }}"""
_SCALES = "0.5, 0.25, 0.75, 1", "1, 1, 0.25, 0.5", "0.25, 1, 0.5, 0.75"
PATTERNS: dict[OnFloats, tuple[Pattern, ...]] = {
    OnFloats.RETYPED: (
        Pattern(_MOVED_DOWN.format(13, "int8", "", "x, s")),
        Pattern(_MOVED_DOWN.format(19, "int32", "", "x, s")),
    ),
    OnFloats.REJECTED: (
        Pattern(_MOVED_DOWN.format(21, "int8", "int8 z = {3}, ", "x, s, z"), loads=False),
        Pattern(_MOVED_DOWN.format(21, "int32", "", "x, s"), loads=False),
        Pattern(_MOVED_DOWN.format(13, "int32", "int32 z = {0}, ", "x, s, z"), loads=False),
    ),
    OnFloats.INTEGER_KERNEL: (
        Pattern(_BETWEEN.format("", "", "0.05", "0.05", "0.1", "Add (a, b)")),
        Pattern(_BETWEEN.format("", "", "0.05", "0.3", "0.9", "Mul (a, b)")),
    ),
    OnFloats.ONE_SCALE: (
        Pattern(_BETWEEN.format("[4]", "<axis = 0>", *_SCALES, "Where (m, a, b)"), loads=False),
    ),
    OnFloats.INEXACT: (
        Pattern("""<ir_version: 8, opset_import: ["" : 13]>
            g (uint8[4] x) => (uint8[2] y)
            <float s = {0}, uint8 z = {3}, int64[1] b = {0}, int64[1] e = {2}> {
                a = DequantizeLinear (x, s, z)
                c = Slice (a, b, e)
                y = QuantizeLinear (c, s, z) }"""),
    ),
    OnFloats.MOVED: (
        Pattern("""<ir_version: 8, opset_import: ["" : 13]>
            g (float[2, 3] x) => (float[2, 3] y, float[3, 2] w) <float s = {0.5}, uint8 z = {3}> {
                y = Neg (x)
                t = Transpose (y)
                q = QuantizeLinear (t, s, z)
                w = DequantizeLinear (q, s, z) }"""),
    ),
}
"""The faults, by the reason that a report gives."""


class Known(NamedTuple):
    """What is known of the values of a graph."""

    scope: Scope
    constants: Constants

    def dtype(self, value: ir.Value) -> ir.DataType | None:
        """Return the element type of a value, None if it is unknown."""
        found = self.scope.values.get(value)
        return value.dtype if found is None else found.dtype

    def array(self, value: ir.Value) -> np.ndarray | None:
        """Return the array that a value is in every run, None if it is unknown."""
        stored, computed = self.constants.array(value), self.scope.values.get(value)
        return computed.constant if stored is None and computed is not None else stored


def packed(node: ir.Node) -> tuple[int, ...]:
    """Return the inputs of a node that ONNX Runtime packs if they are constant.

    The last bits of the results then differ.
    """
    return _PACKED.get(node.op_type, ()) if node.domain == "" else ()


def obstacle(node: ir.Node, known: Known) -> OnFloats | None:
    """Return why a node that moves elements must be kept, if it has quantizers beside it."""
    if not operands_of(node):
        return None
    try:
        with budget().of_part(LIMITS.scatter_steps):
            return _obstacle(node, known)
    except LimitError:
        return OnFloats.LIMIT


def _obstacle(node: ir.Node, known: Known) -> OnFloats | None:
    above, below = reached(node, up=True), reached(node, up=False)
    if not all(map(is_exact(known), (*above, *below))):
        return OnFloats.INEXACT
    for quantizer in above:
        fault = _moved_down(quantizer, known)
        if fault is not None:
            return fault
    if below and _is_given_out_between(node):
        return OnFloats.MOVED
    return None


def _moved_down(node: ir.Node, known: Known) -> OnFloats | None:
    """Return what is wrong with the quantizers that a DequantizeLinear becomes behind a Slice.

    They get its zero point. Without one, QuantizeLinear makes uint8, unless it says another type,
    which ONNX Runtime writes from operator set 21 on. int32 cannot be quantized.
    """
    (integers, scale), zero = node.inputs[:2], node.inputs[2:3]
    dtype = None if integers is None else known.dtype(integers)
    has_zero = bool(zero) and zero[0] is not None
    says_type = known.scope.opsets.get("", 0) >= _TYPED and node.domain == ""
    if dtype == ir.DataType.INT32:
        return OnFloats.REJECTED if has_zero or says_type else OnFloats.RETYPED
    scales = None if scale is None else known.array(scale)
    if scales is not None and scales.size > 1:
        return None  # it is not moved
    if not has_zero and not says_type and dtype != ir.DataType.UINT8:
        return OnFloats.RETYPED
    if has_zero and says_type and dtype in (None, ir.DataType.INT8):
        return OnFloats.REJECTED
    return OnFloats.REJECTED if dtype is None else None


def is_rejected(node: ir.Node, known: Known) -> bool:
    """Return whether a DequantizeLinear of one scale is not loaded before nodes that move."""
    return _has_one_scale(node, known) and _moved_down(node, known) is OnFloats.REJECTED


def objection(value: ir.Value, trial: DryRun, known: Known) -> OnFloats | None:
    """Return why nodes that were written on trial must not replace a value.

    ONNX Runtime moves the quantizers past Slices, Reshapes and Transposes. So if the new nodes end
    with these, what stands before them meets what reads the value.
    """
    producer = value.producer()
    if producer is None or trial.result is None:
        return None
    for op, inputs in trial.steps.values():
        above = _dequantizers(inputs[:1], trial) if op in MOVED_PAST else []
        for quantizer in above:
            fault = _moved_down(quantizer, known)
            if fault is not None or not is_exact(known)(quantizer):
                return fault or OnFloats.INEXACT
    op, inputs = _before_moves(trial.result, trial)
    if op == "DequantizeLinear":
        readers = reached(producer, up=False, of=_computes)
        found = any(_is_between(n.op_type, n.inputs, n, trial) for n in readers)
        return OnFloats.INTEGER_KERNEL if found else None
    if op not in _IN_INTEGERS or not _is_between(op, inputs, producer, trial):
        return None
    if op != "Where":
        return OnFloats.INTEGER_KERNEL
    scales = [*_dequantizers(inputs[1:], trial), *reached(producer, up=False)]
    return None if all(_has_one_scale(n, known) for n in scales) else OnFloats.ONE_SCALE


def _computes(node: ir.Node) -> bool:
    return node.op_type in _IN_INTEGERS and node.domain == ""


def _before_moves(value: ir.Value, trial: DryRun) -> tuple[str, Sequence[ir.Value | None]]:
    """Return the operator that stands before nodes past which quantizers move, and its inputs."""
    while True:
        budget().work(1)
        op, inputs = _step(value, trial)
        first = inputs[0] if op in MOVED_PAST and inputs else None
        if first is None:
            return op, inputs
        value = first


def _step(value: ir.Value, trial: DryRun) -> tuple[str, Sequence[ir.Value | None]]:
    """Return the operator that computes a value, and its inputs."""
    node = value.producer()
    return trial.steps.get(value) or (("", ()) if node is None else (node.op_type, node.inputs))


def _is_between(
    op: str, inputs: Sequence[ir.Value | None], last: ir.Node | None, trial: DryRun
) -> bool:
    """Return whether a node reads DequantizeLinear, and QuantizeLinear reads ``last``.

    ``last`` is the node whose output is replaced, or the node itself.
    """
    data = inputs[1:3] if op == "Where" else inputs[:1] if op in _OF_ONE else inputs[:2]
    below = op in _ALONE or (last is not None and bool(reached(last, up=False)))
    return below and all(_dequantizers([v], trial) for v in data)


def _dequantizers(values: Sequence[ir.Value | None], trial: DryRun) -> list[ir.Node]:
    """Return the quantizers whose floats may reach values, some of which are written on trial."""
    found, seen, stack = [], set(values), list(values)
    while stack:
        value = stack.pop()
        budget().work(1)
        node = None if value is None else value.producer()
        if value is not None and value in trial.steps:
            near = list(trial.steps[value][1])
        elif node is not None and is_quantizer(node, "DequantizeLinear"):
            found.append(node)
            continue
        else:
            near = [] if node is None else [node.inputs[i] for i in operands_of(node)]
        stack += [v for v in near if v not in seen]
        seen.update(near)
    return found


def _has_one_scale(node: ir.Node, known: Known) -> bool:
    scale = None if node.inputs[1] is None else known.array(node.inputs[1])
    return scale is not None and scale.size == 1


def _is_given_out_between(node: ir.Node) -> bool:
    """Return whether an output of the graph is moved further and then quantized."""
    stack, seen = [node], {node}
    while stack:
        here = stack.pop()
        budget().work(1)
        readers = [u.node for v in here.outputs for u in v.uses() if u.idx in operands_of(u.node)]
        given_out = any(value.is_graph_output() for value in here.outputs)
        if given_out and any(reached(reader, up=False) for reader in readers):
            return True
        stack += [n for n in dict.fromkeys(readers) if n not in seen]
        seen.update(readers)
    return False


def reached(
    node: ir.Node, *, up: bool, of: Callable[[ir.Node], bool] | None = None
) -> list[ir.Node]:
    """Return the quantizers whose elements reach a node through others that move them.

    If not ``up``, return the quantizers that the node's elements reach, or other nodes, ``of``
    which it is asked.
    """
    op = "DequantizeLinear" if up else "QuantizeLinear"
    of = of or (lambda other: is_quantizer(other, op))
    found, seen, stack = [], {node}, [node]
    while stack:
        here = stack.pop()
        budget().work(1)
        if up:
            given = (here.inputs[i] for i in operands_of(here))
            near = [v.producer() for v in given if v is not None]
        else:
            near = [u.node for v in here.outputs for u in v.uses()]
        for other in near:
            if other is None:
                continue
            if of(other):
                found.append(other)
            elif other not in seen and operands_of(other):
                seen.add(other)
                stack.append(other)
    return found


def has_quantizers(graph: ir.Graph) -> bool:
    """Return whether a graph itself has quantizers."""
    return any(is_quantizer(node, *QUANTIZERS) for node in graph)


def is_exact(known: Known) -> Callable[[ir.Node], bool]:
    """Ask whether quantizers of a scale undo each other, as far as that is known."""

    def ask(node: ir.Node) -> bool:
        found = described(node, known)
        return found is None or found.is_exact

    return ask


def described(node: ir.Node, known: Known) -> Quantization | None:
    """Return the parameters of a quantizer, if they are known."""
    value = node.inputs[0]
    return None if value is None else quantization_of(node, known.array, known.dtype(value))
