"""The region of a model around each of its scatters, as a model of its own with the same values.

So the gain of a rewrite can be measured without the nodes around it. The region is the part that
``onnx_scatterx.extract`` cuts out. Its inputs are the values that the whole model computes.
"""

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import numpy_helper

import onnx_scatterx

_MOST = 3  # regions of a model: layers are alike


def regions(
    model: onnx.ModelProto, feeds: dict[str, np.ndarray]
) -> Iterator[tuple[str, onnx.ModelProto, dict[str, np.ndarray]]]:
    """Yield the names of scatters, the regions around them, and the inputs of these."""
    seen: set[tuple[object, ...]] = set()
    for entry in onnx_scatterx.inspect(model, target="ort-cpu").scatters:
        key = entry.op, entry.reduction, entry.footprint, entry.rules
        if key in seen or len(seen) == _MOST:
            continue
        seen.add(key)
        part = onnx_scatterx.extract(model, entry.node, target="ort-cpu").model
        yield entry.node, part, inputs_of(part, model, feeds)


def inputs_of(
    part: onnx.ModelProto, model: onnx.ModelProto, feeds: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the inputs of a part, as the whole model computes them."""
    weights = {tensor.name: tensor for tensor in model.graph.initializer}
    found = dict(feeds)
    missing = []
    for value in part.graph.input:
        if value.name in weights:
            found[value.name] = numpy_helper.to_array(weights[value.name])
        elif value.name not in feeds:
            missing.append(value)
    if missing:
        wide = onnx.ModelProto()
        wide.CopyFrom(model)
        known = {value.name for value in wide.graph.output}
        wide.graph.output.extend(value for value in missing if value.name not in known)
        names = [value.name for value in missing]
        session = onnx_scatterx.session(wide)
        taken = {value.name for value in session.get_inputs()}
        given = {name: array for name, array in feeds.items() if name in taken}
        found.update(zip(names, session.run(names, given), strict=True))
    return {value.name: found[value.name] for value in part.graph.input}
