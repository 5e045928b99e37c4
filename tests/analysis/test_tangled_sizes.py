"""A size that is a choice of a quotient by another size gets a name of its own."""

import numpy as np

from tests.helpers.support import assert_sound, nodes, optimize, parse

# Rows of images with a batch that broadcasts, as tokens and back: if H is 0, Reshape copies the
# number of tokens. What is padded to a multiple of four gets its last but two rows written.
TOKENS_AND_BACK = """g (float[R,H,W,16] a, float[B,H,W,16] b) => (float[M,4] y)
    <int64[1] rest = {-1}, int64[1] channels = {16}, int64[1] four = {4}, int64[1] rows = {0},
     int64 zero = {0}, int64 one = {1}, int64[1] first = {-4}, int64[1] end = {-2}> {
        x = Add (a, b)
        n = Shape <start = 0, end = 1> (b)
        h = Shape <start = 1, end = 2> (b)
        w = Shape <start = 2, end = 3> (b)
        as_tokens = Concat <axis = 0> (n, rest, channels)
        tokens = Reshape (x, as_tokens)
        as_images = Concat <axis = 0> (n, h, w, channels)
        images = Reshape (tokens, as_images)
        height = Shape <start = 1, end = 2> (images)
        over = Mod (height, four)
        under = Sub (four, over)
        more = Mod (under, four)
        padded = Add (height, more)
        size = Concat <axis = 0> (padded, four)
        data = ConstantOfShape (size)
        scalar = Squeeze (padded)
        all = Range (zero, scalar, one)
        part = Slice (all, first, end, rows)
        count = Shape (part)
        written = Concat <axis = 0> (count, four)
        updates = ConstantOfShape <value = float[1] {2.0}> (written)
        i = Unsqueeze (part, rest)
        y = ScatterND (data, i, updates) }"""


def test_a_write_to_its_end() -> None:
    """It takes few nodes, and the sizes where Reshape copies a size are right, too."""
    feeds = [
        {"a": np.zeros((r, h, w, 16), "float32"), "b": np.zeros((b, h, w, 16), "float32")}
        for r, b in ((1, 1), (1, 2), (2, 2), (3, 1))
        for h, w in ((0, 1), (1, 0), (1, 1), (3, 2), (4, 1), (9, 3))
    ]
    assert_sound(TOKENS_AND_BACK, *feeds, left=0, rejected=8)
    model = parse(TOKENS_AND_BACK)
    assert len(nodes(optimize(model))) <= len(nodes(model)) + 4
