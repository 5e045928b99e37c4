"""Opens models in a worker process, so that a crash of ONNX Runtime becomes an error."""

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
from onnx_scatterx.files import (
    MESSAGE_LIMIT,
    AnyModel,
    ModelSource,
    check_file,
    ir_tensors,
    is_within,
    load,
    note_model,
    save,
    to_proto,
    together,
)
from onnx_scatterx.processes import NoReply, RawTensor, scratch
from onnx_scatterx.runtime.array_files import DeclaredInput, validated_inputs
from onnx_scatterx.runtime.session import library_for
from onnx_scatterx.runtime.worker_client import ModelFile, OrtProcess, from_raw, to_raw

_TEXT = {
    *(".onnxtxt", ".onnxtext", ".textproto", ".prototxt"),
    *(".pbtxt", ".txtpb", ".json", ".onnxjson"),
}


def as_file(source: AnyModel, model: ir.Model, destination: Path) -> ModelFile:
    """Return a binary file of the model: the model's own file, or one written at `destination`.

    External data are not copied. ONNX Runtime refuses links out of the model's directory, so data
    behind links are named by their real paths.
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
    copied = together(model) if outside else (model, None)
    if inside > MESSAGE_LIMIT or copied is None:
        return ModelFile(save(model, destination)[0])
    model, root = copied
    content = ModelSource.of(source).model
    message = content if isinstance(content, onnx.ModelProto) and not outside else to_proto(model)
    destination.write_bytes(message.SerializeToString())
    return ModelFile(destination, root)


def runnable(source: AnyModel, destination: Path) -> ModelFile:
    """Return a binary file of a model: its own file, unchecked, if ONNX Runtime can read this."""
    path = ModelSource.of(source).path
    if path is not None:
        check_file(path)
        files = note_model(path)
        if path.suffix not in _TEXT and all(is_within(file, path.parent) for file in files):
            return ModelFile(path)
    return as_file(source, load(source), destination)


@dataclass(frozen=True)
class OpenModel:
    """A model in a worker process: its number in the process, its library, and its interface."""

    process: OrtProcess
    number: int
    library: str | None
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
        library: str | None,
        trace: str | None = None,
    ) -> OpenModel:
        """Open a model, which has this number in the process. Paths of traces begin with ``trace``.

        ``library`` is what `library_for` returns. Raises ModelError if the model cannot be loaded.
        """
        options = {"library": library, "threads": threads, "optimize": True, "trace": trace}
        answer = process.ask({"do": "open", **file.to_request(), **options})
        if isinstance(answer, NoReply):
            raise ModelError(f"ONNX Runtime cannot load the model: {answer.reason}")
        content = answer.content
        return cls(
            process,
            number,
            library,
            tuple(DeclaredInput(*value) for value in content["inputs"]),
            tuple(DeclaredInput(*value) for value in content["overridable"]),
            tuple(content["outputs"]),
        )

    def run(
        self, inputs: Mapping[str, np.ndarray], outputs: Sequence[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Run the model, and return its outputs, or those in ``outputs``, by name."""
        for name in outputs or ():
            if name not in self.outputs:
                there = ", ".join(self.outputs)
                raise ScatterXError(f"the model has no output {name!r}; it has {there}")
        return self._asked({"do": "run", "outputs": outputs}, self._tensors(inputs))

    def bind(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Bind inputs, with which the model is then timed, and return the outputs by name."""
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
def opened_model(
    model: AnyModel, *, threads: int = 0, library: bool | None = None
) -> Iterator[OpenModel]:
    """Open a model in a process, which ends with the block; ``library`` as for `library_for`."""
    with scratch() as directory:
        file = runnable(model, directory / "model.onnx")
        registered = library_for(model, library)
        with OrtProcess() as process:
            yield OpenModel.open(process, 0, file, threads=threads, library=registered)


def run_model(
    model: AnyModel,
    inputs: Mapping[str, np.ndarray],
    outputs: Sequence[str] | None = None,
    *,
    threads: int = 0,
    library: bool | None = None,
) -> dict[str, np.ndarray]:
    """Run a model once and return its outputs by name; elements of a sequence are ``name[i]``.

    The model runs in a process of its own.

    Args:
        model: as ``optimize`` takes it.
        inputs: all inputs, by name.
        outputs: the names of the outputs to return; all by default.
        threads: how many threads ONNX Runtime uses for one node; 0 is the number of cores.
        library: whether the ScatterX library is registered; otherwise the fallbacks of ScatterX
            run. By default, it is registered if this installation has it, or the model needs it.

    Raises:
        ScatterXError: an input is missing, unknown, or of another type or shape; ONNX Runtime
            refuses the model; or the process dies.
        TypeError: ``model`` is not a model.

    Example:
        >>> import onnx.parser
        >>> model = onnx.parser.parse_model('''<ir_version: 8, opset_import: ["" : 18]>
        ...     g (float[N] x) => (float[N] z) { z = Neg(x) }''')
        >>> run_model(model, {"x": np.float32([1, -2])}, library=False)
        {'z': array([-1.,  2.], dtype=float32)}

    """
    with opened_model(model, threads=threads, library=library) as opened:
        return opened.run(inputs, outputs)
