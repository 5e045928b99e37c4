"""The process that runs a consumer: started by `process.py` as a script, perhaps by another Python.

It gets the file of an adapter, answers with its version, and then runs one job after the other:
a line of JSON on stdin, a line of JSON back. Arrays are in files. The consumer's output is
redirected to stderr. When stdin ends, the parent has ended: the process ends, with all that it
started.

The package need not be installed here, and would be slow to import: an empty one replaces it, which
finds only `onnx_scatterx.devices`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import queue
import signal
import sys
import threading
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from onnx_scatterx.devices.adapter import Adapter

_HERE = Path(__file__).resolve().parent
_ROUNDS = 100  # of looking for processes, which may start others meanwhile


def main(place: str) -> None:
    """Answer jobs for the adapter in a file until stdin ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    jobs: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(jobs,), daemon=True).start()
    adapter = _begin(place, replies)
    while adapter is not None:
        _reply(replies, _answer(adapter, json.loads(jobs.get())))


def bare_packages() -> None:
    """Let `onnx_scatterx.devices` be imported without the rest of the package."""
    for name, path in (("onnx_scatterx", _HERE.parent), ("onnx_scatterx.devices", _HERE)):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


def load(place: str) -> Adapter:
    """Return the adapter that a file ends with."""
    path = Path(place)
    if path.parent == _HERE / "consumers":
        module = importlib.import_module(f"onnx_scatterx.devices.consumers.{path.stem}")
    else:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    found: Adapter = module.adapter
    return found


def _begin(place: str, replies: IO[str]) -> Adapter | None:
    try:
        adapter = load(place)
        _reply(replies, {"version": adapter.version()})
    except ModuleNotFoundError as error:
        _reply(replies, {"missing": error.name or str(error)})
    except Exception as error:
        _reply(replies, {"broken": _text(error)})
    else:
        return adapter
    return None


def _answer(adapter: Adapter, job: Mapping[str, str]) -> dict[str, Any]:
    import numpy as np

    directory = Path(job["directory"])
    os.chdir(directory)
    try:
        with np.load(job["feeds"], allow_pickle=False) as file:
            feeds = {
                name: file[f"{number}"] for number, name in enumerate(json.loads(job["names"]))
            }
        answer = adapter.run(Path(job["model"]), feeds, directory)
        reply: dict[str, Any] = {
            "kind": answer.kind,
            "message": answer.message,
            "node": answer.node,
            "on_host": list(answer.on_host),
            "version": answer.version,
        }
        if answer.outputs is not None:
            given = answer.outputs
            named = isinstance(given, Mapping)
            reply["outputs"] = list(map(str, given)) if named else None
            found = given.values() if isinstance(given, Mapping) else given
            arrays = {f"{n}": _plain(np.asarray(array)) for n, array in enumerate(found)}
            reply["count"] = len(arrays)
            np.savez(job["outputs"], **arrays)  # type: ignore[arg-type]
    except Exception as error:
        traceback.print_exc()
        return {"kind": "refused", "message": _text(error)}
    return reply


def _plain(array: np.ndarray) -> np.ndarray:
    """Return an array of one of NumPy's own types, as files hold no others."""
    if array.dtype.kind == "O":
        raise TypeError("an output is not an array of numbers")
    return array.astype("float32") if array.dtype.kind == "V" else array


def _text(error: Exception) -> str:
    message = str(error).strip()
    kind = type(error).__name__
    return f"{kind}: {message}" if message else kind


def _reply(replies: IO[str], content: Mapping[str, Any]) -> None:
    replies.write(json.dumps(content) + "\n")
    replies.flush()


def _receive(jobs: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        jobs.put(line)
    end_all(os.environ["TMPDIR"])
    if hasattr(os, "killpg"):
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


def end_all(directory: str) -> None:
    """Kill the other processes with this directory for temporary files, in other sessions too.

    A process has it in its environment, which Linux shows.
    """
    mark = os.fsencode(f"TMPDIR={directory}")
    for _ in range(_ROUNDS):
        found = [n for n in _processes() if n != os.getpid() and mark in _environment(n)]
        for number in found:
            with contextlib.suppress(OSError):
                os.kill(number, signal.SIGKILL)
        if not found:
            return


def _processes() -> list[int]:
    with contextlib.suppress(OSError):
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return []


def _environment(process: int) -> list[bytes]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    return []


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its modules are found in their package
    bare_packages()
    main(sys.argv[1])
