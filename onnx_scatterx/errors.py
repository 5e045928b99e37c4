"""The errors that the package raises on purpose. Each is one line: the mistake, and a remedy.

Errors that carry a result stand in the module of the result: `DifferenceError` in
`compare.result`, `TargetError` in `doors.api.result`.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Iterable, Iterator

from onnx_scatterx.text import middle, visible


def check(holds: object, fault: str) -> None:
    """Raise ``ValueError`` if a condition on an argument does not hold."""
    if not holds:
        raise ValueError(fault)


class ScatterXError(Exception):
    """The package cannot do what was asked, for a reason on which the user can act.

    Every error about a model, a file or an option is of this class or of a derived class. The text
    of the error is one visible line that needs no traceback.

    >>> print(ScatterXError("no rule is called <object object at 0x7f12b0c4e0d0>"))
    no rule is called <object object>
    """

    def __str__(self) -> str:
        return visible(_without_addresses(super().__str__()))


class ModelError(ScatterXError):
    """A model cannot be read, is not valid, or cannot be written."""


class VerifyError(ScatterXError):
    """Two models cannot be compared, so it is not known whether they agree."""


class MissingRuntimeError(ScatterXError):
    """ONNX Runtime is not installed, or no process can be started for it."""


class MissingConsumerError(ScatterXError):
    """A consumer of ONNX is not installed, or cannot be imported or started."""


@contextlib.contextmanager
def about_file(
    path: object, what: str, kind: type[ScatterXError] = ScatterXError
) -> Iterator[None]:
    """Raise an OSError of this block as an error of one line: "a.onnx: cannot be read: ..."."""
    try:
        yield
    except FileNotFoundError as error:
        why = "no such file" if what == "cannot be read" else f"{what}: {error.strerror or error}"
        raise kind(f"{path}: {why}") from error
    except OSError as error:
        raise kind(f"{path}: {what}: {error.strerror or error}") from error


def one_line(error: object, limit: int = 300) -> str:
    r"""Return the text of an error as one line of at most `limit` characters.

    A long text loses its middle, because messages of libraries begin with the place of the mistake,
    and end with the reason.

    >>> one_line(ValueError("two\n  lines"))
    'two lines'
    >>> one_line("in file.cc, line 7, of a long call: no such axis", limit=27)
    'in file.cc, ...no such axis'
    """
    return middle(visible(" ".join(_without_addresses(str(error)).split())), limit, "...")


_ADDRESS = re.compile(r"(<[^<>]*) at 0x[0-9a-fA-F]+(?=>)")  # as in Python's default `repr`


def _without_addresses(text: str) -> str:
    """Remove the addresses of objects in memory, which differ from run to run."""
    return _ADDRESS.sub(r"\1", text)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message that names the nearest known word; "" without one.

    If no word is near, one of the same letters in another order is.

    >>> did_you_mean("operater", ["operators", "avoid"]), did_you_mean("x", ["avoid"])
    ('; did you mean operators?', '')
    >>> did_you_mean("rnkk", ["ncnn", "rknn"])
    '; did you mean rknn?'
    """
    by_lower = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    near += [name for name in by_lower if (len(name), {*name}) == (len(word), {*word.lower()})]
    return f"; did you mean {by_lower[near[0]]}?" if near else ""


def no_such_file(path: str | os.PathLike[str]) -> str:
    """Return an error about a missing file, which names the file beside it that may be meant.

    >>> no_such_file("no such folder/model.onnx")
    'no such folder/model.onnx: no such file'
    """
    folder, name = os.path.split(path)
    near = ""
    with contextlib.suppress(OSError):
        near = did_you_mean(name, sorted(n for n in os.listdir(folder or ".") if n[0] != "."))
    if near:
        start, _, found = near.removesuffix("?").rpartition("; did you mean ")
        near = f"{start}; did you mean {os.path.join(folder, found)}?"
    return f"{os.fspath(path)}: no such file{near}"
