"""The errors that the package raises on purpose. Each is one line: the mistake, and a remedy.

Those that carry something are beside it: `DifferenceError` in `verification`, `TargetError` in
`reports`.
"""

from __future__ import annotations

from onnx_scatterx.text.visible import visible


class ScatterXError(Exception):
    """The package cannot do something, for a reason on which its user can act.

    Every error that the package raises about a model, a file or an option is of this class or of a
    derived class. Its text is one visible line that needs no traceback.
    """

    def __str__(self) -> str:
        return visible(super().__str__())


class ModelError(ScatterXError):
    """A model cannot be read, is not valid, or cannot be written."""


class VerifyError(ScatterXError):
    """Two models cannot be compared: it is not known whether they agree."""


class MissingConsumerError(ScatterXError):
    """A consumer of ONNX is not installed, or cannot be imported or started."""


def one_line(error: object, limit: int = 300) -> str:
    r"""Return the text of an error as one line of at most `limit` characters.

    A long text loses its middle: messages of libraries begin with the place and end with the
    reason.

    >>> one_line(ValueError("two\n  lines"))
    'two lines'
    >>> one_line("in file.cc, line 7, of a long call: no such axis", limit=27)
    'in file.cc, ...no such axis'
    """
    text = visible(" ".join(str(error).split()))
    if len(text) <= limit:
        return text
    kept = limit - len("...")
    return f"{text[: kept // 2]}...{text[kept // 2 - kept :]}"
