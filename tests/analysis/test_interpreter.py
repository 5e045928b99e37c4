"""Every operator that the interpreter follows, against ONNX Runtime, at all sizes.

Each case is a random chain around one operator. What is judged, of every tensor: its type, every
dim, every element that the interpreter claims to know, and the facts that it learnt.
"""

import os
import random

import onnx
import onnx.printer
import onnx_ir as ir
import pytest

from onnx_scatterx.optimizer.analysis.model_analysis import interpret
from onnx_scatterx.optimizer.analysis.operators.shapes_alone import OF_SHAPES
from onnx_scatterx.optimizer.analysis.transfers import TRANSFERS
from tests.analysis.draws.creation import (
    constant,
    constant_of_shape,
    eye_like,
    one_hot,
    range_,
    shape,
    trilu,
)
from tests.analysis.draws.movement import (
    concat,
    expand,
    flatten,
    pad,
    reshape,
    slice_,
    split,
    squeeze,
    tile,
    transpose,
    unsqueeze,
)
from tests.analysis.draws.numbers import (
    WRAPPING,
    by_constant,
    cast,
    clip,
    cum_sum,
    einsum,
    matmul,
    mod,
    one,
    position,
    prelu,
    quantized_product,
    reduction,
    top_k,
    two,
    where,
)
from tests.analysis.draws.places import (
    gather,
    gather_elements,
    gather_nd,
    scatter_elements,
    scatter_nd,
)
from tests.analysis.draws.windows import conv, max_pool, resize, window
from tests.helpers.examples import scaled
from tests.helpers.judged import Judged
from tests.helpers.random_chains import INTEGERS, Chain, Draw, feeds

EXAMPLES = int(os.environ.get("EXAMPLES", scaled(20)))  # chains for each operator


DRAWS: dict[str, Draw] = {
    "Abs": one(*WRAPPING, "int8"),
    "Add": two(*WRAPPING),
    "And": two("bool"),
    "ArgMax": position,
    "ArgMin": position,
    "AveragePool": window,
    "Cast": cast,
    "CastLike": lambda c: ([cast(c)[0][0], c.some(*INTEGERS, "bool", "float32")], {}, 1),
    "Ceil": one("float32"),
    "Clip": clip,
    "Concat": concat,
    "Constant": constant,
    "ConstantOfShape": constant_of_shape,
    "Conv": conv,
    "CumSum": cum_sum,
    "Div": by_constant,
    "Einsum": einsum,
    "Equal": two("int64", "int32", "bool"),
    "Expand": expand,
    "EyeLike": eye_like,
    "Flatten": flatten,
    "Floor": one("float32"),
    "Gather": gather,
    "GatherElements": gather_elements,
    "GatherND": gather_nd,
    "Greater": two(*WRAPPING),
    "GreaterOrEqual": two(*WRAPPING),
    "Identity": one(*INTEGERS, "bool"),
    "Less": two(*WRAPPING),
    "LessOrEqual": two(*WRAPPING),
    "MatMul": matmul(*WRAPPING, "float32"),
    "MatMulInteger": matmul("uint8"),
    "Max": two(*WRAPPING, "uint8"),
    "MaxPool": max_pool,
    "Min": two(*WRAPPING, "uint8"),
    "Mod": mod,
    "Mul": two(*WRAPPING),
    "Neg": one(*WRAPPING, "int8"),
    "NonZero": one(*WRAPPING, "bool"),
    "Not": one("bool"),
    "OneHot": one_hot,
    "Or": two("bool"),
    "PRelu": prelu,
    "Pad": pad,
    "QLinearMatMul": quantized_product,
    "Range": range_,
    "ReduceL1": reduction(18, "float32"),
    "ReduceL2": reduction(18, "float32"),
    "ReduceLogSum": reduction(18, "float32"),
    "ReduceLogSumExp": reduction(18, "float32"),
    "ReduceMax": reduction(18),
    "ReduceMean": reduction(18, "float32"),
    "ReduceMin": reduction(18),
    "ReduceProd": reduction(18),
    "ReduceSum": reduction(13),
    "ReduceSumSquare": reduction(18, "float32"),
    "Reshape": reshape,
    "Resize": resize,
    "Round": one("float32"),
    "Scatter": scatter_elements,
    "ScatterElements": scatter_elements,
    "ScatterND": scatter_nd,
    "Shape": shape,
    "Sign": one(*WRAPPING, "uint8"),
    "Size": one(*INTEGERS, "float32"),
    "Slice": slice_,
    "Split": split,
    "Sqrt": one("float32"),
    "Squeeze": squeeze,
    "Sub": two(*WRAPPING),
    "Tile": tile,
    "TopK": top_k,
    "Transpose": transpose,
    "Trilu": trilu,
    "Unsqueeze": unsqueeze,
    "Where": where,
    "Xor": two("bool"),
}

