"""Ask MindSpore, and write mindspore.npz:  python -m tests.theory.golden.make_mindspore

Each case is asked in a process of its own: MindSpore 2.10 keeps the kernel of ``ops.scatter`` with
the axis of the first call that had these element types.
"""

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from tests.theory.golden.draws import Array
from tests.theory.golden.mindspore_draws import DRAWS
from tests.theory.golden.replay import Arguments, record

PATH = Path(__file__).parent / "mindspore.npz"


def run(call: str, arguments: Arguments) -> Array | None:
    """Return MindSpore's answer, on the CPU, or None if it refuses."""
    import mindspore  # so that each process finds it loaded

    assert mindspore.__version__
    forked = multiprocessing.get_context("fork")
    here, there = forked.Pipe(duplex=False)
    process = forked.Process(target=_ask, args=(there, call, arguments))
    process.start()
    there.close()
    answer: Array | None = here.recv()
    process.join()
    return answer


def _ask(answers: Connection, call: str, arguments: Arguments) -> None:
    import mindspore

    mindspore.set_context(device_target="CPU", pynative_synchronize=True)
    try:
        given = {
            name: mindspore.Tensor(value) if isinstance(value, np.ndarray) else value
            for name, value in arguments.items()
        }
        answers.send(np.asarray(getattr(mindspore.ops, call)(**given).asnumpy()))
    except (RuntimeError, TypeError, ValueError):
        answers.send(None)


if __name__ == "__main__":
    import mindspore

    record(PATH, DRAWS, run, mindspore.__version__)
