"""What is rounded otherwise because ONNX Runtime fuses other nodes, and what is a difference."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import ml_dtypes
import numpy as np
import onnx
import pytest

from onnx_scatterx import verify
from onnx_scatterx.compare.draws.draw import Draw
from onnx_scatterx.compare.equality import Equality
from onnx_scatterx.compare.fused_rounding import is_rounding, roundings
from onnx_scatterx.compare.result import Verification
from onnx_scatterx.compare.session_pair import SessionPair
from onnx_scatterx.doors.cli import main
from onnx_scatterx.files.io import load
from onnx_scatterx.runtime.worker_client import ModelFile, Runner
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(3)

INF, NAN = np.inf, np.nan
TINY = 1.4e-45


@pytest.mark.parametrize(
    ("dtype", "before", "after", "near"),
    [
        ("float32", [1e6, 0.5], [1e6, 0.6], True),  # relative to the largest, not to itself
        ("float32", [1e6, 0.5], [1e6, 20.0], False),
        ("float32", [1e-8, 1e-8], [1e-8, 2e-8], False),  # 1e-6 is nothing by itself
        ("float32", [TINY, 9 * TINY], [3 * TINY, 7 * TINY], True),
        ("float32", [0.0, 1.0], [-0.0, 1.0], True),
        ("float32", [INF, NAN, 1.0], [INF, NAN, 1.000001], True),
        ("float32", [INF, 1.0], [3e38, 1.0], False),
        ("float32", [1.0, 1.0], [NAN, 1.0], False),
        ("float32", [INF, 1.0], [-INF, 1.0], False),
        ("float64", [1.0, 1.0], [1.0, 1.0 + 1e-14], True),
        ("float64", [1.0, 1.0], [1.0, 1.0 + 1e-9], False),
        ("float16", [1.0, 1e-3], [1.005, 1e-3], True),
        ("float16", [1e-3, 1e-3], [1e-3, 1.1e-3], False),
        ("bfloat16", [1.0, 1.0], [1.0, 1.02], True),
        ("bfloat16", [1.0, 1.0], [1.0, 1.2], False),
        ("int8", [1, 2], [1, 3], False),
    ],
)
def test_rounding_is_relative_to_the_largest_element(
    dtype: str, before: list[float], after: list[float], near: bool
) -> None:
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else np.dtype(dtype)
    one, other = np.array(before).astype(kind), np.array(after).astype(kind)
    assert is_rounding(one, other) == is_rounding(other, one) == near


def test_long_sums_may_be_rounded_more() -> None:
    text = "g (float[1, K] x) => (float[1, 4] y) { y = MatMul(x, w) }"
    models = []
    for terms in (4, 1 << 20):
        model = parse(text)
        weights = np.zeros((terms, 4), np.float32)
        model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
        models.append(load(model))
    assert roundings(models[0]) < roundings(*models) == 1 << 20
    one, other = np.array([1.0], "f4"), np.array([1.0001], "f4")
    assert [is_rounding(one, other, roundings(m)) for m in models] == [False, True]


HEAD = "g (float[1, 3, 9, 9] x) => (float[1, 8, 7, 7] y) "
ORIGINAL = HEAD + "{ c = Conv(x, w) d = ScatterND(z, i, c) y = %s }"


def convolutions(after: str, scale: float) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Return a Conv with a full write in front of the node that makes y, and without the write."""
    rng = np.random.default_rng(0)
    constants = {"w": rng.standard_normal((8, 3, 3, 3)), "s": scale * rng.random((8, 1, 1))}
    constants |= {f"b{k}": scale * rng.random(8) * (k in (0, 3)) for k in range(4)}
    constants["z"] = np.zeros((1, 8, 7, 7))
    models = (
        parse(ORIGINAL % (after % "d")),
        parse(HEAD + "{ c = Conv(x, w) y = %s }" % (after % "c")),
    )
    for model in models:
        made = (onnx.numpy_helper.from_array(v.astype("f4"), k) for k, v in constants.items())
        model.graph.initializer.extend(made)
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.array([[0]]), "i"))
    return models


