"""Programs of PyTorch before and after: the same outputs, guards, signature and operators."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx.torch
from onnx_scatterx.errors import ScatterXError

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `just programs` runs this")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of PyTorch's exporter
]


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def export(function: Callable[..., Any], given: Any, dynamic: bool = False, **options: Any) -> Any:
    put = type("Put", (torch.nn.Module,), {"forward": lambda self, *args: function(*args)})()
    auto = torch.export.Dim.AUTO
    shapes = (tuple(dict.fromkeys(range(t.dim()), auto) for t in given),) if dynamic else None
    copies = tuple(tensor.clone() for tensor in given)
    return torch.export.export(put, copies, dynamic_shapes=shapes, **options)


def environment(program: Any) -> Any:
    values = (node.meta.get("val") for node in program.graph.nodes)
    return next(value.fake_mode.shape_env for value in values if hasattr(value, "fake_mode"))


def operators(program: Any) -> list[str]:
    return [str(n.target) for n in program.graph.nodes if n.op == "call_function"]


def check(function: Callable[..., Any], *given: Any, dynamic: bool = False) -> Any:
    """Compare eager PyTorch, the new program, and its export in ONNX Runtime."""
    program = onnx_scatterx.torch.remove_scatters(export(function, given, dynamic))
    assert not [name for name in operators(program) if "scatter" in name or "_put" in name]
    wanted = function(*(tensor.clone() for tensor in given))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    found = program.module()(*(tensor.clone() for tensor in given))
    found = found if isinstance(found, tuple) else (found,)
    for a, b in zip(wanted, found, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    import onnxruntime as ort

    model = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [put.name for put in session.get_inputs()]
    tensors = (tensor.numpy() for tensor in given)
    results = session.run(None, dict(zip(names, tensors, strict=True)))[-len(wanted) :]
    for a, result in zip(wanted, results, strict=True):
        np.testing.assert_array_equal(a.numpy(), result)
    return program


def box(x: Any, v: Any) -> Any:
    x = x.clone()
    x[:, 1:3] += v
    x[1:, :-1] = 0
    return x


@pytest.mark.parametrize("size", [0, 1, 2, 5])
def test_sizes(size: int) -> None:
    check(box, torch.randn(size, 4), torch.randn(size, 2))


def test_symbolic_sizes_get_no_guards() -> None:
    given = (torch.randn(4, 9), torch.randn(4, 2))
    plain = export(box, given, dynamic=True).run_decompositions({})
    new = onnx_scatterx.torch.remove_scatters(export(box, given, dynamic=True))
    before, after = environment(plain), environment(new)
    assert [str(g.expr) for g in before.guards] == [str(g.expr) for g in after.guards]
    assert plain.range_constraints == new.range_constraints
    for sizes in ((3, 7), (9, 4)):
        other = (torch.randn(*sizes), torch.randn(sizes[0], 2))
        np.testing.assert_array_equal(new.module()(*other), box(*other))


def test_sizes_of_different_names_get_no_guards() -> None:
    def chosen(x: Any, v: Any, m: Any) -> Any:
        x = x.clone()
        x[:, 1:8:3] = 2
        x[m] = v[m]
        return x

    given = (torch.randn(4, 9), torch.randn(4, 9), torch.ones(4, 9) > 0)
    plain = export(chosen, given, dynamic=True).run_decompositions({})
    new = onnx_scatterx.torch.remove_scatters(export(chosen, given, dynamic=True))
    before, after = environment(plain), environment(new)
    assert {str(g.expr) for g in after.guards} <= {str(g.expr) for g in before.guards}


def at_run_time(x: Any, v: Any, p: Any) -> Any:
    x, start = x.clone(), p.item()
    x[:, start : start + 2] = v
    return x + 1


@pytest.mark.parametrize("start", [0, 3, 7, -9, -5, -3])
def test_positions_of_the_run(start: int) -> None:
    given = (torch.randn(4, 9), torch.randn(4, 2), torch.tensor([start]))
    check(at_run_time, *given)


def test_a_mutated_input_keeps_its_entry() -> None:
    def write(x: Any, v: Any) -> Any:
        x[:, 1:3] = v
        return x * 2

    given = (torch.randn(2, 4), torch.randn(2, 2))
    program = check(write, *given)
    assert list(program.graph_signature.user_inputs_to_mutate.values()) == ["args_0"]
    assert "aten.copy.default" not in operators(program)
    x, v = (tensor.clone() for tensor in given)
    program.module()(x, v)
    np.testing.assert_array_equal(x[:, 1:3], v)


def test_a_mutated_buffer_keeps_its_entry() -> None:
    class Cache(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("rows", torch.zeros(4, 3))

        def forward(self, x: Any) -> Any:
            self.rows[1:3] = x
            return self.rows.sum(0)

    exported = torch.export.export(Cache(), (torch.ones(2, 3),))
    program = onnx_scatterx.torch.remove_scatters(exported)
    assert list(program.graph_signature.buffers_to_mutate.values()) == ["rows"]
    module = program.module()
    module(torch.full((2, 3), 5.0))
    np.testing.assert_array_equal(module.rows[:, 0], [0, 5, 5, 0])


def test_no_output_is_an_input() -> None:
    def cover(x: Any, v: Any) -> Any:
        x = x.clone()
        x[:] = v
        return x, x.view(-1), v + 1

    given = (torch.randn(2, 4), torch.randn(2, 4))
    program = check(cover, *given)
    x, flat, _ = program.module()(*given)
    addresses = [tensor.data_ptr() for tensor in (*given, x)]
    assert len(set(addresses)) == 3
    assert flat.data_ptr() not in addresses[:2]


def test_other_operators_stay() -> None:
    def many(x: Any, v: Any) -> Any:
        x = torch.nn.functional.gelu(x)
        x[:, :2] = torch.nn.functional.layer_norm(v, (2,))
        return torch.nn.functional.softmax(x, -1)

    given = (torch.randn(2, 4), torch.randn(2, 2))
    plain = {*operators(export(many, given).run_decompositions({}))}
    new = {*operators(onnx_scatterx.torch.remove_scatters(export(many, given)))}
    assert {name for name in plain - new if "copy" not in name} == {"aten.slice_scatter.default"}
    assert new - plain == {"aten.cat.default"}


def test_layouts_that_change() -> None:
    """The copy of a transposed tensor is transposed in memory, and a cat is not."""

    def transposed(x: Any, v: Any) -> Any:
        x = (x.permute(0, 2, 1) * 2).contiguous().permute(0, 2, 1)
        x[:, 1] = v
        return x.permute(0, 2, 1).view(-1), x.transpose(1, 2).flatten()

    check(transposed, torch.randn(2, 3, 4), torch.randn(2, 4))


@pytest.mark.parametrize("last_bits", [False, True])
def test_functions_of_what_a_mask_chooses(last_bits: bool) -> None:
    def functions(x: Any) -> Any:
        x[x > 0] = x[x > 0] * 2 + 1
        x[x < -1] = torch.exp(x[x < -1])
        return x

    given = (torch.randn(5, 7),)
    program = export(functions, given)
    new = onnx_scatterx.torch.remove_scatters(program, last_bits=last_bits)
    assert ("aten.cumsum.default" in operators(new)) != last_bits
    np.testing.assert_allclose(new.module()(given[0].clone()), functions(given[0].clone()))


def test_a_division_by_zero_stays_where_the_mask_is() -> None:
    def divided(x: Any, y: Any) -> Any:
        x = x.clone()
        x[y != 0] = x[y != 0] // y[y != 0]
        return x

    check(divided, torch.arange(6), torch.tensor([0, 1, 2, 0, 3, 4]))


def test_branches() -> None:
    def branch(x: Any, v: Any) -> Any:
        def put(x: Any, v: Any) -> Any:
            return torch.slice_scatter(x, v, 0, 1, 3)

        def cover(x: Any, v: Any) -> Any:
            return torch.slice_scatter(x, x * 2, 0)

        return torch.cond(x.sum() > 0, put, cover, (x, v))

    for x in (torch.ones(4), -torch.ones(4)):
        program = onnx_scatterx.torch.remove_scatters(export(branch, (x, torch.ones(2))))
        codes = [m.code for m in program.graph_module.modules() if hasattr(m, "code")]
        assert not any("scatter" in code for code in codes)
        given = (x, torch.full((2,), 7.0))
        np.testing.assert_array_equal(program.module()(*given), branch(*given))


@pytest.mark.parametrize(
    ("write", "left"),
    [
        ("x[:, 2:4] = v", 0),
        ("x[:, -3:-1] = v", 0),
        ("x[..., :2] += 1", 0),
        ("x[:, 3:] = 2", 0),
        ("x[:, 7:100] = 4", 0),
        ("x[:, 2:-2] = 1", 1),
        ("x[:, 5:2] = 3", 1),
        ("x[:, -100:2] = 4", 1),
    ],
)
def test_the_table_of_the_page(
    write: str, left: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It writes slices at numbers by Slice and Concat; the others are written as by PyTorch."""
    import onnxruntime as ort

    page = (Path(__file__).parents[2] / "docs" / "before_onnx.md").read_text()
    section = page.partition("## A table for the exporter")[2]
    code = section.partition("```python")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(f"def put(x, v):\n    x = x.clone()\n    {write}\n    return x", names)
    given = (torch.randn(4, 9), torch.randn(4, 2))
    monkeypatch.chdir(tmp_path)
    exec(code, {"module": export(names["put"], given), "inputs": None})
    model = onnx.load("model.onnx")
    assert sum("Scatter" in node.op_type for node in model.graph.node) == left
    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    put = [i.name for i in session.get_inputs()]
    feeds = dict(zip(put, (tensor.numpy() for tensor in given), strict=True))
    np.testing.assert_array_equal(session.run(None, feeds)[0], names["put"](*given))


