"""Lets the garbage collector run rarely, and suppresses the log of a library, during a block.

While a model is rewritten or compared, nearly all new objects live until the end: values, terms,
regions, plans. The collector runs after every 700 new objects, scans them, and finds nothing. So
its threshold is raised. The collector is not turned off, because other threads may need it.

A logger and its list of filters belong to the process. If one thread switches a logger off, it is
off for all threads. If one thread removes a filter, another thread that iterates over the list may
miss a filter. So there is one filter, which is never removed, and each thread decides which
messages it suppresses.
"""

import gc
import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_YOUNG = 50_000  # after so many new objects the collector runs

_lock = threading.Lock()
_inside = 0
_before = _meant = gc.get_threshold()


@contextmanager
def raised_gc_threshold() -> Iterator[None]:
    """Let the collector run rarely in this block.

    Blocks may be nested, or run in several threads at once. The first block sets the threshold, and
    the last block restores the old threshold, unless other code has changed it meanwhile. A higher
    threshold, or 0 (never), is not changed.

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
    """Suppress the messages of a logger in this thread and block, and yield them as a list.

    Messages below the logger's level are not in the list.

    >>> with quiet("onnx_ir") as messages:
    ...     logging.getLogger("onnx_ir").critical("nobody reads %s", "this")
    >>> messages
    ['nobody reads this']
    """
    messages: list[str] = []
    logging.getLogger(logger).addFilter(_is_for_others)  # has no effect the second time
    token = _messages.set({**_messages.get(), logger: messages})
    try:
        yield messages
    finally:
        _messages.reset(token)