# operator sets at which an operator takes another form; 18 otherwise
OPSETS = {
    "Clip": (12, 18),
    "CumSum": (11, 18),
    "Pad": (9, 11, 18, 19),
    "ReduceMax": (12, 18),
    "ReduceMin": (12, 18),
    "ReduceSum": (11, 13, 18),
    "ReduceProd": (11, 18),
    "Reshape": (13, 14, 18),
    "Resize": (11, 13, 18, 19),
    "Scatter": (9,),
    "Shape": (13, 15, 18),
    "Slice": (9, 10, 18),
    "Split": (11, 13, 18),
    "Squeeze": (11, 13, 18),
    "Unsqueeze": (11, 13, 18),
}
PREPARING = ("Shape", "Shape", "Size", "Range", "Slice", "Concat", "Cast", "Unsqueeze", "Reshape")


# their values are no tensors: tests/soundness/test_sequences.py
LISTS = {name for name in TRANSFERS if "Sequence" in name}  # soundness/test_sequences.py has them
# those of OF_SHAPES have no numbers to follow: tests/soundness/test_degenerate_shapes.py draws them
OF_ONNXRUNTIME = {"SimplifiedLayerNormalization"}  # without a schema; one_node draws it


def test_every_operator_is_drawn() -> None:
    assert set(DRAWS) | LISTS | OF_ONNXRUNTIME == TRANSFERS.keys() - OF_SHAPES.keys()


def chain(op: str, rng: random.Random) -> Chain | None:
    """Draw up to three preparing nodes, the operator, and up to two nodes that use it."""
    c = Chain(rng, rng.choice(OPSETS.get(op, (18,))))
    before = list(PREPARING) if op == "Shape" or c.opset >= 11 else ["Shape", "Slice", "Concat"]
    for _ in range(rng.randint(0, 3)):
        prepare = rng.choice(before)
        c.grow(prepare, DRAWS[prepare])
    if not any(c.grow(op, DRAWS[op]) for _ in range(6)):
        return None
    after = [o for o in DRAWS if c.opset >= 18 and o not in ("Scatter", "Conv")]
    for _ in range(rng.randint(0, 2) if after else 0):
        follow = rng.choice(after)
        c.grow(follow, DRAWS[follow])
    return c


@pytest.mark.sampled(4)
@pytest.mark.parametrize("op", DRAWS)
def test_operator(op: str) -> None:
    chains = runs = followed = 0
    for seed in range(EXAMPLES):
        c = chain(op, random.Random(f"{op} {seed}"))
        if c is None:
            continue
        judged = Judged(c.model())
        try:
            runs += sum(judged.accepts(feed) for feed in feeds(seed))
        except AssertionError as error:
            raise AssertionError(f"{error}\n{onnx.printer.to_text(c.model())}") from error
        chains, followed = chains + 1, followed + judged.followed
    print(f"{op}: {chains} chains, {runs} runs, {followed} tensors whose elements were known")
    assert chains >= EXAMPLES // 2
    assert runs >= 3 * chains
    assert followed >= runs, f"{op}: little is known"


def test_counts_are_bounded_by_what_is_counted() -> None:
    """A NonZero of static shape gives no more than all elements, and a sum of a mask as many."""
    model = ir.from_onnx_text(
        """<ir_version: 8, opset_import: ["" : 18]>
            g (bool[3, 4] m, bool[N] k) => (int64[2, C] n, int64[3, 4] s, int64[N] t)
            <int64 one = {1}, int64 zero = {0}> {
            n = NonZero (m) c = Cast <to = 7> (m) s = CumSum (c, one)
            d = Cast <to = 7> (k) t = CumSum <exclusive = 1> (d, zero) }"""
    )
    knowledge = interpret(model)
    scope = knowledge.scopes[model.graph]
    n, s, t = (knowledge.values[v] for v in model.graph.outputs)
    assert n.shape is not None
    assert scope.facts.is_nonnegative(12 - n.shape[1])
    assert not scope.facts.is_nonnegative(11 - n.shape[1])
    assert s.index_map is not None
    assert s.index_map.interval() == (0, 4)
    assert t.index_map is not None
    assert t.index_map.interval()[0] == 0
