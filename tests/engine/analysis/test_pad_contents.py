"""A Pad of integers by a constant: its elements are followed, if one axis gets longer."""

import numpy as np
import pytest

from tests.helpers.judged import Judged
from tests.helpers.support import parse


@pytest.mark.parametrize("pads", ["1, 0", "0, 2", "2, 1", "-1, 1"])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_what_is_known(pads: str, n: int) -> None:
    """Positions behind a token are those of the labels before it."""
    model = parse(f"""g (float[N] x, int64[4] t) => (int64[M] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64[2] pads = {{{pads}}}, int64 f = {{7}}> {{
            s = Shape (x)  k = Squeeze (s)  r = Range (zero, k, one)  y = Pad (r, pads, f) }}""")
    judged = Judged(model)
    judged.accepts({"x": np.zeros(n, np.float32), "t": np.zeros(4, int)})
    assert judged.followed
