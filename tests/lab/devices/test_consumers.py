"""What adapters read out of the files and words of their consumers, which need not be installed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import onnx
import pytest

from onnx_scatterx.lab.devices.adapter import Answer, reason_in
from onnx_scatterx.lab.devices.consumer import consumer_names, consumer_of
from onnx_scatterx.lab.devices.consumers import mnn, ncnn, ortweb, rknn, sophgo, tflite
from onnx_scatterx.processes import NoReply
from onnx_scatterx.targets.catalogue import profile_names
from tests.helpers.support import parse

RKNN_TABLE = """
D RKNN: [10:38:48.596]             Network Layer Information Table
D RKNN: [10:38:48.596] ID OpType DataType Target InputShape OutputShape Cycles RW(KB) FullName
D RKNN: [10:38:48.596] 0  InputOperator  FLOAT16 CPU \\           (5,3)  0/0/0 0 InputOperator:x
D RKNN: [10:38:48.596] 1  ScatterND      FLOAT16 CPU (5,3),(2,1)  (5,3)  0/0/0 0 ScatterND:z
D RKNN: [10:38:48.596] 2  Concat         FLOAT16 NPU (5,3),(5,3)  (10,3) 9/1/9 1 Concat:w
D RKNN: [10:38:48.596] 3  ScatterND      INT64   CPU (5,3),(2,1)  (5,3)  0/0/0 0 ScatterND:v
D RKNN: [10:38:48.596] 4  OutputOperator FLOAT16 CPU (10,3)       \\    0/0/0 0 OutputOperator:w
"""


@pytest.mark.parametrize("name", ["mnn", "ncnn", "ortweb", "qnn", "rknn", "sophgo", "tflite"])
def test_each_has_a_profile(name: str) -> None:
    assert name in consumer_names()
    consumer = consumer_of(name)
    assert consumer.adapter.profile in profile_names()
    assert consumer.packages


def test_layers_on_the_cpu_of_the_chip() -> None:
    """Inputs and outputs are not layers; each kind is reported once."""
    assert rknn._on_cpu(RKNN_TABLE) == (("ScatterND",), 3)
    assert rknn._on_cpu("nothing") == ((), 0)


def test_the_reason_of_rknn() -> None:
    said = "I building\nE RKNN: [10:38:48.615] Unkown op target: 0\nE ValueError: no rank 5\nW x\n"
    assert rknn._reason(said) == "ValueError: no rank 5"
    assert rknn._reason("I building\n") == "no reason given"
    assert rknn._last_line("Traceback\n  File\nKeyError: 'Pad'\n\n=====\n") == "KeyError: 'Pad'"


def test_element_types_of_pnnx() -> None:
    text = (
        "7767517\n3 2\n"
        "pnnx.Input   in0  0 1 0 #0=(1,3,4)f32\n"
        "pnnx.Output  out1 1 0 0 #0=(1,3,4)f32\n"
        "pnnx.Output  out0 1 0 12 #12=(1,3)i64\n"
    )
    assert ncnn._output_types(text) == ["i64", "f32"]


@pytest.mark.skipif(os.name == "nt", reason="no signals")
def test_a_converter_that_the_system_kills_needs_more_memory() -> None:
    assert ncnn._end(255) == "pnnx ended with exit status 255"
    killed = ncnn._end(-9)
    assert NoReply("error", f"{killed}: shape_inference").is_of_memory
    assert not NoReply("error", ncnn._end(-11)).is_of_memory


def test_the_batch_axis_of_pnnx() -> None:
    code = "ex.input('in0', ncnn.Mat(in0.numpy(), batch_index=0).clone())"
    pattern = r"\bin0\.numpy\(\), batch_index=(\d+)"
    assert ncnn._batch_axis(code, pattern) == 0
    assert ncnn._batch_axis("", pattern) == 233


def test_inputs_of_32_bits() -> None:
    assert ncnn._array(np.array([[True, False]])).dtype == np.int32
    assert ncnn._array(np.zeros(2, np.float64)).dtype == np.float32


def test_names_that_the_converter_of_mnn_prints() -> None:
    text = "Start\ninputTensors : [ x, i, u, ]\noutputTensors: [ z, ]\nConverted Success!\n"
    assert mnn._ends(text) == (["x", "i", "u"], ["z"])
    said = "a\n[10:51] :220: These Op Not Support: ONNX::IsNaN\nb\n"
    assert reason_in(said, *mnn._SIGNS).endswith("IsNaN")


def test_names_that_tpu_mlir_gives_to_outputs() -> None:
    one, two = np.zeros(1), np.ones(1)
    assert sophgo._named(["y"], {"y_Add": one}) == {"y": one}
    assert sophgo._named(["y", "z"], {"y_Add": one, "s_Slice": two}) == {"y": one, "z": two}
    assert sophgo._named(["y", "z"], {"y_Add": one}) == {"y": one}


def test_the_reason_of_tpu_mlir() -> None:
    said = "INFO : begin\nAssertionError: rank\nRuntimeError: [!Error]: tpuc-opt a.mlir\n"
    assert reason_in(said, *sophgo._SIGNS) == "AssertionError: rank"
    assert reason_in("INFO : begin\n[Running]: mv\n", *sophgo._SIGNS) == "[Running]: mv"


def test_pnnx_writes_into_the_scratch_directory_only(tmp_path: Path) -> None:
    """It writes beside the model, so the model and the files beside it are linked."""
    (tmp_path / "model.onnx").write_bytes(b"1")
    (tmp_path / "model.data").write_bytes(b"2")
    place = tmp_path / "scratch"
    place.mkdir()
    ncnn._link(tmp_path / "model.onnx", place)
    assert {p.name for p in place.iterdir()} == {"model.onnx", "model.data", "to_convert.onnx"}
    assert (place / "to_convert.onnx").read_bytes() == b"1"


TWO = """g (float[2, 3, 4] x, float16[N] h) => (float[2, 3, 4] y, float16[N] z) {
    y = Neg (x)
    z = Abs (h) }"""


def fake_tflite(
    monkeypatch: pytest.MonkeyPatch, directory: Path, *, images: bool = False, error: str = ""
) -> list[onnx.ModelProto]:
    """Put modules in the place of onnx2tf and LiteRT; return the models that are converted.

    The network renames its inputs and outputs, gives outputs in another order, and returns y with
    the channels at the end if `images`. It is saved with all variables that its function reads, and
    only then written.
    """
    converted: list[onnx.ModelProto] = []

    def convert(file: str, **options: object) -> object:
        model = onnx.load(file)
        converted.append(model)
        assert options["disable_model_save"]
        assert options["keep_shape_absolutely_input_names"] == ["v_x", "v_h"]
        if error:
            os.write(1, f"ERROR: no such axis\nERROR: onnx_op_name: {error}\n".encode())
            raise SystemExit(1)
        shapes = [[d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.output]
        moved = images and len(shapes[0]) == 3
        return SimpleNamespace(
            input_names=["v_x", "renamed"],
            output_names=["k0", "k1"],
            onnx_output_layouts={"v_y": images, "v_z": False},
            outputs=[
                SimpleNamespace(shape=shape)
                for shape in ([2, 4, 3] if moved else shapes[0], shapes[1])
            ],
        )

    def save(module: object, path: str, signatures: object) -> None:
        assert module.weights == ["weight"]  # type: ignore[attr-defined]
        Path(path).mkdir()

    class Converter:
        target_spec = SimpleNamespace(supported_ops=())

        def __init__(self, path: str, *_: object) -> None:
            assert Path(path).is_dir()

        def _convert_from_saved_model(self, _: object) -> bytes:
            assert lite._deduplicate_readonly_buffers(b"kept") == b"kept"
            assert self.target_spec.supported_ops == ["own", "others"]
            return b"float32"

    class Runner:
        def get_input_details(self) -> object:
            return {"v_x": {"dtype": np.float32}, "renamed": {"dtype": np.float32}}

        def __call__(self, v_x: np.ndarray, renamed: np.ndarray) -> object:
            assert renamed.dtype == np.float32
            flat = len(converted) == 2
            return {"k1": np.abs(renamed), "k0": -v_x.reshape(-1 if flat else v_x.shape)}

    class Interpreter:
        get_signature_runner = Runner

        def __init__(self, path: str) -> None:
            assert Path(path).read_bytes() == b"float32"

    variables = SimpleNamespace(graph=SimpleNamespace(variables=["weight"]))
    lite = SimpleNamespace(
        TFLiteSavedModelConverterV2=Converter, _deduplicate_readonly_buffers=None
    )
    operators = SimpleNamespace(TFLITE_BUILTINS="own", SELECT_TF_OPS="others")
    modules: dict[str, dict[str, object]] = {
        "onnx2tf": {"convert": convert},
        "onnx2tf.utils": {"common_functions": SimpleNamespace(dummy_tf_inference=None)},
        "ai_edge_litert": {},
        "ai_edge_litert.interpreter": {"Interpreter": Interpreter},
        "tensorflow": {
            "Module": SimpleNamespace,
            "saved_model": SimpleNamespace(save=save),
            "lite": SimpleNamespace(OpsSet=operators),
            "compat": SimpleNamespace(v1=SimpleNamespace(GraphDef=object)),
        },
        "tensorflow.lite": {},
        "tensorflow.lite.python": {"lite": lite},
        "tf_keras": {"backend": SimpleNamespace(clear_session=lambda: None)},
        "tf_keras.src": {},
        "tf_keras.src.saving": {},
        "tf_keras.src.saving.legacy": {
            "saving_utils": SimpleNamespace(trace_model_call=lambda _: variables)
        },
    }
    for name, content in modules.items():
        module = ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(tflite, "_known", [])
    monkeypatch.chdir(directory)
    return converted


def run_tflite(directory: Path) -> Answer:
    model = parse(TWO, opset=17)
    model.graph.node[0].name = "minus"
    onnx.save(model, directory / "given.onnx")
    feeds = {"h": np.array([-1, 2], np.float16), "x": np.arange(24, dtype="f4").reshape(2, 3, 4)}
    answer = tflite.adapter.run(directory / "given.onnx", feeds, directory)
    if answer.outputs is not None:
        assert isinstance(answer.outputs, dict)
        assert np.array_equal(answer.outputs["y"], -feeds["x"])
        assert np.array_equal(answer.outputs["z"], [1, 2])
    return answer


@pytest.mark.parametrize("images", [False, True])
def test_inputs_and_outputs_of_tflite_are_those_of_the_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, images: bool
) -> None:
    """Feeds are in another order; images are converted once more, with flat outputs."""
    converted = fake_tflite(monkeypatch, tmp_path, images=images)
    assert run_tflite(tmp_path).kind == "taken"
    last = converted[-1].graph
    assert [v.name for v in last.input] == ["v_x", "v_h"]
    assert last.input[1].type.tensor_type.shape.dim[0].dim_value == 2
    assert [v.name for v in last.output] == ["v_y_flat" if images else "v_y", "v_z"]
    onnx.checker.check_model(converted[-1], full_check=True)
    assert len(converted) == 1 + images


class FakeTensor:
    """A tensor of a network: a number that a layer computes of others, or an input."""

    def __init__(self, name: str, layer: Callable[..., float] | None, *inputs: FakeTensor) -> None:
        self.name, self.dtype = name, None
        node = SimpleNamespace(is_input=layer is None, layer=layer, keras_inputs=list(inputs))
        node.outputs, node.flat_input_ids = [self], [str(id(tensor)) for tensor in inputs]
        node.map_arguments = lambda held: ([held[i].pop() for i in node.flat_input_ids], {})
        self._keras_history = SimpleNamespace(
            layer=SimpleNamespace(_inbound_nodes=[node]), node_index=0
        )


@pytest.mark.parametrize(("held", "calls"), [(1 << 28, "ab"), (0, "aab")])
def test_each_value_of_a_network_is_computed_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, held: int, calls: str
) -> None:
    """If the values take more memory than may be held, they are computed again."""
    fake_tflite(monkeypatch, tmp_path)
    tf = sys.modules["tensorflow"]
    vars(tf).update(
        convert_to_tensor=lambda value, _: np.float32(value),
        nest=SimpleNamespace(flatten=lambda made: made if isinstance(made, list) else [made]),
        size=np.size,
    )
    monkeypatch.setattr(tflite, "_HELD", held)
    monkeypatch.setattr(tflite, "_bytes", lambda value: 4)
    called: list[str] = []

    def layer(name: str) -> Callable[..., float]:
        def add(*numbers: float) -> float:
            called.append(name)
            return sum(numbers)

        return add

    x = FakeTensor("x", None)
    a = FakeTensor("a", layer("a"), x, x)
    b = FakeTensor("b", layer("b"), a, x)
    known = tflite._Known()
    assert known.of(SimpleNamespace(outputs=[a]))({"x": 2}, training=False) == [4]
    assert known.of(SimpleNamespace(outputs=[b, a]))({"x": 2}, training=False) == [6, 4]
    assert "".join(called) == calls


def test_tflite_without_the_program_that_onnx2tf_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_tflite(monkeypatch, tmp_path)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(FileNotFoundError, match="onnxsim"):
        tflite.adapter.version()


@pytest.mark.parametrize(("node", "named"), [("v_minus", "minus"), ("sng_Neg_0", "")])
def test_the_node_that_onnx2tf_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, node: str, named: str
) -> None:
    """It ends the process, and gives names to nodes without one."""
    fake_tflite(monkeypatch, tmp_path, error=node)
    answer = run_tflite(tmp_path)
    assert (answer.kind, answer.message, answer.node) == ("refused", "no such axis", named)


NODE = """#!/bin/sh
case "$2" in *versions*) echo 1.30.0;; *) cp in0 out0; cp job.json "$0.json"
echo '[{"name": "y", "type": "int64", "dims": [2, 1]}]' > outputs.json; {end};; esac
"""


@pytest.mark.skipif(os.name == "nt", reason="the program is a shell script")
@pytest.mark.parametrize("end", ["true", "echo 'no kernel of Neg' >&2; exit 1"])
def test_arrays_of_onnx_runtime_web_are_in_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, end: str
) -> None:
    program = tmp_path / "node"
    program.write_text(NODE.replace("{end}", end))
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", os.environ["PATH"])
    monkeypatch.delenv("NODE_PATH", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.onnx").write_bytes(b"... model.data ...")
    (tmp_path / "model.data").write_bytes(b"")
    assert ortweb.adapter.version() == "1.30.0"
    assert shutil.which("node") == str(program)
    feeds = {"x": np.array([[1], [-2]])}
    answer = ortweb.adapter.run(tmp_path / "model.onnx", feeds, tmp_path)
    if end == "true":
        assert isinstance(answer.outputs, dict)
        assert np.array_equal(answer.outputs["y"], feeds["x"])
    else:
        assert (answer.kind, answer.message) == ("refused", "no kernel of Neg")
    job = (tmp_path / "node.json").read_text()
    assert '"path": "model.data"' in job
    assert '{"name": "x", "type": "int64", "dims": [2, 1]}' in job


def test_rknn_gets_the_inputs_that_a_node_reads(tmp_path: Path) -> None:
    """Its compiler removes the others, and takes the arrays in their order."""
    model = parse("g (float[2] x, float[2] unread, float[2] z) => (float[2] y) { y = Add (x, z) }")
    onnx.save(model, tmp_path / "model.onnx")
    assert rknn._read(tmp_path / "model.onnx") == {"x", "z", "y"}
