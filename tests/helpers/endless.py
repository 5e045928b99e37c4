"""A model that runs until it is stopped."""

# It runs for hours within one call of ONNX Runtime, and needs no memory.
SPIN = """g (float[1, 2] x, float[1, 2] u) => (float[1, 2] y) {
    n = Constant <value_int = 4611686018427387904> ()
    i = Constant <value = int64[1, 1] {0}> ()
    s = Loop (n, , x) <body = b (int64 k, bool c, float[1, 2] a) => (bool d, float[1, 2] e)
        { d = Identity (c)  e = Neg (a) }>
    y = ScatterND (s, i, u) }"""
