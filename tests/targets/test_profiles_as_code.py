"""Profiles of the package, run on models: none is worse than `standard`."""

from pathlib import Path

import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from onnx_scatterx import Report
from onnx_scatterx.targets.catalogue import profile_names, target_of
from tests.helpers.drawn_scatters import Drawn, scatter_elements, scatter_nd
from tests.helpers.examples import examples
from tests.helpers.support import parse

MODELS = sorted((Path(__file__).parents[2] / "models").glob("*.onnx"))
NAMES = profile_names()
PAIRS = [  # a model for one profile, and a profile for some models
    (path, NAMES[7 * i % len(NAMES)]) for i, path in enumerate(MODELS)
]
_OF_THE_MODEL = ("the size", "its rank")  # why an input is refused, whatever is written


def judged(model: onnx.ModelProto, name: str) -> tuple[Report, Report, Report]:
    """Return the reports of `standard` and of a profile, and what the profile says of the first."""
    fix = sizes(model) if target_of(name).static_only else None
    standard = onnx_scatterx.optimize(model, target="standard", fix=fix)
    own = onnx_scatterx.optimize(model, target=name, fix=fix)
    of_standard = onnx_scatterx.inspect(standard.model, target=name, passes=["CheckTarget"])
    return standard.report, own.report, of_standard


def sizes(model: onnx.ModelProto) -> dict[str, int]:
    """Return a number for each symbolic size of an input."""
    dims = (d for value in model.graph.input for d in value.type.tensor_type.shape.dim)
    return {dim.dim_param: 8 for dim in dims if dim.dim_param}


def refused(report: Report) -> list[str]:
    """Return what a profile refuses of a result, without the sizes and ranks of inputs."""
    kept = (v for v in report.violations if not v.is_taken)
    return [str(v) for v in kept if not (v.op == "input" and v.why.startswith(_OF_THE_MODEL))]


def compare(model: onnx.ModelProto, name: str) -> None:
    """Compare a result for a profile with that for `standard`."""
    standard, own, of_standard = judged(model, name)
    assert len(refused(own)) <= len(refused(of_standard)), (refused(own), refused(of_standard))
    # If nothing is refused, or runs on a host, it has all operators that remove these scatters.
    if not refused(of_standard) and all(v.op == "input" for v in of_standard.violations):
        gone = {s.node for s in standard.scatters if s.is_gone}
        assert [s.node for s in own.scatters if not s.is_gone and s.node in gone] == [], str(own)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("path", "name"), PAIRS, ids=lambda given: getattr(given, "stem", given))
def test_a_profile_is_no_worse_than_standard(path: Path, name: str) -> None:
    compare(onnx.load(path), name)


@examples(60)
@given(st.one_of(scatter_nd(), scatter_nd(listed=True), scatter_elements()), st.data())
def test_drawn_scatters(drawn: Drawn, data: st.DataObject) -> None:
    """Of a profile that is drawn, too."""
    compare(parse(drawn[0]), data.draw(st.sampled_from(profile_names())))
