"""The output of native code, for adapters whose consumer reports things only there."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def captured() -> Iterator[Callable[[], str]]:
    """Collect the output to stdout and stderr, also of native code; yield a function to read it.

    Afterwards the text is written to stdout and stderr.

    >>> with captured() as text:
    ...     _ = os.write(2, b"layer 3 on the CPU")
    ...     print(text().endswith("CPU"), file=sys.__stdout__)
    """
    with tempfile.TemporaryFile() as file:

        def text() -> str:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            end = file.seek(0, os.SEEK_END)
            file.seek(0)
            output = file.read().decode(errors="replace")
            file.seek(end)  # which the streams share
            return output

        saved = [os.dup(number) for number in (1, 2)]
        text()
        for number in (1, 2):
            os.dup2(file.fileno(), number)
        try:
            yield text
        finally:
            output = text()
            for number, old in zip((1, 2), saved, strict=True):
                os.dup2(old, number)
                os.close(old)
            os.write(2, output.encode())
