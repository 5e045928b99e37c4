"""Profiles: what is read from a file, what it may not say, and those that come with it."""

import math
from pathlib import Path

import numpy as np
import onnx_ir as ir
import pytest

from onnx_scatterx import ScatterXError
from onnx_scatterx.engine.analysis.domain.tensor import TensorValue
from onnx_scatterx.engine.device.uses import Use
from onnx_scatterx.targets.catalogue import BASES, all_targets, profile_names, target_of
from onnx_scatterx.targets.profile import target_from
from onnx_scatterx.targets.target import Target
from tests.helpers.profiles import written


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
        *(False, True, True, True)
    ]
    assert (target.max_rank, target.static_only, target.dense_limit) == (4, True, 1 << 24)
    assert target.prefers_scatter == target_of("scatterx").prefers_scatter


def test_dense_forms_without_a_limit(tmp_path: Path) -> None:
    path = written(tmp_path / "any.toml", 'name = "any"\ndense = true\ndense_limit = inf')
    assert target_of(path).dense_limit == math.inf


def test_a_profile_extends_another(tmp_path: Path) -> None:
    """Each key changes that of the profile below; limits are merged operator by operator."""
    written(
        tmp_path / "vendor.toml",
        """
        name = "vendor"
        description = "all of them"
        source = "a page"
        version = "3"
        date = 2026-01-31
        checked = "by its simulator"
        operators = ["Add", "Concat", "Pad", "Slice"]
        max_rank = 4
        max_opset = 19
        static_only = true
        dense = true
        dense_limit = 64
        [limits.Pad]
        no_types = ["int64"]
        max_rank = 3
        [limits.Slice]
        steps = false
        """,
    )
    path = written(
        tmp_path / "ours.toml",
        """
        name = "ours"
        extends = "vendor.toml"
        add = ["CumSum"]
        remove = ["Add"]
        max_rank = 5
        base = "scatterx"
        [limits.Pad]
        no_types = ["bool"]
        """,
    )
    target = target_of(path)
    assert target.operators == frozenset({"Concat", "Pad", "Slice", "CumSum"})
    assert (target.name, target.version, target.date, target.checked) == ("ours", "3", None, "")
    assert (target.max_rank, target.max_opset, target.static_only) == (5, 19, True)
    assert (target.dense_limit, target.has_scatterx) == (64, True)
    pad, slice_ = target.limits_of("Pad"), target.limits_of("Slice")
    assert (pad.no_types, pad.max_rank, slice_.steps) == (frozenset({"bool"}), 3, False)
    assert target_of(written(tmp_path / "a.toml", 'name = "a"\nextends = "qnn"')).static_only


def test_types_of_all_operators() -> None:
    """An operator takes what both lists allow; a profile that extends this one replaces a list."""
    npu = target_of(
        'standard, types = ["float", "int32"], limits.Add.types = ["int32", "int64"], '
        'limits.Cast.no_types = ["float"]'
    )

    def taken(target: Target, op: str) -> list[str]:
        kinds = (ir.DataType.FLOAT, ir.DataType.INT32, ir.DataType.INT64)
        return [k.name for k in kinds if target.limits_of(op).takes_type(k)]

    assert [taken(npu, op) for op in ("Add", "Cast", "Mul")] == [
        *(["INT32"], ["INT32"], ["FLOAT", "INT32"])
    ]
    assert taken(npu, "Constant") == ["FLOAT", "INT32", "INT64"]
    assert npu.is_limited
    assert not npu.with_all_operators().is_limited
    parent = target_of('standard, no_types = ["int64"], limits.Add.max_rank = 3')
    child = target_from(
        {"name": "ours", "extends": "npu", "no_types": ["float"]}, BASES, lambda _: parent
    )
    assert [taken(target, "Add") for target in (parent, child)] == [
        ["FLOAT", "INT32"],
        ["INT32", "INT64"],
    ]


