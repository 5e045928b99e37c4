"""Models, files and arguments that no limit was meant for: one line says why, or they work."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import onnx_scatterx
from onnx_scatterx import ScatterXError
from onnx_scatterx.assumptions.clauses import METADATA
from onnx_scatterx.doors.cli import main
from tests.helpers.commands import KV, error_of, saved
from tests.helpers.isolation import run
from tests.helpers.support import parse

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]

HEAD = '<ir_version: 8, opset_import: ["" : 18]> g (float[N] x, bool c) => (float[N] y) '
ROWS = """rows (float[N, 2] x, int64[K] i, float[K, 2] u) => (float[N, 2] y)
    { j = Unsqueeze(i, [-1]) y = ScatterND(x, j, u) }"""


# Models


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "shape",
    [
        "s = ConstantOfShape <value = int64[1] {0}> (n)",
        "s = Tile(one, n)",
        "s = Expand(one, n)",
        "w = Pad(one, p) s = Add(w, one)",
        "w = Resize(one, , , n) s = Cast <to = 7> (w)",
        "s, t = Split <axis = 0> (one, p)",
    ],
)
def test_negative_sizes(shape: str, tmp_path: Path) -> None:
    """If a size would be negative, the node does not run, and the report has no entry for it."""
    text = f"""g (float[4] x) => (float[M] y)
        <int64[1] n = {{-3}}, int64[1] one = {{1}}, int64[2] p = {{-2, -2}}>
        {{ {shape} y = ScatterND(x, s, x) }}"""
    model = saved(tmp_path / "m.onnx", text)
    for target in "scatterx", "standard":
        out = str(tmp_path / "out.onnx")
        assert main(["optimize", model, "-o", out, "-q", "--target", target]) == 0
    assert main(["explain", model]) == 0


def tensor(dims: list[int], **fields: Any) -> onnx.ModelProto:
    made = parse("g (float[4] x) => (float[4] y) { y = ScatterElements(x, i, x) }")
    made.graph.initializer.append(TensorProto(name="i", data_type=7, dims=dims, **fields))
    return made


@pytest.mark.parametrize(
    ("model", "because"),
    [
        (tensor([-1, -1], raw_data=bytes(8)), "has the shape [-1, -1]"),
        (tensor([-1, -1], int64_data=[0]), "has the shape [-1, -1]"),
        (tensor([4], int64_data=[0, 1]), "of shape [4] needs 4 numbers and has 2"),
        (tensor([4]), "of shape [4] needs 4 numbers and has 0"),
        (tensor([2, 0], int64_data=[1]), "of shape [2, 0] needs 0 numbers and has 1"),
        (tensor([1 << 62, 4], raw_data=bytes(8)), f"needs {1 << 67} bytes and has 8"),
        (tensor([1 << 62, 4], int64_data=[3]), f"needs {1 << 64} numbers and has 1"),
    ],
)
def test_tensors_that_are_not_of_their_shape(
    model: onnx.ModelProto, because: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    onnx.save(model, tmp_path / "m.onnx")
    for command in "inspect", "explain":
        assert main([command, str(tmp_path / "m.onnx")]) == 2
        assert because in error_of(capsys)


@pytest.mark.parametrize("kind", sorted(set(TensorProto.DataType.values()) - {0}))
def test_tensors_of_every_type_in_the_field_of_their_type(kind: int) -> None:
    """Those of a few bits share the numbers of their field; ONNX's own writer is right about it."""
    for size in 0, 1, 3, 8:
        value: Any = b"" if kind == TensorProto.STRING else 0
        model = parse("g (float[4] x) => (float[4] y) { y = Neg(x) }")
        model.graph.initializer.append(helper.make_tensor("w", kind, [size], [value] * size))
        assert not onnx_scatterx.inspect(model).scatters


