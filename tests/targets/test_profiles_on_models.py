"""Every profile on exported models: no operator that it lacks is written, and none does worse."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.engine.passes.job import Job
from onnx_scatterx.engine.passes.settings import Settings
from onnx_scatterx.fitting.check_target import violations
from onnx_scatterx.targets.catalogue import profile_names, target_of
from onnx_scatterx.targets.target import Target
from tests.helpers.examples import are_all
from tests.helpers.support import nodes

EXAMPLES = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))


def unfixed_sizes(value: onnx.ValueInfoProto) -> list[str]:
    """Return the sizes of an input that are no numbers."""
    dims = value.type.tensor_type.shape.dim
    return [d.dim_param for d in dims if not d.HasField("dim_value")]


def lacking(
    original: onnx.ModelProto, result: onnx_scatterx.Result[onnx.ModelProto], target: Target
) -> set[str]:
    """Return what is written that a target lacks, and that the report does not name."""
    had = {n.name for n in nodes(original)}
    new = [n for n in nodes(result.model) if n.name not in had and n.op_type != "Constant"]
    names, found = {n.name for n in new}, result.report.violations
    wrong = [v for v in found if v.node in names]
    if any(v.on_host or f"{target.name} takes no" in v.why for v in wrong):
        # It replaces more that the profile lacks.
        before = onnx_scatterx.inspect(original, target=target, passes=["CheckTarget"])
        assert len(found) < len(before.violations)
    has = partial(target.has, of_constant=True)  # such as the table of an embedding
    told = {v.op for v in found if v.on_host or f"takes no {v.op}" in v.why}
    return {n.op_type for n in new if not has(n.op_type)} - told


@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_no_profile_does_worse_than_the_target_for_all(path: Path) -> None:
    """Nor is anything written that it lacks.

    Each model is tried for every fourth profile, in turn; daily, for three. Others are tried with
    fixed sizes in test_profiles_as_code.py.
    """
    original = onnx.load(path)
    standard = onnx_scatterx.optimize(path, target="standard").model
    is_static = not any(map(unfixed_sizes, standard.graph.input))
    place, names = EXAMPLES.index(path), profile_names()
    job = Job(ir.from_proto(standard), Settings.of(target="standard"))
    known = job.analyses.without_promises.current()
    tried = names[place // 2 % 4 :: 4]  # beside a model with fixed sizes stands a dynamic one
    for name in tried if are_all() else [tried[(place + k) % len(tried)] for k in range(3)]:
        target = target_of(name)
        result = onnx_scatterx.optimize(path, target=name)
        assert lacking(original, result, target) == set(), name
        if target.is_limited and (is_static or not target.static_only):
            own, refused = result.report.violations, violations(job.model, target, known)
            assert sum(not v.on_host for v in own) <= sum(not v.on_host for v in refused), name
