"""The optimizer as an onnx_ir pass, and rules of the user's own."""

import gc
import weakref

import onnx
import onnx_ir as ir
import onnx_ir.passes.common as common_passes
import pytest

import onnx_scatterx
from onnx_scatterx import passes, verify
from onnx_scatterx.engine.plan.planner import Planner
from onnx_scatterx.engine.plan.rule import Plan, Region
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.passes import RemoveScatters
from onnx_scatterx.rewrites import RULES, RegionRule
from onnx_scatterx.rewrites.view import ViewRule
from onnx_scatterx.tell.builder import AXES
from onnx_scatterx.tell.entries import Action
from onnx_scatterx.text.reasons import Reason, Refusal
from tests.helpers.support import parse, scatters

ROW = """g (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    <int64[1, 1] i = {1}> { w = ScatterND(x, i, y) unused = Neg(x) z = Abs(w) }"""
ALL = """g (float[2, 2] x, float[2, 2] y) => (float[2, 2] z)
    <int64[2, 1] i = {0, 1}> { w = ScatterND(x, i, y) z = Abs(w) }"""


def operators(model: ir.Model) -> list[str]:
    return [node.op_type for node in model.graph]


class Copy(RegionRule):
    """A region that another form gives for nothing is copied, so that a node stands for it."""

    name = "copy"

    def plan(self, region: Region, planner: Planner) -> Plan | Refusal:
        whole = ViewRule().plan(region, planner)
        if isinstance(whole, Refusal) or whole.cost:
            return Refusal(Reason.NO_RULE)

        def write() -> ir.Value:
            return planner.writer.node("Identity", [whole.write()], planner.dtype)

        return planner.plan(self, write, whole)


def test_the_pass_rewrites_in_place_and_reports() -> None:
    before = parse(ROW)
    model, remove = ir.from_proto(before), RemoveScatters()
    with pytest.raises(AttributeError, match="only after the pass has run"):
        _ = remove.report
    result = remove(model)
    assert result.model is model
    assert result.modified
    assert scatters(ir.to_proto(model)) == 0
    assert (remove.report.removed, len(remove.report.scatters)) == (1, 1)
    assert verify(before, model, samples=5)
    assert not remove(model).modified
    assert remove.report.scatters == ()


def test_reads_are_rewritten_where_asked_for() -> None:
    model = ir.from_onnx_text("""<ir_version: 8, opset_import: ["" : 18]>
        g (float[4, 2] x) => (float[2, 2] y) <int64[2] i = {2, 3}> { y = Gather(x, i) }""")
    keep, remove = RemoveScatters(), RemoveScatters(gathers=True)
    assert not keep(model).modified
    assert remove(model).modified
    assert operators(model) == ["Slice"]
    assert [g.action for g in remove.report.gathers] == [Action.REMOVED]


def test_in_a_pipeline() -> None:
    before = parse(ROW)
    remove = RemoveScatters()
    pipeline = ir.passes.Sequential(remove, common_passes.RemoveUnusedNodesPass())
    result = pipeline(ir.from_proto(before))
    assert result.modified
    assert "Neg" not in operators(result.model)
    assert remove.report.removed == 1
    assert verify(before, result.model, samples=5)


def test_rules_are_chosen_by_name() -> None:
    model, remove = ir.from_proto(parse(ROW)), RemoveScatters(target="standard", rules=["view"])
    assert not remove(model).modified
    (scatter,) = remove.report.scatters
    assert scatter.action is Action.KEPT
    assert scatter.reason is Reason.NO_RULE
    names = [rule.name for rule in RULES]
    assert RemoveScatters(rules=names)(model).modified


def test_a_rule_of_your_own() -> None:
    before = parse(ALL)
    model, remove = ir.from_proto(before), RemoveScatters(target="standard", rules=[Copy()])
    assert remove(model).modified
    assert operators(model) == ["Identity", "Abs"]
    assert "copy" in remove.report.scatters[0].rules
    assert verify(before, model, samples=5)
    # Among others it is dearer than the tensor itself.
    model = ir.from_proto(before)
    RemoveScatters(rules=[Copy(), *RULES])(model)
    assert operators(model) == ["Abs"]
    # It gives no region that is not whole.
    model = ir.from_proto(parse(ROW))
    assert not RemoveScatters(target="standard", rules=[Copy()])(model).modified


def test_what_the_pass_cannot_be_asked() -> None:
    with pytest.raises(ScatterXError, match="no target is called 'npu'"):
        RemoveScatters(target="npu")
    with pytest.raises(ScatterXError, match="no rule is called 'glue'; there are view"):
        RemoveScatters(rules=["glue"])


@pytest.mark.parametrize("given", ["m.onnx", parse(ROW)])
def test_a_pass_takes_models_of_onnx_ir_alone(given: object) -> None:
    told = f"a pass takes an onnx_ir.Model, and this is a {type(given).__name__}: "
    with pytest.raises(TypeError, match=told):
        RemoveScatters()(given)  # type: ignore[arg-type]


def test_distrusted_dims() -> None:
    text = """g (float[N] x, float[N] u) => (float[N] z) {
        k = Constant <value_int = 1> ()  zero = Constant <value_int = 0> ()
        last = Constant <value_ints = [1]> ()  n = Shape(x)  s = Squeeze(n)
        r = Range(zero, s, k)  i = Unsqueeze(r, last)  z = ScatterND(x, i, u)
    }"""
    trusting, distrusting = RemoveScatters(), RemoveScatters(distrust_dims=True)
    trusting(ir.from_proto(parse(text)))
    distrusting(ir.from_proto(parse(text)))
    declared = "declared-dims: all input dims 'N' have the same size"
    assert trusting.report.assumptions == (declared, AXES)
    assert distrusting.report.assumptions == (AXES,)


def test_sparse_initializers_go_through() -> None:
    model = parse(ROW.replace("z = Abs(w)", "z = Add(w, s)"))
    values = onnx.helper.make_tensor("s", onnx.TensorProto.FLOAT, [1], [2.0])
    places = onnx.helper.make_tensor("s_places", onnx.TensorProto.INT64, [1], [1])
    model.graph.sparse_initializer.append(onnx.helper.make_sparse_tensor(values, places, [2]))
    result = onnx_scatterx.optimize(model)
    assert result.report.removed == 1
    assert list(result.model.graph.sparse_initializer) == list(model.graph.sparse_initializer)
    assert verify(model, result.model, samples=3)


def test_modules_that_the_root_knows() -> None:
    assert onnx_scatterx.passes is passes
    assert onnx_scatterx.rewrites.RULES is RULES


@pytest.mark.slow
def test_nothing_of_a_model_is_kept() -> None:
    step = """step (float[n, 8] cache, float[m, 8] rows, int64[m] position) => (float[n, 8] out)
        <int64[1] last = {-1}> { i = Unsqueeze(position, last) out = ScatterND(cache, i, rows) }"""
    model = ir.from_proto(parse(step))
    graph = weakref.ref(model.graph)
    assumed = {"position": "contiguous, nonnegative"}
    assert RemoveScatters(target="standard", assume=assumed)(model).modified
    del model
    for _ in range(4):  # a term goes when those go in which it stands
        gc.collect()
    assert graph() is None


def test_a_pass_prints_its_options() -> None:
    assert repr(RemoveScatters()) == "RemoveScatters()"
    told = repr(RemoveScatters(target="qnn", fix={"batch": 1}))
    assert told == "RemoveScatters(target='qnn', fix={'batch': 1})"
