"""Models whose scatter is kept, because too little is known of its indices."""

OPSET = '<ir_version: 8, opset_import: ["" : 18]>'


def nd(data: str, indices: str, updates: str, given: str = "", reduction: str = "none") -> str:
    """A model of one ScatterND; ``given`` are initializers."""
    return f"""{OPSET} g (float[{data}] x, {indices} float[{updates}] u) => (float[{data}] y)
        {given} {{ y = ScatterND <reduction = "{reduction}"> (x, i, u) }}"""


BEHIND_ROWS = f"""{OPSET} g (float[N,T] x, float[N] u) => (float[N,T] y)
    <int64[1] three = {{3}}, int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}> {{
        s = Shape (x)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        rows = Unsqueeze (r, last)
        columns = Expand (three, n1)
        n1 = Unsqueeze (n, minus)
        minus = Constant <value = int64[1] {{0}}> ()
        c = Unsqueeze (columns, last)
        i = Concat <axis = -1> (rows, c)
        y = ScatterND (x, i, u) }}"""

EVERY_SIXTEENTH = f"""{OPSET} g (float[T] x, float[N] u) => (float[T] y)
    <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}, int64[1] first = {{0}},
     int64[1] far = {{9223372036854775807}}, int64[1] step = {{16}}> {{
        s = Shape (x)
        n = Gather <axis = 0> (s, zero)
        r = Range (zero, n, one)
        some = Slice (r, first, far, first, step)
        i = Unsqueeze (some, last)
        y = ScatterND (x, i, u) }}"""


CACHE = f"""{OPSET} g (float[N,D] x, float[S,D] u, int64[S] pos) => (float[N,D] y) {{
        y = ScatterND (x, Unsqueeze (pos, [-1]), u) }}"""
