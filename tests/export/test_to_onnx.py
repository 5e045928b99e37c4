"""Scatterings and gatherings as models: ONNX Runtime, the optimizer and NumPy agree bit for bit."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.checker
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx.export import to_onnx
from onnx_scatterx.theory import Gathering, Pick, Reduction, Scattering, XTransformer
from onnx_scatterx.theory.conventions.onnx import scatter_nd
from onnx_scatterx.theory.conventions.pytorch.elements import Rounded
from tests.export.exported import X, check, feed_of, rows
from tests.helpers.examples import are_all
from tests.helpers.native_support import operators, run_native
from tests.helpers.pair import assert_same
from tests.helpers.support import i64, sample, scatters

DTYPES = ["float32", "float64", "float16", "int8", "uint16", "int64", "bool", "string"]


def any_transformer(random: np.random.Generator) -> XTransformer:
    """In bounds: coordinates on whole axes and on parts, constants and tables, picks in any order.

    Among them are extents 0 and 1, rank 0, and dims that are in both picks, in no pick, or twice in
    p2.
    """
    shape = tuple(int(n) for n in random.choice([1, 2, 3, 3, 3, 3, 0], random.integers(4)))
    p2 = [int(d) for d in random.permutation(len(shape)) if random.random() < 0.7]
    if p2 and random.random() < 0.1:
        p2.append(p2[0])
    named = random.integers(1, 5, random.integers(3)).tolist()
    sizes = [*named, *(shape[d] + int(random.random() < 0.2) for d in p2)]
    others = [d for d in range(len(shape)) if d not in p2 or random.random() < 0.1]
    p1 = Pick(int(d) for d in random.permutation(others) if random.random() < 0.9)
    f = random.integers(-np.array(named), np.array(named), (*p1(shape), len(named)))
    places = range(len(sizes))
    p = Pick(int(a) for a in random.permutation(len(sizes))) if random.random() < 0.5 else places
    return XTransformer(shape, Pick(p)(sizes), f, p1, Pick(p2), Pick(p))


def along_an_axis(random: np.random.Generator) -> XTransformer:
    """Those of ScatterElements, and of Gather along an axis, with numbers that differ."""
    sizes = random.integers(1, 5, random.integers(1, 4)).tolist()
    axis = int(random.integers(len(sizes)))
    others = [d for d in range(len(sizes)) if d != axis]
    if random.random() < 0.6:
        most = [5 if d == axis else n for d, n in enumerate(sizes)]
        shape = tuple(random.integers(1, np.array(most) + 1).tolist())
        p1, p2 = Pick.identity(len(shape)), Pick(others)
    else:
        lead = random.integers(1, 4, random.integers(3)).tolist()
        shape = (*sizes[:axis], *lead, *sizes[axis + 1 :])
        p1 = Pick.identity(axis, axis + len(lead))
        p2 = Pick(d for d in range(len(shape)) if d not in p1)
    f = random.integers(-sizes[axis], sizes[axis], (*p1(shape), 1))
    return XTransformer(shape, tuple(sizes), f, p1, p2, Pick([axis, *others]).inverse())


def transformer(random: np.random.Generator) -> XTransformer:
    return (any_transformer if random.random() < 0.5 else along_an_axis)(random)


SEEDS = st.integers(0, 2**32 - 1)


def reductions(dtype: str) -> list[str]:
    """Those that ONNX Runtime has for a type, in both operators."""
    some = {"string": ["none"], "bool": ["none", "add", "mul"], "float16": ["none"]}
    return some.get(dtype, ["none", "add", "mul", "min", "max"])


def scattering(random: np.random.Generator, dtypes: Sequence[str] = DTYPES) -> Scattering:
    t, dtype, seed = transformer(random), str(random.choice(dtypes)), int(random.integers(99))
    data, updates = sample(dtype, *t.data_shape, seed=seed), sample(dtype, *t.shape, seed=seed + 1)
    return Scattering(data, updates, t, Reduction(str(random.choice(reductions(dtype)))))


def is_refused(t: XTransformer, indices: str) -> bool:
    """An f without columns cannot be an input."""
    return indices == "input" and t.f.shape[-1] == 0


def test_scatterings_run_as_models() -> None:
    seen: Counter[str] = Counter()

    @given(SEEDS)
    @settings(max_examples=120, deadline=None)  # which must meet each of some operators
    def compare(seed: int) -> None:
        random = np.random.default_rng(seed)
        source = scattering(random)
        form = str(random.choice(["standard", "standard", "standard", "scatterx"]))
        indices = str(random.choice(["constant", "constant", "input"]))
        if is_refused(source.transformer, indices):
            with pytest.raises(ValueError, match="no columns"):
                to_onnx(source, form=form, indices=indices)
            return
        model = to_onnx(source, form=form, indices=indices)
        check(source, model)
        if form == "scatterx":
            check(source, model, run_native)
        seen.update({form, indices, *operators(model)})

    compare()
    wanted = ("ScatterND", "ScatterX", "Transpose", "input")
    assert min(seen[name] for name in wanted) >= 1


def test_gatherings_run_as_models() -> None:
    seen: Counter[str] = Counter()

    @given(SEEDS)
    @settings(max_examples=120, deadline=None)  # which must meet each of some operators
    def compare(seed: int) -> None:
        random = np.random.default_rng(seed)
        t, dtype = transformer(random), str(random.choice(DTYPES))
        source = Gathering(sample(dtype, *t.data_shape, seed=int(random.integers(99))), t)
        indices = str(random.choice(["constant", "constant", "input"]))
        if is_refused(t, indices):
            with pytest.raises(ValueError, match="no columns"):
                to_onnx(source, indices=indices)
            return
        model = to_onnx(source, indices=indices)
        check(source, model)
        seen.update({indices, *operators(model)})

    compare()
    wanted = ("GatherND", "Transpose", "input")
    assert min(seen[name] for name in wanted) >= 1


@pytest.mark.slow
def test_the_optimizer_treats_them_like_any_other() -> None:
    removed: Counter[bool] = Counter()

    @given(SEEDS)
    @settings(max_examples=50 if are_all() else 15, deadline=None)
    def compare(seed: int) -> None:
        source = scattering(np.random.default_rng(seed), ["float32", "int64"])
        for target in ("standard", "scatterx"):
            original = to_onnx(source)
            model = onnx_scatterx.optimize(original, target=target).model
            assert_same(original, model, [feed_of(source, original)], library=True)
            if target == "standard":
                removed[not scatters(model)] += 1

    compare()
    assert removed[True] >= 5


def test_boxes_are_removed() -> None:
    """x[:, 1:3] = y."""
    t = XTransformer((4, 2), (4, 5), i64([[1], [2]]), Pick((1,)), Pick((0,)), Pick((1, 0)))
    source = Scattering(sample("float32", 4, 5), sample("float32", 4, 2, seed=1), t)
    model = to_onnx(source)
    optimized = onnx_scatterx.optimize(model, target="standard").model
    check(source, optimized)
    assert (scatters(model), scatters(optimized)) == (1, 0)


NOTHING = np.empty(0, np.int64)


def test_f_as_an_input_takes_any_f() -> None:
    """The model of one scattering is right for every other with the same picks."""
    t = rows(0, 0)((5, 4))
    model = to_onnx(t, indices="input", dtype=np.float32)
    assert [(i.name, i.type.tensor_type.elem_type) for i in model.graph.input] == [
        ("data", 1),
        ("indices", 7),
        ("updates", 1),
    ]
    for indices in ((1, 3), (-1, -5), (2, 2)):
        check(Scattering(X, X[:2], rows(*indices)((5, 4))), model)


def test_a_transformer_gets_the_given_type_and_reduction() -> None:
    model = to_onnx(rows(1, 3)((5, 4)), dtype=ml_dtypes.bfloat16, reduction="add", opset=16)
    assert model.opset_import[0].version == 16
    assert {i.type.tensor_type.elem_type for i in model.graph.input} == {onnx.TensorProto.BFLOAT16}
    assert model.graph.node[0].attribute[0].s == b"add"


def test_complex_numbers_have_a_model() -> None:
    t = rows(1, 3)((5, 4))
    source = Scattering(X.astype(np.complex64), X[:2].astype(np.complex64), t)
    onnx.checker.check_model(to_onnx(source), full_check=True)


@pytest.mark.parametrize(
    ("options", "because"),
    [
        ({"form": "slices"}, "form must be one of standard, scatterx, not 'slices'"),
        ({"indices": "f"}, "indices must be 'constant' or 'input', not 'f'"),
        ({"opset": 12}, r"opset must be in 13\.\."),
        ({"opset": 999}, r"opset must be in 13\..*, not 999"),
        ({"opset": 15, "reduction": "add"}, "add needs opset 16"),
        ({"opset": 17, "reduction": "max"}, "max needs opset 18"),
        ({"dtype": "datetime64[s]"}, "no element type datetime64"),
        ({"dtype": ml_dtypes.float8_e5m2}, "no ScatterND of float8e5m2 in opset 18"),
        ({"reduction": "maximum"}, "no reduction maximum of float32"),
        ({"dtype": np.float16, "reduction": "less"}, "no reduction less of float16"),
        ({"dtype": np.complex64, "form": "scatterx"}, "ScatterX does not support complex64"),
        ({"dtype": str, "form": "scatterx", "reduction": "add"}, "not support string"),
    ],
)
def test_operators_that_onnx_lacks_are_refused(options: dict[str, Any], because: str) -> None:
    with pytest.raises(ValueError, match=because):
        to_onnx(rows(1, 3)((5, 4)), **options)


def test_other_sources_are_refused() -> None:
    source = scatter_nd(X, i64([[1], [3]]), X[:2])
    with pytest.raises(ValueError, match="those of the source"):
        to_onnx(source, dtype=np.float32)
    with pytest.raises(ValueError, match="form must be one of standard, not"):
        to_onnx(Gathering(X, source.transformer), form="scatterx")
    with pytest.raises(ValueError, match="out of bounds"):
        to_onnx(rows(1, 9)((5, 4)))
    to_onnx(rows(1, 9)((5, 4)), indices="input")
    twice = XTransformer((3,), (4,), np.zeros((3, 3, 1), int), Pick((0, 0)), Pick(), Pick((0,)))
    with pytest.raises(ValueError, match="repeats a dim"):
        to_onnx(twice, indices="input")
    rounded = Rounded(source, np.dtype(np.float16))
    with pytest.raises(ValueError, match=r"source must be a Scattering .* not Rounded"):
        to_onnx(rounded)  # type: ignore[arg-type]  # wrong on purpose
    deep = XTransformer((1,) * 17, (1,) * 17, NOTHING, Pick(), *[Pick.identity(17)] * 2)
    with pytest.raises(ValueError, match="at most 16 dims"):
        to_onnx(deep, form="scatterx")
