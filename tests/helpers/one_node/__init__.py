"""Random nodes of nearly every standard operator, with inputs that are hard on shapes.

Extents are 0 and 1 more often than not, tensors may have no dims, and some inputs break the
operator's rules: what ONNX Runtime makes of a node is for it to say. What ends or hangs its process
is not drawn (``some``): a recurrent layer or an attention without elements, a convolution without
channels, an image of no pixels that is normalized, unique rows of none.
"""

import random
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import helper, numpy_helper

from onnx_scatterx.engine.analysis.operators.shapes_alone import OF_SHAPES
from onnx_scatterx.engine.analysis.transfers import TRANSFERS
from tests.helpers.one_node import fused, quantized
from tests.helpers.one_node.source import EXTENTS, Draws
from tests.helpers.one_node.table import DRAWS, opsets

DOMAINS = {"": DRAWS, "com.microsoft": quantized.DRAWS | fused.DRAWS}
NEW, OLD = (18, 23, 26, 28), (11, 13)


def drawn(
    op: str, seed: int, domain: str = "", oldest: int = 0, extents: Sequence[int] = EXTENTS
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """Draw a model of one node of a domain, and a feed for it.

    Dims are declared by number, by name or not at all, as are ranks; some inputs are constants.
    """
    rng = random.Random(f"{op} {seed}")
    is_followed = op in TRANSFERS.keys() - OF_SHAPES.keys()
    sets = opsets(op, *NEW) if is_followed else opsets(op, *OLD, *NEW)
    opset = rng.choice([n for n in sets if n >= oldest])
    node = DOMAINS[domain][op](Draws(rng, opset, extents))
    names, infos, constants, feed = [], [], [], {}
    symbols: dict[int, str] = {}
    for i, array in enumerate(node.inputs):
        names.append("" if array is None else f"i{i}")
        if array is None:
            continue
        if i in node.constant or (rng.random() < 0.4 and array.dtype != object):
            constants.append(numpy_helper.from_array(array, names[-1]))
            continue
        feed[names[-1]] = array
        dtype = helper.np_dtype_to_tensor_dtype(array.dtype)
        dims: list[int | str | None] | None = [_declared(n, symbols, rng) for n in array.shape]
        if rng.random() < 0.1:
            dims = None
        infos.append(helper.make_tensor_value_info(names[-1], dtype, dims))
    outputs = [f"o{i}" for i in range(node.outputs)]
    graph = helper.make_graph(
        [helper.make_node(op, names, outputs, domain=domain, **node.attributes)],
        op,
        infos,
        [onnx.ValueInfoProto(name=o) for o in outputs],
        constants,
    )
    ir_version = 8 if opset < 19 else 10 if opset < 24 else 11
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=ir_version), feed


def _declared(extent: int, symbols: dict[int, str], rng: random.Random) -> int | str | None:
    kind = rng.random()
    if kind < 0.4:
        return extent
    return symbols.setdefault(extent, f"n{len(symbols)}") if kind < 0.8 else None
