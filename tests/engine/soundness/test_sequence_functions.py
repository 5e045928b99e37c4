"""Functions whose indices come as a sequence, as exporters write indexed assignments."""

import numpy as np
import onnx
import onnx.inliner
import pytest

import onnx_scatterx
from tests.helpers.pair import Feed
from tests.helpers.support import assert_sound, i64, nodes, parse, scatters

TARGET = "standard, avoid = ['ScatterND', 'ScatterElements']"

PUT = """
<domain: "torchlib", opset_import: ["" : 18]>
index_put <accumulate: int = 0> (self, indices, values) => (result) {
    zero = Constant <value_int = 0> ()
    i = SequenceAt (indices, zero)
    last = Constant <value_ints = [-1]> ()
    rows = Unsqueeze (i, last)
    flag = Constant <value_int: int = @accumulate> ()
    adds = Cast <to = 9> (flag)
    result = If (adds) <then_branch = t () => (a) {
                            a = ScatterND <reduction = "add"> (self, rows, values) },
                        else_branch = e () => (b) { b = ScatterND (self, rows, values) }> }"""
PAIRS = """
<domain: "torchlib", opset_import: ["" : 18]>
index_put (self, indices, values) => (result) {
    last = Constant <value_ints = [-1]> ()
    zero = Constant <value_int = 0> ()
    one = Constant <value_int = 1> ()
    i = SequenceAt (indices, zero)
    j = SequenceAt (indices, one)
    a = Unsqueeze (i, last)
    b = Unsqueeze (j, last)
    both = Concat <axis = -1> (a, b)
    result = ScatterND (self, both, values) }"""
COUNTED = """
<domain: "torchlib", opset_import: ["" : 18]>
index_put (self, indices, values) => (result) {
    count = SequenceLength (indices)
    one = Constant <value_int = 1> ()
    zero = Constant <value_int = 0> ()
    last = Constant <value_ints = [-1]> ()
    single = Equal (count, one)
    i = SequenceAt (indices, zero)
    a = Unsqueeze (i, last)
    at = If (single) <then_branch = t () => (p) { p = Identity (a) },
                      else_branch = e () => (q) {
                          j = SequenceAt (indices, one)
                          b = Unsqueeze (j, last)
                          q = Concat <axis = -1> (a, b) }>
    result = ScatterND (self, at, values) }"""
STACKED = """
<domain: "torchlib", opset_import: ["" : 18]>
index_put (self, indices, values) => (result) {
    both = ConcatFromSequence <axis = -1, new_axis = 1> (indices)
    result = ScatterND (self, both, values) }"""
THROUGH = """
<domain: "torchlib", opset_import: ["" : 18, "inner" : 1]>
index_put (self, indices, values) => (result) {
    same = Identity (indices)
    result = inner.put (self, same, values) }
<domain: "inner", opset_import: ["" : 18]>
put (x, s, u) => (y) {
    both = ConcatFromSequence <axis = -1, new_axis = 1> (s)
    y = ScatterND (x, both, u) }"""
READS = """
<domain: "torchlib", opset_import: ["" : 18, "inner" : 1]>
index_put (self, indices, values) => (result) {
    both = ConcatFromSequence <axis = -1, new_axis = 1> (indices)
    result = inner.put (self, both, values) }
<domain: "inner", opset_import: ["" : 18]>
put (x, i, u) => (y) { y = ScatterND (x, i, u) }"""
MAKES = """
<domain: "torchlib", opset_import: ["" : 18, "inner" : 1]>
index_put (self, i, j, values) => (result) {
    s = inner.pair (i, j)
    result = inner.put (self, s, values) }
<domain: "inner", opset_import: ["" : 18]>
pair (i, j) => (s) { s = SequenceConstruct (i, j) }
<domain: "inner", opset_import: ["" : 18]>
put (x, s, u) => (y) {
    both = ConcatFromSequence <axis = -1, new_axis = 1> (s)
    y = ScatterND (x, both, u) }"""
LOOPED = """
<domain: "torchlib", opset_import: ["" : 18]>
index_put (self, indices, values) => (result) {
    zero = Constant <value_int = 0> ()
    yes = Constant <value = bool {1}> ()
    last = Constant <value_ints = [-1]> ()
    n = SequenceLength (indices)
    result = Loop <body = b (int64 k, bool c, float[A,B] x) => (bool d, float[A,B] y) {
        d = Identity (c)
        i = SequenceAt (indices, k)
        rows = Unsqueeze (i, last)
        y = ScatterND (x, rows, values) }> (n, yes, self) }"""

