"""Files that are written together: all or none, in their places, by any of their names."""

import contextlib
import os
import signal
from pathlib import Path

import pytest

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.files.reading import note_read, recorded
from onnx_scatterx.files.writing import Writing, write_text
from onnx_scatterx.processes.interrupts import Stopped, stoppable


def write(files: dict[Path, str]) -> None:
    """Write texts together; each is called what it says."""
    with Writing() as writing:
        for path, text in files.items():
            writing.make_directory(path.parent)
            writing.text(path, text, f"the {text}")


def test_what_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old")
    files = {tmp_path / "old": "first", tmp_path / "new" / "deep" / "file": "second"}
    with pytest.raises(ScatterXError, match="the third is the first"):
        write(files | {tmp_path / "new" / ".." / "old": "third"})
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "old"
    write(files)
    assert (tmp_path / "old").read_text() == "first"
    assert [path.name for path in (tmp_path / "new" / "deep").iterdir()] == ["file"]


def test_a_file_that_cannot_be_moved_takes_the_others_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def fails(source: Path, place: Path) -> None:
        if Path(place).name == "second":
            raise OSError(5, "Input/output error")
        replace(source, place)

    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(ScatterXError, match="second: cannot be written"):
        write({tmp_path / name: name for name in ("first", "second")})
    assert list(tmp_path.iterdir()) == []


def swallow_a_signal(path: Path) -> None:
    with stoppable(), Writing() as writing:
        writing.text(path, "text", "the file")
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_a_library_has_swallowed_is_raised_again(tmp_path: Path) -> None:
    """Nothing appears after it; what is written later does."""
    with pytest.raises(Stopped, match="SIGTERM"):
        swallow_a_signal(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []
    write({tmp_path / "file": "text"})
    assert (tmp_path / "file").read_text() == "text"


def test_two_files_of_one_name_that_do_not_exist_yet(tmp_path: Path) -> None:
    (tmp_path / "here").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to("new")
    for other in "here/new", "link":
        with pytest.raises(ScatterXError, match="the two is the one"):
            write({tmp_path / "new": "one", tmp_path / other: "two"})
    assert not (tmp_path / "new").exists()


def test_what_is_read_afterwards_is_not_replaced_either(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    writing = Writing()
    with recorded():
        writing.claim(tmp_path / "file", "the output")
        note_read(tmp_path / "file", "the input")
        with pytest.raises(ScatterXError, match="the output is the input"):
            writing.check()
    write_text(tmp_path / "file", "new")  # outside of the record
    assert (tmp_path / "file").read_text() == "new"


def test_a_directory_that_others_make_and_give_up(tmp_path: Path) -> None:
    """It is kept as long as another process writes there."""
    with Writing() as one:
        with Writing() as other:
            other.make_directory(tmp_path / "new")
            one.make_directory(tmp_path / "new")
            with pytest.raises(ScatterXError, match="is a directory"):
                other.claim(tmp_path, "the output")
        one.text(tmp_path / "new" / "file", "text", "the output")
    assert (tmp_path / "new" / "file").read_text() == "text"
