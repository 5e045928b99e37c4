"""Places of external data: copies are in the output's directory, links to read are followed."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnx_ir as ir
import pytest

import onnx_scatterx
from onnx_scatterx.doors.cli import main
from onnx_scatterx.errors import ModelError
from onnx_scatterx.files.data import ir_tensors
from onnx_scatterx.files.io import load
from onnx_scatterx.files.saving import save
from tests.helpers.commands import error_of
from tests.helpers.external_data import with_index
from tests.helpers.native_support import since
from tests.helpers.support import run

pytestmark = [pytest.mark.slow, pytest.mark.sampled(3)]

KEEP = ["--rules", "pad"]  # a rule that leaves the scatter, so that its index is still needed


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_the_output_is_not_its_own_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, location in enumerate(("out.onnx", "./out.onnx", "sub/out.onnx")):
        folder, out = tmp_path / f"{number}", tmp_path / f"o{number}"
        folder.mkdir()
        out.mkdir()
        (out / "sub").symlink_to(".")
        model = with_index(folder / "m.onnx", location)
        for _ in range(2):  # and if the file is there already
            before = files_in(out)
            assert main(["optimize", str(model), "-o", str(out / "out.onnx"), *KEEP]) == 2
            assert "choose another path" in error_of(capsys)
            assert files_in(out) == before
            (out / "out.onnx").write_bytes((folder / location).read_bytes())


def test_no_copy_leaves_the_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = with_index(tmp_path / "in" / "m.onnx", "sub/deep/w.bin")
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    out.mkdir()
    elsewhere.mkdir()
    (out / "sub").symlink_to(elsewhere)
    assert main(["optimize", str(model), "-o", str(out / "o.onnx"), *KEEP]) == 2
    assert "which is not in the output's directory" in error_of(capsys)
    assert files_in(elsewhere) == []
    assert files_in(out) == ["sub"]


def test_no_copy_is_hidden(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    (out / ".git").mkdir(parents=True)
    (out / "seen").symlink_to(".git")
    for location in ".git/hooks/post-commit", ".profile", "a/.b/w.bin", "seen/config":
        model = with_index(tmp_path / "in" / "m.onnx", location)
        before = files_in(out)
        assert main(["optimize", str(model), "-o", str(out / "o.onnx"), *KEEP]) == 2
        assert "would be a hidden file" in error_of(capsys)
        assert files_in(out) == before
        # Beside the source nothing is copied.
        assert main(["optimize", str(model), "-o", str(model.with_name("o.onnx")), "-q"]) == 0


def test_what_is_refused_makes_no_directory(tmp_path: Path) -> None:
    """Also not for another data file, which alone would do."""
    model = load(with_index(tmp_path / "in" / "m.onnx", "sub/deep/w.bin"))
    other = ir.ExternalTensor(
        ".hidden", 0, 8, ir.DataType.INT64, shape=ir.Shape([1]), name="v", base_dir=tmp_path / "in"
    )
    (tmp_path / "in" / ".hidden").write_bytes(bytes(8))
    model.graph.register_initializer(ir.Value(name="v", const_value=other))
    (tmp_path / "out").mkdir()
    with pytest.raises(ModelError, match="would be a hidden file"):
        save(model, tmp_path / "out" / "o.onnx")
    assert files_in(tmp_path / "out") == []


def test_one_name_for_data_of_two_folders(tmp_path: Path) -> None:
    model = load(with_index(tmp_path / "in" / "m.onnx"))
    (tensor,) = (t for t in ir_tensors(model) if isinstance(t, ir.ExternalTensor))
    (tmp_path / "other").mkdir()
    for content, why in ((bytes(8), "would both be the data file"), (None, "")):
        data = Path(tensor.path).read_bytes() if content is None else content
        (tmp_path / "other" / tensor.location).write_bytes(data)
        other = ir.ExternalTensor(
            tensor.location,
            0,
            8,
            ir.DataType.INT64,
            shape=ir.Shape([1]),
            name="v",
            base_dir=tmp_path / "other",
        )
        model.graph.initializers.pop("v", None)
        model.graph.register_initializer(ir.Value(name="v", const_value=other))
        if why:
            with pytest.raises(ModelError, match=why):
                save(model, tmp_path / "o.onnx")
        else:
            save(model, tmp_path / "o.onnx")


def test_models_in_memory_cannot_name_places_outside(tmp_path: Path) -> None:
    proto = onnx.load(with_index(tmp_path / "in" / "m.onnx"), load_external_data=False)
    (tmp_path / "out").mkdir()
    for location in "../w.json", str(tmp_path / "in" / "w.json"), "a/../../w.json":
        proto.graph.initializer[0].external_data[0].value = location
        for model in proto, ir.from_proto(proto):
            with pytest.raises(ModelError, match="is not inside the model's directory"):
                save(model, tmp_path / "out" / "o.onnx", source_path=tmp_path / "in" / "m.onnx")
    assert files_in(tmp_path / "out") == []


def cache(folder: Path) -> Path:
    """Lay a model out as the cache of Hugging Face does: all files are links out."""
    snapshot, blobs = folder / "snapshots" / "5d0f" / "onnx", folder / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    with_index(snapshot / "m.onnx", "m.onnx_data")
    for name in "m.onnx", "m.onnx_data":
        (snapshot / name).rename(blobs / f"{len(name)}af")
        (snapshot / name).symlink_to(f"../../../blobs/{len(name)}af")
    return snapshot / "m.onnx"


def linked(folder: Path) -> Path:
    """Lay a model out with data behind a symbolic link out, as tools do that manage data."""
    folder.mkdir()
    model = with_index(folder / "m.onnx")
    (folder / "w.json").rename(folder.parent / "stored")
    (folder / "w.json").symlink_to(folder.parent / "stored")
    return model


def hard(folder: Path) -> Path:
    """Lay a model out with data that have two names."""
    folder.mkdir()
    model = with_index(folder / "m.onnx")
    (folder / "other").hardlink_to(folder / "w.json")
    return model


FEED = {"x": np.arange(6, dtype=np.float32).reshape(3, 2), "u": np.full((1, 2), 9, np.float32)}
EXPECTED = np.array([[0, 1], [9, 9], [4, 5]], np.float32)
ORT = since(1, 20, "a directory for external data")


@pytest.mark.sampled(3)
@ORT
@pytest.mark.parametrize("layout", [cache, linked, hard])
def test_links_are_followed(
    layout: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = layout(tmp_path / "in")
    out = tmp_path / "o.onnx"
    assert main(["optimize", str(model), "-o", str(out), "--verify", "--samples", "2"]) == 0
    assert "1 of 1 scatters removed" in capsys.readouterr().out
    assert (run(onnx.load(out), FEED)[0] == EXPECTED).all()
    assert main(["verify", str(model), str(out), "--samples", "2"]) == 0
    for name, array in FEED.items():
        np.save(tmp_path / f"{name}.npy", array)
    given = ["--input", *(f"{name}={tmp_path / name}.npy" for name in FEED)]
    assert main(["run", str(model), *given, "--output", str(tmp_path / "found.npz")]) == 0
    assert (np.load(tmp_path / "found.npz")["y"] == EXPECTED).all()
    assert main(["bench", str(model), str(out), *given, "--rounds", "6"]) == 0
    assert "\tthe same\n" in capsys.readouterr().out


@ORT
@pytest.mark.parametrize("layout", [cache, linked])
@pytest.mark.parametrize("beside", [True, False])
def test_what_is_written_beside_links_can_be_loaded(
    layout: Callable[[Path], Path], beside: bool, tmp_path: Path
) -> None:
    """ONNX Runtime refuses a model, which is itself no link, whose data lead out."""
    model = layout(tmp_path / "in")
    before = files_in(tmp_path / "in")
    out = model.with_name("o.onnx") if beside else tmp_path / "o.onnx"
    assert main(["optimize", str(model), "-o", str(out), "-q", *KEEP]) == 0
    opened = onnx_scatterx.session(out)
    assert (opened.run(None, FEED)[0] == EXPECTED).all()
    assert onnx.load(out).graph.initializer[0].dims == [1, 1]
    if beside:
        name = str(out.relative_to(tmp_path / "in"))
        assert files_in(tmp_path / "in") == sorted([*before, name, f"{name}.data"])


def test_a_model_of_onnx_ir_is_followed_too(tmp_path: Path) -> None:
    """Where onnx_ir alone refuses to read it."""
    model = ir.load(linked(tmp_path / "in"))
    tensor = model.graph.initializers["i"].const_value
    assert tensor is not None
    with pytest.raises(ValueError, match="outside the base directory"):
        tensor.numpy()
    result = onnx_scatterx.optimize(model)
    assert result.report.removed == 1
    result.save(tmp_path / "o.onnx")
    assert (run(onnx.load(tmp_path / "o.onnx"), FEED)[0] == EXPECTED).all()


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes of files")
@pytest.mark.parametrize(("mode", "copied"), [(0o600, 0o600), (0o640, 0o640), (0o444, 0o644)])
def test_a_copy_of_private_data_is_private(mode: int, copied: int, tmp_path: Path) -> None:
    model = cache(tmp_path / "in")
    for file in (tmp_path / "in").rglob("*"):
        if file.is_file():
            file.chmod(mode)
    before = os.umask(0o022)
    try:
        assert main(["optimize", str(model), "-o", str(tmp_path / "o.onnx"), "-q", *KEEP]) == 0
    finally:
        os.umask(before)
    found = [p for p in tmp_path.rglob("*") if not p.is_relative_to(tmp_path / "in")]
    copies = [p for p in found if p.is_file() and p.name != "o.onnx"]
    assert copies
    assert {p.stat().st_mode & 0o777 for p in copies} == {copied}
