"""A Python with less, its children included, if this folder is in PYTHONPATH.

LACKS names modules that cannot be imported, such as ``onnxruntime``. If it has the word
``processes``, the Python starts no process and no thread, and lacks the modules that a browser's
Python lacks.
"""

import _thread
import errno
import os
import subprocess
import sys
import threading
from importlib.abc import MetaPathFinder
from typing import Any, NoReturn

_LACKS = set(os.environ.get("LACKS", "").split())
_IN_BROWSERS = {"_multiprocessing", "fcntl", "grp", "multiprocessing", "pwd", "resource", "termios"}
_STARTS = ("fork", "forkpty", "popen", "posix_spawn", "posix_spawnp", "system")


class _Missing(MetaPathFinder):
    """Finds that a module is missing."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in _LACKS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def _no_process(*_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.ENOTSUP, "this Python does not support processes")


def _no_thread(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("can't start new thread")


if "processes" in _LACKS:
    _LACKS |= _IN_BROWSERS
    for start in _STARTS:
        setattr(os, start, _no_process)
    setattr(subprocess.Popen, "__init__", _no_process)  # noqa: B010 - mypy sees an assignment
    setattr(threading.Thread, "start", _no_thread)  # noqa: B010
    setattr(_thread, "start_new_thread", _no_thread)  # noqa: B010
for module in list(sys.modules):
    if module.partition(".")[0] in _LACKS:
        del sys.modules[module]
sys.meta_path.insert(0, _Missing())
