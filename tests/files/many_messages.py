"""A model with messages of most kinds."""

import onnx
import onnx.parser

IR_VERSION = 10  # older than device configurations, which onnx_ir then does not write


def model() -> onnx.ModelProto:
    """Return a model with messages of most kinds, one scatter, and nodes that are kept."""
    made = onnx.parser.parse_model(f"""
        <ir_version: {IR_VERSION}, opset_import: ["" : 18, "own" : 1], metadata_props: ["k": "v"]>
        main (float[N, 4] x, float[1, 4] u, bool b) => (float[N, 4] y, float[N, 4] z)
        <int64[1, 1] i = {{1}}, float[4] w = {{1, 2, 3, 4}}, float[1] s = {{2}}> {{
            p = own.scaled <factor: float = 2.0> (x)
            k = Constant <value = float[4] {{5, 6, 7, 8}}> ()
            q = Add (p, k)
            r = Mul (q, w)
            [scatter] y = ScatterND (r, i, u)
            z = If (b) <
                then_branch = then () => (float[N, 4] t) {{ t = Mul (q, s) }},
                else_branch = other () => (float[N, 4] e) {{ e = Neg (q) }}>
        }}
        <opset_import: ["" : 18], domain: "own"> scaled <factor: float = 1.0> (a) => (c) {{
            f = Constant <value_float: float = @factor> ()
            c = Mul (a, f) }}""")
    kind = onnx.helper.make_tensor_value_info("q", onnx.TensorProto.FLOAT, ["N", 4])
    made.graph.value_info.extend([kind, onnx.helper.make_tensor_value_info("gone", 1, [3])])
    annotation = made.graph.quantization_annotation.add(tensor_name="q")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    made.training_info.add().update_binding.add(key="w", value="w2")
    made.functions[0].metadata_props.add(key="k", value="v")
    made.functions[0].value_info.add(name="f").type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    for message in (made.graph, made.graph.node[2], made.graph.initializer[1], kind):
        message.metadata_props.add(key="pkg.torch.onnx.stack_trace", value="File ...")
    return made
