"""Does one step of a benchmark in a process of its own, which ends at limits of memory and time."""

from __future__ import annotations

import multiprocessing
import os
import resource
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

GIB, CPU_SECONDS = 9, 1200


def _work(tells: Connection, step: Callable[..., Any], *arguments: Any) -> None:
    for limit, most in ((resource.RLIMIT_DATA, GIB << 30), (resource.RLIMIT_CPU, CPU_SECONDS)):
        resource.setrlimit(limit, (most, most))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    try:
        tells.send(step(*arguments))
    except BaseException as error:
        lines = f"{type(error).__name__}: {error}".splitlines()
        tells.send({"failed": lines[0][:120]})


def apart(method: str, step: Callable[..., Any], *arguments: Any, wait: float | None = None) -> Any:
    """Return what a step returns, or how it failed, as ``{"failed": why}``.

    ``method`` is "fork", or "forkserver" for a step that needs torch: the server imports it once.
    """
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["real_models"])
    told, tells = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(tells, step, *arguments))
    process.start()
    tells.close()
    try:
        found = told.recv() if told.poll(wait) else {"failed": f"took longer than {wait} s"}
    except EOFError:
        process.join()
        found = {"failed": f"the process ended with {process.exitcode}"}
    process.kill()
    process.join()
    return found
