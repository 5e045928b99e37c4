"""Sizes and numbers whose terms grow: squared, added, chosen, or of very many."""

import onnx
import onnx.parser

from tests.helpers.hostile.registry import WRITE, hostile, model_of


@hostile(40)
def _squared(times: int) -> onnx.ModelProto:
    """A size, squared again and again: a monomial of 2^times factors."""
    body = ["s = Shape (x)", "p0 = Gather (s, first)"]
    body += [f"p{k + 1} = Mul (p{k}, p{k})" for k in range(times)]
    body += [f"rows = Sub (p{times}, p{times - 1})", *WRITE]
    return model_of(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@hostile(60)
def _doubled_cases(times: int) -> onnx.ModelProto:
    """A number that stands twice in the next one, within a case: a tree of 2^times."""
    body = ["s = Shape (x)", "p0 = Gather (s, first)"]
    for k in range(times):
        body += [
            f"d{k} = Div (p{k}, two)",
            f"m{k} = Max (p{k}, d{k})",
            f"e{k} = Sub (m{k}, two)",
            f"a{k} = Abs (e{k})",
            f"p{k + 1} = Add (a{k}, d{k})",
        ]
    body += [f"rows = Identity (p{times})", *WRITE]
    return model_of(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@hostile(60)
def _multiplied(count: int) -> onnx.ModelProto:
    """The Size of a tensor whose sizes are sums of many."""
    inputs = ", ".join(f"float[A{k}, B{k}] x{k}" for k in range(24))
    parts = ", ".join(f"x{k}" for k in range(24))
    body = [f"r = Concat <axis = 0> ({parts})", f"c = Concat <axis = 1> ({parts})"]
    body += ["sr = Shape (r)", "sc = Shape (c)", "nr = Gather (sr, zero)", "nc = Gather (sc, one)"]
    body += ["p0 = Mul (nr, nc)"] + [f"p{k + 1} = Mul (p{k}, nr)" for k in range(count)]
    body += [f"rows = Reshape (p{count}, minus)", *WRITE]
    return model_of(body, inputs=f"float[N, 2] x, float[1, 2] u, {inputs}", result="float[N, 2] y")


@hostile(9000)
def _concatenated(count: int) -> onnx.ModelProto:
    """A Concat of many pieces, each of a size of its own."""
    pieces = [f"p{k} = Range (zero, n{k}, one)" for k in range(count)]
    inputs = ", ".join(f"int64 n{k}" for k in range(count))
    body = [*pieces, f"rows = Concat <axis = 0> ({', '.join(f'p{k}' for k in range(count))})"]
    return model_of([*body, *WRITE], inputs=f"float[4, 2] x, float[K, 2] u, {inputs}")


@hostile(20000)
def _grown(count: int) -> onnx.ModelProto:
    """A list that grows by one number at a time."""
    body = ["s = Shape (x)", "n = Slice (s, first, minus)", "l0 = Identity (n)"]
    body += [f"l{k + 1} = Concat <axis = 0> (l{k}, n)" for k in range(count)]
    return model_of(
        [*body, f"rows = Identity (l{count})", *WRITE],
        inputs="float[N, 2] x, float[K, 2] u",
        result="float[N, 2] y",
    )


@hostile(30000)
def _added(count: int) -> onnx.ModelProto:
    """A chain of Adds."""
    body = ["s = Shape (x)", "a0 = Gather (s, first)"]
    body += [f"a{k + 1} = Add (a{k}, first)" for k in range(count)]
    return model_of(
        [*body, f"rows = Identity (a{count})", *WRITE],
        inputs="float[N, 2] x, float[1, 2] u",
        result="float[N, 2] y",
    )


@hostile(14000)
def _added_sizes(count: int) -> onnx.ModelProto:
    """A chain of Adds, each of a number that is known only at run time."""
    inputs = ", ".join(f"int64 n{k}" for k in range(count))
    body = ["a0 = Identity (first)", *(f"a{k + 1} = Add (a{k}, n{k})" for k in range(count))]
    return model_of(
        [*body, f"rows = Identity (a{count})", *WRITE],
        inputs=f"float[4, 2] x, float[1, 2] u, {inputs}",
    )


@hostile(20000)
def _many_inputs(count: int) -> onnx.ModelProto:
    """Inputs that have nothing to do with the scatter, each of sizes of its own."""
    inputs = ", ".join(f"float[A{k}, B{k}] x{k}" for k in range(count))
    body = ["rows = Identity (first)", *WRITE]
    return model_of(body, inputs=f"float[4, 2] x, float[1, 2] u, {inputs}")


@hostile(15000)
def _doubted(count: int) -> onnx.ModelProto:
    """Squeezes of sizes that may be 1: each is asked whether the model runs so."""
    inputs = ", ".join(f"float[A{k}, B{k}] x{k}" for k in range(count))
    body = [f"q{k} = Squeeze (x{k})" for k in range(count)]
    body += ["rows = Identity (first)", *WRITE]
    return model_of(body, inputs=f"float[4, 2] x, float[1, 2] u, {inputs}")


@hostile(900000)
def _long_name(length: int) -> onnx.ModelProto:
    """One very long name, of a size that stands in every term."""
    name = "N" * length
    body = ["s = Shape (x)", "p0 = Gather (s, first)"]
    body += [f"p{k + 1} = Mul (p{k}, p{k})" for k in range(3)]
    body += ["rows = Sub (p3, p2)", *WRITE]
    return model_of(body, inputs=f"float[{name}, 2] x, float[1, 2] u", result="float[M, 2] y")


@hostile(5000)
def _ranked(count: int) -> onnx.ModelProto:
    """Tensors of very many dims, handed on again and again."""
    dims = ", ".join(f"D{k}" for k in range(count))
    body = ["z0 = Neg (z)"] + [f"z{k + 1} = Add (z{k}, z)" for k in range(count)]
    body += ["rows = Identity (first)", *WRITE]
    return model_of(body, inputs=f"float[4, 2] x, float[1, 2] u, float[{dims}] z")


@hostile(5000)
def _chosen(count: int) -> onnx.ModelProto:
    """A chain of choices, each by a size of its own."""
    inputs = ", ".join(f"float[A{k}] x{k}" for k in range(count))
    body = ["r = Range (zero, two, one)", "w0 = Identity (r)"]
    for k in range(count):
        body += [f"s{k} = Shape (x{k})", f"c{k} = Greater (r, s{k})"]
        body += [f"w{k + 1} = Where (c{k}, w{k}, s{k})"]
    body += [f"rows = Mul (w{count}, r)", *WRITE]
    return model_of(body, inputs=f"float[N, 2] x, float[2, 2] u, {inputs}", result="float[N, 2] y")
