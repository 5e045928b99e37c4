"""How much memory this process holds, and how it gives back what was freed.

The GNU library keeps what is freed between blocks that are in use. After a large model that may be
most of the model. Other libraries give memory back by themselves, or cannot be told.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import sys

_MMAP_THRESHOLD = -3  # of malloc.h
_LARGE = 1 << 20


def map_large_blocks() -> None:
    """Let each block of a megabyte or more be given back when it is freed, from now on.

    The GNU library raises this limit to 32 megabytes as soon as such a block was freed. Then blocks
    of large models lie between others.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Give memory that was freed back to the system, where the system's library can."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def held() -> int:
    """Return the bytes that this process holds, without those of files.

    Where the system does not tell, it is the most that the process ever held, or 0.

    >>> block = b"0" * (1 << 26)
    >>> held() == 0 or held() > len(block)
    True
    """
    with contextlib.suppress(OSError):
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:
            found = re.search(r"^RssAnon:\s+(\d+) kB$", status.read(), re.MULTILINE)
        if found:
            return int(found[1]) << 10
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
