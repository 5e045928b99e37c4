"""What adapters read out of the files and words of their consumers, which need not be installed."""

from pathlib import Path

import numpy as np
import pytest

from onnx_scatterx.doors.devices.consumers import mnn, ncnn, rknn, sophgo
from onnx_scatterx.doors.devices.registry import consumer_names, consumer_of
from onnx_scatterx.optimizer.targets.catalogue import profile_names

RKNN_TABLE = """
D RKNN: [10:38:48.596]             Network Layer Information Table
D RKNN: [10:38:48.596] ID OpType DataType Target InputShape OutputShape Cycles RW(KB) FullName
D RKNN: [10:38:48.596] 0  InputOperator  FLOAT16 CPU \\           (5,3)  0/0/0 0 InputOperator:x
D RKNN: [10:38:48.596] 1  ScatterND      FLOAT16 CPU (5,3),(2,1)  (5,3)  0/0/0 0 ScatterND:z
D RKNN: [10:38:48.596] 2  Concat         FLOAT16 NPU (5,3),(5,3)  (10,3) 9/1/9 1 Concat:w
D RKNN: [10:38:48.596] 3  ScatterND      INT64   CPU (5,3),(2,1)  (5,3)  0/0/0 0 ScatterND:v
D RKNN: [10:38:48.596] 4  OutputOperator FLOAT16 CPU (10,3)       \\    0/0/0 0 OutputOperator:w
"""


@pytest.mark.parametrize("name", ["mnn", "ncnn", "qnn", "rknn", "sophgo"])
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
    assert mnn._reason("a\n[10:51] :220: These Op Not Support: ONNX::IsNaN\nb\n").endswith("IsNaN")


def test_names_that_tpu_mlir_gives_to_outputs() -> None:
    one, two = np.zeros(1), np.ones(1)
    assert sophgo._named(["y"], {"y_Add": one}) == {"y": one}
    assert sophgo._named(["y", "z"], {"y_Add": one, "s_Slice": two}) == {"y": one, "z": two}
    assert sophgo._named(["y", "z"], {"y_Add": one}) == {"y": one}


def test_the_reason_of_tpu_mlir() -> None:
    said = "INFO : begin\nAssertionError: rank\nRuntimeError: [!Error]: tpuc-opt a.mlir\n"
    assert sophgo._reason(said) == "AssertionError: rank"
    assert sophgo._reason("INFO : begin\n[Running]: mv\n") == "[Running]: mv"


def test_pnnx_writes_into_the_scratch_directory_only(tmp_path: Path) -> None:
    """It writes beside the model, so the model and the files beside it are linked."""
    (tmp_path / "model.onnx").write_bytes(b"1")
    (tmp_path / "model.data").write_bytes(b"2")
    place = tmp_path / "scratch"
    place.mkdir()
    ncnn._link(tmp_path / "model.onnx", place)
    assert {p.name for p in place.iterdir()} == {"model.onnx", "model.data", "to_convert.onnx"}
    assert (place / "to_convert.onnx").read_bytes() == b"1"
