"""A model of the table: its inputs, ONNX Runtime's outputs, and its forms."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir

from onnx_scatterx.doors.api import optimize
from onnx_scatterx.doors.devices.checking import truths
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.ir.data import to_proto
from onnx_scatterx.ir.io import load
from onnx_scatterx.judges.verification.valid_inputs import valid_draws
from onnx_scatterx.system.scratch import scratch

FORMS = ("original", "standard", "own")
"""The original model, and its results for `standard` and for the consumer's own profile."""

Feed = Mapping[str, np.ndarray]

_SIZES = (8, 16, 32)
"""The value of symbolic sizes, if the model accepts it: an emulator takes minutes for more."""


class Subject:
    """A model of the table: its inputs, ONNX Runtime's outputs, and its forms."""

    def __init__(self, path: Path) -> None:
        """Take the file of a model; everything else is computed when it is first needed."""
        self._path = path
        self.name = path.stem
        self._forms: dict[str, tuple[onnx.ModelProto, tuple[str, ...]]] = {}

    @cached_property
    def feeds(self) -> dict[str, np.ndarray]:
        """The inputs beside the model, or drawn ones."""
        return feeds_of(self._path)

    @cached_property
    def truth(self) -> Feed:
        """ONNX Runtime's outputs of the unchanged model."""
        with scratch() as directory:
            file = written(self.form(FORMS[0])[0], directory / "model.onnx")
            return truths(file, [self.feeds])[0]

    def require_accepted(self) -> None:
        """Raise ScatterXError if ONNX Runtime does not run the model on the inputs.

        Inputs that are drawn were accepted.
        """
        if self.feeds and _beside(self._path).exists():
            assert self.truth is not None

    def form(self, target: str) -> tuple[onnx.ModelProto, tuple[str, ...]]:
        """Return the model, unchanged or for a target, and the parts that the target refuses."""
        if target not in self._forms:
            self._forms[target] = self._made(target)
        return self._forms[target]

    def _made(self, target: str) -> tuple[onnx.ModelProto, tuple[str, ...]]:
        if target == FORMS[0]:
            model = ir.external_data.load_to_model(load(self._path))
            return with_sizes(model, self.feeds), ()
        result = optimize(self.form(FORMS[0])[0], target=target)
        return result.model, tuple(str(v) for v in result.report.violations if not v.on_host)


def feeds_of(path: Path) -> dict[str, np.ndarray]:
    """Return the inputs beside a model, or drawn ones, small where sizes are symbols."""
    beside = _beside(path)
    if beside.exists():
        with np.load(beside) as file:
            return {name: file[name] for name in file.files}
    model = load(path)
    dims = [dim for value in model.graph.inputs for dim in value.shape or ()]
    names = sorted({dim.value for dim in dims if isinstance(dim, ir.SymbolicDim) and dim.value})
    for size in _SIZES if names else ():
        with contextlib.suppress(ScatterXError):
            return dict(valid_draws(path, sizes=dict.fromkeys(names, size))[0].feeds)
    return dict(valid_draws(path)[0].feeds)


def _beside(path: Path) -> Path:
    return path.with_suffix(".in.npz")


def with_sizes(model: ir.Model, feeds: Feed) -> onnx.ModelProto:
    """Return a model whose inputs have the sizes of these arrays.

    Shapes that were declared of other values are removed, unless they are numbers.
    """
    proto = to_proto(model)
    dynamic = False
    for value in proto.graph.input:
        if value.name in feeds:
            dims = value.type.tensor_type.shape.dim
            declared = [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
            if declared != list(feeds[value.name].shape):
                dynamic = True
                del dims[:]
                for extent in feeds[value.name].shape:
                    dims.add().dim_value = extent
    if dynamic:
        del proto.graph.value_info[:]
        for value in proto.graph.output:
            value.type.tensor_type.ClearField("shape")
        proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    return proto


def written(model: onnx.ModelProto, place: Path) -> Path:
    place.write_bytes(model.SerializeToString(deterministic=True))
    return place
