"""Forty statements that exporters turn into scatters: none is left, and the results are the same.

Each is exported with fixed and with symbolic sizes. Eager PyTorch, the new program and its export
in ONNX Runtime are compared at the sizes of the export; symbolic exports at other sizes, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import onnx_scatterx.torch

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `just programs` runs this")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of PyTorch's exporter
]

SIZES = {"B": 3, "T": 9, "S": 4, "N": 5, "K": 2, "H": 6, "W": 7}
OTHER = {"B": 2, "T": 12, "S": 7, "N": 3, "K": 2, "H": 5, "W": 8}
# The sizes of each tensor: a number, or the name of one that is symbolic in a dynamic export. x is
# a copy of the first input; m is a mask, i are indices and p is a position.
STATEMENTS = {
    "x[:, 2:4] = v": {"x": "B T", "v": "B 2"},
    "x[..., :2] += v": {"x": "B T", "v": "B 2"},
    "x[:, 2:-2] = 0.5": {"x": "B T"},
    "x[:, -1] = 0": {"x": "B T"},
    "x[:, -3:-1] = v": {"x": "B T", "v": "B 2"},
    "x[:, 0] = v": {"x": "B T", "v": "B"},
    "x[:, 2] += v": {"x": "B T", "v": "B"},
    "x[:, 1:] = v[:, :-1]\nx[:, 0] = 2": {"x": "B T", "v": "B T"},
    "x[:, :2] = v\nx[:, 2:] = w": {"x": "B 6", "v": "B 2", "w": "B 4"},
    "x[..., ::2] = -v[..., 1::2]\nx[..., 1::2] = v[..., ::2]": {"x": "B T 8", "v": "B T 8"},
    "x[:, ::2] = v": {"x": "B 8", "v": "B 4"},
    "x[:, 1:8:3] = v": {"x": "B 10", "v": "B 3"},
    "x[:, ::3] = 0": {"x": "B T"},
    "x[:, :v.shape[1]] = v": {"x": "B T", "v": "B S"},
    "x[:, x.shape[1] // 2:] = 0": {"x": "B T"},
    "x[:, 5:3] = 7": {"x": "B T"},
    "x[:, -100:100] = v": {"x": "B T", "v": "B T"},
    "x[:] = v": {"x": "B T", "v": "B T"},
    "x[:, 1:3, 2:4] = v": {"x": "B H W", "v": "B 2 2"},
    "x[:, 1:-1, 2:] = v[:, 1:-1, 2:]": {"x": "B H W", "v": "B H W"},
    "x = x.new_full((x.shape[0], 8, 10), 0.5)\nx[:, 1:6, 2:9] = v": {"x": "B", "v": "B 5 7"},
    "for k in range(3): x[:, 2 * k : 2 * k + 4] += v[:, k]": {"x": "B 8", "v": "B 3 4"},
    "x[:, :-2] = 1\nx[:, -2:] = 2\nx[:, 3] = 3": {"x": "B T"},
    "x[:, 1:3] = v\nx = x[:, 1:2] * 2": {"x": "B T", "v": "B 2"},
    "x.t()[1:3] = v": {"x": "B T", "v": "2 B"},
    "x.narrow(1, 2, 3).mul_(2)": {"x": "B T"},
    "x.diagonal().copy_(v)": {"x": "N N", "v": "N"},
    "x.diagonal(1, 1, 2).add_(1)": {"x": "B 4 5"},
    "x[x > 0] = 0": {"x": "B T"},
    "x[m] = v[m]": {"x": "B T", "v": "B T", "m": "B T"},
    "x[m] = x[m] * 2 + 1": {"x": "B T", "m": "B"},
    "x[m] = torch.exp(x[m])": {"x": "B T", "m": "B T"},
    "x.masked_scatter_(m, v)": {"x": "B T", "v": "B T", "m": "B T"},
    "x[:, [0, 3]] = v": {"x": "B T", "v": "B 2"},
    "x[:, torch.arange(2, 5)] = v": {"x": "B T", "v": "B 3"},
    "x[torch.arange(x.shape[0]), i] = v": {"x": "B T", "v": "B", "i": "B"},
    "x[i] = v": {"x": "B T", "v": "K T", "i": "K"},
    "x.index_copy_(1, i, v)": {"x": "B T 4", "v": "B K 4", "i": "K"},
    "x[:, :, p] = v": {"x": "B 2 T 4", "v": "B 2 1 4", "p": "1"},
    "k = p.item()\nx[:, k : k + 2] = v": {"x": "B T", "v": "B 2", "p": "1"},
}


def module(text: str, shapes: dict[str, str]) -> Any:
    """Return a module whose forward is the statement, on a copy of x."""
    lines = "\n    ".join(["x = x.clone()", *text.split("\n"), "return x"])
    names: dict[str, Any] = {"torch": torch}
    exec(f"def forward(self, {', '.join(shapes)}):\n    {lines}\n", names)
    return type("Put", (torch.nn.Module,), {"forward": names["forward"]})()


def inputs(shapes: dict[str, str], sizes: dict[str, int]) -> tuple[Any, ...]:
    """Draw the tensors."""
    torch.manual_seed(0)
    given = []
    for name, shape in shapes.items():
        dims = [sizes[d] if d in sizes else int(d) for d in shape.split()]
        if name == "m":
            given.append(torch.rand(dims) < 0.5)
        elif name in "ip":
            given.append(torch.randperm(max(sizes["B"], 2))[: dims[0]])
        else:
            given.append(torch.randn(dims))
    return tuple(given)


def exported(statement: Any, shapes: dict[str, str], dynamic: bool) -> Any:
    """Return the program; sizes have names, unless PyTorch finds two of them equal."""
    given = inputs(shapes, SIZES)
    if not dynamic:
        return torch.export.export(statement, given)
    dims = {name: torch.export.Dim(name.lower(), min=6 if name == "T" else 2) for name in SIZES}

    def program(dims: dict[str, Any]) -> Any:
        free = ({a: dims[d] for a, d in enumerate(shape.split()) if d in dims}
                for shape in shapes.values())  # fmt: skip
        return torch.export.export(statement, given, dynamic_shapes=tuple(free))

    try:
        return program(dims)
    except torch._dynamo.exc.UserError:
        return program(dict.fromkeys(SIZES, torch.export.Dim.AUTO))


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("text", STATEMENTS)
def test_statement(text: str, dynamic: bool) -> None:
    import onnxruntime as ort

    shapes = STATEMENTS[text]
    statement = module(text, shapes)
    program = onnx_scatterx.torch.remove_scatters(exported(statement, shapes, dynamic))
    model = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    assert [node.op_type for node in nodes if "Scatter" in node.op_type] == []
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [put.name for put in session.get_inputs()]
    for sizes in (SIZES, OTHER) if dynamic else (SIZES,):
        given = inputs(shapes, sizes)
        wanted = statement(*(tensor.clone() for tensor in given)).numpy()
        found = program.module()(*(tensor.clone() for tensor in given)).numpy()
        np.testing.assert_array_equal(found, wanted)
        feeds = dict(zip(names, (tensor.numpy() for tensor in given), strict=True))
        np.testing.assert_array_equal(session.run(None, feeds)[0], wanted)
