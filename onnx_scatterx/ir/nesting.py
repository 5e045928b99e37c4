"""The nesting depth of a model that is written as text.

Protobuf nests at most a hundred messages. The text parsers are recursive, and that of onnx ends the
whole process if the recursion is too deep.
"""

from __future__ import annotations

import re

MOST_LEVELS = 100

_STRING = r'"(?:[^"\\]|\\.)*+(?:"|\Z)'
_OTHER_STRING = _STRING.replace('"', "'")
_COMMENT = r"#[^\n]*"
TEXTS = {
    "json": (_STRING,),
    "onnxtxt": (_STRING, _COMMENT),
    "textproto": (_STRING, _OTHER_STRING, _COMMENT),
}
"""The forms of text, as onnx calls them, and what in them may hold any bracket."""

_OPENING, _CLOSING = "([{<", ")]}>"
_MESSAGES = {"json": "{}", "onnxtxt": _OPENING + _CLOSING, "textproto": "{}<>"}


def is_too_deep(text: str, form: str) -> bool:
    r"""Return whether brackets are nested too deeply, strings and comments apart.

    >>> is_too_deep("{" * 101, "json"), is_too_deep('"' + "{" * 101, "json")
    (True, False)
    >>> is_too_deep("# '\n" + "<" * 101, "onnxtxt")
    True
    """
    level = 0
    brackets = f"[{re.escape(_MESSAGES[form])}]"
    for match in re.finditer("|".join((*TEXTS[form], brackets)), text, re.DOTALL):
        level += (match[0] in _OPENING) - (match[0] in _CLOSING)
        if level > MOST_LEVELS:
            return True
        level = max(level, 0)
    return False
