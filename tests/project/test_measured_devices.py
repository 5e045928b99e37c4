"""Limits are found that separate what a device ran from what it did not."""

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measured_devices.cases import Case, cases
from benchmarks.measured_devices.judging import WRITTEN, judged, separated, taken_of
from benchmarks.measured_devices.learning import learnt
from benchmarks.measured_devices.profiles import profile
from benchmarks.measured_devices.tables import DEVICES, Table
from onnx_scatterx import Target
from onnx_scatterx.targets import target_of
from onnx_scatterx.targets.catalogue import profile_names
from onnx_scatterx.targets.refused_use import RefusedUse

Row = Mapping[str, Any]
KINDS = ("FLOAT", "INT64", "BOOL", "UINT16")
HEAD = 'name = "npu"\nmax_rank = 5\nstatic_only = true\n'


def joins(ran: Callable[[str, int], bool]) -> list[Case]:
    """Return a Concat of each type and rank, as a table has it."""
    rows = [
        {
            "T_Concat": kind,
            "inputs_dim": rank,
            "num_inputs": 2,
            "inputs_is_constant": (False, False),
            "inputs_is_fixed_shape": (True, True),
            "ran": ran(kind, rank),
        }
        for kind, rank, _ in itertools.product(KINDS, range(1, 7), range(3))
    ]
    return cases(Table("Concat", 13, tuple(rows)), 1000)


def cuts(ran: Callable[[Row], bool]) -> list[Case]:
    """Return a Slice with each combination of constants, steps and axes."""
    rows = []
    for data, starts, ends, single, steps in itertools.product((False, True), repeat=5):
        row = {
            **{"T_Slice": "FLOAT", "Tind_Slice": "INT64", "data_dim": 3, "data_is_constant": data},
            **{"starts_is_constant": starts, "ends_is_constant": ends, "axes_is_constant": True},
            **{"steps_is_constant": True, "axes_is_single": single, "steps_all_ones": steps},
            **{"steps_is_neg_one": not steps, "steps_is_none": False, "axes_is_none": False},
            **{"data_is_fixed_shape": True, "starts_equal_shape": False},
        }
        rows += [{**row, "ran": ran(row)}] * 4
    return cases(Table("Slice", 13, tuple(rows)), 1000)


def written(measured: list[Case], tmp_path: Path) -> tuple[str, Target]:
    path = tmp_path / "npu.toml"
    text = profile(HEAD, {measured[0].use.op_type: measured})
    path.write_text(text)
    return text.split("]\n\n")[1], target_of(str(path))


def test_types_and_ranks_that_a_device_runs(tmp_path: Path) -> None:
    """A type of which only low ranks run becomes a use of two facts."""
    found = joins(
        lambda kind, rank: rank < 6 and kind != "BOOL" and not (kind == "INT64" and rank == 5)
    )
    text, target = written(found, tmp_path)
    assert text == (
        '[limits.Concat]\ntypes = ["float", "int64"]\n'
        'refused = [{ranks = [5], types = ["int64"]}]\n'
    )
    assert target.limits_of("Concat").refused == (
        RefusedUse(types=frozenset({"int64"}), ranks=frozenset({5})),
    )
    told = judged(found, target)
    assert (told.ran, told.taken, told.failed, told.good) == (27, 27, (), True)


def test_operands_that_must_be_constants(tmp_path: Path) -> None:
    """Then no node with computed ones counts; one of constants alone is no node of a device."""
    found = cuts(lambda row: row["starts_is_constant"] and row["ends_is_constant"])
    assert not any(all(case.use.is_constant) for case in found)
    text, target = written(found, tmp_path)
    assert text == "[limits.Slice]\ncomputed = false\n"
    assert judged(found, target).ran == 16 == judged(found, target).taken
    assert written(cuts(lambda _: True), tmp_path)[0] == ""


def test_what_a_profile_takes_and_fails_is_separated() -> None:
    found = joins(lambda kind, rank: rank < 6 and kind == "FLOAT")
    target = Target("npu", max_rank=5)
    told = judged(found, target)
    assert (told.share, told.good) == (1.0, False)
    words = separated(told.failed, taken_of(found, target))
    assert sorted(words) == ["types bool (15 of 15)", "types int64 (15 of 15)"]


def test_an_operator_that_no_node_runs(tmp_path: Path) -> None:
    found = joins(lambda kind, rank: False)
    assert not learnt(found).taken
    assert '"Concat"' not in profile(HEAD, {"Concat": found})


@pytest.mark.parametrize("name", DEVICES)
def test_the_profiles_are_of_the_package(name: str) -> None:
    assert name in profile_names()
    assert len(set(WRITTEN)) == 20
    if name != "qnn":
        assert target_of(name).checked.startswith("measured by others")
