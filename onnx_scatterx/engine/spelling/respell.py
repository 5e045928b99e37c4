"""Writes a node of one operator set as another set wants it, version by version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import onnx.defs
import onnx_ir as ir

from onnx_scatterx.engine.spelling.changes import CHANGES
from onnx_scatterx.engine.spelling.schemas import Signature, narrower, signature, takes_less
from onnx_scatterx.engine.spelling.spelling import Known, Operand, Spelling


class NoSpelling(NamedTuple):
    """Why a node cannot be written for an operator set, and the nearest set for which it can.

    ``lacks`` says that the set lacks the operator, or has no node that means the same. ``because``
    is what prevents another spelling, if anything more is known than the change itself.
    """

    why: str
    last: int
    lacks: bool = False
    because: str = ""


@cache
def _versions() -> Mapping[str, tuple[int, ...]]:
    """The versions of each operator of ONNX, and the sets at which its definition changed."""
    found: dict[str, set[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            found.setdefault(schema.name, set()).add(schema.since_version)
    for name, version in CHANGES:
        found.setdefault(name, set()).add(version)
    return {name: tuple(sorted(versions)) for name, versions in found.items()}


def since(op: str) -> int:
    """Return the first operator set that has an operator.

    >>> since("Range")
    11
    """
    return _versions()[op][0]


def respelled(node: ir.Node, there: int, wanted: int, known: Known) -> Spelling | NoSpelling | None:
    """Return a node of one operator set as another set wants it; None if it stays as it is.

    >>> model = ir.from_onnx_text('''<ir_version: 10, opset_import: ["" : 12]>
    ...     g (float[2, 3] x) => (float[2, 1] z) { y = Neg (x)
    ...         z = ReduceSum <axes = [1]> (y) }''')
    >>> neg, total = model.graph
    >>> respelled(neg, 12, 20, Known())
    >>> respelled(total, 12, 20, Known()).inputs[1]
    array([1])
    """
    if node.domain != "" or node.op_type not in _versions():
        return None
    before = Spelling.of(node)
    after = converted(before, there, wanted, known)
    if isinstance(after, NoSpelling) or after is before:
        return after if isinstance(after, NoSpelling) else None
    old, new = signature(node.op_type, there), signature(after.op_type, wanted)
    if takes_less(new, old):
        inputs = [v if isinstance(v, ir.Value) else None for v in after.inputs]
        outputs = node.outputs[: after.outputs]
        why = narrower(inputs, outputs, new, known.types)
        if why is not None:
            return _nearest(node, there, wanted, known) or NoSpelling(
                why, _before(new, there, wanted)
            )
    return None if after.is_same(before) and not after.last_bits else after


def _nearest(node: ir.Node, there: int, wanted: int, known: Known) -> NoSpelling | None:
    """Return why the first version on the way takes other types; None if it is the last one."""
    step = _next(node.op_type, there, wanted)
    if step is None or step == wanted or wanted < there:
        return None
    found = respelled(node, there, step, known)
    if isinstance(found, NoSpelling):
        return found
    return _nearest(node, step, wanted, known) if found is None else None


def _before(version: Signature, there: int, wanted: int) -> int:
    """Return the last set before a version, on the way to another set."""
    return version.since_version - 1 if wanted > there else there


def converted(spelling: Spelling, there: int, wanted: int, known: Known) -> Spelling | NoSpelling:
    """Return a spelling as another set wants it: the same object if no version lies between."""
    is_up, last = wanted > there, there
    while (version := _next(spelling.op_type, there, wanted)) is not None:
        change = CHANGES.get((spelling.op_type, version))
        last = version - 1 if is_up else version
        if change is None:
            began = not is_up and version == since(spelling.op_type)
            why = f"began with {version}" if began else f"changed with {version}"
            return NoSpelling(why, last, began)
        respell = change.raised if is_up else change.lowered
        if respell is None:
            return NoSpelling(f"changed with {version}", last, lacks=True)
        after = respell(spelling, known)
        if isinstance(after, str):
            return NoSpelling(f"changed with {version}, {after}", last, because=after)
        there = version if is_up else version - 1
        whole = _with_parts(after, spelling, there, wanted, known)
        if isinstance(whole, NoSpelling):
            return NoSpelling(whole.why, last)
        rounds = spelling.last_bits or _rounds(spelling, change.last_bits, known)
        spelling = replace(whole, last_bits=rounds)
    lacking = sorted(spelling.attributes.keys() - signature(spelling.op_type, wanted).attributes)
    if lacking:
        why = f"operator set {wanted} lacks {spelling.op_type} with {', '.join(lacking)}"
        return NoSpelling(why, last)
    return spelling


def _rounds(spelling: Spelling, kinds: frozenset[str], known: Known) -> bool:
    """Return whether the first input may be of one of these element types."""
    value = spelling.inputs[0] if spelling.inputs else None
    found = known.types(value) if kinds and isinstance(value, ir.Value) else ()
    return bool(kinds) and (not found or bool({f"tensor({kind})" for kind in kinds} & set(found)))


def versions_between(name: str, there: int, wanted: int) -> list[int]:
    """Return the versions that are entered, or left, in their order on the way to another set.

    >>> versions_between("Slice", 9, 12), versions_between("Slice", 12, 9)
    ([10, 11], [11, 10])
    """
    low, high = sorted((there, wanted))
    found = [v for v in _versions()[name] if low < v <= high]
    return found if wanted > there else found[::-1]


def _next(name: str, there: int, wanted: int) -> int | None:
    """Return the version that is entered, or left, on the way to another set; None at its end."""
    return next(iter(versions_between(name, there, wanted)), None)


def _with_parts(
    after: Spelling, before: Spelling, there: int, wanted: int, known: Known
) -> Spelling | NoSpelling:
    """Return a spelling whose new parts, which are of one set, are as another set wants them."""
    if not after.others and not any(isinstance(part, Spelling) for part in after.inputs):
        return after
    own = [*before.inputs, *before.others.values()]
    inputs: list[Operand] = []
    others: dict[int, Spelling] = {}
    for index, part in (*enumerate(after.inputs), *((-1 - i, o) for i, o in after.others.items())):
        operand: Operand | NoSpelling = part
        if isinstance(part, Spelling) and not any(part is old for old in own):
            operand = _with_parts(part, before, there, wanted, known)
            if isinstance(operand, Spelling):
                operand = converted(operand, there, wanted, known)
        if isinstance(operand, NoSpelling):
            return operand
        if index >= 0:
            inputs.append(operand)
        elif isinstance(operand, Spelling):
            others[-1 - index] = operand
    return replace(after, inputs=tuple(inputs), others=others)
