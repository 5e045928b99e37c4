"""The result of Resize has the given sizes (``test_interpreter`` draws every case of it)."""

import onnx_ir as ir
import pytest

from onnx_scatterx.engine.analysis.model_analysis import interpret
from tests.helpers.support import assert_sound, optimize, parse, sample


def dims(attributes: str, scales: str = "scales") -> list[str]:
    model = f"""g (float[N,4] x, int64[2] to) => (float[P,Q] r)
        <float[2] scales = {{2, 2.6}}, float[2] bad = {{inf, 1}}> {{
        r = Resize <mode = "nearest"{attributes}> (x, float [0, 0, 1, 1], {scales}) }}"""
    found = ir.from_proto(parse(model))
    (value,) = found.graph.outputs
    return [str(d) for d in interpret(found).values[value].shape or ()]


def test_scales_of_known_dims() -> None:
    assert dims("") == ["r.0", "10"]  # float32 rounds large numbers: of N nothing is said
    assert dims(", axes = [1, 0]") == ["r.0", "8"]


def test_sizes() -> None:
    assert dims("", scales=", to") == ["to[0]", "to[1]"]
    assert dims(', keep_aspect_ratio_policy = "not_larger"', scales=", to") == ["r.0", "r.1"]


def test_scales_are_not_all_that_counts() -> None:
    assert dims(', coordinate_transformation_mode = "tf_crop_and_resize"') == ["r.0", "r.1"]
    assert dims("", scales="bad") == ["r.0", "r.1"]


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_a_resized_image_that_is_written_over(mode: str) -> None:
    model = f"""g (float[A,B] x, float[C,D] u) => (float[P,Q] y) {{
        s = Shape (u)
        r = Resize <mode = "{mode}"> (x, , , s)
        i = Unsqueeze (Range (0, Gather (s, 0), 1), [-1])
        y = ScatterND (r, i, u) }}"""
    cases = [(2, 3, 4, 5), (3, 2, 1, 1), (1, 1, 5, 2)]
    feeds = [{"x": sample("float32", a, b), "u": sample("float32", c, d)} for a, b, c, d in cases]
    assert_sound(model, *feeds, left=0)
    assert [n.op_type for n in optimize(parse(model), "standard").graph.node] == ["Identity"]
