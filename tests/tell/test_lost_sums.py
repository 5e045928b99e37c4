"""A scatter that has the form of an `index_add` of TorchScript is told of, and is not changed."""

import pytest

import onnx_scatterx
from tests.helpers.support import parse

INDEX_ADD = """g (float[N,4] x, int64[E] at, float[E,4] u) => (float[N,4] y) {
    zero = Constant <value_ints = [0]> ()  one = Constant <value_ints = [1]> ()
    shape = Shape (x)  zeros = ConstantOfShape (shape)
    row = Slice (x, zero, one, zero)  wide = Shape (row)  updates = Expand (u, wide)
    column = Unsqueeze (at, one)  whole = Shape (updates)  i = Expand (column, whole)
    z = ScatterElements <axis = 0> (zeros, i, updates)
    y = Add (x, z) }"""


MAYBE = "if the module adds such updates up, the export has lost their sums"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("", "", "TorchScript writes index_add so, and loses the sums"),
        ("Expand (u, wide)", "Identity (u)", MAYBE),
        ("y = Add (x, z)", "y = Sub (x, z)", None),
        ("<axis = 0>", '<axis = 0, reduction = "add">', None),
        ("pytorch", "another", None),
    ],
)
def test_index_add_of_torchscript(old: str, new: str, told: str | None) -> None:
    """Whether it is kept, becomes ScatterX or is removed."""
    model = parse(INDEX_ADD.replace(old, new) if old else INDEX_ADD)
    model.producer_name = "another" if new == "another" else "pytorch"
    for target, fix in ("scatterx", {}), ("standard", {}), ("standard", {"N": 3, "E": 5}):
        report = onnx_scatterx.inspect(model, target=target, fix=fix)
        assert report.removed == bool(fix)
        text = str(report)
        assert text.count(": export with dynamo=True") == (told is not None), text
        assert told is None or told in text


MEAN = "target=torch.ops.aten.scatter_reduce.two](args = (%x, 0, %at, %u, mean))"


@pytest.mark.parametrize(
    ("noted", "told"),
    [({"pkg.torch.onnx.fx_node": MEAN}, True), ({"pkg.torch.onnx.fx_node": "aten.add"}, False)],
)
def test_mean_of_dynamo(noted: dict[str, str], told: bool) -> None:
    """To export with dynamo=True is no remedy: another exporter notes nothing at its nodes."""
    model = parse(INDEX_ADD)
    model.producer_name = "pytorch"
    (scatter,) = (node for node in model.graph.node if node.op_type == "ScatterElements")
    for key, value in noted.items():
        scatter.metadata_props.add(key=key, value=value)
    text = str(onnx_scatterx.inspect(model, target="standard"))
    assert ("loses the means: in place of zeros.scatter_reduce" in text) is told
    assert "go to the same element" in text
    assert "dynamo=True" not in text
