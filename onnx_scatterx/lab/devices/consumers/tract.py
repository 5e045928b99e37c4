"""tract, Sonos's engine in Rust, by its Python package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from onnx_scatterx.lab.devices.adapter import Adapter, Answer

_KINDS = {"b": "bool", "i": "i", "u": "u", "f": "f"}


class Tract(Adapter):
    """Gives tract the shapes of the inputs, and lets it infer and optimize."""

    name = "tract"
    packages = ("tract",)

    def version(self) -> str:
        os.environ["RUST_BACKTRACE"] = "0"  # a backtrace would be longer than the message
        import tract

        return str(tract.version())

    def run(self, model: Path, feeds: Mapping[str, np.ndarray], directory: Path) -> Answer:
        import tract

        loaded = tract.onnx().load(str(model))
        names = [loaded.input_name(number) for number in range(loaded.input_count())]
        for number, name in enumerate(names):
            loaded.set_input_fact(number, _fact(feeds[name]))
        runnable = loaded.into_model().into_runnable()
        outputs = runnable.run([feeds[name] for name in names])
        return Answer("taken", [output.to_numpy() for output in outputs])


def _fact(array: np.ndarray) -> str:
    """Return a shape and an element type in tract's words.

    >>> _fact(np.zeros((2, 3), np.float32))
    '2,3,f32'
    """
    kind = _KINDS[array.dtype.kind]
    if kind != "bool":
        kind += str(8 * array.dtype.itemsize)
    return ",".join([*(str(extent) for extent in array.shape), kind])


adapter = Tract()
