"""`onnx-scatterx run`: its output, the files that it saves, and its errors."""

from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.doors.cli.array_tables import describe
from onnx_scatterx.runtime.opened import run_model
from tests.helpers.commands import error_of, saved
from tests.helpers.native_support import since
from tests.helpers.pair import agree
from tests.helpers.support import f32, i64, parse, run, sample

pytestmark = pytest.mark.sampled(2)

ROWS = """g (float[5, 4] x, int64[N, 1] i, float[N, 4] y) => (float[5, 4] z)
          { z = ScatterND(x, i, y) }"""
FEED = {"x": sample("float32", 5, 4), "i": i64([[4], [0]]), "y": sample("float32", 2, 4, seed=1)}
(EXPECTED,) = run(parse(ROWS), FEED)


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.onnx"
    onnx_scatterx.optimize(parse(ROWS)).save(path)
    return str(path)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Save the inputs, and return them as arguments."""
    for name, array in FEED.items():
        np.save(tmp_path / f"{name}.npy", array)
    return [f"{name}={tmp_path / name}.npy" for name in FEED]


@pytest.mark.parametrize("library", [True, False])
def test_given_inputs(
    model: str, files: list[str], library: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [] if library else ["--no-library"]
    out = tmp_path / "out"
    arguments = ["run", model, "--input", *files, "--threads", "1", "--output", str(out)]
    arguments += options
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\nz\tfloat32\t5 x 4\t" in printed.out
    assert [p.name for p in out.iterdir()] == ["z.npy"]
    assert agree(EXPECTED, np.load(out / "z.npy"))
    assert main(arguments) == 0, "a directory may be there already"


def test_drawn_inputs_can_be_given_again(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, again = tmp_path / "out.npz", tmp_path / "again.npz"
    assert main(["run", model, "--size", "N=3", "--seed", "5", "--output", str(out)]) == 0
    assert "drawn inputs 0, seed 5, N = 3" in capsys.readouterr().out
    first = dict(np.load(out))
    assert {name: array.shape for name, array in first.items()} == {
        "x": (5, 4),
        "i": (3, 1),
        "y": (3, 4),
        "z": (5, 4),
    }
    assert agree(run(parse(ROWS), {n: first[n] for n in "xiy"}), [first["z"]])
    assert main(["run", model, "--input", str(out), "--output", str(again)]) == 0
    assert list(np.load(again)) == ["z"]
    assert agree(first["z"], np.load(again)["z"])


def test_a_directory_of_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its files are named as those that `--output` writes; it may have others, too."""
    model = parse("g (float[2] x, float[2] y) => (float[2] z) { z = Sub(x, y) }")
    model.graph.node[0].input[0] = model.graph.input[0].name = "/in/x:0"
    path, out, again = tmp_path / "m.onnx", tmp_path / "out", tmp_path / "again.npz"
    onnx.save(model, path)
    assert main(["run", str(path), "--output", str(out)]) == 0
    assert {p.name for p in out.iterdir()} == {"%2Fin%2Fx%3A0.npy", "y.npy", "z.npy"}
    assert main(["run", str(path), "--input", str(out), "--output", str(again)]) == 0
    assert agree(np.load(out / "z.npy"), np.load(again)["z"])
    capsys.readouterr()
    assert main(["run", str(path), "--input", str(out), f"y={out}/y.npy"]) == 2
    assert "the input 'y' is given twice" in error_of(capsys)


