"""Ask TVM, and write tvm.npz:  python -m tests.theory.golden.make_tvm

A call is built for the arguments' shapes and for what is no array, and run on the CPU.
"""

from pathlib import Path
from typing import Any

import numpy as np

from tests.theory.golden.draws import Array
from tests.theory.golden.replay import Arguments, record
from tests.theory.golden.tvm_draws import DRAWS

PATH = Path(__file__).parent / "tvm.npz"


def run(call: str, arguments: Arguments) -> Array | None:
    """Return TVM's answer, or None if it refuses."""
    import tvm
    from tvm import te

    arrays = {name: a for name, a in arguments.items() if isinstance(a, np.ndarray)}
    others = {name: a for name, a in arguments.items() if name not in arrays}
    refusals = (tvm.error.InternalError, AssertionError, NotImplementedError, LookupError)
    try:
        holders = {n: te.placeholder(a.shape, a.dtype.name, name=n) for n, a in arrays.items()}
        output = _built(call, {**holders, **others})
        model = tvm.compile(te.create_prim_func([*holders.values(), output]), target="llvm")
        shape = tuple(int(n) for n in output.shape)
        answer = tvm.runtime.empty(shape, str(output.dtype))
        model(*(tvm.runtime.tensor(np.array(a, order="C")) for a in arrays.values()), answer)
    except (*refusals, ValueError, TypeError):
        return None
    return np.asarray(answer.numpy()).reshape(shape)


def _built(call: str, given: dict[str, Any]) -> Any:
    from tvm import topi

    if call in ("scatter", "scatter_add"):  # those of Relay
        reduction = "update" if call == "scatter" else "add"
        return topi.scatter_elements(**given, reduction=reduction)
    output = getattr(topi, call)(**given)
    return output[0] if isinstance(output, list) else output


if __name__ == "__main__":
    import tvm

    record(PATH, DRAWS, run, tvm.__version__)
