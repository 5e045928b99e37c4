"""The program of a process that runs a consumer; `consumer.py` starts it as a script.

The process gets the file of an adapter, answers with the consumer's version, and then runs one job
after the other. Its Python may lack the package and what that needs. So an empty package stands
for `onnx_scatterx`, from which the child imports `lab.devices`, `processes` and `faces` alone.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from onnx_scatterx.lab.devices.adapter import Adapter
    from onnx_scatterx.processes import Answering, Message, RawTensor, Tell

_HERE = Path(__file__).resolve().parent


def main(file: str) -> None:
    """Answer jobs for the adapter in a file until stdin ends."""
    from onnx_scatterx.processes import serve

    serve(lambda tell: _begin(file, tell))


def bare_package() -> None:
    """Let `onnx_scatterx.lab.devices` be imported, though this Python lacks the package."""
    root = _HERE.parents[1]
    package = types.ModuleType(root.name)
    package.__path__ = [str(root)]
    sys.modules[root.name] = package


def load(file: str) -> Adapter:
    """Return the ``adapter`` of a file."""
    path = Path(file)
    if path.parent == _HERE / "consumers":
        module = importlib.import_module(f"onnx_scatterx.lab.devices.consumers.{path.stem}")
    else:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    adapter: Adapter = module.adapter
    return adapter


def _begin(file: str, tell: Tell) -> Answering | None:
    try:
        adapter = load(file)
        tell({"version": adapter.version()})
    except ModuleNotFoundError as error:
        tell({"missing": error.name or str(error)})
    except Exception as error:
        tell({"broken": _text(error)})
    else:
        return lambda job, tensors: _answer(adapter, job, tensors)
    return None


def as_messages(arrays: Mapping[str, np.ndarray]) -> tuple[list[str], list[RawTensor]]:
    """Return the types of arrays in the words of NumPy, and their bytes."""
    from onnx_scatterx.processes import RawTensor

    tensors = [RawTensor(n, 0, array.shape, array.tobytes()) for n, array in arrays.items()]
    return [array.dtype.str for array in arrays.values()], tensors


def as_arrays(types: Sequence[str], tensors: Sequence[RawTensor]) -> dict[str, np.ndarray]:
    """Return the arrays of a message that `as_messages` made."""
    import numpy as np

    return {
        tensor.name: np.frombuffer(bytearray(tensor.data), kind).reshape(tensor.shape)
        for kind, tensor in zip(types, tensors, strict=True)
    }


def _answer(adapter: Adapter, job: Mapping[str, Any], tensors: Sequence[RawTensor]) -> Message:
    import numpy as np

    from onnx_scatterx.lab.devices.adapter import Answer

    directory = Path(job["directory"])
    os.chdir(directory)
    try:
        feeds = as_arrays(job["types"], tensors)
        answer = adapter.run(Path(job["model"]), feeds, directory)
        outputs = answer.outputs
        named = isinstance(outputs, Mapping)
        if outputs is not None:
            pairs = outputs.items() if isinstance(outputs, Mapping) else enumerate(outputs)
            outputs = {str(name): _plain(np.asarray(array)) for name, array in pairs}
    except Exception as error:
        traceback.print_exc()
        answer, outputs, named = Answer("refused", message=_text(error)), None, False
    types, made = (None, []) if outputs is None else as_messages(outputs)
    return {**vars(answer), "outputs": None, "types": types, "named": named}, made


def _plain(array: np.ndarray) -> np.ndarray:
    """Return an array as one of NumPy's own types; TypeError if it holds no numbers."""
    if array.dtype.kind == "O":
        raise TypeError("an output is not an array of numbers")
    return array.astype("float32") if array.dtype.kind == "V" else array


def _text(error: Exception) -> str:
    message = str(error).strip()
    kind = type(error).__name__
    return f"{kind}: {message}" if message else kind


if __name__ == "__main__":
    sys.path.pop(0)  # without this folder, its modules are imported only as parts of their package
    bare_package()
    main(sys.argv[1])
