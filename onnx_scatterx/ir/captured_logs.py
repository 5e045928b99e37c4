"""Silencing a library's log, in one thread and for a while.

A logger belongs to the process, so switching it off in one thread also switches it off for others.
So does its list of filters: a thread that iterates over it misses one if another thread removes
one. So there is one filter, which is never removed, and each thread decides what it suppresses.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_messages: ContextVar[Mapping[str, list[str]]] = ContextVar(
    "messages", default=MappingProxyType({})
)


def _is_for_others(record: logging.LogRecord) -> bool:
    found = _messages.get().get(record.name)
    if found is None:
        return True
    found.append(record.getMessage())
    return False


@contextmanager
def quiet(logger: str) -> Iterator[list[str]]:
    """Suppress and return a logger's messages in this thread; the logger is given by its name.

    Messages below the logger's level are not returned.

    >>> with quiet("onnx_ir") as messages:
    ...     logging.getLogger("onnx_ir").critical("nobody reads %s", "this")
    >>> messages
    ['nobody reads this']
    """
    messages: list[str] = []
    logging.getLogger(logger).addFilter(_is_for_others)  # once: it adds none that is there
    token = _messages.set({**_messages.get(), logger: messages})
    try:
        yield messages
    finally:
        _messages.reset(token)
