"""A size that is a choice of a quotient by another size gets a name of its own."""

import numpy as np

from tests.helpers.support import assert_sound, nodes, optimize, parse

# Rows of images with a batch that broadcasts, as tokens and back: if H is 0, Reshape copies the
# number of tokens. What is padded to a multiple of four gets its last but two rows written. The
# images are read, so both Reshapes run.
TOKENS_AND_BACK = """g (float[R,H,W,16] a, float[B,H,W,16] b) => (float[M,4] y, float[C,D,E,16] z) {
        x = Add (a, b)
        n = Shape <start = 0, end = 1> (b)
        h = Shape <start = 1, end = 2> (b)
        w = Shape <start = 2, end = 3> (b)
        tokens = Reshape (x, Concat <axis = 0> (n, [-1], [16]))
        images = Reshape (tokens, Concat <axis = 0> (n, h, w, [16]))
        z = Neg (images)
        height = Shape <start = 1, end = 2> (images)
        more = Mod (Sub ([4], Mod (height, [4])), [4])
        padded = Add (height, more)
        data = ConstantOfShape (Concat <axis = 0> (padded, [4]))
        part = Slice (Range (0, Squeeze (padded), 1), [-4], [-2], [0])
        written = Concat <axis = 0> (Shape (part), [4])
        updates = ConstantOfShape <value = float[1] {2.0}> (written)
        y = ScatterND (data, Unsqueeze (part, [-1]), updates) }"""


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
