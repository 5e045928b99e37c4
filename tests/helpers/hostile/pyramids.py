"""The levels of a feature pyramid, written one after the other into one tensor."""

import onnx
import onnx.parser
from onnx import helper

from tests.helpers.hostile.registry import hostile


@hostile(8)
def _unrelated_pyramid(levels: int) -> onnx.ModelProto:
    """A pyramid into a tensor of which nothing says that it holds all levels."""
    model = pyramid(levels)
    (made,) = (n for n in model.graph.node if n.op_type == "ConstantOfShape")
    model.graph.input.append(helper.make_tensor_value_info(made.output[0], 1, [1, "P", 4]))
    model.graph.node.remove(made)
    return model


def pyramid(levels: int = 3, channels: int = 4) -> onnx.ModelProto:
    """Write the levels of a feature pyramid one after the other into one tensor.

    Level k has (h + 1) // 2 rows and (w + 1) // 2 columns, where level k - 1 has h and w, as pools
    of stride 2 make them; ``out[:, start : start + rows * columns] = level`` for each. No rule of a
    pool says that its extents are more than 0, which makes the sizes terms with cases in cases.
    """
    body = []
    total = "zero"
    for k in range(1, levels + 1):
        body += [
            f"x{k} = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]>"
            f" ({'x' if k == 1 else f'x{k - 1}'})",
            f"s{k} = Shape (x{k})",
            f"h{k} = Gather (s{k}, two)",
            f"w{k} = Gather (s{k}, three)",
            f"n{k} = Mul (h{k}, w{k})",
            f"e{k} = Add ({total}, n{k})",
            f"f{k} = Reshape (x{k}, flat)",
            f"u{k} = Transpose <perm = [2, 0, 1]> (f{k})",
        ]
        total = f"e{k}"
    body += [
        f"rows = Reshape ({total}, minus)",
        "dims = Concat <axis = 0> (batch, rows, depth)",
        "o0 = ConstantOfShape (dims)",
    ]
    for k in range(1, levels + 1):
        body += [
            f"t{k} = Transpose <perm = [1, 0, 2]> (o{k - 1})",
            f"so{k} = Shape (o{k - 1})",
            f"g{k} = Gather (so{k}, one)",
            f"r{k} = Range (zero, g{k}, one)",
            f"a{k} = Reshape ({'zero' if k == 1 else f'e{k - 1}'}, minus)",
            f"b{k} = Reshape (e{k}, minus)",
            f"c{k} = Slice (r{k}, a{k}, b{k})",
            f"i{k} = Unsqueeze (c{k}, minus)",
            f"p{k} = ScatterND (t{k}, i{k}, u{k})",
            f"o{k} = Transpose <perm = [1, 0, 2]> (p{k})",
        ]
    body += [f"y = Identity (o{levels})"]
    return onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 18]>
        g (float[1, {channels}, H, W] x) => (float[1, M, {channels}] y)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64 three = {{3}},
         int64[1] minus = {{-1}}, int64[3] flat = {{1, {channels}, -1}}, int64[1] batch = {{1}},
         int64[1] depth = {{{channels}}}> {{ {chr(10).join(body)} }}""")
