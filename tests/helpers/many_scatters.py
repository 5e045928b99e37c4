"""A model with a given number of scatters, of several forms; some of them are kept."""

import onnx
import onnx.parser

FORMS = (
    "a{k} = Constant <value = int64[2,1] {{{p}, {q}}}> ()  y{k} = ScatterND ({x}, a{k}, u)",
    "y{k} = ScatterND ({x}, rows, u)",
    "t{k} = Transpose <perm = [1, 0]> ({x})  a{k} = Constant <value = int64[2,1] {{{p}, {q}}}> ()"
    "  s{k} = ScatterND (t{k}, a{k}, v)  y{k} = Transpose <perm = [1, 0]> (s{k})",
    "y{k} = ScatterElements <axis = 0> ({x}, places, e)",
    "l{k} = Shape <start = 0, end = 1> (w)  m{k} = Squeeze (l{k})  r{k} = Range (zero, m{k}, one)"
    "  i{k} = Unsqueeze (r{k}, last)  y{k} = ScatterND ({x}, i{k}, w)",
)


def many_scatters(count: int) -> onnx.ModelProto:
    """Return a model in which three of five scatters can be removed, with a Relu behind each."""
    lines, x = [], "x"
    for k in range(count):
        lines.append(FORMS[k % len(FORMS)].format(k=k, x=x, p=k % 5, q=k % 5 + 2))
        lines.append(f"z{k} = Relu (y{k})")
        x = f"z{k}"
    body = "\n".join(lines)
    return onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 18]>
        many (float[64, 32] x, float[2, 32] u, float[2, 64] v, int64[2, 1] rows,
              int64[3, 32] places, float[3, 32] e, float[M, 32] w) => (float[64, 32] out)
        <int64 zero = {{0}}, int64 one = {{1}}, int64[1] last = {{-1}}> {{
            {body}
            out = Identity ({x}) }}""")
