"""A promise that no input keeps is an error, in one line with both numbers."""

import pytest

from onnx_scatterx import ScatterXError, inspect
from tests.helpers.support import parse

EDGES = """g (float[nodes, 4] x, int64[2, edges] edge, float[edges, 4] u) => (float[nodes, 4] y) <
    int64 first = {0}, int64 second = {1}, int64[1] last = {-1}> {
    a = Gather (edge, first)  r = Gather (x, a)  s = Add (r, u)  b = Gather (edge, second)
    i = Unsqueeze (b, last)  y = ScatterND (x, i, s) }"""


@pytest.mark.parametrize(
    ("edges", "promise", "told"),
    [
        (96, "unique", "192 elements of 'edge' are indices of an axis of 32 elements"),
        (33, "unique", "66 elements of 'edge' are indices of an axis of 32 elements"),
        (17, "unique, nonnegative", "34 elements of 'edge' are indices of an axis of 32 elements"),
        (32, "unique", ""),  # -1 and 31 are two numbers
        (16, "unique, nonnegative", ""),
        (8, "unique, >= 0, < 15", "'edge' has 16 elements"),
        (8, "unique, >= 0, < 16", ""),
        (8, "exactly 17", "'edge' has 16 elements"),
    ],
)
def test_more_elements_than_numbers(edges: int, promise: str, told: str) -> None:
    model, fix = parse(EDGES), {"nodes": 32, "edges": edges}
    if not told:
        assert inspect(model, assume=[f"edge: {promise}"], fix=fix).scatters
        return
    with pytest.raises(ScatterXError, match=f"is assumed, and {told}"):
        inspect(model, assume=[f"edge: {promise}"], fix=fix)
    if "is an" in told:
        assert inspect(model, assume=[f"edge: {promise}"]).scatters  # at other sizes it may hold


@pytest.mark.parametrize(
    "text",
    [
        "a = Div (idx, two)  y = Gather (x, a)",  # equal indices of other elements
        "a = Slice (idx, one, two)  y = Gather (x, a)",
        "a = Gather (at, idx)  y = Gather (x, a)",
    ],
)
def test_other_indices_say_nothing(text: str) -> None:
    head = "float[2, 4] x, int64[40] at, int64[9] idx) => (float[K, 4] y)"
    model = parse(f"g ({head} <int64[1] one = {{1}}, int64[1] two = {{2}}> {{ {text} }}")
    inspect(model, assume=["idx: unique"])


@pytest.mark.parametrize(
    ("kind", "promise", "holds"),
    [
        ("int64", "idx == 18446744073709551615", False),
        ("int64", "idx == 9223372036854775807", True),
        ("uint64", "idx == 18446744073709551615", True),
        ("uint8", "idx < 0", False),
        ("uint8", "idx == 256", False),
        ("int8", "127 < idx", False),
        ("int8", "126 < idx", True),
    ],
)
def test_numbers_that_the_element_type_lacks(kind: str, promise: str, holds: bool) -> None:
    model = parse(f"""g (float[2, K] x, {kind}[K] idx, float[K] u) => (float[2, K] y) {{
        i = Cast <to = 7> (idx)  y = ScatterND (x, Unsqueeze (i, [1]), Expand (u, Shape (x))) }}""")
    if holds:
        assert inspect(model, assume=[promise]).scatters
        return
    with pytest.raises(ScatterXError, match="no number was found that satisfies all of this"):
        inspect(model, assume=[promise])
