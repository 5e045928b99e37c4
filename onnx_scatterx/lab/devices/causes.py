"""Why a consumer refuses a model: the cause follows from the operators of the part that fails.

| cause | the part |
|---|---|
| set | any: the words of the refusal name the operator set of the model |
| input | reads an input of the model of a type or rank that the profile of the consumer refuses |
| scatter | has a scatter, a ScatterX, or a node that the optimizer wrote |
| arrangement | only arranges elements: by movement, masks, index arithmetic and reading |
| operator | has an operator that computes, and that the profile of the consumer does not list |
| fault | has only operators that the profile lists: the compiler fails at their combination |

An operator that finds places among floats, as ArgMax does, computes: nobody knows them before the
run. The operators are those of the node that the consumer names, or of the smallest part that it
still refuses. If there is neither, the refusal is not attributed.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from functools import cache
from typing import Literal, NamedTuple

import onnx
import onnx_ir as ir

from onnx_scatterx.graphs import is_scatterx_domain
from onnx_scatterx.operators import OPERATORS, SCATTERS, Kinds
from onnx_scatterx.targets import SCATTERX, Target

Cause = Literal["set", "input", "scatter", "arrangement", "operator", "fault", "not attributed"]

WORDS: dict[Cause, str] = {
    "set": "the operator set of the file; write an older one by `optimize --opset`, or export one",
    "input": "an input of a type that the compiler lacks; export a mask as numbers, such as floats",
    "scatter": "a scatter, or what was written for one",
    "arrangement": "movement, masks, index arithmetic or reading",
    "operator": "an operator that the compiler lacks",
    "fault": "a fault of the compiler",
    "not attributed": "not attributed",
}

_ARRANGES_TOO = ("Cast", "Trilu")  # they prepare masks and indices, but no column says so
_PLACES = frozenset({"tensor(int64)", "tensor(bool)"})


class Used(NamedTuple):
    """An operator of a part."""

    op_type: str
    """The operator; one of another domain has it in front."""
    of_places: bool = False
    """Whether it computes integers or booleans only."""
    written: bool = False
    """Whether the optimizer wrote the node."""
    finds: bool = False
    """Whether it finds places among floats: no form says where they are before the run."""


@cache
def arranges(op_type: str) -> bool:
    """Return whether an operator says where elements are, and computes none.

    >>> [name for name in ("Slice", "Gather", "Where", "Not", "NonZero", "Add") if arranges(name)]
    ['Slice', 'Gather', 'Where', 'Not', 'NonZero']
    """
    row = OPERATORS[op_type]
    if op_type in _ARRANGES_TOO or row.alike == Kinds.BOOL:
        return True
    if row.moves or row.reads or row.compares or row.tests or row.of_sizes or row.keeps_order:
        return True
    return _gives_places(op_type)


def _gives_places(op_type: str) -> bool:
    """Return whether all results are int64 or bool, by the schema."""
    if not onnx.defs.has(op_type):
        return False
    schema = onnx.defs.get_schema(op_type)
    return bool(schema.outputs) and all(set(made.types) <= _PLACES for made in schema.outputs)


def used_by(nodes: Iterable[ir.Node], written: Container[str] = ()) -> list[Used]:
    """Return what is used by some nodes, of which those with these names were written."""
    found = dict.fromkeys(
        Used(
            _named(node),
            all(_is_of_places(value) for value in node.outputs),
            bool(node.name) and node.name in written,
            finds(node),
        )
        for node in nodes
        if node.op_type != "Constant"
    )
    return list(found)


def finds(node: ir.Node) -> bool:
    """Return whether a node reduces floats to places, as ArgMax does."""
    read = node.inputs[0] if node.inputs else None
    of_floats = read is not None and read.dtype is not None and read.dtype.is_floating_point()
    return of_floats and OPERATORS[_named(node)].reduces and _gives_places(node.op_type)


def _named(node: ir.Node) -> str:
    if is_scatterx_domain(node.domain):
        return SCATTERX
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def _is_of_places(value: ir.Value) -> bool:
    return value.dtype is not None and (value.dtype.is_integer() or value.dtype.name == "BOOL")


def names_set(message: str, version: int) -> bool:
    """Return whether a refusal names an operator set as one that it lacks, and this is its version.

    >>> names_set("Unsupport onnx opset 20, need = 19!", 20)
    True
    >>> names_set("opset 20: no kernel for Einsum", 21), names_set("offset 20 is wrong", 20)
    (False, False)
    """
    words = re.search(r"(?i)(?<![a-z])(op[ _-]?set|operator[ _-]set)", message)
    return words is not None and str(version) in re.findall(r"\d+", message)


def cause_of(used: Iterable[Used], target: Target, inputs: Iterable[ir.Value] = ()) -> Cause:
    """Return the cause of a refusal, from what its part uses and the consumer's profile.

    ``inputs`` are those of the whole model that the part reads.

    >>> npu = Target("npu", operators=frozenset({"MatMul", "Softmax"}))
    >>> cause_of([Used("Gather"), Used("Slice")], npu), cause_of([Used("Erf")], npu)
    ('arrangement', 'operator')
    >>> cause_of([Used("MatMul"), Used("Softmax"), Used("Reshape")], npu), cause_of([], npu)
    ('fault', 'not attributed')
    """
    found = list(used)
    if not found:
        return "not attributed"
    if any(_is_refused(value, target) for value in inputs):
        return "input"
    if any(one.op_type in SCATTERS or one.op_type == SCATTERX or one.written for one in found):
        return "scatter"
    arranging = {one for one in found if arranges(one.op_type) or one.of_places}
    computing = [one for one in found if one.finds or one not in arranging]
    if not computing:
        return "arrangement"
    host = target.with_host()
    return "fault" if all(host.has(one.op_type) for one in computing) else "operator"


def _is_refused(value: ir.Value, target: Target) -> bool:
    kind = None if value.dtype is None else value.dtype.name.lower()
    rank = None if value.shape is None else value.shape.rank()
    return any(
        (use.types is None or kind in use.types) and (use.ranks is None or rank in use.ranks)
        for use in target.ends
    )
