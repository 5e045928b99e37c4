"""Kernels: what the installed ONNX Runtime lacks is not written, and the report names its need."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx import Reason, Target
from onnx_scatterx.operators import kernels
from onnx_scatterx.operators.kernels import KERNELS, LATER, OLDEST
from tests.helpers.pair import Pair, open_session
from tests.helpers.support import parse, scatters

MASK = """g (int8[N] x, bool[N] m, int8[1] u) => (int8[N] y) <int64[1] all = {-1}> {
    i = NonZero (m)  j = Transpose (i)  s = Shape <end = 1> (j)  v = Expand (u, s)
    y = ScatterND (x, j, v) }"""
FEED = {
    "x": np.array([1, 2, 3], np.int8),
    "m": np.array([True, False, True]),
    "u": np.array([-5], np.int8),
}
DENSE = Target("dense", dense_limit=1 << 20)
FLOAT16 = """g (float16[3] x, int64[N] i, float16[N] u) => (float16[3] y) {{
    y = ScatterElements <axis = 0, reduction = "{}"> (x, i, u) }}"""


def test_what_a_newer_runtime_has_is_written_and_named() -> None:
    result = onnx_scatterx.optimize(parse(MASK), target="standard")
    assert isinstance(result.model, onnx.ModelProto)
    assert not scatters(result.model)
    assert result.report.needs_runtime == result.report.to_dict()["needs_runtime"] == "1.31"
    assert "needs ONNX Runtime 1.31 or newer" in str(result.report)
    assert Pair(parse(MASK), result.model).accepts(FEED)


def test_what_an_older_runtime_lacks_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "installed", lambda: (1, 30))
    report = onnx_scatterx.inspect(parse(MASK), target="standard")
    assert (report.removed, report.needs_runtime) == (0, None)
    assert "Where of int8: it is in 1.31" in report.scatters[0].done


def test_what_every_runtime_has_needs_nothing() -> None:
    report = onnx_scatterx.inspect(parse(MASK.replace("int8", "float")), target="standard")
    assert (report.removed, report.needs_runtime) == (1, None)


def test_without_onnx_runtime_the_oldest_is_assumed(monkeypatch: pytest.MonkeyPatch) -> None:
    def version_of(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(kernels, "version_of", version_of)
    assert kernels.installed.__wrapped__() == OLDEST


def test_the_oldest_is_the_one_that_the_package_asks_for() -> None:
    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    assert re.findall(r'"onnxruntime>=([0-9.]+)', text) == [".".join(map(str, OLDEST))]


def test_what_came_later_is_in_the_table() -> None:
    for (op, dtype), since in LATER.items():
        assert since > OLDEST
        assert any(dtype in types for _, types in KERNELS[op])


@pytest.mark.parametrize("reduction", ["max", "min"])
def test_the_extreme_of_float16_at_positions_of_the_run(reduction: str) -> None:
    model = parse(FLOAT16.format(reduction))
    after = onnx_scatterx.optimize(model, target=DENSE).model
    assert isinstance(after, onnx.ModelProto)
    assert not scatters(after)
    pair = Pair(model, after)
    rng, odd = np.random.default_rng(0), [np.nan, np.inf, -np.inf, 0, -0.0, 65504, 6e-8, 1]
    for count in (0, 1, 2, 9):
        x, u = (rng.choice(odd, n).astype(np.float16) for n in (3, count))
        assert pair.accepts({"x": x, "i": rng.integers(-3, 3, count), "u": u})


def test_the_sum_of_float16_is_kept() -> None:
    """CumSum of float16 is computed in float32, and is rounded once."""
    model = parse("g (float16[N] x, int64 axis) => (float16[N] y) { y = CumSum (x, axis) }")
    x = np.array([2048, 1, 1], np.float16)
    (sums,) = open_session(model).run(None, {"x": x, "axis": np.array(0)})
    assert sums[-1] == 2050 != np.float16(np.float16(x[0] + x[1]) + x[2])
    report = onnx_scatterx.inspect(parse(FLOAT16.format("add")), target=DENSE)
    assert "CumSum of float16" in report.scatters[0].done


@pytest.mark.parametrize("kind", ["float8e4m3fn", "int4"])
def test_updates_of_an_unknown_type_are_not_written_in_a_wider_one(kind: str) -> None:
    model = parse(
        f"""g ({kind}[4] x, {kind}[1] a) => ({kind}[4] y) {{
            u = own.Op (a)  y = ScatterND (x, [[0]], u) }}""",
        *(23, 11, ', "own" : 1'),
    )
    (entry,) = onnx_scatterx.inspect(model, target="standard").scatters
    assert entry.reason is Reason.UNKNOWN_TYPE
