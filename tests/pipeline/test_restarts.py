"""A model is rewritten again if ONNX Runtime would move quantizers past a node in the result."""

from functools import partial

import numpy as np
import onnx.parser
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx import Reason, Target
from onnx_scatterx.engine.device.violation import Violation
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.engine.passes.step import Pass
from onnx_scatterx.pipeline import order
from onnx_scatterx.pipeline.restarts import Harm
from tests.helpers.pair import assert_same
from tests.helpers.support import sample

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
    g (uint8[2,4] a, uint8[2,4] b, float[M,4] x, float[2,4] u, float[K,4] v, float[2,4] w)
        => (uint8[2,4] y, float[M,4] z, float[?,4] q)
    <float s = {0.5}, uint8 zp = {3}, int64 zero = {0}, int64 one = {1}, int64[1] last = {-1},
     int64[2,1] rows = {0, 1}> {
        c = DequantizeLinear (a, s, zp)
        d = DequantizeLinear (b, s, zp)
        t = Add (c, d)
        y = QuantizeLinear (t, s, zp)
        dims = Shape (t)
        n = Gather (dims, zero)
        r = Range (zero, n, one)
        i = Unsqueeze (r, last)
        z = ScatterND (x, i, u)
        q = ScatterND (DATA, rows, w) }"""


@pytest.mark.parametrize(("data", "kept"), [("v", [True, False]), ("z", [True, True])])
def test_scatters_that_keep_a_second_reader_are_kept(data: str, kept: list[bool]) -> None:
    """Only the sizes of t lead to the first scatter: without it, t is computed in integers."""
    model = onnx.parser.parse_model(TEXT.replace("DATA", data))
    result = onnx_scatterx.optimize(model, target="standard")
    wanted = [Reason.QUANTIZER if is_kept else None for is_kept in kept]
    assert [scatter.reason for scatter in result.report.scatters] == wanted
    rng = np.random.default_rng(0)
    feed = {name: rng.integers(0, 256, (2, 4), dtype=np.uint8) for name in "ab"}
    feed |= {name: sample("float32", 3, 4) for name in "xv"}
    feed |= {name: sample("float32", 2, 4) for name in "uw"}
    assert_same(model, result.model, [feed])


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[ir.Model]:
    """Return the models that were copied."""
    found: list[ir.Model] = []
    clone = ir.Model.clone

    def noted(model: ir.Model) -> ir.Model:
        found.append(model)
        return clone(model)

    monkeypatch.setattr(ir.Model, "clone", noted)
    return found


FILLED = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[4,5] x, bool[4,5] m, float one, float[4,5] e) => (float[4,5] y, float[4,5] f) {
        n = NonZero (m)  i = Transpose <perm = [1, 0]> (n)  s = Shape <start = 1> (n)
        u = Expand (one, s)  y = ScatterND (x, i, u)  f = Erf (e) }"""
"""A scatter that becomes a Where, and a node that has nothing to do with it."""


@pytest.mark.parametrize(
    ("avoid", "operators"),
    [
        ((), ["Where", "Erf"]),
        (("Erf",), ["Where", "Erf"]),
        (("Where", "NonZero", "Expand"), ["Where", "Erf"]),
    ],
)
def test_a_message_is_never_copied(
    avoid: tuple[str, ...], operators: list[str], copies: list[ir.Model]
) -> None:
    """It is read again if the target refuses a node; a model of onnx_ir is copied then."""
    target = Target("npu", avoid=frozenset(avoid))
    message = onnx.parser.parse_model(FILLED)
    made = onnx_scatterx.optimize(message, target=target).model
    assert [node.op_type for node in made.graph.node] == operators
    assert not copies
    given = ir.from_proto(message)
    found = ir.to_proto(onnx_scatterx.optimize(given, target=target).model)
    nodes = list(ir.to_proto(ir.from_proto(made)).graph.node)
    assert list(found.graph.node) == nodes
    assert len(copies) == (2 if avoid else 1)  # the first is the result
    onnx_scatterx.RemoveScatters(target=target)(given)
    assert list(ir.to_proto(given).graph.node) == nodes


REFUSED, ON_HOST = (Violation("y", "Where", "g", "", on_host=on_host) for on_host in (False, True))


@pytest.mark.parametrize(
    ("results", "best"),
    [
        ([[REFUSED], []], 1),
        ([[REFUSED], [ON_HOST, ON_HOST]], 1),
        ([[ON_HOST, ON_HOST], [ON_HOST]], 1),
        ([[REFUSED], [REFUSED], [REFUSED]], 0),
        ([[REFUSED], [REFUSED, ON_HOST], []], 2),
    ],
)
def test_the_first_result_with_the_least_harm_is_kept(
    results: list[list[Violation]], best: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the caller's model is that result."""
    model = ir.from_proto(onnx.parser.parse_model(FILLED))
    given = Job(model, Settings.of(), original=partial(ir.from_proto, ir.to_proto(model)))
    left = iter(enumerate(results))

    def give_next(job: Job) -> bool:
        number, violations = next(left)
        job.violations, job.model.graph.name = tuple(violations), str(number)
        return True

    every = (given.target, ())
    monkeypatch.setattr(order, "LOWERING", (Pass(give_next),))
    monkeypatch.setattr(order, "wider_targets", lambda *_: [every] * (len(results) - 1))
    kept = order.rewritten(given)
    assert next(left, None) is None
    assert kept.model is model
    assert model.graph.name == str(best)
    assert kept.violations_if_kept == (None if best == 0 else Harm.of(given).refused)


def test_a_choice_between_equal_scales_is_left_to_onnxruntime() -> None:
    """A Where only moves integers, so it gives the same if quantizers are moved past it."""
    text = TEXT.replace("DATA", "v").replace("t = Add (c, d)", "t = Where (m, c, d)")
    model = onnx.parser.parse_model(text.replace("g (uint8", "g (bool[2,4] m, uint8", 1))
    report = onnx_scatterx.optimize(model, target="standard").report
    assert [scatter.reason for scatter in report.scatters] == [None, None]


def test_a_gather_of_what_is_kept_is_kept_and_another_one_is_not() -> None:
    text = TEXT.replace("q = ScatterND (DATA, rows, w)", "q = Gather (z, two) g = Gather (v, two)")
    text = text.replace("float[?,4] q)", "float[?,4] q, float[2,4] g)")
    model = onnx.parser.parse_model(text.replace("int64[1] l", "int64[2] two = {0, 1}, int64[1] l"))
    report = onnx_scatterx.optimize(model, target="standard", gathers=True).report
    told = {entry.node: entry.reason for entry in report.entries}
    assert told == {"z": Reason.QUANTIZER, "q": Reason.QUANTIZER, "g": None}


def test_only_a_result_that_is_safe_is_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[object] = []
    monkeypatch.setattr(order, "declare_body_dims", fitted.append)
    onnx_scatterx.optimize(onnx.parser.parse_model(TEXT.replace("DATA", "v")), target="standard")
    assert len(fitted) == 1
