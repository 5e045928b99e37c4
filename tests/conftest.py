"""What all tests share: options of the command line, workers, and how many examples are tried.

pytest                              all but what is marked `full`, and a share of the cases of the
                                    tests marked `sampled`, with a worker for each core
ALL_CASES=1 pytest                  with all tests and all their cases
pytest -m "not slow"                without the tests that start processes
pytest tests/engine/lift/test_lift_scatter.py  one file, in this process
pytest --hypothesis-profile=full    with five times the examples and all cases and tests, as CI
pytest --hypothesis-profile=full -m drawn   of these only those that the profile changes
pytest --hypothesis-profile=deep    with ten times the examples
just explore 7                      with ten times the examples, and others: those of seed 7

Every run draws the same examples, so a test that fails does so everywhere.
"""

import ctypes
import gc
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test, settings

from onnx_scatterx.processes import child
from tests.helpers import forked_worker
from tests.helpers.examples import are_all, examples, is_full, other_cases, scaled

# Folders and files of tests of processes; single tests are marked `started`.
_REAL_STARTS = {"runtime", "test_no_process.py", "test_stopping.py"}

settings.load_profile("daily")
os.environ["COLUMNS"] = "120"  # tables are as wide as the terminal
for name in ("NO_COLOR", "FORCE_COLOR"):
    os.environ.pop(name, None)
if sys.dont_write_bytecode:
    # Each worker would compile all tests anew, and each process of a test the package.
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "compiled")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# A shell lets what it runs in the background ignore these, and so would the commands of the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGQUIT"):
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)


def _keep_freed_memory() -> None:
    """Let glibc keep what is freed for the next test: the system clears what it gets back.

    A question to Z3 takes and frees 14 MB.
    """
    set_option = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if set_option is not None:  # musl lacks it
        trim_threshold, top_pad, mmap_threshold = -1, -2, -3  # of malloc.h
        set_option(trim_threshold, 1 << 30)
        set_option(top_pad, 1 << 26)
        set_option(mmap_threshold, 1 << 25)


_keep_freed_memory()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write golden texts instead of comparing them"
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Use no workers for a single file, which takes less time than to start them.

    Golden texts are files that tests share, so one process writes them.
    """
    one = len(config.args) == 1 and config.args[0].split("::")[0].endswith(".py")
    return 0 if one or config.getoption("--update-golden") else os.cpu_count() or 1


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--update-golden writes files that tests share: run it with -n 0")


@pytest.hookimpl(tryfirst=True)  # the option -m selects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what follows the profile. Leave out what the profile does without.

    These are the tests marked `full`, which run if a test is named, and most cases of those marked
    `sampled`, which run if a file is named, too.
    """
    for item in items:
        if any(map(item.get_closest_marker, ("full", "sampled"))) or _follows_the_profile(item):
            item.add_marker("drawn")
    if are_all() or any("::" in argument for argument in config.args):
        return
    if not any(argument.endswith(".py") for argument in config.args):
        left_out = other_cases(items)
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="runs under --hypothesis-profile=full"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector neither run while tests are collected, nor visit them later.

    After that it runs less often than by default: most of what a test makes is gone with the test.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in docstrings of helpers alone: tests have none."""
    found = yield
    is_test = file_path.name.startswith("test_")
    return [f for f in found if not (is_test and type(f).__name__ == "DoctestModule")]


def _follows_the_profile(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    names = {f.__name__ for f in (are_all, examples, is_full, scaled)}
    return is_hypothesis_test(item.obj) or not names.isdisjoint(vars(item.module))


@pytest.fixture(autouse=True)
def _forked_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers be copies of this process, but for the tests of processes."""
    names = {request.path.parent.name, request.path.name}
    if not hasattr(os, "fork") or request.node.get_closest_marker("started"):
        return
    if not names & _REAL_STARTS:
        monkeypatch.setattr(child, "started", forked_worker.started)
