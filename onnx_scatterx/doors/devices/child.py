"""The process that runs a consumer: started by `process.py` as a script, perhaps by another Python.

It gets the file of an adapter, answers with its version, and then runs one job after the other.
Arrays are in files.

The package need not be installed here, and would be slow to import: an empty one replaces it, which
finds only `onnx_scatterx.doors.devices` and `onnx_scatterx.system`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
import types
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from onnx_scatterx.doors.devices.adapter import Adapter
    from onnx_scatterx.system.serving import Answering, Tell

_HERE = Path(__file__).resolve().parent


def main(place: str) -> None:
    """Answer jobs for the adapter in a file until stdin ends."""
    from onnx_scatterx.system.serving import serve

    serve(lambda tell: _begin(place, tell))


def bare_packages() -> None:
    """Let `onnx_scatterx.doors.devices` be imported without the rest of the package."""
    root = _HERE.parents[1]
    for name in ("", "doors", "doors/devices", "system"):
        place = root / name
        package = types.ModuleType(".".join((root.name, *place.relative_to(root).parts)))
        package.__path__ = [str(place)]
        sys.modules[package.__name__] = package


def load(place: str) -> Adapter:
    """Return the adapter that a file ends with."""
    path = Path(place)
    if path.parent == _HERE / "consumers":
        module = importlib.import_module(f"onnx_scatterx.doors.devices.consumers.{path.stem}")
    else:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    found: Adapter = module.adapter
    return found


def _begin(place: str, tell: Tell) -> Answering | None:
    try:
        adapter = load(place)
        tell({"version": adapter.version()})
    except ModuleNotFoundError as error:
        tell({"missing": error.name or str(error)})
    except Exception as error:
        tell({"broken": _text(error)})
    else:
        return lambda job, _: (_answer(adapter, job), [])
    return None


def _answer(adapter: Adapter, job: Mapping[str, Any]) -> dict[str, Any]:
    import numpy as np

    directory = Path(job["directory"])
    os.chdir(directory)
    try:
        with np.load(job["feeds"], allow_pickle=False) as file:
            feeds = {name: file[f"{number}"] for number, name in enumerate(job["names"])}
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


if __name__ == "__main__":
    sys.path.pop(0)  # this folder: its modules are found in their package
    bare_packages()
    main(sys.argv[1])
