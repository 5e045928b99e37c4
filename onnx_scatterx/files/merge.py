"""Writes an optimized model as the message that was read, in which only changes are replaced.

onnx_ir loses parts of a message: unknown fields, training information, types of values that no node
computes. So two messages are compared that onnx_ir writes (`files.changes`):

    before      of the parts of the message that passes have changed or removed
    after       of the parts of the model that are new or changed

If a field of `before` and `after` is equal, the field of the message is kept, with everything that
onnx_ir loses. Otherwise the field of `after` is written. Elements of lists are matched by their
names, and nodes by their outputs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files.changes import Changes
from onnx_scatterx.files.check import free_names
from onnx_scatterx.files.snapshot import NodeKey, Snapshot, key_of_message
from onnx_scatterx.files.weights import Weights

_KEYS: dict[str, Callable[[Any], Hashable]] = {
    "AttributeProto": lambda attribute: attribute.name,
    "FunctionProto": lambda function: (function.domain, function.name, function.overload),
    "NodeProto": key_of_message,
    "OperatorSetIdProto": lambda opset: opset.domain,
    "SparseTensorProto": lambda tensor: tensor.values.name,
    "StringStringEntryProto": lambda entry: entry.key,
    "TensorAnnotation": lambda annotation: annotation.tensor_name,
    "TensorProto": lambda tensor: tensor.name,
    "ValueInfoProto": lambda value: value.name,
}
_MERGED = {
    *("AttributeProto", "FunctionProto", "GraphProto"),
    *("ModelProto", "NodeProto", "ValueInfoProto"),
}
"""Messages in which single fields are replaced; other messages are replaced as a whole."""


_COMPUTED = {"NodeProto", "ValueInfoProto"}
_SAID = {"doc_string", "metadata_props"}
"""Fields that describe a value or a node: they stay if a new one of the same name replaces it."""


class Original:
    """The message that a model was read from. The model must not have changed since then.

    If the message is ``ours``, it is changed in place, so that large weights are not copied.

    >>> import onnx.parser
    >>> message = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
    ...     g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }''')
    >>> _ = message.training_info.add()
    >>> model = ir.from_proto(message)
    >>> original = Original(message, model)
    >>> model.graph.node(0).op_type = "Sub"
    >>> made = original.merged(model)
    >>> made.graph.node[0].op_type, len(made.training_info), message.graph.node[0].op_type
    ('Sub', 1, 'Add')
    """

    def __init__(self, message: onnx.ModelProto, model: ir.Model, *, ours: bool = False) -> None:
        self._message = message
        self._is_ours = ours
        self._snapshot = Snapshot(model)
        self._weights = Weights(
            self._snapshot.weights.values(), in_nodes=self._snapshot.has_weights_in_nodes
        )

    def merged(self, model: ir.Model) -> onnx.ModelProto:
        """Return the message of the model: the original object if it is ours or nothing changed.

        Raises ScatterXError if nothing defines a value that the message reads: no runtime loads it.
        """
        made = self._merged(model)
        for graph in (made.graph, *made.functions):
            for name in sorted(free_names(graph, [])):
                why = f"nothing in the result defines {name!r}"
                raise ScatterXError(f"a bug, please report it: {why}")
        return made

    def _merged(self, model: ir.Model) -> onnx.ModelProto:
        snapshot, message = Snapshot(model), self._message
        changes = Changes.between(self._snapshot, snapshot)
        if changes is None:
            return message
        self._weights.restore_names()
        keys = [*map(key_of_message, message.graph.node[:])]
        before, after = changes.written(message, keys, model, snapshot.order, self._weights)
        if before == after and snapshot.order == self._snapshot.order:
            return message
        if not self._is_ours:
            message = onnx.ModelProto()
            message.CopyFrom(self._message)
        trained = self._weights.named(
            entry.key
            for info in message.training_info
            for entry in (*info.initialization_binding, *info.update_binding)
        )
        parts = before.graph.node[:], after.graph.node[:]
        _merge_nodes(message.graph.node, keys, *parts, snapshot.order)
        _drop_namesakes(message.graph, before.graph, after.graph)
        for part in (before, after):
            del part.graph.node[:]
        _merge(message, before, after)
        self._weights.fill(message)
        names = {tensor.name for tensor in message.graph.initializer}
        message.graph.initializer.extend(t for t in trained if t.name not in names)
        return message


def _merge(message: Any, before: Any, after: Any) -> None:
    """Replace the fields of a message in which ``after`` differs from ``before``."""
    for field in message.DESCRIPTOR.fields:
        name = field.name
        if message.DESCRIPTOR.name in _COMPUTED and name in _SAID:
            _add_missing(message, after, name)
            continue
        if hasattr(getattr(message, name), "extend"):
            _merge_repeated(message, before, after, name)
        elif field.message_type is not None:
            if before.HasField(name) or after.HasField(name):
                _merge_one(message, before, after, name)
        elif getattr(before, name) != getattr(after, name):
            if after.HasField(name):
                setattr(message, name, getattr(after, name))
            else:
                message.ClearField(name)
    if message.DESCRIPTOR.name in ("GraphProto", "FunctionProto"):
        _drop_namesakes(message, before, after)


def _drop_namesakes(message: Any, before: Any, after: Any) -> None:
    """Remove a graph's entries for names without a value, if a new node now has such a name."""
    new = {name for node in after.node[:] for name in node.output[:]}
    new.difference_update(name for node in before.node[:] for name in node.output[:])
    for field, name_of in (("value_info", "name"), ("quantization_annotation", "tensor_name")):
        there: Any = getattr(message, field, ())
        unsaid = new - {getattr(one, name_of) for one in getattr(after, field, ())}
        for i in reversed(range(len(there))):
            if getattr(there[i], name_of) in unsaid:
                del there[i]


def _add_missing(message: Any, after: Any, name: str) -> None:
    """Add entries of the passes about a value or a node to the entries of the original."""
    if name == "metadata_props":
        there = {entry.key for entry in message.metadata_props}
        message.metadata_props.extend(e for e in after.metadata_props if e.key not in there)
    elif after.HasField(name) and not message.HasField(name):
        setattr(message, name, getattr(after, name))


def _merge_repeated(message: Any, before: Any, after: Any, name: str) -> None:
    lists = [getattr(m, name) for m in (message, before, after)]
    if lists[1] == lists[2]:
        return
    kind = message.DESCRIPTOR.fields_by_name[name].message_type
    if kind is not None and kind.name in _KEYS:
        _merge_named(lists[0], lists[1], lists[2], _KEYS[kind.name])
    elif kind is not None and kind.name in _MERGED and len({len(some) for some in lists}) == 1:
        for parts in zip(*lists, strict=True):  # elements without names, such as graphs
            _merge(*parts)
    else:
        message.ClearField(name)
        getattr(message, name).extend(lists[2])


def _merge_one(message: Any, before: Any, after: Any, name: str) -> None:
    """Merge a field that is one message."""
    there = [m.HasField(name) for m in (message, before, after)]
    parts = [getattr(m, name) for m in (message, before, after)]
    if there[1:] == [True, True] and parts[1] == parts[2]:
        return
    if all(there) and parts[0].DESCRIPTOR.name in _MERGED:
        _merge(*parts)
    elif there[2]:
        message.ClearField(name)  # the weight may be needed for another tensor
        getattr(message, name).CopyFrom(parts[2])
    else:
        message.ClearField(name)


def _merge_nodes(
    messages: Any,
    keys: Iterable[NodeKey],
    befores: Iterable[Any],
    afters: Iterable[Any],
    order: Iterable[NodeKey],
) -> None:
    """Merge nodes into those of the main graph, of which ``befores`` and ``afters`` are a part.

    ``keys`` are those of the messages, and ``order`` has the keys of all nodes afterwards.
    """
    old = dict(zip(keys, messages[:], strict=True))
    known = {key_of_message(before): before for before in befores}
    fresh = deque(afters)
    made: list[Any] = []
    new: list[Any] = []
    for key in order:
        if fresh and key_of_message(fresh[0]) == key:
            after = fresh.popleft()
            message = old.pop(key, None)
            if message is None:
                new.append(after)
            elif known[key] != after:
                _merge(message, known[key], after)
            made.append(after if message is None else message)
        else:
            made.append(old.pop(key))
    _arrange(messages, made, new)


def _merge_named(messages: Any, befores: Any, afters: Any, key: Callable[[Any], Hashable]) -> None:
    """Merge lists whose elements have names; nodes get the topological order of ``afters``."""
    old = {key(message): message for message in messages}
    known = {key(before): before for before in befores}
    kept = old.keys() - known.keys()  # the elements that onnx_ir loses
    made: list[Any] = []
    new: list[Any] = []
    for after in afters:
        k = key(after)
        message = old.pop(k, None)
        if message is None or k not in known:
            kept.discard(k)
            new.append(after)
            made.append(after)
            continue
        if known[k] != after:
            if after.DESCRIPTOR.name in _MERGED:
                _merge(message, known[k], after)
            elif after.DESCRIPTOR.name == "TensorProto":  # its old numbers may be needed elsewhere
                kept.discard(k)
                new.append(after)
                continue
            else:
                message.CopyFrom(after)
        kept.add(k)
        made.append(message)
    if made and made[0].DESCRIPTOR.name == "NodeProto":
        _arrange(messages, made, new)
        return
    for i in reversed(range(len(messages))):  # kept elements are not copied: weights are large
        if key(messages[i]) not in kept:
            del messages[i]
    messages.extend(new)


def _arrange(messages: Any, made: list[Any], new: list[Any]) -> None:
    """Put the elements of ``made`` into a list, in order; only ``new`` elements are copied."""
    count = len(messages)
    messages.extend(new)
    copies = iter(messages[count:])
    others = set(map(id, new))
    there = [next(copies) if id(message) in others else message for message in made]
    positions = {id(message): position for position, message in enumerate(there)}
    messages.sort(key=lambda message: positions.get(id(message), len(positions)))
    del messages[len(positions) :]