@pytest.mark.parametrize("name", ["+".join(["N"] * 3000), "*".join(["N"] * 3000)])
def test_declared_dims_that_are_large_expressions(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each is one symbol, as any other text that is not an expression."""
    model = parse(ROWS)
    for value in (*model.graph.input, *model.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param == "N":
                dim.dim_param = name
    onnx.save(model, tmp_path / "m.onnx")
    path, out = str(tmp_path / "m.onnx"), str(tmp_path / "out.onnx")
    assert main(["optimize", path, "-o", out, "--target", "standard"]) == 0
    assert main(["verify", path, out, "--samples", "2"]) == 0
    assert capsys.readouterr().err == ""


DEEP = {
    "m.onnxtxt": HEAD + "{ y = If(c) <then_branch = a () => (float[N] y) " * 5000,
    "types.onnxtxt": f'<ir_version: 8, opset_import: ["" : 18]> g ({"seq(" * 20_000}',
    "m.textproto": "graph { " + "node { attribute { g { " * 5000,
    "closed.textproto": "graph { " + "node { attribute { g { " * 40 + "} } }" * 40 + " }",
    "m.json": '{"graph": ' * 5000,
}


@pytest.mark.sampled(3)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process for each case")
@pytest.mark.parametrize("name", DEEP)
def test_models_in_text_that_are_nested_deeply(name: str, tmp_path: Path) -> None:
    """In a process of its own: the parsers of onnx end it."""
    directory = tmp_path / "case"
    directory.mkdir()
    (directory / name).write_text(DEEP[name])
    found = run(["inspect", name], directory, {}, 20)
    because = f"{name}: is nested too deeply; at most 100 levels are allowed"
    assert (found.status, found.err) == (2, f"onnx-scatterx: {because}\n")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("command", ["run IN", "verify IN IN", "bench IN IN --rounds 6"])
@pytest.mark.parametrize(
    ("kind", "dims", "because"),
    [
        (TensorProto.FLOAT, [1 << 62], "18446744073.71 GB, or more; at most 268435456 elements"),
        (TensorProto.INT64, [1 << 31, "N"], "17.18 GB, or more; at most 268435456 elements"),
        (TensorProto.DOUBLE, [1 << 27], "1.07 GB, or more; at most 268435456 elements and 1 GB"),
        (TensorProto.FLOAT, [1] * 1000, "has 1000 dims; NumPy"),
    ],
)
def test_inputs_that_cannot_be_drawn(
    command: str,
    kind: int,
    dims: list[int | str],
    because: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    inputs = [helper.make_tensor_value_info("x", kind, dims)]
    output = [helper.make_tensor_value_info("y", kind, None)]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", inputs, output)
    path = str(tmp_path / "m.onnx")
    opsets = [helper.make_opsetid("", 18)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    assert main([word.replace("IN", path) for word in command.split()]) == 2
    assert because in error_of(capsys)


def test_a_size_that_cannot_be_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = saved(tmp_path / "m.onnx", ROWS)
    assert main(["run", model, "--size", "N=99999999999"]) == 2
    assert "cannot be met with up to 268435456 elements" in error_of(capsys)


def test_indices_of_more_columns_than_there_are_dims(tmp_path: Path) -> None:
    """Such a node does not run; its inputs are not constrained for each column."""
    text = f"""g (float[N] x, int64[K, {1 << 40}] i, float[K] u) => (float[N] y)
        {{ y = ScatterND(x, i, u) }}"""
    model = parse(text)
    with pytest.raises(ScatterXError, match="at most 268435456 elements and 1 GB are drawn"):
        onnx_scatterx.verify(model, model)


# Assumptions


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("N <= " + "+".join(["N"] * 3000), "has 6004 characters; at most 1000 are allowed"),
        ("N <= " + "+".join(["N"] * 200), "has 199 operators; at most 64 are allowed"),
        ("N <= " + "*".join(["N"] * 20), "has a product of 20 names; at most 8 are allowed"),
        ("N <= (a+b)*(a+b)*(a+b)*(a+b)*(a+b)*(a+b)*(a+b)", "is a sum of 128 products; at most 64"),
        ("N <= " + "9" * 5000, "has 5005 characters"),
        ("N <= " + "9" * 21, "has a number of 21 digits; at most 20 are allowed"),
        ("N % " + "9" * 21 + " == 1", "has a number of 21 digits"),
        ("i: at most " + "9" * 21, "has a number of 21 digits"),
        ("N <=" + " " * 100_000 + "3", "has 100005 characters"),
        (" " * 100_000, "has 100000 characters"),
        (", ".join(["N >= 0", *(f">= {n}" for n in range(1, 200))]), "more than 100 assumptions"),
        ("N % 1000000000 == 5, <= 4", "no number was found that satisfies all of this"),
        (
            "N % 1000000000 == 5, % 999999999 == 0, < 0",
            "no number was found that satisfies all of this",
        ),
        ("N >= 99999999999999999999", "no number was found that satisfies all of this"),
    ],
)
def test_large_assumptions(
    text: str, because: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = saved(tmp_path / "m.onnx", ROWS)
    for command in ["inspect", model], ["verify", model, model]:
        assert main([*command, f"--assume={text}"]) == 2
        found = error_of(capsys)
        assert because in found
        assert len(found) < 1001


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "text", ["N % 1000000000 == 5", "N % 1000000000 < 7", "N % 1000000007 == 5, % 999999937 == 5"]
)
def test_periods_are_not_counted_out(text: str, tmp_path: Path) -> None:
    model, out = saved(tmp_path / "m.onnx", ROWS), str(tmp_path / "out.onnx")
    options = ["--assume", text, "--assume", "i: contiguous, nonnegative", "--target", "standard"]
    assert main(["optimize", model, "-o", out, *options, "--verify", "--samples", "2"]) == 0


def test_assumptions_in_metadata(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = parse(ROWS)
    path = str(tmp_path / "m.onnx")
    for text in "[" * 100_000, '{"N": "<= ' + "9" * 5000 + '"}', '{"N": 3}':
        del model.metadata_props[:]
        model.metadata_props.add(key=METADATA, value=text)
        onnx.save(model, path)
        assert main(["verify", path, path]) == 2
        assert len(error_of(capsys)) < 400


# Files


@pytest.mark.parametrize(
    ("content", "because"),
    [
        ("name = " + "[" * 4000, "is nested too deeply"),
        ("name = " + "{a = " * 1600, "is nested too deeply"),
        ("name." + "a." * 2000 + "b = 1", "name is a text, not {'a': {'a'"),
        (f"name = 'x'\nmax_rank = {'9' * 5000}", "is not TOML"),
        (f"name = '{'x' * 10_000}'", "it has 10009 bytes; at most 8192 are allowed"),
    ],
)
def test_profiles(
    content: str, because: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "p.toml").write_text(content)
    assert main(["inspect", KV, "--target", str(tmp_path / "p.toml")]) == 2
    assert because in error_of(capsys)


@pytest.mark.sampled(4)
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes with names")
@pytest.mark.parametrize("to_a_device", [False, True])
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("inspect KV --target PLACE", "p.toml"),
        ("inspect PLACE", "m.onnx"),
        ("explain PLACE", "m.onnxtxt"),
        ("optimize PLACE -o OUT", "m.onnx"),
        ("verify KV PLACE", "m.onnx"),
        ("run PLACE", "m.onnx"),
        ("bench KV PLACE --rounds 6", "m.onnx"),
        ("run KV --input PLACE", "a.npz"),
        ("run KV --input cache=PLACE", "a.npy"),
    ],
)
def test_paths_that_are_not_files(
    command: str,
    name: str,
    to_a_device: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = tmp_path / name
    if to_a_device:
        place.symlink_to("/dev/zero")
    else:
        os.mkfifo(place)
    words = {"KV": KV, "OUT": str(tmp_path / "out.onnx")}
    arguments = [words.get(w, w.replace("PLACE", str(place))) for w in command.split()]
    assert main(arguments) == 2
    assert ("it is a device" if to_a_device else "it is a pipe") in error_of(capsys)


def test_file_names_that_are_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / os.fsdecode(b"folder-\xff")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("the file system takes UTF-8 only")
    model, out = folder / os.fsdecode(b"m-\xe9.onnx"), folder / os.fsdecode(b"o-\xe9.onnx")
    text = ROWS.replace("x, int", "x0, int").replace("{ j", "{ x = Add(x0, w) j")
    made = parse(text)
    made.graph.initializer.append(onnx.numpy_helper.from_array(np.ones((1, 2), "f"), "w"))
    onnx.save(
        made, tmp_path / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0
    )
    shutil.move(tmp_path / "m.onnx", model)
    shutil.move(tmp_path / "w.bin", folder / "w.bin")
    report, arrays = folder / os.fsdecode(b"r-\xe9.html"), folder / os.fsdecode(b"a-\xe9.npz")
    commands: list[list[str | Path]] = [
        ["inspect", model],
        ["explain", model],
        ["optimize", model, "-o", out, "--verify", "--samples", "2", "--report", report],
        ["verify", model, out, "--samples", "2"],
        ["run", out, "--size", "N=3", "--output", arrays],
        ["run", out, "--input", arrays],
        ["bench", model, out, "--rounds", "6"],
        ["bench", model, "--target", "standard", "--rounds", "6"],
        ["optimize", folder, "-o", folder / "many", "--jobs", "1"],
    ]
    for arguments in commands:
        assert main([os.fspath(word) for word in arguments]) == 0, capsys.readouterr().err
        printed = capsys.readouterr()
        assert printed.err == ""
        assert "\udcff" not in printed.out
    assert main(["inspect", os.fsdecode(b"gone-\xff.onnx")]) == 2
    assert error_of(capsys) == r"gone-\xff.onnx: no such file"