def test_keys_on_the_command_line(tmp_path: Path) -> None:
    target = target_of('qnn, add = ["NonZero"], limits.Pad.no_types = ["bool"], dense = true')
    assert target.has("NonZero")
    assert target.static_only
    assert target.limits_of("Pad").no_types == frozenset({"bool"})
    assert target.dense_limit == 1 << 24
    assert (target.name, target.text) == ("qnn", f"qnn, {target.keys}")
    assert target_of("ort-cpu, max_rank = 4").is_timed
    path = written(tmp_path / "npu.toml", 'name = "npu"\navoid = ["Mod"]')
    assert not target_of(f"{path}, max_rank = 4").has("Mod")
    comma = written(tmp_path / "a, b.toml", 'name = "ab"')
    assert target_of(comma).name == "ab"
    for said, why in (
        ("qnn, dens = true", "unknown key 'dens'; did you mean dense"),
        ("qnn, dense", "is not TOML"),
        ("qnn, add = [Pad]", r"; write keys as in 'qnn, add = \[\"Pad\"\], dense = true'$"),
        ("qn, dense = true", "no target is called 'qn'; did you mean qnn"),
        ("qnn, " + "x" * 9999, "at most 8192 are allowed"),
    ):
        with pytest.raises(ScatterXError, match=why) as raised:
            target_of(said)
        assert "\n" not in str(raised.value)


def test_a_profile_that_avoids_extended(tmp_path: Path) -> None:
    written(tmp_path / "one.toml", 'name = "one"\navoid = ["NonZero", "Mod"]')
    two = 'name = "two"\nextends = "one.toml"\nadd = ["Mod"]\nremove = ["Pad"]'
    target = target_of(written(tmp_path / "two.toml", two))
    assert [target.has(op) for op in ("NonZero", "Mod", "Pad", "Add")] == [
        *(False, True, False, True)
    ]


def test_reductions_that_a_profile_takes(tmp_path: Path) -> None:
    text = 'name = "a"\n[limits.ScatterND]\nreductions = ["none", "mul"]'
    target = target_of(written(tmp_path / "a.toml", text))
    told = [
        list(Use("ScatterND", [], [], {"reduction": how} if how else {}).objections(target))
        for how in ("", "none", "mul", "add")
    ]
    assert told == [[], [], [], ['ScatterND with reduction="add"']]