def filled(x: Any) -> Any:
    x = x.clone()
    x[:, 2:4] = 0
    return x


def test_the_program_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "before_onnx.md").read_text()
    code = page.partition("## The program")[2].partition("```python")[2].partition("```")[0]

    write = type("Write", (torch.nn.Module,), {"forward": lambda _, x: filled(x)})()
    monkeypatch.chdir(tmp_path)
    exec(code, {"module": write, "inputs": (torch.randn(4, 9),)})
    assert not [n for n in onnx.load("model.onnx").graph.node if "Scatter" in n.op_type]


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ScatterXError, match="needs PyTorch"):
        onnx_scatterx.torch.remove_scatters(None)


def test_a_module_is_no_program() -> None:
    with pytest.raises(TypeError, match=r"is that of torch.export.export\(.*; this is a Linear"):
        onnx_scatterx.torch.remove_scatters(torch.nn.Linear(2, 2))


def test_phases_of_an_image() -> None:
    """Rows that were just written are not read again: four writes are three cats."""

    def phases(x: Any) -> Any:
        y = x.new_zeros(1, 4, 6)
        for k in range(4):
            y[:, k // 2 :: 2, k % 2 :: 2] = x[k]
        return y

    program = check(phases, torch.randn(4, 1, 2, 3))
    assert operators(program).count("aten.cat.default") == 3
    assert "aten.new_zeros.default" not in operators(program)


def test_weights_of_the_best_experts() -> None:
    def weights(scores: Any, places: Any, best: Any) -> Any:
        return torch.zeros_like(scores).scatter_(1, places, best)

    places = torch.tensor([[1, 3], [0, 2], [2, 2]])  # the last of equal places wins
    check(weights, torch.randn(3, 4), places, torch.randn(3, 2))


WRITES = (
    "x[:, {a}:{b}] = x[:, {a}:{b}] * 2",
    "x[{a}:{b}] += 1",
    "x[:, {a}:{b}:{s}] = {c}",
    "x[{a}:{b}, {c}:] = v[{a}:{b}, {c}:]",
    "x[:, ::{s}] = v[:, ::{s}]",
    "x[1:, :-1] = x[:-1, 1:].clone()",
    "x[x > {c}] = {a}",
    "x[v > 0] = x[v > 0] + 1",
    "x.diagonal({c}).add_(1)",
    "x.diagonal({c}).fill_({a})",
    "x[{s} - 1 :: {s}, {c}::2] += 1",
    "x[:, {c}:] = x[:, {c}:{c} + 1]",
    "x.t()[{a}:{b}] = v.t()[{a}:{b}]",
    "x.view(-1)[{a}:{b}] = 5",
    "y = x[:, {a}:{b}].sum(1, keepdim=True)\nx[:, {a}:{b}] = y",
)


@pytest.mark.parametrize("seed", range(8))
def test_programs_that_are_drawn(seed: int) -> None:
    """Chains of writes and reads, on tensors of all kinds of sizes."""
    draw = np.random.default_rng(seed)
    for _ in range(2):
        lines = []
        for _ in range(draw.integers(1, 5)):
            a, b, c = draw.integers(-5, 6, 3)
            text = WRITES[draw.integers(len(WRITES))]
            lines += text.format(a=a, b=b, c=c % 3, s=draw.integers(1, 4)).split("\n")
        body = "\n    ".join(["x = x * 1", *lines, "return x, x[:, 1:]"])
        names: dict[str, Any] = {}
        exec(f"def drawn(x, v):\n    {body}", names)
        shape = tuple(int(size) for size in draw.integers(0, 6, 2))
        given = (torch.randn(shape), torch.randn(shape))
        try:
            wanted = names["drawn"](*(tensor.clone() for tensor in given))
        except (RuntimeError, IndexError):
            continue  # PyTorch refuses it
        program = onnx_scatterx.torch.remove_scatters(export(names["drawn"], given))
        for a, b in zip(wanted, program.module()(*given), strict=True):
            np.testing.assert_array_equal(a.numpy(), b.numpy(), body)


ONES = [(kind, 1) for kind in ("bool", "uint8", "int64", "float16", "float64", "int16")]
FLOATS = [("float64", x) for x in (0.1, 1e300, float("nan"), -0.0)]


@pytest.mark.parametrize(
    ("kind", "number"), [*ONES, *FLOATS, ("int64", 2**53 + 1), ("float16", 0.1)]
)
def test_paddings_of_every_type(kind: str, number: float) -> None:
    def end(x: Any) -> Any:
        x = x.clone()
        x[:, -2:] = number
        return x

    x = torch.ones(2, 5).to(getattr(torch, kind))
    program = onnx_scatterx.torch.remove_scatters(export(end, (x,)))
    a, b = end(x).numpy(), program.module()(x).numpy()
    assert a.tobytes() == b.tobytes()
    check(end, x)

    def framed(x: Any) -> Any:
        y = torch.full((2, x.shape[1] + 3), number, dtype=x.dtype)
        y[:, 3:] = x
        return y

    for dynamic in (False, True):
        check(framed, x, dynamic=dynamic)


@pytest.mark.parametrize("widths", [[1, 0], [-1, 0], [0, 2], [2, -1]])
@pytest.mark.parametrize("dynamic", [False, True])
def test_what_is_padded_already(widths: list[int], dynamic: bool) -> None:
    """The padding of a pad is one pad, unless the inner one cuts elements off."""
    pad = torch.ops.aten.constant_pad_nd

    def padded(x: Any) -> Any:
        y = pad(x, widths)  # the number is left out: it is 0
        z = torch.zeros(y.shape[0] + 2, dtype=x.dtype)
        z[2:] = y
        return z

    check(padded, torch.randn(5, dtype=torch.float64), dynamic=dynamic)


def test_tensors_without_dims_are_promoted_as_before() -> None:
    def scaled(x: Any, m: Any, y: Any) -> Any:
        x = x.clone()
        x[m] = x[m] * y
        return x

    x, m = torch.randn(4), torch.tensor([True, False, True, True])
    check(scaled, x, m, torch.tensor(2.5, dtype=torch.float64))
