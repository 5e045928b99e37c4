"""Models as tests write them: constants and calls may stand where a node reads them.

What is written so becomes text that ONNX parses. A constant becomes an initializer: ``[0, 1]`` and
``3`` are int64, others have their type before them (``float [0.5]``, ``bool True``). A call becomes
a node of its own, in front of the node that reads it.
"""

import re
from collections.abc import Iterator

_CONSTANT = re.compile(
    r"(?:([a-z]\w*) +)?(\[.*\]|[-+]?(?:[\d.][\w.+-]*|MAX|inf|nan)|True|False)", re.S
)
_KIND = r"(?:[a-z]\w* +)?"
_WRITTEN = re.compile(  # a constant or a call that a node reads
    rf"[(,]\s*(?:{_KIND}(?:\[|[-+]?\d|-?MAX|-?inf)|bool +[TF]|[\w.]+ *(?:<[^<>]*> *)?\()"
)


def parser_text(text: str, as_nodes: bool = False) -> str:
    """Return text that ONNX parses; ``as_nodes`` are constants nodes, and no initializers.

    >>> print(parser_text("(float[N] x) => (float[M] y) { y = Pad (Neg (x), [0, 1], float 1.0) }"))
    g (float[N] x) => (float[M] y) <int64[2] k0_ = {0, 1}, float k1_ = {1.0}> {
    v0_ = Neg (x)
    y = Pad (v0_, k0_, k1_)
    }
    """
    if text.startswith("("):
        text = f"g {text}"
    if not as_nodes and not _WRITTEN.search(text):
        return text
    return _Reader(as_nodes).model(text)


def _end(text: str, start: int) -> int:
    """Return where the bracket ends that opens here."""
    depth, quoted = 0, False
    for i in range(start, len(text)):
        character = text[i]
        quoted ^= character == '"'
        if quoted or text[i - 1 : i + 1] == "=>":
            continue
        depth += (character in "([{<") - (character in ")]}>")
        if not depth:
            return i + 1
    raise ValueError(f"no end: {text[start:]}")


def _split(text: str) -> Iterator[str]:
    """Split at commas that are in no bracket."""
    start = i = 0
    while i < len(text):
        if text[i] in "([{<":
            i = _end(text, i) - 1
        elif text[i] == '"':
            i = text.index('"', i + 1)
        elif text[i] == ",":
            yield text[start:i].strip()
            start = i + 1
        i += 1
    yield text[start:].strip()


class _Reader:
    """Reads a model, and remembers its constants."""

    def __init__(self, as_nodes: bool) -> None:
        self._as_nodes = as_nodes
        self._constants: dict[str, str] = {}
        self._calls = 0

    def model(self, text: str) -> str:
        head, own, nodes, rest = self._graph(text)
        constants = [f"{kind} {name} = {numbers}" for kind, name, numbers in self._declared()]
        if self._as_nodes:
            made = (f"{n} = Constant <value = {k} {v}> ()" for k, n, v in self._declared())
            nodes, constants = [*made, *nodes], []
        header = ", ".join([*([own] if own else []), *constants])
        lines = "\n".join([f"{head}{f' <{header}>' if header else ''} {{", *nodes, "}"])
        return lines + rest

    def _declared(self) -> Iterator[tuple[str, str, str]]:
        for tensor, name in self._constants.items():
            kind, _, numbers = tensor.partition(" ")
            yield kind, name, numbers

    def _graph(self, text: str) -> tuple[str, str, list[str], str]:
        """Return the head of a graph, its own initializers, its nodes, and what is behind it."""
        end = _end(text, text.index("(", text.index("=>")))
        head, text, own = text[:end], text[end:].lstrip(), ""
        if text.startswith("<"):
            end = _end(text, 0)
            own, text = text[1 : end - 1].strip(), text[end:].lstrip()
        end = _end(text, 0)
        return head, own, list(self._nodes(text[1 : end - 1])), text[end:]

    def _nodes(self, text: str) -> Iterator[str]:
        while text := text.strip():
            outputs, _, call = text.partition("=")
            node, before, text = self._call(call.strip())
            yield from before
            yield f"{outputs.strip()} = {node}"

    def _call(self, text: str) -> tuple[str, list[str], str]:
        """Return the first call of a text, the nodes in front of it, and what is behind it."""
        op, attributes, before = re.split(r"\s*[<(]", text, maxsplit=1)[0], "", list[str]()
        text = text[len(op) :].lstrip()
        if text.startswith("<"):
            attributes, text = self._attributes(op, text)
        end = _end(text, 0)
        arguments = ", ".join([self._argument(a, before) for a in _split(text[1 : end - 1])])
        text = text[end:].lstrip()
        if text.startswith("<"):
            attributes, text = self._attributes(op, text)
        return f"{op}{attributes} ({arguments})", before, text

    def _argument(self, text: str, before: list[str]) -> str:
        if re.fullmatch(r"|(?!MAX|inf|nan|True|False)[A-Za-z_]\w*", text):
            return text
        if found := _CONSTANT.fullmatch(text):
            return self._constant(found[1] or "int64", found[2])
        node, inner, _ = self._call(text)
        name, self._calls = f"v{self._calls}_", self._calls + 1
        before += [*inner, f"{name} = {node}"]
        return name

    def _constant(self, kind: str, value: str) -> str:
        dims, inner = [], value
        while inner.startswith("["):
            rows = [row for row in _split(inner[1:-1]) if row]
            dims.append(str(len(rows)))
            inner = rows[0] if rows else ""
        numbers = re.sub(r"[\[\]]", "", value).replace("True", "1").replace("False", "0")
        shape = f"[{','.join(dims)}]" if dims else ""
        tensor = f"{kind}{shape} {{{numbers.replace('MAX', str(2**63 - 1))}}}"
        return self._constants.setdefault(tensor, f"k{len(self._constants)}_")

    def _attributes(self, op: str, text: str) -> tuple[str, str]:
        end = _end(text, 0)
        given = ", ".join([self._attribute(op, a) for a in _split(text[1 : end - 1])])
        return f" <{given}>", text[end:].lstrip()

    def _attribute(self, op: str, text: str) -> str:
        name, _, value = (part.strip() for part in text.partition("="))
        if "=>" in value:
            head, own, nodes, _ = self._graph(f"g {value}" if value.startswith("(") else value)
            value = f"{head}{f' <{own}>' if own else ''} {{ {' '.join(nodes)} }}"
        elif op == "ConstantOfShape" and (found := _CONSTANT.fullmatch(value)):
            value = f"{found[1] or 'int64'}[1] {{{found[2][1:-1]}}}"
        return f"{name} = {value}"