def test_several_samples(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out in (tmp_path / "out", tmp_path / "out.npz"):
        assert main(["run", model, "--samples", "2", "--output", str(out)]) == 0
        assert capsys.readouterr().out.count("drawn inputs") == 2
    names = {f"{n}/{name}" for n in "01" for name in "xiyz"}
    assert set(np.load(tmp_path / "out.npz")) == names
    found = (p.relative_to(tmp_path / "out") for p in (tmp_path / "out").glob("*/*"))
    assert {str(p.with_suffix("")) for p in found} == names


def test_the_directory_here(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert main(["run", model, "--output", "."]) == 0
    assert {file.suffix for file in here.iterdir()} == {".npy"}


def test_names_that_no_file_has(tmp_path: Path) -> None:
    model = parse("g (float[2] x) => (float[2] y) { y = Neg(x) }")
    model.graph.node[0].output[0] = model.graph.output[0].name = "/model/y:0"
    model.graph.node[0].input[0] = model.graph.input[0].name = "file"
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    assert main(["run", str(path), "--output", str(tmp_path / "out")]) == 0
    assert main(["run", str(path), "--output", str(tmp_path / "out.npz")]) == 0
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"file.npy", "%2Fmodel%2Fy%3A0.npy"}
    assert set(np.load(tmp_path / "out.npz")) == {"file", "/model/y:0"}


def test_a_model_without_inputs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "g () => (int64[2] y) { y = Constant <value_ints = [7, -8]> () }"
    assert main(["run", saved(tmp_path / "m.onnx", text)]) == 0
    assert "\t-8\t7\t7, -8\n" in capsys.readouterr().out


def test_strings_and_sequences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """g (string[3] s, float[4] x) => (string[3] t, seq(float[2]) parts)
              { t = Identity(s)  parts = SplitToSequence <keepdims = 1> (x, two) }"""
    model = parse(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.array(2), "two"))
    onnx.save(model, tmp_path / "m.onnx")
    np.savez(tmp_path / "in.npz", s=np.array(["a", "", "Größe"]), x=f32([1, 2, 3, 4]))
    out = tmp_path / "out.npz"
    arguments = ["run", str(tmp_path / "m.onnx"), "--input", str(tmp_path / "in.npz")]
    assert main([*arguments, "--output", str(out)]) == 0
    found = dict(np.load(out))
    assert found["t"].tolist() == ["a", "", "Größe"]
    assert [found[f"parts[{n}]"].tolist() for n in range(2)] == [[1, 2], [3, 4]]
    assert "'a', '', 'Größe'" in capsys.readouterr().out


@since(1, 20, "bfloat16 from Python")
def test_types_that_a_file_cannot_name(tmp_path: Path) -> None:
    text = """g (bfloat16[4, 2] x, int64[1, 1] i, bfloat16[1, 2] y) => (bfloat16[4, 2] z)
              { z = ScatterND <reduction = "add"> (x, i, y) }"""
    path, out = tmp_path / "m.onnx", tmp_path / "out.npz"
    onnx_scatterx.optimize(parse(text)).save(path)
    x, y = (np.ones(shape, ml_dtypes.bfloat16) for shape in ((4, 2), (1, 2)))
    np.savez(tmp_path / "in.npz", x=x, y=y, i=i64([[2]]))
    assert main(["run", str(path), "--input", str(tmp_path / "in.npz"), "--output", str(out)]) == 0
    z = np.load(out)["z"].view(ml_dtypes.bfloat16)
    assert z.astype(int).tolist() == [[1, 1], [1, 1], [2, 2], [1, 1]]


def test_byte_order_and_layout() -> None:
    feed = FEED | {"x": np.asfortranarray(FEED["x"]).astype(">f4"), "i": FEED["i"].astype(">i8")}
    assert agree(EXPECTED, run_model(parse(ROWS), feed)["z"])


def bad(tmp_path: Path) -> dict[str, str]:
    """Make files that are not inputs; the key is the error message."""
    np.save(tmp_path / "wide.npy", FEED["x"].astype(np.float64))
    np.save(tmp_path / "short.npy", FEED["x"][:3])
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "none").mkdir()
    np.save(tmp_path / "none" / "other.npy", FEED["x"])
    (tmp_path / "text.npy").write_text("1, 2, 3")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-7])
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    return {
        "x=wide.npy": "input 'x' is float64, and the model takes float; convert it first",
        "x=short.npy": "input 'x' has shape [3, 4], and the model takes [5, 4]",
        "x=objects.npy": "no .npy or .npz file of numbers or strings",
        "x=text.npy": "no .npy or .npz file of numbers or strings",
        "x=empty.npy": "cannot be read: ",
        "x=cut.npy": "cannot be read: ",
        "cut.npz": "cannot be read: ",
        "x=gone.npy": "gone.npy: no such file",
        "none": "none: has no .npy that is named after an input",
        "w=x.npy": "the model has no input 'w'; it has x, i, y",
        "x=x.npy": "the model needs more inputs: i (tensor(int64) ['N', 1]), y",
    }


