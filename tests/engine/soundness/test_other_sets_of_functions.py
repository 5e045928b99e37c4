"""Functions of another operator set than the model: ONNX Runtime reads their nodes in both sets."""

import pytest

from tests.helpers.support import assert_sound, i64, parse, sample

BODIES = {
    "rows at positions of the run": "at = Unsqueeze (i, last) y = ScatterND (x, at, v)",
    "a slice": "at = Constant <value = int64[2,1] {1, 2}> () y = ScatterND (x, at, v)",
    "a sum": 'at = Unsqueeze (i, last) y = ScatterND <reduction = "add"> (x, at, v)',
    "the last rows": "at = Constant <value = int64[2,1] {-1, -2}> () y = ScatterND (x, at, v)",
}
SETS = [(17, 18), (18, 17), (13, 18), (18, 13), (16, 21), (21, 16)]


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize(("own", "model"), SETS)
@pytest.mark.parametrize("target", ["standard", "standard, avoid = ['ScatterND']", "qnn"])
def test_what_is_written_means_the_same_in_both_sets(
    what: str, own: int, model: int, target: str
) -> None:
    text = f"""g (float[6,5] x, int64[2] i, float[2,5] v) => (float[6,5] y) {{
            y = own.put (x, i, v) }}
        <domain: "own", opset_import: ["" : {own}]>
        put (x, i, v) => (y) {{
            last = Constant <value = int64[1] {{-1}}> ()
            {BODIES[what]} }}"""
    if "reduction" in text and min(own, model) < 16:
        text = text.replace('<reduction = "add">', "")
    more = {"x": sample("float32", 6, 5), "v": sample("float32", 2, 5)}
    left = 0 if "slice" in what or "last" in what else None
    assert_sound(parse(text, model, 10), more | {"i": i64([1, -2])}, target=target, left=left)
