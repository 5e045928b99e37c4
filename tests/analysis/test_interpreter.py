"""Every operator that the interpreter follows, against ONNX Runtime, at all sizes.

Each case is a random chain around one operator. What is judged, of every tensor: its type, every
dim, every element that the interpreter claims to know, and the facts that it learnt.
"""

import os
import random
from typing import Any

import numpy as np
import onnx
import onnx.printer
import onnx_ir as ir
import pytest
from onnx import numpy_helper

from onnx_scatterx.analysis.convergence import interpret
from onnx_scatterx.analysis.operators.same_shape import OF_SHAPES
from onnx_scatterx.analysis.transfers import TRANSFERS
from tests.helpers.judged import Judged
from tests.helpers.random_chains import INTEGERS, Chain, Draw, Drawn, feeds

EXAMPLES = int(os.environ.get("EXAMPLES", "12"))  # chains for each operator
WRAPPING = ("int64", "int32")


def two(*kinds: str) -> Draw:
    def draw(c: Chain) -> Drawn:
        a = c.some(*kinds)
        dtype, shape = c.values[a].dtype.name, c.values[a].shape
        others = [n for n, v in c.values.items() if v.dtype.name == dtype]
        b = c.rng.choice(others)
        if c.flag():
            extents = [c.rng.choice([1, n]) for n in shape[c.rng.randint(0, len(shape)) :]]
            b = c.constant(c.array(*extents, low=0 if dtype[0] in "ub" else -4), dtype)
        return [a, b] if c.flag() else [b, a], {}, 1

    return draw


def one(*kinds: str, **attributes: Any) -> Draw:
    return lambda c: ([c.some(*kinds)], attributes, 1)


def by_constant(c: Chain) -> Drawn:
    a = c.some(*WRAPPING)
    divisor = c.rng.choice([1, 2, 3, -2, 5, -1])
    return [a, c.constant(divisor, c.values[a].dtype.name)], {}, 1


def mod(c: Chain) -> Drawn:
    inputs, _, _ = by_constant(c)
    return inputs, c.rng.choice([{}, {"fmod": 1}, {"fmod": 0}]), 1


def clip(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, "uint8", "uint64", "float32")
    bounds = [c.rng.choice(["", c.constant(abs(i), c.values[a].dtype.name)]) for i in c.ints(2)]
    return [a, *bounds], {}, 1


