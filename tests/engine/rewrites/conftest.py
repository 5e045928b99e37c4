"""What the tests of the rules share: `golden` and `refuses`, for the rule of the file; a judge."""

from pathlib import Path

import pytest

from tests.helpers.golden import GoldenFile
from tests.helpers.rules import Golden, Refuses
from tests.helpers.second_judge import second_judge as second_judge


def _rule(path: Path) -> str:
    return path.stem.removeprefix("test_")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return what checks that the rule rewrites a model, and how."""
    rule = _rule(request.path)
    file = GoldenFile(request.path.parent / "golden" / f"{rule}.txt", request.path)
    test = request.node.originalname
    if test == "test_golden":
        test = "test_" + request.node.callspec.id.replace(" ", "_")
    else:
        assert request.node.name == test, "a golden text is of one test without parameters"
    return Golden(rule, file, test, update=request.config.getoption("--update-golden"))


@pytest.fixture
def refuses(request: pytest.FixtureRequest) -> Refuses:
    """Return what checks that the rule leaves a model alone."""
    return Refuses(_rule(request.path))
