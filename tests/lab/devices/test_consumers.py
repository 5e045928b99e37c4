"""What adapters read out of the files and words of their consumers, which need not be installed."""

import os
import shutil
import sys
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
    monkeypatch: pytest.MonkeyPatch,
    directory: Path,
    *,
    images: bool = False,
    error: str = "",
    signature: bool = True,
) -> list[onnx.ModelProto]:
    """Put modules in the place of onnx2tf and LiteRT; return the models that are converted.

    The network renames its inputs and outputs, gives outputs in another order, and returns y with
    the channels at the end if `images`. Without a `signature`, it knows them by their order only.
    As onnx2tf does, it notes what layers are made of, and converts to float32 and to float16.
    """
    converted: list[onnx.ModelProto] = []

    class Saver:
        @property
        def tracking_metadata(self) -> str:
            raise AssertionError("the notes hold all weights")

    class Converter:
        target_spec = SimpleNamespace(supported_types=())

        def convert(self) -> bytes:
            assert not self.target_spec.supported_types
            return b"float32"

    def convert(file: str, **_: object) -> object:
        model = onnx.load(file)
        converted.append(model)
        if error:
            os.write(1, f"ERROR: no such axis\nERROR: onnx_op_name: {error}\n".encode())
            raise SystemExit(1)
        assert converters.TFLiteConverterV2().convert() == b"float32"
        assert Saver().tracking_metadata == "{}"
        Converter.target_spec = SimpleNamespace(supported_types=["float16"])
        assert converters.TFLiteKerasModelConverterV2().convert() == b""
        Converter.target_spec = SimpleNamespace(supported_types=())
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

    class Runner:
        def get_input_details(self) -> object:
            return {"v_x": {"dtype": np.float32}, "renamed": {"dtype": np.float32}}

        def __call__(self, v_x: np.ndarray, renamed: np.ndarray) -> object:
            assert renamed.dtype == np.float32
            flat = len(converted) == 2
            return {"k1": np.abs(renamed), "k0": -v_x.reshape(-1 if flat else v_x.shape)}

    class Interpreter:
        get_signature_runner = Runner
        tensors: dict[int, np.ndarray] = {}  # noqa: RUF012 - one file

        def __init__(self, _: str) -> None: ...
        def get_signature_list(self) -> object:
            return {"serving_default": {}} if signature else {}

        def allocate_tensors(self) -> None: ...
        def get_input_details(self) -> object:
            names = {3: "serving_default_renamed:0", 7: "v_x"}
            return [{"index": n, "name": names[n], "dtype": np.float32} for n in names]

        def set_tensor(self, index: int, array: np.ndarray) -> None:
            self.tensors[index] = array

        def invoke(self) -> None:
            results = Runner()(self.tensors[7], self.tensors[3])
            assert isinstance(results, dict)
            self.tensors |= {n: results[f"k{n}"] for n in (0, 1)}

        def get_output_details(self) -> object:
            return [{"index": n} for n in (0, 1)]

        def get_tensor(self, index: int) -> np.ndarray:
            return self.tensors[index]

    names = ("TFLiteConverterV2", "TFLiteKerasModelConverterV2")
    saved = "tf_keras.src.saving.legacy.saved_model"
    converters = SimpleNamespace(**{name: type(name, (Converter,), {}) for name in names})
    for name, entry, content in (
        ("onnx2tf", "convert", convert),
        ("ai_edge_litert", "interpreter", None),
        ("ai_edge_litert.interpreter", "Interpreter", Interpreter),
        ("tensorflow", "float16", "float16"),
        ("tensorflow.lite", "python", None),
        ("tensorflow.lite.python", "lite", converters),
        ("tf_keras", "src", None),
        ("tf_keras.src", "saving", None),
        ("tf_keras.src.saving", "legacy", None),
        ("tf_keras.src.saving.legacy", "saved_model", None),
        (saved, "base_serialization", None),
        (f"{saved}.base_serialization", "SavedModelSaver", Saver),
    ):
        module = ModuleType(name)
        setattr(module, entry, content)
        monkeypatch.setitem(sys.modules, name, module)
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


@pytest.mark.parametrize("signature", [False, True])
@pytest.mark.parametrize("images", [False, True])
def test_inputs_and_outputs_of_tflite_are_those_of_the_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, images: bool, signature: bool
) -> None:
    """Feeds are in another order; images are converted once more, with flat outputs.

    onnx2tf writes files without a signature if a Conv has several groups.
    """
    converted = fake_tflite(monkeypatch, tmp_path, images=images, signature=signature)
    assert run_tflite(tmp_path).kind == "taken"
    last = converted[-1].graph
    assert [v.name for v in last.input] == ["v_x", "v_h"]
    assert last.input[1].type.tensor_type.shape.dim[0].dim_value == 2
    assert [v.name for v in last.output] == ["v_y_flat" if images else "v_y", "v_z"]
    onnx.checker.check_model(converted[-1], full_check=True)
    assert len(converted) == 1 + images


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
