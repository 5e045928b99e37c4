"""What is taken for known must be possible: from a contradiction, everything follows."""

from onnxruntime import __version__ as version

from tests.equivalence.test_odd_nodes import floats, unproven
from tests.helpers.support import parse


def test_dims_that_onnx_runtime_infers_and_that_the_facts_refute() -> None:
    """For an Einsum that broadcasts it infers 1 row, and the Concat says that there are 2 K.

    If both were facts, every size of K rows would follow, as that of the Expand.
    """
    text = """g (float[1, N] w, float[R, N] v, float[K, M] z, float[K] c, float[300] x)
        => (float[A, B] o, float[L] y) <int64[1] one = {1}> {
        e = Einsum<equation = "ij,ij->ij">(w, v) p = Concat<axis = 0>(z, z)
        o = Concat<axis = 1>(e, p) s = Shape(x) %s t = Transpose(x) d = Concat<axis = 0>(t, t)
        b = Expand(c, q) f = Concat<axis = 0>(b, b) y = Concat<axis = 0>(f, f) }"""
    one = parse(text % "q = Min(s, one)")
    other = parse(text % "r = Cast<to = 9>(s) q = Cast<to = 7>(r)")
    feed = {"w": floats(1, 3), "v": floats(4, 3), "z": floats(2, 2), "c": floats(2)}
    proof = unproven(one, other, {**feed, "x": floats(300)})
    assert f"ONNX Runtime {version} infers of 'e' that axis 0 has size 1" in str(proof)
