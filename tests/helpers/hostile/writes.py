"""Many scatters, and long rows of moves around one."""

import onnx
import onnx.parser

from tests.helpers.hostile.registry import WRITE, hostile, model_of


@hostile(12000)
def _scattered(count: int) -> onnx.ModelProto:
    """A chain of scatters, each at a position of its own."""
    body = ["y0 = Identity (x)"]
    for k in range(count):
        body += [f"i{k} = Constant <value = int64[1, 1] {{{k}}}> ()"]
        body += [f"y{k + 1} = ScatterND (y{k}, i{k}, u)"]
    body += [f"y = Identity (y{count})"]
    return model_of(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")


@hostile(5000)
def _scattered_somewhere(count: int) -> onnx.ModelProto:
    """A chain of scatters, each of rows from a start that is known only at run time."""
    body = [
        "y0 = Identity (x)",
        "s = Shape (u)",
        "n = Gather (s, zero)",
        "r = Range (zero, n, one)",
    ]
    inputs = ", ".join(f"int64 p{k}" for k in range(count))
    for k in range(count):
        body += [f"a{k} = Abs (p{k})", f"b{k} = Add (a{k}, r)", f"i{k} = Unsqueeze (b{k}, minus)"]
        body += [f"y{k + 1} = ScatterND (y{k}, i{k}, u)"]
    body += [f"y = Identity (y{count})"]
    return model_of(body, inputs=f"float[N, 2] x, float[M, 2] u, {inputs}", result="float[N, 2] y")


@hostile(8000)
def _many_writes(count: int) -> onnx.ModelProto:
    """Many scatters into many tensors, none of which has to do with another."""
    body = [f"y{k} = ScatterND (x, j, u)" for k in range(count)]
    body += ["y = Identity (y0)"]
    return model_of(
        body, inputs="float[N, 2] x, int64[1, 1] j, float[1, 2] u", result="float[N, 2] y"
    )


@hostile(14000)
def _inserted(count: int) -> onnx.ModelProto:
    """A sequence that grows by one tensor at a time."""
    body = ["q0 = SequenceConstruct (x)"]
    body += [f"q{k + 1} = SequenceInsert (q{k}, x)" for k in range(count)]
    body += [f"c = ConcatFromSequence <axis = 0> (q{count})", "rows = Identity (first)"]
    return model_of([*body, *WRITE])


@hostile(12000)
def _split(count: int) -> onnx.ModelProto:
    """A Split into many parts, all put together again, and written where they began."""
    parts = ", ".join(f"p{k}" for k in range(count))
    body = ["r = Range (zero, n, one)", f"{parts} = Split <num_outputs = {count}> (r)"]
    body += [f"rows = Concat <axis = 0> ({parts})", *WRITE]
    return model_of(body, inputs="float[N, 2] x, float[K, 2] u, int64 n", result="float[N, 2] y")


@hostile(12000)
def _reshaped(count: int) -> onnx.ModelProto:
    """Reshapes of what is written, to and fro, by sizes that the run computes."""
    body = ["s = Shape (x)", "y0 = Identity (x)", "flat = Identity (minus)"]
    for k in range(count):
        body += [f"f{k} = Reshape (y{k}, flat)", f"y{k + 1} = Reshape (f{k}, s)"]
    body += ["rows = Identity (first)", "i = Unsqueeze (rows, minus)"]
    body += [f"y = ScatterND (y{count}, i, u)"]
    return model_of(body, inputs="float[N, 2] x, float[1, 2] u", result="float[N, 2] y")