@pytest.mark.parametrize(
    ("limit", "refused"),
    [
        ("steps = [1, -1]", [2, -2]),
        ("steps = false", [-1, 2, -2]),
        ("negative = false", [-1, -2]),
        ("", []),
    ],
)
def test_steps_that_a_profile_takes(tmp_path: Path, limit: str, refused: list[int]) -> None:
    path = written(tmp_path / "a.toml", f'name = "a"\n[limits.Slice]\n{limit}')
    target, told = target_of(path), []
    for step in (1, -1, 2, -2):
        numbers = TensorValue.of(np.array([step]))
        if [*Use("Slice", [None, None, None, None, numbers], []).objections(target)]:
            told.append(step)
    assert told == refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not TOML"),
        ("avoid = []", "a profile has a name"),
        ('name = "a"\nopset = 3', "unknown key 'opset'; did you mean max_opset"),
        ('name = "a"\navoid = "NonZero"', "avoid is a list, not 'NonZero'"),
        ('name = "a"\navoid = ["NonNull"]', "avoid has 'NonNull', which is not an ONNX operator"),
        ('name = "a"\noperators = [3]', "operators has 3"),
        ('name = "a"\noperators = ["..."]', "operators has '...', which is not an ONNX operator"),
        ('name = "a"\nmax_rank = true', "max_rank is a number, not True"),
        ('name = "a"\nmax_rank = 0', "max_rank is at least 1, not 0"),
        ('name = "a"\ndense = 1', "dense is true or false, not 1"),
        ('name = "a"\ndense_limit = -1', "dense_limit is at least 1"),
        ('name = "a"\ndense_limit = 9', "dense_limit says how large .*; say dense = true too"),
        ('name = "a"\nbase = "qnn"', "base is scatterx or standard or ort-cpu, not 'qnn'"),
        ('name = "a"\nzzz = 1', "unknown key 'zzz'; there may be name, description"),
        (
            'name = "a"\ntypes = ["flot"]',
            "types has 'flot', .*not an element type; did you mean fl",
        ),
        ('name = "a"\nno_types = "int64"', "no_types is a list, not 'int64'"),
        ('name = "a"\nsteps = false', "an operator has it: limits.OPERATOR.steps"),
        ('name = "a"\navoid = ["Nonzero"]', "not an ONNX operator; did you mean NonZero"),
        ('name = "a"\navoid = ["Pad"]\noperators = ["Pad"]', "operators .* or avoid, not both"),
        ('name = "a"\nadd = ["Pad"]', "add changes the profile that this one extends"),
        ('name = "a"\nextends = "qnn"\nadd = ["Pad"]\nremove = ["Pad"]', "both have Pad"),
        ('name = "a"\nextends = "qn"', "no target is called 'qn'; did you mean qnn"),
        ('name = "a"\nextends = "bad.toml"', "it extends itself"),
        ('name = "a"\nextends = "missing.toml"', r"missing\.toml: no such file"),
        ('name = "a"\nmax_opset = 8', "max_opset is at least 9, not 8"),
        ('name = "a"\ndate = "2026-11-22"', "date is a date such as 2026-11-22, without quotes"),
        ('name = "a"\nlimits = 3', "limits is a table, not 3"),
        ('name = "a"\nlimits.Pad = 3', "limits.Pad is a table, not 3"),
        ('name = "a"\n[limits.Padd]', "limits has 'Padd', .*did you mean Pad"),
        ('name = "a"\n[limits.Pad]\nno_type = []', "'limits.Pad.no_type'; did you mean no_types"),
        ('name = "a"\n[limits.Pad]\nno_types = ["int46"]', "'int46', .*did you mean int4"),
        ('name = "a"\n[limits.Pad]\ntypes = "bool"', "limits.Pad.types is a list, not 'bool'"),
        ('name = "a"\n[limits.Pad]\nmax_rank = 0', "limits.Pad.max_rank is at least 1, not 0"),
        (
            'name = "a"\n[limits.ScatterND]\nreductions = ["sum"]',
            "has 'sum', which is not a reduction: there are",
        ),
        ('name = "a"\n[limits.Slice]\nsteps = [0]', "limits.Slice.steps is true or false, not"),
        ('name = "a"\n[limits.Pad]\nnative = 0', "limits.Pad.native is true or false, not 0"),
    ],
)
def test_a_profile_that_says_nothing(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path / "bad.toml", text)
    with pytest.raises(ScatterXError, match=message) as raised:
        target_of(path)
    assert str(raised.value).startswith(path)
    assert "\n" not in str(raised.value)


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    """A near name in the same folder is proposed, also for a profile that another extends."""
    written(tmp_path / "mychip.toml", 'name = "mychip"\nextends = "mynpv.toml"')
    written(tmp_path / "mynpu.toml", 'name = "mynpu"')
    told = r"{}\.toml: no such file; did you mean {}\.toml\?$"
    with pytest.raises(ScatterXError, match=told.format("mychp", "mychip")):
        target_of(tmp_path / "mychp.toml")
    with pytest.raises(ScatterXError, match=told.format("mynpv", "mynpu")):
        target_of(tmp_path / "mychip.toml")
    with pytest.raises(ScatterXError, match=r"zzz.toml: no such file$"):
        target_of(tmp_path / "none" / "zzz.toml")


def test_names() -> None:
    with pytest.raises(ScatterXError, match=r"missing\.toml: no such file"):
        target_of("missing.toml")
    with pytest.raises(
        ScatterXError, match="no target is called 'zzz'; there is scatterx, standard"
    ):
        target_of("zzz")
    with pytest.raises(ScatterXError, match="no target is called 'rkn'; did you mean rknn"):
        target_of("rkn")
    assert set(profile_names()) >= {"coreml", "nnapi", "qnn", "rknn", "webnn"}


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: str(target.name))
def test_the_targets_that_come_with_it(target: Target) -> None:
    assert target.description
    if target.name not in ("scatterx", "standard", "ort-cpu"):
        assert target.source.startswith("https://")
        if target.name == "ortweb":  # it has the operators of ONNX Runtime
            assert target.operators is None
            return
        assert target.operators is not None
        assert len(target.operators) > 40
        assert {"Concat", "Reshape", "Slice", "Transpose"} <= target.operators


def test_the_page_has_a_row_for_each_profile() -> None:
    page = (Path(__file__).parents[2] / "docs" / "targets.md").read_text()
    assert [name for name in profile_names() if f"\n| `{name}` |" not in page] == []
