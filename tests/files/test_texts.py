"""A text that is not UTF-8, which protobuf gives as bytes: one line, wherever it is."""

from pathlib import Path

import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ModelError
from tests.files.many_messages import model
from tests.helpers.support import parse

PLACES = (
    *(b"main", b"scaled", b"own", b"factor", b"scatter", b"ScatterND", b"then", b"N"),
    *(b"SCALE_TENSOR", b"stack_trace"),
)
COMMANDS = """
    inspect M, explain M, optimize M -o out.onnx, verify M M, extract M y -o o.onnx, run M,
    bench M M, check M --with opencv"""


def broken(place: bytes) -> bytes:
    content = bytes(model().SerializeToString())
    assert place in content
    return content.replace(place, b"\xff" + place[1:])


@pytest.mark.parametrize("place", PLACES, ids=bytes.decode)
def test_in_a_file_and_in_a_message(place: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(broken(place))
    for given in path, onnx.load_model_from_string(broken(place)):
        with pytest.raises(ModelError, match="a text is not UTF-8"):
            onnx_scatterx.inspect(given)


@pytest.mark.parametrize("command", COMMANDS.split(","))
def test_in_every_command(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("M").write_bytes(broken(b"scatter"))
    assert main(command.split()) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("onnx-scatterx: ")


EINSUM = """g (float[2, 3] x) => (float[A] y) {{ y = Einsum <equation = "{}"> (x) }}"""
CALLED = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[2, 3] x) => (float[A] y) {{ y = own.sum <rule = "{}"> (x) }}
    <domain: "own", opset_import: ["" : 18]>
    sum <rule> (x) => (y) {{ y = Einsum <equation: string = @rule> (x) }}"""
CUSTOM = """<ir_version: 8, opset_import: ["" : 18, "own" : 1]>
    g (float[2, 3] x) => (float[A] y, float[B] z) {{
        y = Einsum <equation = "ij->i"> (x)
        z = own.read <equation = "{}"> (x) }}"""


NAMED = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[2, 3] x) => (float[A] y) {{ y = ai.onnx.Einsum <equation = "{}"> (x) }}"""


@pytest.mark.parametrize("text", [EINSUM, CALLED, NAMED])
@pytest.mark.parametrize("equation", ["...i...->i", "i.j->i", "....j->j", "......->", "..ij->i"])
def test_dots_on_which_shape_inference_does_not_end(text: str, equation: str) -> None:
    with pytest.raises(ModelError, match="an operand has more than one ellipsis, or other dots"):
        onnx_scatterx.inspect(parse(text.format(equation)))


@pytest.mark.parametrize(
    ("text", "equation"),
    [(EINSUM, "...j->..."), (EINSUM, "ij->j"), (CALLED, "i...->i..."), (CUSTOM, "a.b")],
)
def test_other_equations_are_read(text: str, equation: str) -> None:
    assert onnx_scatterx.inspect(parse(text.format(equation))).scatters == ()
