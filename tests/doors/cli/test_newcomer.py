"""From nothing to a chip that is not listed: each command prints the one after it."""

import os
import re
import shutil
from pathlib import Path

import onnx
import pytest

from onnx_scatterx.doors.cli import main
from onnx_scatterx.doors.cli.profile_draft import new_profile
from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.targets.catalogue import VENDORS, target_of
from tests.helpers.commands import MODELS, error_of, started
from tests.helpers.support import parse, scatters

pytestmark = pytest.mark.sampled(2)

MODEL = MODELS / "letterbox_dynamo_dynamic.onnx"
OPERATORS = "Add, Cast, Concat, Conv, Expand, Gather, Mul, Pad, Reshape, Slice, Transpose"


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_six_commands() -> None:
    """The first is `pip install`; a user types a name, a list of operators and a model."""
    shutil.copy(MODEL, "model.onnx")
    known = {"CHIP": "mychip", "MODEL.onnx": "model.onnx", "'Add, Concat, ...'": repr(OPERATORS)}
    command, transcript = "onnx-scatterx", ["pip install onnx_scatterx.whl"]
    for name, status in ("", 0), ("inspect", 2), ("target", 0), ("inspect", 0), ("optimize", 0):
        assert command.removeprefix("onnx-scatterx ").startswith(name)
        transcript.append(command)
        words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
        done = started(Path.cwd(), *words[1:])
        assert done.returncode == status, done
        if name == "optimize":
            break
        printed = re.findall(
            r"onnx-scatterx (?:inspect|target|optimize) .*", (done.stdout + done.stderr).decode()
        )
        command = printed[0]
        for placeholder, typed in known.items():
            command = command.replace(placeholder, typed)
    assert len(transcript) == 6, transcript
    assert scatters(onnx.load("OUT.onnx")) == 0
    assert main(["inspect", "OUT.onnx", "--target", "mychip.toml", "--strict"]) == 0


def test_a_new_profile_is_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["target", "new", "npu", "--operators", OPERATORS]) == 0
    assert "\nConstant is added, " in capsys.readouterr().out
    npu = target_of("npu.toml")
    assert npu.operators == frozenset([*OPERATORS.split(", "), "Constant"])
    assert (npu.static_only, npu.max_rank, npu.max_opset) == (False, None, None)
    text = Path("npu.toml").read_text()
    text = re.sub(r"^# (?!What|Uses of|An editor)", "", text, flags=re.M)
    Path("npu.toml").write_text(text)
    npu = target_of("npu.toml")  # what is a comment is right if the sign is taken away
    assert (npu.static_only, npu.max_rank, npu.max_opset) == (True, 5, 19)
    assert not npu.limits_of("Slice").steps
    for words, told in (
        (["npu", "--operators", "Add"], "npu.toml: not written: it exists; use it as --target"),
        (["other", "--operators", "Add, ..."], "which is not an ONNX operator"),
        (["qnn", "--operators", "Add"], "qnn is listed: take another name"),
        (["a/b", "--operators", "Add"], "a/b.toml: not written: give a name without a folder"),
        (["other", "--operators", "Addd"], "which is not an ONNX operator; did you mean Add?"),
        (["other", "--operators", "Add Mul, Div"], "separated by commas: 'Add, Mul'"),
        (["other", "--operators", "Slice (step 1)"], "such as [limits.Slice] steps = false"),
        (["other"], "give --operators 'Add, Concat, ...', or --like a model that compiled"),
        (["other", "--like", "no.onnx"], "no.onnx: no such file"),
    ):
        assert main(["target", "new", *words]) == 2
        assert told in error_of(capsys)
    assert os.listdir() == ["npu.toml"]
    assert main(["inspect", str(MODELS / "letterbox_ts.onnx"), "--target", "npu"]) == 2
    assert "no target is called 'npu'; did you mean npu.toml?" in error_of(capsys)


