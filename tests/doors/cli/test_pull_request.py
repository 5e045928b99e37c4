"""The action and the hook: their commands, run as they stand there."""

import json
import os
import re
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from onnx_scatterx.doors.cli import main
from tests.helpers.commands import MODELS

pytestmark = pytest.mark.sampled(2)

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TAKEN, REFUSED = MODELS / "letterbox_ts.onnx", MODELS / "letterbox_ts_dynamic.onnx"
BOX = MODELS / "box_update_ts.onnx"


def git(*words: str) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com"]
    return subprocess.run(
        ["git", *who, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A repository with a first commit; its name."""
    monkeypatch.chdir(tmp_path)
    git("init", "-q")
    shutil.copy(REFUSED, "old.onnx")
    git("add", ".")
    git("commit", "-qm", "first")
    return git("rev-parse", "HEAD")


COMMAND = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as there:
    there.connect({address!r})
    there.sendall(json.dumps([os.getcwd(), *sys.argv[1:]]).encode())
    there.shutdown(socket.SHUT_WR)
    status, out, err = json.load(there.makefile())
sys.stdout.write(out)
sys.stderr.write(err)
sys.exit(status)
"""


def step(**inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step that inspects, with the shell that GitHub uses.

    The command that it calls runs in a fork of this process, which has imported all.
    """
    (found,) = [s for s in ACTION["runs"]["steps"] if s.get("name") == "inspect"]
    given = {name: str(what["default"]) for name, what in ACTION["inputs"].items()} | inputs
    used = {n: re.findall(r"inputs\.([\w-]+)", value)[0] for n, value in found["env"].items()}
    environment = {name: given[read] for name, read in used.items()}
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/socket")
        server.listen()
        command = Path(folder, "onnx-scatterx")
        command.write_text(COMMAND.format(python=sys.executable, address=f"{folder}/socket"))
        command.chmod(0o755)
        path = f"{folder}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        more = {"RUNNER_TEMP": folder, "PATH": path}  # its own: other tests run it, too
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]]
        with subprocess.Popen(
            shell,
            env=os.environ | more | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            while process.poll() is None:
                if select.select([server], [], [], 0.02)[0]:
                    _answer(server.accept()[0])
            out, err = process.communicate()
    return subprocess.CompletedProcess(shell, process.returncode, out, err)


def _answer(caller: socket.socket) -> None:
    from tests.helpers.isolation import run  # it needs POSIX

    with caller:
        where, *arguments = json.load(caller.makefile())
        ended = run(arguments, Path(where), {}, 60)
        caller.sendall(json.dumps([ended.status, ended.out, ended.err]).encode())


def pages() -> list[str]:
    return sorted(path.name for path in Path("onnx-scatterx-pages").glob("*"))


@pytest.mark.slow
def test_the_changed_models_are_inspected(base: str) -> None:
    done = step(base=base)
    assert (done.returncode, pages()) == (0, []), done
    Path("a folder").mkdir()
    shutil.copy(TAKEN, "a folder/new.onnx")
    Path("old.onnx").unlink()  # what was removed is not inspected
    git("add", ".")
    done = step(base=base)
    assert done.returncode == 0, done
    assert pages() == ["report.html", "report.json"]
    shutil.copy(REFUSED, "bad.onnx")
    git("add", ".")
    done = step(base=base)
    assert done.returncode == 1
    assert "of the target qnn" in done.stderr
    (marked,) = [line for line in done.stdout.splitlines() if line.startswith("::error")]
    assert marked.startswith("::error file=bad.onnx::image (input): the size ")
    found = json.loads(Path("onnx-scatterx-pages/report.json").read_text("utf-8"))
    assert found["totals"] == {"pass": 1, "fail": 1, "allowed": 0}
    assert [one["result"] for one in found["models"]] == ["pass", "fail"]
    assert [one["output"] for one in found["models"]] == [None, None]  # they are not kept


@pytest.mark.slow
def test_named_models_and_options(base: str) -> None:
    shutil.copy(MODELS / "letterbox_ts_dynamic.onnx", "d.onnx")
    fixed = "--fix batch=1 --fix height=8 --fix width=10"
    assert step(files="**/d.onnx", options=fixed).returncode == 0
    done = step(files="d.onnx", target="no such")
    assert (done.returncode, "::error::onnx-scatterx could not run" in done.stdout) == (1, True)


@pytest.mark.slow
def test_the_summary_has_a_row_for_each_model(base: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    shutil.copy(TAKEN, "a.onnx")
    Path("b.onnx").write_bytes(b"no model")
    Path("allow.txt").write_text("*.onnx  # no numbers | yet\n")  # b.onnx cannot be read
    done = step(files="b.onnx old.onnx", allow="allow.txt")
    assert done.returncode == 1
    assert "old.onnx may fail --strict: no numbers | yet" in done.stderr
    assert "/" not in done.stderr  # no path of the machine
    title, _, what, _, act, _, head, _, *rows = Path("summary.md").read_text("utf-8").splitlines()
    assert (title, head[:18]) == ("### Scatters, for qnn", "| result | model |")
    assert "for the target `qnn`" in what
    assert "wheel.cmake=false" in act
    assert rows[0].startswith("| **fail** | `b.onnx` |  |  | not an ONNX model")
    known = (
        "| allowed: no numbers \\| yet | `old.onnx` | 1 → 1 | 12 refused | image (input): the size"
    )
    assert rows[1].startswith(known)
    assert " | `onnx-scatterx optimize old.onnx -o OUT.onnx --target qnn --fix " in rows[1]
    assert rows[1].endswith("--fix height=8 --fix width=12 --strict` |")
    assert not Path("onnx-scatterx-results").exists()
    assert step(files="a.onnx", options="--no-such-option").returncode == 1
    assert (
        Path("summary.md")
        .read_text("utf-8")
        .splitlines()[-1]
        .endswith("the log of this step says why")
    )


@pytest.mark.slow
def test_a_base_that_is_empty_or_not_there(base: str) -> None:
    done = step(base="")
    assert (done.returncode, len(pages())) == (1, 2)  # it is refused
    assert done.stdout.startswith("no base is given: all .onnx files")
    done = step(base="0" * 40)
    assert done.returncode == 1
    assert "give actions/checkout fetch-depth: 0" in done.stdout


def test_every_input_is_used_and_nothing_is_pasted_into_the_shell() -> None:
    """A name of a branch or of a file must not become a command."""
    steps = ACTION["runs"]["steps"]
    assert "${{" not in "".join(s.get("run", "") for s in steps)
    used = set(re.findall(r"inputs\.([\w-]+)", str(steps)))
    assert used == set(ACTION["inputs"])


def test_the_hook(capsys: pytest.CaptureFixture[str]) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    command = [*shlex.split(hook["entry"])[1:], *hook["args"]]
    assert re.search(hook["files"], "a/b.onnx")
    assert main([*command, str(TAKEN), "--fix", "batch=1"]) == 0  # it has no such size
    capsys.readouterr()
    assert main([*command, str(TAKEN), str(REFUSED), str(BOX), "--fix", "height=8"]) == 1
    head, *reasons, closer, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(rf"{REFUSED}: \d+ violations of the target qnn:", head)
    assert [line[:2] for line in reasons] == ["  "] * len(reasons)
    assert len(reasons) > 1
    assert closer == f"    onnx-scatterx inspect {REFUSED} --target qnn --fix height=8 -v --strict"
    assert last == f"onnx-scatterx: 1 of 3 models do not meet --strict; {head.rstrip(':')}"
    assert main(shlex.split(closer)[1:]) == 1


def test_the_hook_rejects_a_file_whose_scatter_can_be_removed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "docs" / "plug_in.md").read_text(encoding="utf-8")
    options = ["--as-is"]
    assert f"args: [--strict, --target, rknn, {', '.join(options)}]" in page
    for more, status in ([], 0), (options, 1):
        capsys.readouterr()
        assert main(["inspect", "--strict", "--target", "rknn", *more, str(BOX)]) == status
    out, err = capsys.readouterr()
    assert out.startswith("62 nodes: 61 taken by rknn, 1 on its host: ScatterND\n")
    assert f"\nnext:\n  onnx-scatterx inspect {BOX} --target rknn --strict\n" in out
    said = "1 scatter that rknn runs on its host: ScatterND (1): /ScatterND\n"
    assert err == f"onnx-scatterx: {BOX}: {said}"


def test_a_model_that_may_fail(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named with its reason; a table in Markdown has a row for it."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(BOX, "box.onnx")
    command = ["inspect", "box.onnx", "--as-is", "--target", "rknn"]
    command += ["--report", "r.md", "--report", "r.json"]
    row = (
        "| `box.onnx` | 1 → 1 | 1 on the host | 1 scatter that rknn runs on its host: "
        "ScatterND (1): /ScatterND "
        "| `onnx-scatterx optimize box.onnx -o OUT.onnx --target rknn {}` |"
    )
    Path("allow.txt").write_text("# known\n\n*.onnx  # retired\n")
    for more, status, told, first in (
        (["--strict"], 1, "box.onnx: 1 scatter that rknn", "**fail**"),
        (
            ["--strict", "--allow", "allow.txt"],
            0,
            "box.onnx may fail --strict: retired",
            "allowed: retired",
        ),
        (["--strict=taken", "--allow", "allow.txt"], 0, "box.onnx meets --strict: remove it", None),
        (["--allow", "allow.txt"], 2, "--allow has no effect without --strict", None),
        (["--strict", "--allow", "no.txt"], 2, "no.txt: no such file", None),
        (["--strict", "--report", "r.pdf"], 2, "r.pdf: a report is .json, .html or .md", None),
    ):
        assert main([*command, *more]) == status, more
        assert capsys.readouterr().err.startswith(f"onnx-scatterx: {told}")
        if first is not None:
            assert (
                Path("r.md").read_text("utf-8").splitlines()[-1]
                == f"| {first} {row.format(more[0])}"
            )
            found = json.loads(Path("r.json").read_text("utf-8"))
            assert found["why"] == "1 scatter that rknn runs on its host: ScatterND (1): /ScatterND"
            assert found["allowed"] == (None if status else "retired")
    Path("allow.txt").write_text("box.onnx #\n")
    assert main([*command, "--strict", "--allow", "allow.txt"]) == 2
    assert "allow.txt, line 1: write why it may fail: box.onnx # REASON" in capsys.readouterr().err


def test_lines_of_allow_that_are_not_needed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note is in the table, too; --quiet prints errors alone, and the status is the same."""
    monkeypatch.chdir(tmp_path)
    Path("at").mkdir()
    shutil.copy(TAKEN, "at/good.onnx")
    Path("allow.txt").write_text("gone.onnx # a\nno/*.onnx # b\n*d.onnx # c\nat # d\n")
    command = ["inspect", "at/good.onnx", "--strict", "--target", "qnn"]
    told = [*command, "--allow", "allow.txt", "--report", "r.md"]
    assert main(told) == 0
    assert capsys.readouterr().err.splitlines() == [
        "onnx-scatterx: allow.txt, line 1: no file is gone.onnx",
        "onnx-scatterx: allow.txt, line 2: no file is no/*.onnx",
        "onnx-scatterx: at/good.onnx meets --strict: remove it from the file of --allow",
    ]
    row = Path("r.md").read_text("utf-8").splitlines()[-1]
    assert row.endswith(" | it passes: remove it from the file of --allow |  |")
    assert (main([*told, "-q"]), *capsys.readouterr()) == (0, "", "")
    command[1] = str(BOX)
    assert main([*command[:-1], "rknn", "--as-is", "-q"]) == 1
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)


def test_models_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is rewritten: an operator set that is too new is refused, and no option rewrites."""
    command = ["inspect", str(BOX), "--as-is", "--target"]
    assert main([*command, "standard, max_opset = 17"]) == 0  # without --strict
    assert "operator set 18, and standard takes 17" in capsys.readouterr().out
    assert main(["inspect", str(TAKEN), *command[1:], "rknn", "--strict"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith(
        "2 of 2 models inspected as they are, 0 of 2 taken whole by rknn, "
        "2 more with nodes on its host ("
    )
    assert f"    onnx-scatterx inspect {BOX} --target rknn --as-is --strict\n" in err
    for more, why in (
        (["standard"], "give --target"),
        (["qnn", "--gathers"], "--gathers has no effect"),
        (["qnn", "--fix", "height=8"], "--fix has no effect"),
    ):
        assert main([*command, *more]) == 2
        assert why in capsys.readouterr().err


def test_the_page_has_a_whole_configuration_and_a_whole_workflow() -> None:
    """The hook compiles nothing, its options are right, and the action gets inputs that it has."""
    page = (ROOT / "docs" / "plug_in.md").read_text(encoding="utf-8")
    blocks = [yaml.safe_load(b) for b in re.findall(r"^```yaml\n(.*?)^```", page, re.M | re.S)]
    configuration, workflow = blocks
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (used,) = configuration["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    assert used["args"][:3] == hook["args"]
    assert main(["inspect", *used["args"][:3], str(TAKEN)]) == 0
    (without,) = hook["additional_dependencies"]
    assert without in (ROOT / ".ci" / "pure-wheel").read_text(encoding="utf-8")
    assert without in str(ACTION["runs"])
    *_, last = workflow["jobs"]["scatters"]["steps"]
    assert set(last["with"]) <= set(ACTION["inputs"])
