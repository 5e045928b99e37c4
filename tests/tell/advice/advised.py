"""Models that advice is given for."""

from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["" : 18]> '

ROWS = """g (float[400, 2] x, int64[300] at, float[300, 2] u) => (float[400, 2] y)
    <int64[1] last = {-1}> { i = Unsqueeze (at, last)  y = ScatterND (x, i, u) }"""

EMPTY = """g (float[N, 4] x) => (y) <int64[1] last = {-1}> {
    r = ReduceMax <keepdims = 0> (x, last)  zero = Sub (r, r)  m = Equal (r, zero)
    where = NonZero (m)  rows = Transpose <perm = [1, 0]> (where)
    picked = GatherND (r, rows)  u = Neg (picked)  y = ScatterND (r, rows, u) }"""

MODELS = Path(__file__).parents[3] / "models"
