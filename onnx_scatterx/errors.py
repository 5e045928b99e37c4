"""The errors that the package raises on purpose: one line each, what is wrong and what to do."""

from onnx_scatterx.text.visible import visible


class ScatterXError(Exception):
    """Something asked of the package cannot be done, for a reason its user can act on.

    Every error that the package raises about a model, a file or an option is of this class or of
    one derived from it, and its text is one visible line that needs no traceback.
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

    What is too long loses its middle: libraries begin with where they are and end with the reason.

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
