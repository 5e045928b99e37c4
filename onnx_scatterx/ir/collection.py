"""While a model is worked on: fewer runs of the garbage collector, and no log of a library.

Nearly all new objects live until the end: values, terms, regions, plans. The collector runs after
every 700 new objects, scans the young ones, and finds nothing. Here the threshold is raised. It is
not turned off, so that other threads, and garbage in cycles, are still served.

A logger belongs to the process, so switching it off in one thread also switches it off for others.
Its list of filters belongs to the process, too: a thread that iterates over it misses a filter if
another thread removes one. So there is one filter, which is never removed, and each thread decides
what it suppresses.
"""

import gc
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_YOUNG = 50_000  # new objects before the collector visits them

_lock = threading.Lock()
_inside = 0
_before = _meant = gc.get_threshold()


@contextmanager
def raised_gc_threshold() -> Iterator[None]:
    """Let the collector run rarely, also if blocks are nested or in several threads at once.

    The first block sets the threshold, and the last one restores the old threshold, unless other
    code has set another one meanwhile. A higher threshold, or 0 (never), is not changed.

    >>> before = gc.get_threshold()
    >>> with raised_gc_threshold():
    ...     gc.get_threshold()[0] >= before[0] > 0
    True
    >>> gc.get_threshold() == before
    True
    """
    global _inside, _before, _meant
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = _meant = gc.get_threshold()
            if 0 < _before[0] < _YOUNG:
                _meant = (_YOUNG, *_before[1:])
                gc.set_threshold(*_meant)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and gc.get_threshold() == _meant:
                gc.set_threshold(*_before)


_messages: ContextVar[Mapping[str, list[str]]] = ContextVar(
    "messages", default=MappingProxyType({})
)


def _is_for_others(record: logging.LogRecord) -> bool:
    messages = _messages.get().get(record.name)
    if messages is None:
        return True
    messages.append(record.getMessage())
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
