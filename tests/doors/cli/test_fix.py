"""--fix on the command line: sizes are written, reported, verified, and requested."""

import json
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.lab.benchmarking.models import bench
from tests.helpers.commands import error_of
from tests.helpers.support import parse

pytestmark = pytest.mark.sampled(2)

MODELS = Path(__file__).parents[3] / "models"
LETTERBOX = str(MODELS / "letterbox_ts_dynamic.onnx")
SIZES = ["--fix", "batch=1", "--fix", "height=6", "--fix", "width=8"]


def test_strict_writes_the_result_anyway_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One model, and several; `inspect` writes none, and ends without it."""
    one, several = str(tmp_path / "out.onnx"), str(tmp_path / "out")
    options = [LETTERBOX, "--target", "qnn", "--strict", "--no-advice"]
    other = str(MODELS / "letterbox_dynamo_dynamic.onnx")
    assert main(["optimize", *options, "-o", one]) == 1
    assert error_of(capsys).endswith(f"; {one} is written, but qnn does not take all of it")
    assert main(["optimize", other, *options[:-1], "-o", several]) == 1
    assert capsys.readouterr().err.rstrip().endswith("; they are written anyway")
    assert main(["inspect", *options]) == 1
    assert error_of(capsys).endswith("violations of the target qnn")
    assert Path(one).is_file()
    assert len(list(Path(several).rglob("*.onnx"))) == 2


def shape(path: Path) -> list[int | str]:
    (value,) = onnx.load(path).graph.input
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fix", [SIZES, ["--fix", "image:1,3,6,8"], ["--fix", "image: 1, 3,6,8"]])
def test_a_model_is_fixed_and_verified(
    fix: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report = tmp_path / "out.onnx", tmp_path / "r.json"
    options = ["--target", "qnn", "--verify", "--samples", "6", "--strict"]
    arguments = ["optimize", LETTERBOX, "-o", str(out), *options, *fix, "--report", str(report)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "sizes fixed: batch = 1, height = 6, width = 8" in printed
    assert "wants all sizes as numbers" not in printed
    assert shape(out) == [1, 3, 6, 8]
    content = json.loads(report.read_text())
    assert content["fixed"] == {"batch": 1, "height": 6, "width": 8}
    assert content["verification"]["fixed"] == content["fixed"]
    capsys.readouterr()
    assert main(["verify", LETTERBOX, str(out), "--samples", "4"]) == 0
    printed = capsys.readouterr().out
    assert "  at the sizes that the second model has fixed: batch = 1, height = 6" in printed
    assert main(["run", str(out)]) == 0


def test_some_sizes_are_fixed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.onnx"
    arguments = ["optimize", LETTERBOX, "-o", str(out), "--target", "qnn", "--fix", "batch=2"]
    assert main([*arguments, "--verify", "--samples", "6"]) == 0
    assert shape(out) == [2, 3, "height", "width"]
    (line,) = (x for x in capsys.readouterr().out.splitlines() if "--fix height=" in x)
    arguments = shlex.split(line)
    assert arguments[:4] == ["onnx-scatterx", "optimize", LETTERBOX, "-o"]
    assert main(arguments[1:]) == 0
    assert not any(isinstance(extent, str) for extent in shape(out))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("command", ["inspect", "explain"])
def test_what_would_be_done(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, LETTERBOX, "--target", "qnn"]) == 0
    before = capsys.readouterr().out
    assert main([command, LETTERBOX, "--target", "qnn", *SIZES]) == 0
    after = capsys.readouterr().out
    assert before != after
    if command == "inspect":
        assert "sizes would be fixed: batch = 1" in after


def test_the_options_that_the_report_prints_do_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names that a shell reads otherwise, dims without a name, and a promise of a number."""
    text = """g (float[N, "a b", ?] x, float[N] u) => (float[A] y) { s = Shape (x)
        n = ReduceProd <keepdims = 1> (s)  y = Reshape (x, n) }"""
    model = parse(text.replace('"a b"', "ab"))
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "it's b"
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(model, path)
    arguments = ["optimize", str(path), "-o", str(out), "--target", "qnn"]
    assert main([*arguments, "--assume", "N == 4"]) == 0
    printed = capsys.readouterr().out
    assert "the target qnn wants all sizes as numbers:" in printed
    (line,) = (x for x in printed.splitlines() if " --fix N=4 --fix " in x)
    assert main(shlex.split(line)[1:]) == 0
    assert [node.op_type for node in onnx.load(out).graph.node] == ["Reshape"]
    assert "wants all sizes" not in capsys.readouterr().out


