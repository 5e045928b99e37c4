"""Silence for a library's log, in one thread and for a while.

A logger belongs to the process, so that what one thread turns off and on again is off or on for
the others too. So does its list of filters: a thread that goes through it misses one where another
takes one away. So there is one filter, which stays, and each thread says for itself what it hears.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_said: ContextVar[Mapping[str, list[str]]] = ContextVar("said", default=MappingProxyType({}))


def _is_for_others(record: logging.LogRecord) -> bool:
    heard = _said.get().get(record.name)
    if heard is None:
        return True
    heard.append(record.getMessage())
    return False


@contextmanager
def quiet(logger: str) -> Iterator[list[str]]:
    """Keep a logger, by its name, from telling what this thread makes it say; it is listed here.

    What the logger would not have told anyway, at its level, is not listed.

    >>> with quiet("onnx_ir") as said:
    ...     logging.getLogger("onnx_ir").critical("nobody reads %s", "this")
    >>> said
    ['nobody reads this']
    """
    said: list[str] = []
    logging.getLogger(logger).addFilter(_is_for_others)  # once: it adds none that is there
    token = _said.set({**_said.get(), logger: said})
    try:
        yield said
    finally:
        _said.reset(token)
