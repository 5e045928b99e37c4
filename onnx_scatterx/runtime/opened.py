"""Models as files for a worker process, where a crash of ONNX Runtime is an error here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.errors import ModelError, ScatterXError
from onnx_scatterx.ir.data import ir_tensors, to_proto
from onnx_scatterx.ir.io import AnyModel, ModelSource, check_file, load, note_model, save
from onnx_scatterx.ir.outside import is_within, together
from onnx_scatterx.ir.save import MESSAGE_LIMIT
from onnx_scatterx.runtime.array_files import DeclaredInput, validated_inputs
from onnx_scatterx.runtime.session import check_runtime, library_path
from onnx_scatterx.runtime.worker_client import ModelFile, OrtProcess, from_raw, to_raw
from onnx_scatterx.system.child import NoReply
from onnx_scatterx.system.scratch import scratch
from onnx_scatterx.system.serving import RawTensor

_TEXT = {
    *(".onnxtxt", ".onnxtext", ".textproto", ".prototxt"),
    *(".pbtxt", ".txtpb", ".json", ".onnxjson"),
}


def as_file(source: AnyModel, model: ir.Model, place: Path) -> ModelFile:
    """Return a binary file of the model: its own, or one written at `place`.

    External data are not moved, even behind links: ONNX Runtime refuses links out of the model's
    directory, so such data are named by their real paths.
    """
    tensors = list(ir_tensors(model))
    outside = [t for t in tensors if isinstance(t, ir.ExternalTensor)]
    inside = sum(t.nbytes for t in tensors if not isinstance(t, ir.ExternalTensor))
    path = ModelSource.of(source).path
    if (
        path is not None
        and path.suffix not in _TEXT
        and all(is_within(Path(t.path), path.parent) for t in outside)
    ):
        return ModelFile(path)
    found = together(model) if outside else (model, None)
    if inside > MESSAGE_LIMIT or found is None:
        return ModelFile(save(model, place)[0])
    model, root = found
    given = ModelSource.of(source).model
    message = given if isinstance(given, onnx.ModelProto) and not outside else to_proto(model)
    place.write_bytes(message.SerializeToString())
    return ModelFile(place, root)


def runnable(source: AnyModel, place: Path) -> ModelFile:
    """Return a binary file of a model that only ONNX Runtime is to check.

    A file that ONNX Runtime can read directly is not checked otherwise.
    """
    path = ModelSource.of(source).path
    if path is not None:
        check_file(path)
        files = note_model(path)
        if path.suffix not in _TEXT and all(is_within(file, path.parent) for file in files):
            return ModelFile(path)
    return as_file(source, load(source), place)


@dataclass(frozen=True)
class OpenModel:
    """A model in a process: its number there, and its interface."""

    process: OrtProcess
    number: int
    inputs: tuple[DeclaredInput, ...]
    overridable: tuple[DeclaredInput, ...]
    outputs: tuple[str, ...]

    @classmethod
    def open(
        cls,
        process: OrtProcess,
        number: int,
        file: ModelFile,
        *,
        threads: int,
        library: bool,
        trace: str | None = None,
    ) -> OpenModel:
        """Open a model as the one of this number; ``trace`` is how the path of a trace begins.

        Raises ScatterXError if ONNX Runtime is too old, the library is not there, or the model
        cannot be loaded.
        """
        check_runtime(library)
        found = str(library_path()) if library else None
        options = {"library": found, "threads": threads, "optimize": True, "trace": trace}
        answer = process.ask({"do": "open", **file.to_request(), **options})
        if isinstance(answer, NoReply):
            raise ModelError(f"ONNX Runtime cannot load the model: {answer.reason}")
        content = answer.content
        return cls(
            process,
            number,
            tuple(DeclaredInput(*value) for value in content["inputs"]),
            tuple(DeclaredInput(*value) for value in content["overridable"]),
            tuple(content["outputs"]),
        )

    def run(
        self, inputs: Mapping[str, np.ndarray], outputs: Sequence[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Run the model and return its outputs, or some of them, by name."""
        for name in outputs or ():
            if name not in self.outputs:
                there = ", ".join(self.outputs)
                raise ScatterXError(f"the model has no output {name!r}; it has {there}")
        return self._asked({"do": "run", "outputs": outputs}, self._tensors(inputs))

    def bind(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Bind inputs for timing the model, and return the outputs by name."""
        return self._asked({"do": "bind"}, self._tensors(inputs))

    def _tensors(self, inputs: Mapping[str, np.ndarray]) -> list[RawTensor]:
        feeds = validated_inputs(inputs, self.inputs, self.overridable)
        return [to_raw(name, array) for name, array in feeds.items()]

    def _asked(
        self, request: dict[str, Any], tensors: Sequence[RawTensor]
    ) -> dict[str, np.ndarray]:
        answer = self.process.ask({**request, "session": self.number}, tensors)
        if isinstance(answer, NoReply):
            raise ScatterXError(f"ONNX Runtime cannot run the model: {answer.reason}")
        return {tensor.name: from_raw(tensor) for tensor in answer.tensors}


@contextlib.contextmanager
def opened_model(model: AnyModel, *, threads: int = 0, library: bool = True) -> Iterator[OpenModel]:
    """Open a model in a process of its own, which ends with the block."""
    with scratch() as directory:
        file = runnable(model, directory / "model.onnx")
        with OrtProcess() as process:
            yield OpenModel.open(process, 0, file, threads=threads, library=library)


def run_model(
    model: AnyModel,
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str] | None = None,
    *,
    threads: int = 0,
    library: bool = True,
) -> dict[str, np.ndarray]:
    """Run a model once and return its outputs by name, those of a sequence as ``name[i]``.

    The model runs in a process of its own.

    Args:
        model: as ``optimize`` takes it.
        inputs: all inputs, by name.
        outputs: the names of the outputs to return; all by default.
        threads: how many ONNX Runtime uses for one node; 0 is the number of cores.
        library: whether the ScatterX library is registered; else the fallbacks of ScatterX run.

    Raises:
        ScatterXError: in one line: an input is missing, unknown, or of another type or shape; ONNX
            Runtime refuses the model; or the process dies.
        TypeError: this is not a model.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[N] x) => (float[N] z) { z = Neg(x) }''')
        >>> run_model(model, {"x": np.float32([1, -2])}, library=False)
        {'z': array([-1.,  2.], dtype=float32)}

    """
    with opened_model(model, threads=threads, library=library) as opened:
        return opened.run(inputs, outputs)
