"""Whether a compiler has the faults that its profile avoids: each pattern without its form."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import onnx.parser

import onnx_scatterx
from onnx_scatterx.lab.devices.checking import check
from onnx_scatterx.lab.devices.consumer import consumer_of
from onnx_scatterx.targets.catalogue import target_of

_HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '
_SMALL = {
    "relu_behind_softmax": """(float[1, 2, 8, 6] k, float[1, 2, 6, 4] v) => (float[1, 2, 6, 4] y)
        <int64[4] s = {1, 2, 6, 8}, float[1] c = {0.3}, float two = {2}> {
            q = Expand (c, s)  w = MatMul (q, k)  p = Softmax (w)  m = MatMul (p, v)
            y = Mul (m, two) }""",
    "slice_before_reshape": """(float[1, 16, 4, 20] x) => (float[1, 2, 20] y)
        <float[1, 16, 1, 1] w = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
         int64[3] s = {1, 4, 20}, int64[1] zero = {0}, int64[1] two = {2}, int64[1] four = {4},
         int64[1] one = {1}> {
            p = Softmax <axis = 1> (x)  m = Conv (p, w)  r = Reshape (m, s)
            a = Slice (r, zero, two, one)  b = Slice (r, two, four, one)  y = Sub (a, b) }""",
}


def main() -> int:
    """Print what the compiler says of each model, without the form that avoids the fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("models", nargs="*", type=Path)
    parser.add_argument("--python")
    args = parser.parse_args()
    consumer = consumer_of(args.name)
    target = target_of(args.name)
    for fault in target.faults:
        models = {"small": onnx.parser.parse_model(_HEAD + _SMALL[fault.form])}
        others = replace(target, faults=tuple(f for f in target.faults if f is not fault))
        with tempfile.TemporaryDirectory() as directory:
            for path in args.models:
                out = Path(directory, path.name)
                onnx_scatterx.optimize(path, target=others).save(out)
                models[path.name] = onnx.load(out)
            for name, model in models.items():
                print(f"{fault.form}, {name}: {check(model, consumer, python=args.python)}")
    return 0
