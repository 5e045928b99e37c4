"""CancelTransposes: a transpose of a transpose goes, or becomes one with it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

import onnx_scatterx
from tests.helpers.examples import examples
from tests.helpers.rules import assert_same, parse_text


def step(before: list[int], after: list[int], more: str = "", seen: str = "") -> str:
    """Return a write of one row at a position of the run, between transposes of data and result."""
    sizes = (2, 3, 4)
    rows, width, depth = (sizes[d] for d in before)
    out = [[rows, width, depth][d] for d in after]
    read = ", ".join(["float[{},{},{}] y".format(*out), *([seen] if seen else [])])
    return f"""g (float[2,3,4] x, int64[1,1] at, float[1,{width},{depth}] u) => ({read}) {{
        a = Transpose <perm = {before}> (x)
        b = ScatterND (a, at, u)
        y = Transpose <perm = {after}> (b)
        {more} }}"""


def transposes(text: str, at: int = 0) -> int:
    """Write the row for ncnn, compare the results, and return how many transposes are left."""
    model = parse_text(text, 18)
    result = onnx_scatterx.optimize(model, target="ncnn", assume=["at: nonnegative"])
    assert [entry.rules for entry in result.report.scatters] == [("sampled_write",)]
    assert_same(model, result.model, [{"at": [[n]]} for n in range(at + 1)])
    return Counter(node.op_type for node in result.model.graph.node)["Transpose"]


PERMS = st.permutations(range(3))


@examples(30)
@given(PERMS, PERMS)
def test_any_two_become_one(before: list[int], after: list[int]) -> None:
    """One of the data, one of the updates, and one of the result, at most."""
    assert transposes(step(before, after)) <= 3


def test_one_that_something_else_reads_stays() -> None:
    text = step([1, 2, 0], [0, 1, 2])
    read = step([1, 2, 0], [0, 1, 2], "z = Relu (a)", "float[3,4,2] z")
    assert transposes(read) == transposes(text) + 1


def test_an_output_stays() -> None:
    """The transposed data are an output, too."""
    text = step([1, 2, 0], [0, 1, 2])
    assert transposes(step([1, 2, 0], [0, 1, 2], "", "float[3,4,2] a")) == transposes(text) + 1
