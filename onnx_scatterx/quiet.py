"""Silence for a library's log, in one thread and for a while.

A logger belongs to the process, so that what one thread turns off and on again is off or on for
the others too; a filter of its own is what each thread can put there and take away.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet(logger: str) -> Iterator[list[str]]:
    """Keep a logger, by its name, from telling what this thread makes it say; it is listed here.

    >>> with quiet("onnx_ir") as said:
    ...     logging.getLogger("onnx_ir").critical("nobody reads %s", "this")
    >>> said
    ['nobody reads this']
    """
    thread = threading.get_ident()
    said: list[str] = []

    def is_of_another(record: logging.LogRecord) -> bool:
        if record.thread == thread:
            said.append(record.getMessage())
        return record.thread != thread

    found = logging.getLogger(logger)
    found.addFilter(is_of_another)
    try:
        yield said
    finally:
        found.removeFilter(is_of_another)
