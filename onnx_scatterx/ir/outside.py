"""External data of a model in memory: the places of the files, and reading them.

A user who names a model also names every file that its tensors name. So symbolic links are followed
anywhere, as in a cache that keeps all files under their hashes, and so are hard links. onnx_ir
follows links only if a tensor lacks a base directory; then it checks nothing. So the one check that
remains is made here: by its name, a location must be beneath the directory of the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import onnx_ir as ir

from onnx_scatterx.ir.cleanup import cloned
from onnx_scatterx.ir.data import HOLD_TENSORS, is_inside
from onnx_scatterx.ir.graphs import all_graphs


class OutsideTensor(ir.ExternalTensor):
    """A tensor in a file that is found through any link.

    onnx_ir checks a file against the base directory of its tensor, which is absent here.
    """

    __slots__ = ("_directory",)

    def __init__(self, tensor: ir.ExternalTensor, location: str, directory: Path) -> None:
        """Create a copy of a tensor whose data are at a location beneath a directory."""
        super().__init__(
            location,
            tensor.offset,
            tensor.length,
            tensor.dtype,
            shape=tensor.shape,
            name=tensor.name,
            doc_string=tensor.doc_string,
            metadata_props=dict(tensor.metadata_props),
        )
        self._directory: str | os.PathLike[str] = directory

    @property
    def base_dir(self) -> str | os.PathLike[str]:
        """The directory beneath which the location is."""
        return self._directory

    @base_dir.setter
    def base_dir(self, value: str | os.PathLike[str]) -> None:
        self._directory = value

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self._directory, self.location)


def placed(model: ir.Model, directory: Path, elsewhere: Mapping[str, Path]) -> ir.Model:
    """Return a model whose external data lie in a directory, but for files that are elsewhere."""

    def place(tensor: ir.ExternalTensor) -> ir.ExternalTensor:
        location = os.fspath(tensor.location)
        file = elsewhere.get(location, directory / location)
        return OutsideTensor(tensor, file.name, file.parent)

    _replace(model, place)
    return model


def set_base_dir(model: ir.Model, directory: Path) -> None:
    """Set the directory of a model's external data, in functions too."""

    def at_base(tensor: ir.ExternalTensor) -> ir.ExternalTensor:
        tensor.base_dir = directory
        return _followed(tensor)

    _replace(model, at_base)


def follow_links(model: ir.Model) -> None:
    """Let the external data of a model be read through links."""
    _replace(model, _followed)


def _followed(tensor: ir.ExternalTensor) -> ir.ExternalTensor:
    if isinstance(tensor, OutsideTensor) or not is_inside(tensor.location):
        return tensor  # onnx_ir reports the error
    return OutsideTensor(tensor, os.fspath(tensor.location), Path(tensor.base_dir))


def moved(model: ir.Model, place: Callable[[ir.ExternalTensor], tuple[str, Path]]) -> ir.Model:
    """Return a copy of a model whose external data have the locations and directories given."""
    copy = cloned(model)
    _replace(copy, lambda tensor: OutsideTensor(tensor, *place(tensor)))
    return copy


def _replace(model: ir.Model, replaced: Callable[[ir.ExternalTensor], ir.ExternalTensor]) -> None:
    for graph in all_graphs(model):
        for initializer in graph.initializers.values():
            if isinstance(initializer.const_value, ir.ExternalTensor):
                initializer.const_value = replaced(initializer.const_value)
        for node in graph:
            for name, attribute in list(node.attributes.data.items()):
                if attribute.type not in HOLD_TENSORS or attribute.is_ref():
                    continue
                value: Any = attribute.value
                if isinstance(value, ir.ExternalTensor):
                    value = replaced(value)
                elif attribute.type == ir.AttributeType.TENSORS:
                    value = [replaced(t) if isinstance(t, ir.ExternalTensor) else t for t in value]
                if value is not attribute.value:
                    doc = attribute.doc_string
                    node.attributes[name] = ir.Attr(name, attribute.type, value, doc_string=doc)