def cast(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", "float32")
    return [a], {"to": c.rng.choice([1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13])}, 1


def concat(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    v = c.values[a]
    same = [n for n, w in c.values.items() if w.dtype == v.dtype and w.ndim == v.ndim]
    parts = [a, *(c.rng.choice(same) for _ in range(c.rng.randint(0, 2)))]
    c.rng.shuffle(parts)
    return parts, {"axis": c.axis(v.ndim)}, 1


def constant(c: Chain) -> Drawn:
    kinds = {"value_int": 3, "value_ints": c.ints(3), "value_float": 0.5, "value_floats": [1.0]}
    name = c.rng.choice(list(kinds))
    return [], {name: kinds[name]}, 1


def constant_of_shape(c: Chain) -> Drawn:
    dtype = c.rng.choice(["int64", "int32", "bool", "float32"])
    value = numpy_helper.from_array(np.array([c.rng.randint(0, 1)], dtype))
    return [c.vector(c.rng.randint(0, 2), c.ints(2, 0, 3))], {"value": value} if c.flag() else {}, 1


def cum_sum(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, ranks=(1, 2))
    axis = c.constant(c.axis(c.values[a].ndim), c.rng.choice(WRAPPING))
    return [a, axis], {"exclusive": int(c.flag()), "reverse": int(c.flag())}, 1


def expand(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    target = [c.rng.choice([1, n, 2]) for n in (2, *c.values[a].shape)]
    return [a, c.vector(len(target), target)], {}, 1


def eye_like(c: Chain) -> Drawn:
    attributes = {"dtype": c.rng.choice([1, 6, 7, 9])} if c.flag() else {}
    a = c.some("int64", "int32", "float32", ranks=(2,))
    return [a], attributes | {"k": c.rng.randint(-2, 2)}, 1


def flatten(c: Chain) -> Drawn:
    a = c.some(*INTEGERS)
    return [a], {"axis": c.rng.randint(-c.values[a].ndim, c.values[a].ndim)}, 1


def gather(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", "float32", ranks=(1, 2))
    axis = c.axis(c.values[a].ndim)
    n = c.values[a].shape[axis]
    i = c.constant(c.array(*c.rng.choice([(), (1,), (2,), (2, 2)]), low=-n, high=max(n - 1, 0)))
    if c.rng.random() < 0.3:
        i = c.some(*WRAPPING)
    return [a, i], {"axis": axis}, 1


def gather_elements(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    shape = c.values[a].shape
    axis = c.axis(len(shape))
    extents = [c.rng.randint(1, 2) if d == axis % len(shape) else n for d, n in enumerate(shape)]
    index = c.constant(c.array(*extents, low=-2, high=1))
    same = [n for n, v in c.values.items() if v.dtype == np.int64 and v.ndim == len(shape)]
    return [a, c.rng.choice(same) if same and c.flag() else index], {"axis": axis}, 1


def gather_nd(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, ranks=(1, 2))
    batch = c.rng.randint(0, c.values[a].ndim - 1)
    k = c.rng.randint(1, c.values[a].ndim - batch)
    lead = c.values[a].shape[:batch]
    index = c.array(*lead, *c.rng.choice([(k,), (2, k), (1, 2, k)]), low=-2, high=1)
    return [a, c.constant(index)], {"batch_dims": batch} if batch or c.flag() else {}, 1


def one_hot(c: Chain) -> Drawn:
    a = c.some("int64", ranks=(1, 2))
    depth = c.constant(c.rng.choice([c.rng.randint(1, 4), [3]]), c.rng.choice(["int64", "float32"]))
    pair = c.rng.choice([c.constant([5, 7]), c.constant([0, 1], "float32"), c.vector(2)])
    depth = c.rng.choice([depth, c.some("int64", ranks=(0,))])
    return [a, depth, pair], {"axis": c.axis(c.values[a].ndim + 1)}, 1


def pad(c: Chain) -> Drawn:
    a = c.some("int64", "int32", "float32", ranks=(1, 2))
    rank = c.values[a].ndim
    amounts = c.ints(2 * rank, -1, 2)
    mode = c.rng.choice(["constant", "edge", "reflect"])
    if c.opset < 11:
        return ["f"], {"pads": c.ints(4, -1, 2), "mode": mode}, 1
    inputs = [a, c.vector(2 * rank, amounts)]
    if c.opset >= 18 and c.flag():
        inputs = [a, c.constant(c.ints(2, -1, 2)), "", c.constant([c.axis(rank)])]
    return inputs, {"mode": mode}, 1


def range_(c: Chain) -> Drawn:
    dtype = c.rng.choice(["int64", "int64", "int32", "float32"])
    bounds = [c.constant(i, dtype) for i in c.ints(2, -2, 9)]
    if c.flag():
        bounds[c.rng.randrange(2)] = c.some(dtype, ranks=(0,))
    step = 0.1 if dtype == "float32" else c.rng.choice([1, 2, 3, -1, -2])
    return [*bounds, c.constant(step, dtype)], {}, 1


def reduction(first_with_input: int, *kinds: str) -> Draw:
    def draw(c: Chain) -> Drawn:
        a = c.some(*kinds or WRAPPING)
        rank = c.values[a].ndim
        several = c.rng.sample(range(rank), c.rng.randint(0, rank)) if c.flag() else []
        axes = [axis - c.rng.choice([0, rank]) for axis in several]
        attributes: dict[str, Any] = {"keepdims": 1} if c.flag() else {"keepdims": 0}
        if c.opset < first_with_input:
            return [a], attributes | ({"axes": axes} if axes else {}), 1
        if c.flag():
            attributes["noop_with_empty_axes"] = int(c.flag())
        return [a, c.constant(axes)] if axes or c.flag() else [a], attributes, 1

    return draw


def position(c: Chain) -> Drawn:
    a = c.some("int32", "float32", ranks=(1, 2, 3))
    attributes = {"keepdims": int(c.flag()), "select_last_index": int(c.flag())}
    return [a], attributes | ({"axis": c.axis(c.values[a].ndim)} if c.flag() else {}), 1


def reshape(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    shape = list(c.values[a].shape)
    total = c.values[a].size
    targets: list[list[int]] = [[-1], [total], [*shape, 1], shape[::-1], [1, -1], [0] * len(shape)]
    if total % 2 == 0:
        targets += [[2, -1], [-1, 2], [total // 2, 2]]
    target = c.rng.choice(targets)
    attributes = {"allowzero": int(c.rng.random() < 0.2)} if c.opset >= 14 else {}
    return [a, c.vector(len(target), target)], attributes, 1


def scatter_elements(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, ranks=(1, 2))
    v = c.values[a]
    shape = [c.rng.randint(0, n) for n in v.shape]
    indices = c.constant(c.array(*shape, low=-2, high=1))
    updates = c.constant(c.array(*shape), v.dtype.name)
    return [a, indices, updates], {"axis": c.axis(v.ndim)}, 1


def scatter_nd(c: Chain) -> Drawn:
    a = c.some(*WRAPPING, ranks=(1, 2))
    v = c.values[a]
    k, rows = c.rng.randint(1, v.ndim), c.rng.randint(0, 2)
    indices = c.constant(c.array(rows, k, low=-2, high=1))
    updates = c.constant(c.array(rows, *v.shape[k:]), v.dtype.name)
    return [a, indices, updates], {}, 1


def shape(c: Chain) -> Drawn:
    attributes = {}
    if c.opset >= 15:
        attributes = {k: c.rng.randint(-3, 3) for k in ("start", "end") if c.flag()}
    return [c.some(*INTEGERS, "bool", "float32")], attributes, 1


ENDS = [-(2**63), -(2**31), -9, -4, -3, -2, -1, 0, 1, 2, 3, 4, 9, 2**31 - 1, 2**63 - 1]


def slice_(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", "float32", ranks=(1, 2, 3))
    rank = c.values[a].ndim
    axes = c.rng.sample(range(rank), c.rng.randint(1, rank))
    starts, ends = ([c.rng.choice(ENDS) for _ in axes] for _ in range(2))
    if c.opset < 10:
        return [a], {"axes": axes, "starts": starts, "ends": ends}, 1
    steps = [c.rng.choice([1, 1, 2, 3, -1, -1, -2]) for _ in axes]
    if c.rng.random() < 0.3:  # of 32 bits, ends that the run gives among them
        narrow = [np.clip(n, -(2**31), 2**31 - 1) for n in (starts, ends)]
        cuts = [c.constant(n, "int32") for n in narrow]
        given = [n for n, v in c.values.items() if v.dtype == np.int32 and v.shape == (len(axes),)]
        cuts[1] = c.rng.choice([cuts[1], *given])
        return [a, *cuts, c.constant(axes, "int32"), c.constant(steps, "int32")], {}, 1
    cuts = [c.vector(len(axes), starts), c.vector(len(axes), ends)]
    more = [c.constant(axes), c.constant(steps)]
    if axes == list(range(len(axes))) and c.flag():
        more[0] = ""
    return [a, *cuts, *more[: c.rng.choice([1, 2, 2])]], {}, 1


def split(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    v = c.values[a]
    axis = c.axis(v.ndim)
    n = v.shape[axis]
    first = c.rng.randint(0, n)
    if c.opset < 13:
        return [a], {"axis": axis, "split": [first, n - first]} if c.flag() else {"axis": axis}, 2
    if c.flag():
        return [a, c.vector(2, [first, n - first])], {"axis": axis}, 2
    count = c.rng.randint(1, 3)
    attributes = {"axis": axis, "num_outputs": count} if c.opset >= 18 else {"axis": axis}
    return [a], attributes, count


def squeeze(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    axes = [d for d, n in enumerate(c.values[a].shape) if n == 1]
    axes = [d - c.rng.choice([0, c.values[a].ndim]) for d in axes if c.flag()]
    if c.opset < 13:
        return [a], {"axes": axes} if axes else {}, 1
    return [a, c.constant(axes)] if axes or c.flag() else [a], {}, 1


def unsqueeze(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(0, 1, 2))
    rank = c.values[a].ndim
    axes = c.rng.choice([[0], [-1], [rank], [0, -1], [0, rank + 1]])
    return ([a, c.constant(axes)], {}, 1) if c.opset >= 13 else ([a], {"axes": axes}, 1)


def tile(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool", ranks=(1, 2))
    return [a, c.vector(c.values[a].ndim, c.ints(c.values[a].ndim, 0, 3))], {}, 1


def top_k(c: Chain) -> Drawn:
    a = c.some("int64", "int32", "float32", ranks=(1, 2))
    axis = c.axis(c.values[a].ndim)
    count = c.vector(1, [c.rng.randint(0, c.values[a].shape[axis])])
    return [a, count], {"axis": axis, "largest": int(c.flag())}, 2


def transpose(c: Chain) -> Drawn:
    a = c.some(*INTEGERS, "bool")
    perm = c.rng.sample(range(c.values[a].ndim), c.values[a].ndim)
    return [a], {"perm": perm} if perm and c.flag() else {}, 1


def trilu(c: Chain) -> Drawn:
    a = c.some("int64", "bool", ranks=(2,))
    k = [c.constant(c.rng.randint(-2, 2))] if c.flag() else []
    return [a, *k], {"upper": 0} if c.flag() else {}, 1


def where(c: Chain) -> Drawn:
    condition = c.some("bool")
    kinds = c.rng.choice([("int64",), ("int32",), ("uint8",)])
    (a, b), _, _ = two(*kinds)(c)
    return [condition, a, b], {}, 1


def window(c: Chain) -> Drawn:
    first = c.node("Unsqueeze", ["f", c.constant([0])])
    attributes: dict[str, Any] = {"strides": [c.rng.randint(1, 3)]} if c.flag() else {}
    if c.flag():
        attributes["pads"] = c.ints(2, 0, 1)
    if c.rng.random() < 0.2:
        attributes["auto_pad"] = c.rng.choice(["VALID", "SAME_UPPER"])
        attributes.pop("pads", None)
    turned = c.node("Transpose", first, perm=[0, 2, 1])
    return turned, attributes | {"kernel_shape": [c.rng.randint(1, 3)]}, 1


def conv(c: Chain) -> Drawn:
    x, attributes, _ = window(c)
    (kernel,) = attributes.pop("kernel_shape")
    if c.flag():
        attributes["dilations"] = [c.rng.randint(1, 2)]
    return [*x, c.constant(c.array(2, 3, kernel), "float32")], attributes, 1


def max_pool(c: Chain) -> Drawn:
    x, attributes, _ = window(c)
    return x, attributes | ({"ceil_mode": 1} if c.flag() else {}), c.rng.choice([1, 1, 2])


def prelu(c: Chain) -> Drawn:
    (q,) = c.node("Expand", ["f", c.constant(c.rng.choice([[1, 1], [2, 1, 3]]))])
    slope = c.constant(c.array(*c.rng.choice([(3,), (1, 1), (2, 3), (2, 1, 1)])), "float32")
    return c.rng.choice([[q, "f"], [q, slope], [slope, q]]), {}, 1


def einsum(c: Chain) -> Drawn:
    other = c.constant(c.array(1, 3), "float32")
    pair = c.rng.choice([["f", other], [other, "f"], ["f", "f"]])
    forms = [
        "ij,ij->ij",
        "ij, ij -> ji",
        "ij,kj->ik",
        "ij,kj->ikj",
        "ij,ij->",
        "ij,ij",
        "...j,ij->i",
    ]
    return pair, {"equation": c.rng.choice(forms)}, 1


def matmul(*kinds: str) -> Draw:
    def draw(c: Chain) -> Drawn:
        a = c.some(*kinds, ranks=(1, 2, 3))
        dtype, n = c.values[a].dtype.name, c.values[a].shape[-1]
        others = [k for k, v in c.values.items() if v.dtype.name == dtype and v.ndim]
        rows = c.rng.choice([(n,), (n, 2), (1, n, 0), (2, n, 1)])
        b = c.rng.choice([*others, c.constant(c.array(*rows, low=0), dtype)])
        return [a, b], {}, 1

    return draw


def quantized_product(c: Chain) -> Drawn:
    (a, b), _, _ = matmul("uint8")(c)
    scale, zero = c.constant(1, "float32"), c.constant(0, "uint8")
    return [a, scale, zero, b, scale, zero, scale, zero], {}, 1


def resize(c: Chain) -> Drawn:
    x = c.some("float32", "int32", ranks=(1, 2, 3))
    rank = c.values[x].ndim
    attributes: dict[str, Any] = {"mode": "nearest"}
    if c.opset >= 18 and c.flag():
        attributes["axes"] = c.rng.sample(range(-rank, 0), c.rng.randint(1, rank))
    if c.opset >= 18 and c.rng.random() < 0.2:
        attributes["keep_aspect_ratio_policy"] = "not_larger"
    count = len(attributes.get("axes", range(rank)))
    roi = c.constant([], "float32")
    if c.flag():
        scales = [c.rng.choice([0.3, 0.5, 1, 1.7, 2]) for _ in range(count)]
        return [x, roi, c.constant(scales, "float32")], attributes, 1
    none = c.constant([], "float32") if c.opset < 13 else ""
    return [x, roi, none, c.vector(count, c.ints(count, 1, 5))], attributes, 1


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