def test_what_a_new_profile_leaves_open_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A chip that takes fixed sizes only refuses a model of other sizes, if this is stated."""
    for name, words, left in (
        ("one", [], "static_only (all sizes must be numbers), max_rank, max_opset"),
        ("two", ["--fixed-sizes"], "max_rank, max_opset"),
    ):
        assert main(["target", "new", name, "--operators", "Neg", *words]) == 0
        hint = f"; if you know it, remove the # before it in {name}.toml"
        assert capsys.readouterr().out.split("\n")[-2] == f"not stated yet: {left}{hint}"
        assert target_of(f"{name}.toml").static_only == bool(words)
    Path("three.toml").write_text(Path("one.toml").read_text().replace("# static", "static"))
    assert target_of("three.toml").static_only
    onnx.save(parse("g (float[N] x) => (float[N] y) { y = Neg (x) }"), "m.onnx")
    assert [
        main(["inspect", "m.onnx", "--target", f"{n}.toml", "--strict"]) for n in ("one", "two")
    ] == [0, 1]


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    "model", sorted(MODELS.glob("*_dynamo*.onnx"))[::4], ids=lambda path: path.stem
)
def test_a_model_that_compiled_makes_a_profile_that_takes_it(model: Path) -> None:
    assert main(["target", "new", "own", "--like", str(model)]) == 0
    assert main(["inspect", str(model), "--target", "own.toml", "--strict"]) == 0


def test_operators_of_bodies_functions_and_other_domains() -> None:
    model = parse("""g (bool c, float[2, 3] x) => (float[2, 3] y) {
        y = If (c) <then_branch = t () => (float[2, 3] a) { a = Abs (x) },
                    else_branch = e () => (float[2, 3] b) { b = com.acme.Fancy (x) }> }""")
    model.opset_import.add(domain="com.acme", version=1)
    model.graph.node.add(domain="https://acme", op_type="Odd", output=["odd"])
    model.opset_import.add(domain="https://acme", version=1)
    import onnx_ir as ir

    text = new_profile("npu", ["Neg"], ir.from_proto(model))
    assert '"Abs", "Constant", "If", "Neg", "com.acme.Fancy", "https://acme.Odd",' in text
    assert "\nmax_opset = 18 " in text


def test_vendors_have_targets() -> None:
    for name, target in VENDORS.items():
        assert target_of(name).name == target
        assert target_of(name.title()).name == target
    assert target_of("jetson").name == "tensorrt"
    with pytest.raises(ScatterXError, match="'rnkk'; did you mean rknn"):
        target_of("rnkk")
    assert target_of('Qualcomm, add = ["NonZero"]').has("NonZero")


COMPLETED = {
    "onnx-scatterx opt": {"optimize"},
    "onnx-scatterx inspect m.onnx --eff": {"--effort"},
    "onnx-scatterx inspect m.onnx --target rk": {"rk3588", "rknn"},
    "onnx-scatterx inspect m.onnx --target qual": {"qualcomm"},
    "onnx-scatterx inspect m.onnx --target Qual": {"Qualcomm"},
    "onnx-scatterx inspect ": {"m.onnx"},
    "onnx-scatterx targets rk": {"rknn"},
    "onnx-scatterx explain m.onnx node_S": {"node_ScatterND_96", "node_ScatterND_108"},
    "onnx-scatterx explain no.onnx node_S": set(),
    "onnx-scatterx optimize m.onnx -o o.onnx --rules con": {
        "concat",
        "constant",
        "constant_indices",
    },
    "onnx-scatterx check m.onnx --with open": {"opencv", "openvino"},
}


@pytest.mark.sampled(4)
@pytest.mark.slow
@pytest.mark.parametrize("line", COMPLETED)
def test_a_shell_completes(line: str, tmp_path: Path) -> None:
    pytest.importorskip("argcomplete", reason="argcomplete is not installed")
    shutil.copy(MODEL, "m.onnx")
    Path("other.txt").touch()
    asked = {"_ARGCOMPLETE": "1", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    answer = tmp_path / "answer"
    asked |= {"_ARGCOMPLETE_STDOUT_FILENAME": str(answer), "_ARGCOMPLETE_IFS": "\n"}
    done = started(Path.cwd(), **asked)
    found = {word.strip() for word in answer.read_text().splitlines()}
    assert found == COMPLETED[line], done
