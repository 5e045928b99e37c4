"""Where in a model a refusal comes from: the node that it names, or the smallest part refused too.

A refusal that names the operator set of the model is about no part. Else, the cause follows from
the operators found: ``causes.py`` has the table.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files import load
from onnx_scatterx.graphs import all_nodes
from onnx_scatterx.lab.devices.causes import Cause, Used, cause_of, finds, names_set, used_by
from onnx_scatterx.lab.devices.consumer import Consumer, ConsumerProcess
from onnx_scatterx.lab.devices.parts import Part, Parts, smallest, typed
from onnx_scatterx.operators import OPERATORS, Kinds
from onnx_scatterx.processes import scratch
from onnx_scatterx.targets import Target, target_of

_LETTERS = 40  # of two messages that are of one kind if these are equal


class Refusal(Protocol):
    """A refusal: the message, and the nodes that it names."""

    @property
    def message(self) -> str: ...

    @property
    def nodes(self) -> tuple[str, ...]: ...


def attributed(
    process: ConsumerProcess,
    consumer: Consumer,
    model: Path,
    feed: Mapping[str, np.ndarray],
    refusal: Refusal,
    written: Container[str] = (),
) -> tuple[Cause, tuple[str, ...]]:
    """Return the cause of a refusal, and the operators of the part that was found for it.

    `written` are the names of nodes that the optimizer wrote.
    """
    target = _profile(consumer)
    named = _used(refusal, model, written)
    if named:
        return cause_of(named, target), ()
    if names_set(refusal.message, _operator_set(model)):  # no part has another one
        return "set", ()

    def fails(part: Part) -> bool:
        answer = process.run(part.file, part.feeds)
        is_refused = answer.kind == "refused" and not answer.out_of
        return is_refused and _letters(answer.message) == _letters(refusal.message)

    try:
        with scratch() as directory:
            part = smallest(Parts(model, feed, directory), fails)
    except ScatterXError:  # the model cannot be copied
        part = None
    if part is None:
        return cause_of([], target), ()
    used = used_by(part.nodes, written)
    return cause_of(used, target, part.inputs), tuple(dict.fromkeys(one.op_type for one in used))


def _operator_set(model: Path) -> int:
    imports = onnx.load(model, load_external_data=False).opset_import
    return next((used.version for used in imports if used.domain in ("", "ai.onnx")), 1)


def _profile(consumer: Consumer) -> Target:
    try:
        return target_of(consumer.adapter.profile)
    except (ScatterXError, OSError):
        return target_of("standard")


def _used(refusal: Refusal, model: Path, written: Container[str]) -> list[Used]:
    """Return what the nodes of a refusal use; else, the operators that its message names.

    If the model has one node, this is the node.
    """
    nodes = all_nodes(typed(load(model)))
    for names in (refusal.nodes, named_in(refusal.message, model)):
        found = used_by([node for node in nodes if node.name in names], written)
        if found:
            return found
        found = [Used(n.op_type, finds=finds(n)) for n in nodes if n.op_type in names]
        if found:
            return list(dict.fromkeys(found))
    alone = [node for node in nodes if node.op_type != "Constant"]
    return used_by(alone, written) if len(alone) == 1 else []


def named_in(message: str, model: Path) -> tuple[str, ...]:
    """Return the nodes that a message names; if there are none, the operators that it names.

    "Not" and "Or" are operators only if the message names no other. Compilers also write operators
    as parts of names: Tensor.slice, ONNX::Slice, gatherND.cpp.
    """
    words = set(re.findall(r"[\w./:-]+", message))
    words |= {word.strip("./:-") for word in words}
    parts = {part.lower() for word in words for part in re.split(r"[.:]", word) if part != word}
    proto = onnx.load(model, load_external_data=False)
    nodes = all_nodes(ir.from_proto(proto))
    named = dict.fromkeys(n.name for n in nodes if n.name and n.name in words)
    operators = dict.fromkeys(
        n.op_type for n in nodes if n.op_type in words or n.op_type.lower() in parts
    )
    telling = [name for name in operators if OPERATORS[name].alike != Kinds.BOOL]
    return tuple(named or telling or operators)


def _letters(message: str) -> str:
    """Return the first letters of a message, without the numbers and the names of one model."""
    return re.sub(r"['\"][^'\"]*['\"]|[^A-Za-z]", "", message)[:_LETTERS]