ERRORS = {
    "--fix 'batch'": "argument --fix: 'batch' is not like 'batch=4' or 'x:1,3,224,224'",
    "--fix 'image:1,x'": "argument --fix: 'image:1,x' is not like",
    "--fix batch=-1": "argument --fix: 'batch=-1' is not like",
    "--fix batch=1 --fix batch=2": "--fix gives 'batch' two sizes: 1 and 2",
    "--fix batch=1,height=8": (
        "argument --fix: 'batch=1,height=8' is not like 'batch=4' or 'x:1,3,224,224'; "
        "write --fix before each size"
    ),
    "--fix batch=1 height=8": "unrecognized arguments: height=8; write --fix before each size",
    "--fix bath=1": "the model has no size 'bath'; did you mean 'batch'?",
    "--fix imag:1,3,6,8": "the model has no input 'imag'; did you mean 'image'?",
    "--fix image:1,4,6,8": "the dim 1 of the input 'image' is 3: --fix image:1,4,6,8 contradicts",
    "--fix batch=2 --assume 'batch == 3'": "batch == 3 is assumed, and 'batch' is fixed at 2",
}


@pytest.mark.parametrize("options", ERRORS)
def test_errors_are_one_line(
    options: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.onnx"
    assert main(["optimize", LETTERBOX, "-o", str(out), *shlex.split(options)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"onnx-scatterx: {ERRORS[options]}")
    assert not out.exists()


def test_sizes_at_which_the_model_does_not_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.onnx"
    options = ["--fix", "image:1,3,20,31", "--verify", "--samples", "2"]
    assert main(["optimize", LETTERBOX, "-o", str(out), *options]) == 2
    told = capsys.readouterr().err
    assert "at the fixed sizes (batch = 1, height = 20, width = 31) the node /Expand (Exp" in told
    assert "its inputs are of shape [1, 3, 20, 31] and [1, 3, 10, 13]" in told
    assert not out.exists()


def test_a_directory(tmp_path: Path) -> None:
    """A model that lacks a name is optimized without it, and says so."""
    for name, dim in ("a", "N"), ("b", "M"):
        text = f"g (float[{dim}] x) => (float[{dim}] y) {{ y = Neg (x) }}"
        onnx.save(parse(text), tmp_path / f"{name}.onnx")
    summary = onnx_scatterx.optimize_many(
        [tmp_path / "a.onnx", tmp_path / "b.onnx"], tmp_path / "out", fix={"N": 2}, jobs=1
    )
    assert not summary.failed
    assert [o.left_out for o in summary.outcomes] == [(), ("N",)]
    assert "without --fix of N, which the model lacks" in str(summary)
    told = json.loads(summary.to_json())["models"]
    assert [one["fix_left_out"] for one in told] == [[], ["N"]]
    assert [shape(tmp_path / "out" / f"{name}.onnx") for name in "ab"] == [[2], ["M"]]


@pytest.mark.parametrize(
    ("fix", "told"),
    [
        ({"Batch": 2}, "no model has a size or an input 'Batch'; did you mean batch?"),
        ({"batch": [2]}, "no model has an input 'batch'"),
        ({"x[1]": 2}, "no model has a size or an input 'x[1]'"),
    ],
)
def test_a_name_that_no_model_of_a_directory_has(
    fix: dict[str, Any], told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is a note: those who judge any models need not know which sizes these have."""
    (tmp_path / "a.onnx").write_bytes(b"no model")
    onnx.save(parse("g (float[batch] x) => (float[2] y) { y = Neg (x) }"), tmp_path / "b.onnx")
    with ThreadPoolExecutor(1) as executor:
        broken, good = onnx_scatterx.inspect_many(tmp_path, executor=executor, fix=fix).outcomes
    assert caplog.messages == [f"--fix: {told}"]
    assert (broken.error is None, good.error, good.left_out) == (False, None, tuple(fix))


def test_a_name_that_a_model_of_numbers_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It changes nothing, but an input that the model has gets no other numbers."""
    path = str(tmp_path / "m.onnx")
    onnx.save(parse("g (float[2] x) => (float[2] y) { y = Neg (x) }"), path)
    assert main(["inspect", path, "--json", "--fix", "batch=1"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["fix_left_out"] == ["batch"]
    said = "--fix: the model has no 'batch', since all its sizes are numbers\n"
    assert err == f"onnx-scatterx: {said}"
    for fix in "x:3", "x=2":
        assert main(["optimize", path, "-o", str(tmp_path / "o.onnx"), "--fix", fix]) == 2


def test_assumptions_of_fixed_sizes() -> None:
    """A bound by a size that is fixed is a bound by its number, and is noted as that."""
    model = parse("""put (float[n, 4] x, int64[m] i, float[m, 4] u) => (float[n, 4] y)
        { j = Unsqueeze (i, [-1])  y = ScatterND (x, j, u) }""")
    assume = ["i: contiguous", "i >= n - 4", "n >= 4"]
    result = onnx_scatterx.optimize(model, target="standard", assume=assume, fix={"n": 5})
    assert result.report.removed == 1
    (entry,) = result.model.metadata_props
    assert entry.value == '{"i": "contiguous, >= 5 - 4"}'
    assert onnx_scatterx.verify(model, result.model, samples=4).same
    assert result.report.assumptions[-2:] == ("i: contiguous", "i >= 5 - 4")


def test_commands_keep_the_sizes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If a scatter is kept, the commands that would remove it have the same sizes."""
    model = parse("""twice (float[N] x, float[2] y) => (float[N] z)
        { z = ScatterND(x, [[1], [1]], y) }""")
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    onnx.save(model, path)
    options = ["--target", "standard", "--fix", "x:4"]
    assert main(["optimize", str(path), "-o", str(out), *options]) == 0
    printed = capsys.readouterr().out
    assert f"-o {out} --target standard --fix x:4 --deterministic" in printed


def test_two_models_at_the_sizes_of_the_second() -> None:
    text = "g (float[N, M] x) => (float[N, M] y) { y = Abs (x) }"
    model, fixed = parse(text), parse(text.replace("[N, M]", "[2, M]"))
    found = onnx_scatterx.verify(model, fixed, samples=5)
    assert (found.same, found.fixed, set(found.sizes)) == (True, {"N": 2}, {"M"})
    other = parse(text.replace("[N, M]", "[2, M]").replace("Abs", "Neg"))
    assert not onnx_scatterx.verify(model, other, samples=5)
    wrong = {"x": np.ones((3, 1), np.float32)}
    assert not onnx_scatterx.verify(model, fixed, samples=0, feeds=[wrong])


def test_models_are_timed_at_the_sizes_that_are_fixed() -> None:
    text = "g (float[N, M] x) => (float[N, M] y) { y = Abs (x) }"
    model, fixed = parse(text), parse(text.replace("[N, M]", "[2, M]"))
    options: dict[str, Any] = {"rounds": 6, "library": False, "node_times": False}
    assert bench([model, fixed], sizes={"M": 3}, **options).sizes == {"N": 2, "M": 3}
    with pytest.raises(ScatterXError, match="no inputs fit all models: the size 'N' is 3 and 2"):
        bench([model, fixed], sizes={"N": 3}, **options)
