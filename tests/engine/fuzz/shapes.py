"""``python -m tests.engine.fuzz.shapes``: random graphs around writes, nested, before and after.

Writes are connected by nodes that move elements, and are put into an If, a Loop, a Scan or a
function at random. Each model is optimized for a target, saved and loaded, and compared with the
original on several sizes. A few originals with quantizers end ONNX Runtime itself: then the run
ends, too, and goes on with ``--seed``.
"""

import random
import re
import sys
from dataclasses import replace
from typing import Any

import onnx

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.targets.catalogue import target_of
from tests.engine.fuzz.random_models import campaign
from tests.helpers.drawing import Drawing
from tests.helpers.drawing.recipes import GENERAL, QUANTIZED
from tests.helpers.support import nodes
from tests.helpers.trial import FoundError, Options, compared

TYPES = (
    *("float32", "float32", "float32", "float32", "float16", "float64", "bool", "object"),
    *("int64", "int64", "int32", "int8", "uint8", "uint64"),
)
"""An object is a string."""


def shapes(seed: int) -> Drawing:
    """Return a random graph of nodes that move, write, read and nest."""
    rng = random.Random(seed)
    sizes = {"N": rng.choice((0, 1, 2, 3, 5)), "M": rng.choice((1, 1, 2, 3))}
    is_quantized = rng.random() < 0.25
    opset = rng.choice((13, 16, 18, 18, 21, 24, 24))
    d = Drawing(rng, opset, QUANTIZED if is_quantized else GENERAL, sizes)
    d.constants_as = "mixed"
    if is_quantized:
        d.main_type, d.special = rng.choice(("int8", "uint8")), 0  # no integer is known for NaN
    d.is_fixed = d.does(0.3)
    dims = rng.choices(("N", "M", 1, 2, 3, 4, 0), (6, 2, 2, 4, 3, 1, 0.3), k=rng.randint(1, 3))
    if d.is_fixed:
        dims = [d.size(n) for n in dims]
    x = d.tensor(rng.choice(TYPES), tuple(dims))
    d.pool.append(x)
    x = d.grow(x, rng.randint(2, 5))
    if x.dims and (not d.nodes or d.does(0.9)):
        x = d.draw("writes", x)
        d.pool.append(x)
        x = d.grow(x, rng.randint(0, 2))
    d.show(x)
    for value in d.pool:
        if d.does(0.12):
            d.show(value)
    return d


def _dims(model: onnx.ModelProto) -> list[Any]:
    return [n for value in model.graph.input for n in value.type.tensor_type.shape.dim]


def excused(model: onnx.ModelProto, error: str) -> str:
    """Return what explains a difference, if no fault of the result does."""
    made = {o: node for node in model.graph.node for o in node.output}
    shown = [made.get(o.name) for o in model.graph.output]
    if "but got: (null)" in error:  # a subgraph captures what a node gives that it removes itself
        return "ONNX Runtime loses a captured value"
    empty = re.search(r"output (\d+): \[\] became \[\]", error)
    if empty and (node := shown[int(empty[1])]) and node.op_type == "Loop":
        return "an empty scan output has other dims"
    return ""


def trial(seed: int) -> tuple[str, onnx.ModelProto | None]:
    """Compare a random model with what it becomes; return what came of it, and what is wrong."""
    d = shapes(seed)
    model = d.model()
    if d.does(0.5):
        model = onnx.shape_inference.infer_shapes(model)
    sizes = [d.sizes] * 2
    if not d.is_fixed:
        sizes += [{"N": n, "M": m} for n, m in ((0, 1), (1, 1), (3, 2), (4, 1))]
    options = Options.drawn(d.rng)
    if d.main_type and not target_of(options.target).onnxruntime:
        options = replace(options, target="qnn")  # how ONNX Runtime moves quantizers is of interest
    # With fixed sizes, ONNX Runtime infers more for a Loop without iterations.
    loops = any(n.op_type == "Loop" for n in nodes(model))
    if not loops and d.does(0.25) and any(n.dim_param == "N" for n in _dims(model)):
        number = d.sizes["N"]
        options = replace(options, fix=(("N", number),))
        sizes = [{**s, "N": number} for s in sizes]
    feeds = [d.feed(s) for s in sizes]
    try:
        done = compared(model, options, feeds, wanted=len(feeds))
    except FoundError as error:
        if reason := excused(model, str(error)):
            return reason, None
        return f"DIFFERENT: {options}: {str(error)[:300]}", model
    except ScatterXError as error:
        return f"refused: {str(error)[:40]}", None
    except Exception as error:
        return f"DIFFERENT: {options} raises {error!r}", model
    if not done.off:
        return "not valid", None
    return "rewritten" if done.rewritten else "unchanged", None


if __name__ == "__main__":
    sys.exit(campaign("shapes", __doc__, trial))
