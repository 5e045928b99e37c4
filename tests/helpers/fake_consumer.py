"""Fake consumers: files of adapters that differ in a few lines."""

from pathlib import Path

from onnx_scatterx.lab.devices.consumer import Consumer, consumer_of
from tests.helpers.support import parse

NEGATION = parse("g (float[2, 3] x) => (float[2, 3] y) { y = Neg(x) }")

_ADAPTER = """
import os, sys, time
from pathlib import Path
import numpy as np
from onnx_scatterx.lab.devices.adapter import Adapter, Answer
from onnx_scatterx.lab.devices.adapter import captured

class Fake(Adapter):
    name = "fake"
    packages = ("fake-compiler", "fake-runtime")
    profile = "standard"
    {members}
    def version(self):
        {version}
        return "1.2"
    def run(self, model, feeds, directory):
        {run}

adapter = Fake()
"""


def fake(
    directory: Path,
    run: str = 'return Answer("taken", {"y": -feeds["x"]})',
    *,
    version: str = "pass",
    members: str = "",
) -> Consumer:
    """Return a consumer whose methods have these lines."""
    place = directory / "fake.py"
    place.write_text(_ADAPTER.format(run=run, version=version, members=members))
    return consumer_of(str(place))
