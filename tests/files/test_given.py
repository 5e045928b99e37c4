"""Every function that takes a model takes objects with a model; its error names the types."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

import onnx_scatterx
from onnx_scatterx.compare.accepted_draws import valid_draws
from onnx_scatterx.doors.bound_cache import cache_pairs
from onnx_scatterx.doors.cli import main
from tests.helpers.external_data import with_weights
from tests.helpers.support import parse

ROW = """g (float[4, 2] x, float[1, 2] y) => (float[4, 2] z)
    <int64[1, 1] i = {1}> { z = ScatterND(x, i, y) }"""
FEED = {"x": np.ones((4, 2), np.float32), "y": np.zeros((1, 2), np.float32)}


@dataclasses.dataclass
class Program:
    """What torch.onnx.export returns has these two."""

    model: ir.Model

    @property
    def model_proto(self) -> onnx.ModelProto:
        return ir.to_proto(self.model)


class OldProgram:
    """What it returned before it had an onnx_ir.Model."""

    model_proto = parse(ROW)


ENTRIES: dict[str, Callable[[Any], object]] = {
    "optimize": lambda m: onnx_scatterx.optimize(m).report.removed == 1,
    "inspect": lambda m: onnx_scatterx.inspect(m).removed == 1,
    "explain": lambda m: "ScatterND" in onnx_scatterx.explain(m),
    "verify": lambda m: onnx_scatterx.verify(m, m, samples=2),
    "bench": lambda m: onnx_scatterx.bench(
        m, targets=["standard"], rounds=6, library=False, node_times=False
    ),
    "session": lambda m: onnx_scatterx.session(m, library=False).run(None, FEED),
    "run_model": lambda m: onnx_scatterx.run_model(m, FEED, library=False),
    "valid_draws": lambda m: valid_draws(m),
    "cache_pairs": lambda m: cache_pairs(m) == {"x": "z"},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("entry", ENTRIES)
def test_an_object_with_a_model_is_taken(entry: str, tmp_path: Path) -> None:
    onnx.save(parse(ROW), tmp_path / "m.onnx")
    given = [
        Program(ir.from_proto(parse(ROW))),
        OldProgram(),
        ir.passes.PassResult(ir.from_proto(parse(ROW)), modified=False),
        onnx_scatterx.optimize(parse(ROW), rules=[], target="standard"),
        onnx_scatterx.optimize(tmp_path / "m.onnx", rules=[], target="standard"),
        onnx_scatterx.optimize(ir.from_proto(parse(ROW)), rules=[], target="standard"),
    ]
    for model in given:
        assert ENTRIES[entry](model), model


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("wrong", [b"model", None, {"model": 1}, 7])
def test_the_error_names_the_accepted_types(entry: str, wrong: object) -> None:
    if entry == "bench" and isinstance(wrong, dict):
        return  # several models by their names
    with pytest.raises(TypeError) as raised:
        ENTRIES[entry](wrong)
    text = str(raised.value)
    for name in ("path", "onnx.ModelProto", "onnx_ir.Model", "ONNXProgram", "Result"):
        assert name in text
    assert text.endswith(f"this is a {type(wrong).__name__}")


def test_the_error_says_that_a_module_is_exported_first() -> None:
    class Head:
        def forward(self) -> None:
            """Like that of a torch.nn.Module."""

    with pytest.raises(TypeError, match=r"a Head; export it by torch\.onnx\.export\(module"):
        onnx_scatterx.optimize(Head())  # type: ignore[call-overload]


def test_the_result_is_of_the_kind_of_the_input() -> None:
    assert isinstance(onnx_scatterx.optimize(parse(ROW)).model, onnx.ModelProto)
    program = Program(ir.from_proto(parse(ROW)))
    found = onnx_scatterx.optimize(program)
    assert isinstance(found.model, ir.Model)
    assert [node.op_type for node in program.model.graph] == ["ScatterND"]  # it is not changed
    assert isinstance(onnx_scatterx.optimize(found).model, ir.Model)
    old: Any = OldProgram()
    assert isinstance(onnx_scatterx.optimize(old).model, onnx.ModelProto)


def test_external_data_are_found_by_where_a_result_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = onnx.numpy_helper.from_array(np.arange(8, dtype=np.float32).reshape(4, 2), "w")
    model = parse(
        ROW.replace("{1}>", "{1}, float[4, 2] w = {0,0,0,0,0,0,0,0}>").replace("D(x", "D(w")
    )
    for initializer in model.graph.initializer:
        if initializer.name == "w":
            initializer.CopyFrom(weights)
    place = tmp_path / "there" / "m.onnx"
    place.parent.mkdir()
    onnx.save(model, place, save_as_external_data=True, location="w.data", size_threshold=0)
    monkeypatch.chdir(tmp_path)
    result = onnx_scatterx.optimize(place, target="standard")
    assert onnx_scatterx.verify(place, result, samples=2)
    again = onnx_scatterx.optimize(result)
    assert again.source_path == place
    assert onnx_scatterx.verify(result, again, samples=2)
    out = onnx_scatterx.session(result, library=False).run(None, FEED)[0]
    assert out.tolist() == [[0, 1], [0, 0], [4, 5], [6, 7]]
    assert onnx_scatterx.run_model(again, FEED, library=False)["z"].tolist() == out.tolist()


@pytest.mark.parametrize("keys", ["", ", one_file = true"])
def test_weights_are_written_into_the_file_if_the_target_wants_one(
    keys: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the function, the command, and for each of several models; not if they are to be apart."""
    source, target = with_weights(tmp_path / "in", 400), f"standard{keys}"
    (tmp_path / "a").mkdir()
    result = onnx_scatterx.optimize(source, target=target)
    result.save(tmp_path / "a" / "m.onnx")
    several = tmp_path / "c"
    for rest in ([str(source), "-o", str(tmp_path / "b" / "m.onnx")],
                 [str(source.parent), "-o", str(several)]):  # fmt: skip
        Path(rest[-1]).parent.mkdir(exist_ok=True)
        assert main(["optimize", "--target", target, *rest]) == 0
    written = [tmp_path / "a" / "m.onnx", tmp_path / "b" / "m.onnx", several / source.name]
    for path in written:
        assert (path.parent / "weights" / "w.bin").exists() == (keys == "")
        (weights,) = onnx.load(path).graph.initializer
        assert onnx.numpy_helper.to_array(weights).tolist() == list(range(400))
    if keys:
        result.save(tmp_path / "apart.onnx", external_data=True)
        tensor = onnx.load(tmp_path / "apart.onnx", load_external_data=False).graph.initializer[0]
        assert tensor.data_location == onnx.TensorProto.EXTERNAL


