"""What is known of a model while passes run on it, and which of its functions are inlined."""

import onnx_ir as ir
import pytest

from onnx_scatterx.assumptions.clauses import read_clauses
from onnx_scatterx.engine.budget.spending import own_budget
from onnx_scatterx.engine.passes.drop_overwritten_updates import drop_overwritten_updates
from onnx_scatterx.engine.passes.function_calls import inline_functions
from onnx_scatterx.engine.passes.job import Analyses, Job
from onnx_scatterx.text import Reason, Refusal
from tests.helpers.support import parse

CALL = """g (float[4] x) => (float[4] y) {{ y = {domain}.f (x) }}
    <domain: "{domain}", opset_import: ["" : 18]> f (x) => (y) {{ y = Neg (x) }}"""


def test_without_promises_dims_of_one_name_are_equal() -> None:
    text = "g (float[N] x, float[N] y, int64[2] i) => (float[N] z) { z = Neg (x) }"
    model = ir.from_proto(parse(text))
    analyses = Analyses(model, read_clauses(["i >= 0"]))
    trusting, other = (
        [found.knowledge.values[value].shape for value in model.graph.inputs[:2]]
        for found in (analyses.without_promises, analyses.without_trust)
    )
    assert trusting[0] == trusting[1]
    assert other[0] != other[1]


def test_a_model_that_is_not_read_to_the_end_is_not_changed() -> None:
    text = "g (float[9] x) => (float[N] y) { y = Slice (x, [0], Range (3, 99, 1), [0], [1]) }"
    job = Job(ir.from_proto(parse(text)))
    assert job.analyses.full.knowledge
    with own_budget(1):
        assert isinstance(job.obstacle, Refusal)
        assert job.obstacle.reason is Reason.MODEL_LIMIT


def test_overwritten_updates_stay_in_a_model_that_must_not_be_changed() -> None:
    text = "g (float[4] x, float[2] u) => (float[4] y) { y = ScatterND (x, [[1], [1]], u) }"
    forbidden = Refusal(Reason.MODEL_LIMIT, "")
    jobs = [Job(ir.from_proto(parse(text)), forbidden=why) for why in (forbidden, None)]
    assert [drop_overwritten_updates(job) for job in jobs] == [False, True]


@pytest.mark.parametrize(
    ("domain", "is_inlined"), [("local", True), ("onnx_scatterx", False), ("com.microsoft", False)]
)
def test_the_functions_of_scatterx_are_not_inlined(domain: str, is_inlined: bool) -> None:
    """Nor those whose names may be operators of ONNX Runtime."""
    job = Job(ir.from_proto(parse(CALL.format(domain=domain), more=f', "{domain}" : 1')))
    assert inline_functions(job, lambda _: True) is is_inlined
    assert [node.op_type for node in job.model.graph] == ["Neg" if is_inlined else "f"]