ONE = "g (float[6,5] x, int64[2] i, float[2,5] v) => (float[6,5] y) {{ {0} }}"
TWO = "g (float[6,5] x, int64[M] i, int64[M] j, float[M] v) => (float[6,5] y) {{ {0} }}"
CALL = "y = torchlib.index_put (x, s, v)"
ONES: list[Feed] = [{"i": i64([1, -2])}, {"i": i64([5, 0])}]
TWOS: list[Feed] = [
    {"M": 2, "i": i64([1, -2]), "j": i64([4, 0])},
    {"M": 0, "i": i64([]), "j": i64([])},
]
WRITES: dict[str, tuple[str, list[Feed]]] = {
    "one index": (ONE.format(f"s = SequenceConstruct (i) {CALL}") + PUT, ONES),
    "an attribute decides": (
        ONE.format(
            "s = SequenceConstruct (i) y = torchlib.index_put <accumulate: int = 1> (x, s, v)"
        )
        + PUT,
        ONES,
    ),
    "two indices": (TWO.format(f"s = SequenceConstruct (i, j) {CALL}") + PAIRS, TWOS),
    "inserted": (
        TWO.format(
            f"""none = SequenceEmpty <dtype = 7> () r = SequenceInsert (none, j)
            s = SequenceInsert (r, i, 0) {CALL}"""
        )
        + PAIRS,
        TWOS,
    ),
    "split": (
        "g (float[6,5] x, int64[2,M] b, float[M] v) => (float[6,5] y) {"
        f"s = SplitToSequence <axis = 0, keepdims = 0> (b) {CALL} }}" + PAIRS,
        [{"M": 2, "b": i64([[1, -2], [3, 0]])}],
    ),
    "counted, one": (ONE.format(f"s = SequenceConstruct (i) {CALL}") + COUNTED, ONES),
    "counted, two": (TWO.format(f"s = SequenceConstruct (i, j) {CALL}") + COUNTED, TWOS),
    "callers with other lengths": (
        """g (float[6,5] x, int64[2] i, int64[2] j, float[2,5] u, float[2] v) => (float[6,5] y) {
            s = SequenceConstruct (i) t = SequenceConstruct (i, j)
            z = torchlib.index_put (x, s, u) y = torchlib.index_put (z, t, v) }"""
        + COUNTED,
        [{"i": i64([1, -2]), "j": i64([4, 0])}],
    ),
    "stacked": (TWO.format(f"s = SequenceConstruct (i, j) {CALL}") + STACKED, TWOS),
    "through another function": (
        TWO.format(f"s = SequenceConstruct (i, j) {CALL}") + THROUGH,
        TWOS,
    ),
    "the function that writes takes no sequence": (
        TWO.format(f"s = SequenceConstruct (i, j) {CALL}") + READS,
        TWOS,
    ),
    "made in a function": (TWO.format("y = torchlib.index_put (x, i, j, v)") + MAKES, TWOS),
    "in a loop": (ONE.format(f"s = SequenceConstruct (i, i) {CALL}") + LOOPED, ONES),
    "in a branch": (
        "g (float[6,5] x, int64[2] i, float[2,5] v, bool c) => (float[6,5] y) {"
        "s = SequenceConstruct (i)"
        f"y = If (c) <then_branch = t () => (p) {{ {CALL.replace('y =', 'p =')} }},"
        "else_branch = e () => (q) { q = Identity (x) }> }" + PUT,
        [{**feed, "c": np.array(c)} for feed in ONES for c in (True, False)],
    ),
}


def model_of(name: str) -> tuple[onnx.ModelProto, list[Feed]]:
    text, feeds = WRITES[name]
    more = ', "inner" : 1' if "inner" in text else ""
    return parse(text, 18, 8, more), feeds


@pytest.mark.parametrize("name", WRITES)
def test_what_is_left_is_what_is_left_after_the_inliner_of_onnx(name: str) -> None:
    model, feeds = model_of(name)
    assert_sound(model, *feeds, left=0, target=TARGET)
    made = onnx_scatterx.optimize(model, target=TARGET).model
    takes_none = name == "made in a function"
    assert ("torchlib" in {node.domain for node in nodes(made)}) == takes_none
    inlined = onnx.inliner.inline_local_functions(model)
    assert not scatters(onnx_scatterx.optimize(inlined, target=TARGET).model)


def test_other_functions_stay() -> None:
    """No function is inlined if no scatter is in one that takes a sequence."""
    model = parse(
        ONE.format(
            "s = SequenceConstruct (x, x) z = own.last (s) w = own.put (z, i, v) y = Neg (w)"
        )
        + """
        <domain: "own", opset_import: ["" : 18]>
        last (s) => (y) { k = Constant <value_int = -1> () y = SequenceAt (s, k) }
        <domain: "own", opset_import: ["" : 18]>
        put (x, i, u) => (y) {
            last = Constant <value_ints = [-1]> ()
            rows = Unsqueeze (i, last)
            y = ScatterND (x, rows, u) }"""
    )
    result = onnx_scatterx.optimize(model, target="standard")
    assert [n.op_type for n in result.model.graph.node if n.domain == "own"] == ["last", "put"]
    assert_sound(model, *ONES, left=0)
