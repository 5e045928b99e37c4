"""A log is silenced for one thread, while other threads use it."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

from onnx_scatterx.processes.collection import quiet

NAME = "tests.a_log_of_its_own"
LOG = logging.getLogger(NAME)


class Heard(logging.Handler):
    """Keeps the messages."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())


def test_only_this_thread_and_this_log_are_silenced() -> None:
    heard = Heard()
    LOG.addHandler(heard)
    other = LOG.getChild("other")
    try:
        with quiet(NAME) as outer, ThreadPoolExecutor(1) as threads:
            threads.submit(LOG.error, "another thread").result()
            with quiet(NAME) as inner:
                LOG.error("inside")
            LOG.error("outside")
            other.error("another log")
        LOG.error("afterwards")
    finally:
        LOG.removeHandler(heard)
    assert (outer, inner) == (["outside"], ["inside"])
    assert heard.told == ["another thread", "another log", "afterwards"]


def test_a_thread_that_leaves_while_another_is_heard() -> None:
    """The list of filters is read after the other thread has finished with it."""
    entered, leave, left = threading.Event(), threading.Event(), threading.Event()

    def other() -> None:
        with quiet(NAME):
            entered.set()
            leave.wait(30)
        left.set()

    def gate(_: logging.LogRecord) -> bool:
        leave.set()
        return left.wait(30)

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(other)
        assert entered.wait(30)
        LOG.addFilter(gate)
        try:
            with quiet(NAME) as said:
                LOG.error("this")
        finally:
            leave.set()
            LOG.removeFilter(gate)
        done.result()
    assert said == ["this"]
