"""Nodes that are drawn from the schema of every operator version compute the same in other sets."""

import pytest

from tests.fitting.opsets.models import versions
from tests.fitting.opsets.sweep import Found, sweep_version
from tests.helpers.examples import is_deep

VERSIONS = versions()
OPERATORS = sorted({version.op for version in VERSIONS})


@pytest.mark.sampled(20)
@pytest.mark.parametrize("op", OPERATORS)
def test_raised_and_lowered(op: str) -> None:
    found = Found(halves=not is_deep())
    for version in VERSIONS:
        if version.op == op:
            sweep_version(version, found)
    assert found.faults == []


def test_every_version_is_swept() -> None:
    assert len(VERSIONS) == 555
