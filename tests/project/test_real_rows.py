"""The tables of rows are well formed; PyTorch is not needed to read them."""

import sys
from pathlib import Path

import pytest

# The scripts are no package, and need PyTorch in part: mypy reads none of them.
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from gallery_rows import GALLERY  # type: ignore[import-not-found]
from real_rows import KINDS, ROWS, Row, dims  # type: ignore[import-not-found]

ALL = ROWS | {name: shown.built_from(name) for name, shown in GALLERY.items()}
SOURCES = "".join(
    (Path(__file__).parents[2] / path).read_text(encoding="utf-8")
    for path in ("benchmarks/real_models.py", "benchmarks/model_sources.py", "models/sources.py")
)


def test_there_are_enough_rows() -> None:
    assert len(ROWS) >= 40


@pytest.mark.parametrize(("name", "row"), ALL.items())
def test_row(name: str, row: Row) -> None:
    assert name.replace("_", "").isalnum()
    if row.model == "model_sources":
        assert f'"{name}": Example(' in SOURCES
    elif not row.model.startswith(("timm:", "ultralytics:")):
        own = f"class {row.model}(nn.Module)" in SOURCES
        assert own or row.config or row.result  # of transformers
    for text in row.inputs.values():
        kind, shape, names = dims(text)
        assert kind in KINDS
        assert all(size > 0 for size in shape)
        assert set(names) <= set(range(len(shape)))
        if "batch" in names.values():
            assert shape[next(i for i, n in names.items() if n == "batch")] == 1