def test_bad_inputs(
    model: str,
    files: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for given, because in bad(tmp_path).items():
        others = [] if given == "x=x.npy" else files[1:]
        assert main(["run", model, "--input", given, *others, "--output", "out"]) == 2, given
        assert because in error_of(capsys)
    assert main(["run", model, "--input", *files, "x=x.npy"]) == 2
    assert "the input 'x' is given twice" in error_of(capsys)
    np.save("i.npy", i64([[5], [0]]))
    assert main(["run", model, "--input", *files]) == 2
    assert "cannot run the model" in error_of(capsys)
    assert not Path("out").exists()


def test_bad_arguments(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder.npz").mkdir()
    for arguments, because in (
        (["--input", "x.npy"], "'x.npy' is not like NAME=FILE.npy or FILE.npz, and no directory"),
        (["--size", "batch"], "'batch' is not like 'batch=8'"),
        (["--size", "Q=3"], "the model has no size 'Q'; it has"),
        (["--threads", "-1"], "'-1' is not a whole number from 0 on"),
        (["--output", str(tmp_path / "file")], "is a file; name a directory"),
        (["--output", str(tmp_path / "folder.npz")], "is a directory; name a file"),
        (["--output", str(tmp_path / "no" / "out")], "does not exist"),
    ):
        assert main(["run", model, *arguments]) == 2
        assert because in error_of(capsys)


def test_bad_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tmp_path / "gone.onnx")]) == 2
    assert "no such file" in error_of(capsys)
    (tmp_path / "bad.onnx").write_bytes(b"nothing")
    assert main(["run", str(tmp_path / "bad.onnx")]) == 2
    assert "cannot load the model" in error_of(capsys)
    never = """g (float[3] x) => (float[1] y)
               { i = Constant <value_ints = [9]> () y = Gather(x, i) }"""
    assert main(["run", saved(tmp_path / "never.onnx", never)]) == 2
    assert "no inputs were found that the model accepts; give some: " in error_of(capsys)


def test_without_the_library(
    model: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONNX_SCATTERX_LIBRARY", "/no.so")
    assert main(["run", model]) == 2
    assert "/no.so, which is not a file" in error_of(capsys)
    assert main(["run", model, "--no-library"]) == 0
    capsys.readouterr()
    monkeypatch.delenv("ONNX_SCATTERX_LIBRARY")
    monkeypatch.setattr(ort, "__version__", "1.17.3")
    assert main(["run", model]) == 2
    assert "needs ONNX Runtime 1.18 or newer" in error_of(capsys)


def test_a_library_that_is_not_a_library(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "no.so").write_text("no library")
    monkeypatch.setenv("ONNX_SCATTERX_LIBRARY", str(tmp_path / "no.so"))
    assert main(["run", model]) == 2
    assert "no.so cannot be registered" in error_of(capsys)


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (f32([np.nan]), ("float32", "1", "", "NaN", "nan")),
        (np.array(True), ("bool", "scalar", "True", "True", "True")),
        (np.array([-128, 127], np.int8), ("int8", "2", "-128", "127", "-128, 127")),
        (np.array([1, 2]).astype(ml_dtypes.int4), ("int4", "2", "1", "2", "1, 2")),
        (np.array([1 + 2j]), ("complex128", "1", "", "", "1+2j")),
        (np.array([-np.inf, 2.0]), ("float64", "2", "-inf", "2", "-inf, 2")),
    ],
)
def test_describe(array: np.ndarray, told: tuple[str, ...]) -> None:
    assert describe(array) == told
