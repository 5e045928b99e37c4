"""Fewer runs of Python's garbage collector while a model is optimized.

Nearly all new objects live until the end: values, terms, regions, plans. The collector runs after
every 700 new objects, scans the young ones, and finds nothing. Here the threshold is raised. It is
not turned off, so that other threads, and garbage in cycles, are still served.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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
