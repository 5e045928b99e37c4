"""Profiles: what is read from a file, what it may not say, and those that come with it."""

import math
from pathlib import Path

import pytest

from onnx_scatterx import ScatterXError
from onnx_scatterx.targets.catalogue import all_targets, profile_names, target_of
from onnx_scatterx.targets.target import Target
from tests.targets.test_targets import written


def test_a_profile(tmp_path: Path) -> None:
    path = written(
        tmp_path / "npu.toml",
        """
        name = "my_npu"
        description = "the one on our board"
        source = "its manual"
        base = "scatterx"
        avoid = ["NonZero", "ScatterND", "com.acme.Fancy"]
        tensor_scatter = true
        max_rank = 4
        static_only = true
        dense = true
        """,
    )
    target = target_of(path)
    assert target == target_of(Path(path)) == target_of(target)
    assert (target.name, target.description, target.source) == (
        *("my_npu", "the one on our board", "its manual"),
    )
    assert [target.has(op) for op in ("NonZero", "Where", "TensorScatter", "ScatterX")] == [
        *(False, True, True, True),
    ]
    assert (target.max_rank, target.static_only, target.dense_limit) == (4, True, 1 << 24)
    assert target.avoids_dense == target_of("scatterx").avoids_dense


def test_dense_forms_without_a_limit(tmp_path: Path) -> None:
    path = written(tmp_path / "any.toml", 'name = "any"\ndense = true\ndense_limit = inf')
    assert target_of(path).dense_limit == math.inf


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        ("avoid = []", "a profile has a name"),
        ('name = "a"\nopset = 3', "unknown key 'opset'; a profile may contain: "),
        ('name = "a"\navoid = "NonZero"', "avoid is a list of operators, not 'NonZero'"),
        ('name = "a"\navoid = ["NonNull"]', "avoid has 'NonNull', which is no ONNX operator"),
        ('name = "a"\noperators = [3]', "operators has 3"),
        ('name = "a"\nmax_rank = true', "max_rank is a number, not True"),
        ('name = "a"\nmax_rank = 0', "max_rank is at least 1, not 0"),
        ('name = "a"\ndense = 1', "dense is true or false, not 1"),
        ('name = "a"\ndense_limit = -1', "dense_limit is at least 1"),
        ('name = "a"\nbase = "qnn"', "base is scatterx or standard or ort-cpu, not 'qnn'"),
    ],
)
def test_a_profile_that_says_nothing(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "bad.toml", text)
    with pytest.raises(ScatterXError, match=message) as raised:
        target_of(path)
    assert str(raised.value).startswith(path)
    assert "\n" not in str(raised.value)


def test_names() -> None:
    with pytest.raises(ScatterXError, match=r"missing\.toml: cannot be read"):
        target_of("missing.toml")
    with pytest.raises(
        ScatterXError, match="no target is called 'tpu'; there is scatterx, standard"
    ):
        target_of("tpu")
    assert set(profile_names()) >= {"coreml", "nnapi", "qnn", "rknn", "webnn"}


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: str(target.name))
def test_the_targets_that_come_with_it(target: Target) -> None:
    assert target.description
    if target.name not in ("scatterx", "standard", "ort-cpu"):
        assert target.source.startswith("https://")
        assert target.operators is not None
        assert len(target.operators) > 40
        assert {"Concat", "Reshape", "Slice", "Transpose"} <= target.operators
