"""The action and the hook: their commands, run as they stand there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_scatterx.doors.cli import main
from tests.cli.test_cli import MODELS

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
TAKEN, REFUSED = MODELS / "letterbox_ts.onnx", MODELS / "letterbox_ts_dynamic.onnx"


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


def step(**inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step that inspects, with the shell that GitHub uses."""
    (found,) = [s for s in ACTION["runs"]["steps"] if s.get("name") == "inspect"]
    given = {name: str(what["default"]) for name, what in ACTION["inputs"].items()} | inputs
    used = {n: re.findall(r"inputs\.(\w+)", value)[0] for n, value in found["env"].items()}
    environment = {name: given[read] for name, read in used.items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    more = {"RUNNER_TEMP": os.environ.get("TMPDIR", "/tmp"), "PATH": path}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", found["run"]]
    return subprocess.run(
        shell, env=os.environ | more | environment, capture_output=True, text=True, check=False
    )


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
    assert pages() == ["a folder__new.onnx.html"]
    shutil.copy(REFUSED, "bad.onnx")
    git("add", ".")
    done = step(base=base)
    assert done.returncode == 1
    assert "of the target qnn" in done.stderr
    assert pages() == ["a folder__new.onnx.html", "bad.onnx.html"]


@pytest.mark.slow
def test_named_models_and_options(base: str) -> None:
    shutil.copy(MODELS / "letterbox_ts_dynamic.onnx", "d.onnx")
    fixed = "--fix batch=1 --fix height=8 --fix width=10"
    assert step(files="**/d.onnx", options=fixed).returncode == 0
    assert step(files="d.onnx", target="no such").returncode == 1
    assert step(base="").returncode != 0  # nothing to compare with is not a success
    assert step(base="0" * 40).returncode != 0


def test_every_input_is_used_and_nothing_is_pasted_into_the_shell() -> None:
    """A name of a branch or of a file must not become a command."""
    steps = ACTION["runs"]["steps"]
    assert "${{" not in "".join(s.get("run", "") for s in steps)
    used = set(re.findall(r"inputs\.(\w+)", str(steps)))
    assert used == set(ACTION["inputs"])


def test_the_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    command = [*shlex.split(hook["entry"])[1:], *hook["args"]]
    assert re.search(hook["files"], "a/b.onnx")
    assert main([*command, str(TAKEN)]) == 0
    assert main([*command, str(TAKEN), str(REFUSED)]) == 1