@pytest.mark.parametrize("after", ["Mul(%s, s)", "BatchNormalization(%s, b0, b1, b2, b3)"])
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_a_node_that_becomes_a_part_of_the_weights(after: str, scale: float) -> None:
    """ONNX Runtime removes it. Products of subnormal numbers show it, and the proof holds."""
    one, other = convolutions(after, scale)
    rng = np.random.default_rng(1)
    feeds = [{"x": (rng.standard_normal((1, 3, 9, 9)) * 1e-40).astype("f4")} for _ in range(4)]
    found = verify(one, other, prove=True, samples=0, feeds=feeds)
    assert found.answer == "same", found
    assert found.rounded
    assert found.proof is not None
    assert (found.proof.kind, found.proof.contradicted) == ("proven", False)
    assert "graph optimizations" in str(found).split("by rounding on")[1]
    assert "please report" not in str(found)


def test_a_proven_model_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, _ = convolutions("Mul(%s, s)", 1.0)
    onnx.save(one, tmp_path / "a.onnx")
    line = ["optimize", str(tmp_path / "a.onnx"), "-o", str(tmp_path / "b.onnx"), "--prove"]
    assert main([*line, "--target", "standard"]) == 0
    out = capsys.readouterr().out
    assert "proven the same" in out
    assert "by rounding on" in out
    assert (tmp_path / "b.onnx").exists()


class Fusing:
    """Stands for a worker: gives an output without and with optimizations, and fused nodes."""

    missing = ""

    def __init__(self, plain: float, fused: float, **nodes: int) -> None:
        self.outputs, self.nodes = (plain, fused), Counter(nodes)

    def run(
        self, feeds: Mapping[str, np.ndarray], timeout: float, *, fused: bool = False
    ) -> dict[str, np.ndarray]:
        return {"y": np.array([1e6, self.outputs[fused]], "f4"), "z": np.ones(1, "f4")}

    def load(self, timeout: float, *, fused: bool = False) -> None:
        """Load nothing."""

    def drop(self, *, fused: bool) -> None:
        """Free nothing."""

    def fused_nodes(self, timeout: float) -> Counter[str]:
        return self.nodes


def compared(other: Fusing, strict_zeros: bool = False) -> Verification:
    before, after = cast("list[Runner]", [Fusing(0.0, 0.0), other])
    pair = SessionPair(before, after, timeout=1.0, equal=Equality(strict_zeros=strict_zeros))
    pair.one(Draw(0, {}, "plain"))
    assert pair.finish() is None
    return pair.so_far


def test_all_else_is_a_difference() -> None:
    """Rounding without optimizations, where the same nodes are fused, or that is too large."""
    assert (compared(Fusing(0.0, 0.1, Mul=-1)).rounded, compared(Fusing(0.0, 0.1)).rounded) == (
        1,
        0,
    )
    assert compared(Fusing(0.0, 0.1)).differences[0].fused
    assert compared(Fusing(1e-7, 0.0, Mul=-1)).differences
    assert not compared(Fusing(1e-7, 0.0, Mul=-1)).differences[0].fused
    assert compared(Fusing(0.0, 1e3, Mul=-1)).differences[0].fused


def test_the_sign_of_a_zero_is_rounding_unless_it_counts() -> None:
    assert not compared(Fusing(0.0, -0.0, Mul=-1)).differences
    assert compared(Fusing(0.0, -0.0, Mul=-1), strict_zeros=True).differences


def test_nodes_that_round_nothing_are_no_fusions(tmp_path: Path) -> None:
    """ONNX Runtime folds a Reshape of a constant, and a Mul of constants."""
    counts = []
    for number, weights in enumerate(("Identity (w)", "Reshape (w, s)", "Mul (w, w)")):
        model = parse(
            "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}, int64[1] s = {4}> "
            f"{{ v = {weights} y = Mul (x, v) }}"
        )
        onnx.save(model, tmp_path / f"{number}.onnx")
        with Runner(ModelFile(tmp_path / f"{number}.onnx")) as runner:
            assert runner.load(60) is None
            counts.append(runner.fused_nodes(60))
    assert counts == [Counter(), Counter(), Counter({("", "Mul"): -1})]