@pytest.mark.filterwarnings("ignore")  # of torch's exporter
def test_a_real_export(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")

    class Put(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any, y: Any) -> Any:
            x = x.clone()
            x[:, 1:3] = y
            return x

    inputs = (torch.zeros(2, 4), torch.ones(2, 2))
    program = torch.onnx.export(Put().eval(), inputs, dynamo=True, verbose=False)
    result = onnx_scatterx.optimize(program, verify=True)
    assert result.report.removed == len(result.report.scatters) > 0
    assert isinstance(result.model, ir.Model)
    program.save(tmp_path / "in.onnx")
    result.save(tmp_path / "program.onnx")
    onnx_scatterx.optimize(tmp_path / "in.onnx").save(tmp_path / "path.onnx")
    notes = list(onnx.load(tmp_path / "in.onnx").graph.metadata_props)
    assert notes
    for name in ("program.onnx", "path.onnx"):
        assert list(onnx.load(tmp_path / name).graph.metadata_props) == notes
        session = onnxruntime.InferenceSession(tmp_path / name, providers=["CPUExecutionProvider"])
        feeds = zip(session.get_inputs(), inputs, strict=True)
        (found,) = session.run(None, {given.name: x.numpy() for given, x in feeds})
        assert found.tolist() == [[0, 1, 1, 0], [0, 1, 1, 0]]
