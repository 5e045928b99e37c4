"""Ask PyTorch, and write pytorch.npz:  python -m tests.theory.golden.make_pytorch."""

import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from tests.theory.golden.draws import Array
from tests.theory.golden.pytorch_draws import DRAWS
from tests.theory.golden.replay import Arguments, record

PATH = Path(__file__).parent / "pytorch.npz"


def run(call: str, arguments: Arguments) -> Array | None:
    """Return PyTorch's answer, on one thread, or None if it refuses."""
    import torch

    torch.set_num_threads(1)
    given = {name: _to_torch(value) for name, value in arguments.items()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if call == "setitem":
                output = given["input"].clone()
                output[given["index"]] = given["value"]
            elif call == "index_put" and None in [*map(_or_none, given["indices"])]:
                output = torch.ops.aten.index_put(*given.values())
            elif call in ("take_along_dim", "gather"):
                output = getattr(torch, call)(*given.values())
            else:
                output = getattr(torch, call)(**given)
    except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError, OverflowError):
        return None
    return _to_numpy(output)


def _or_none(value: Any) -> Any:
    return None if value is None else 0


def _to_torch(value: Any) -> Any:
    import torch

    if isinstance(value, tuple):
        return tuple(map(_to_torch, value))
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(value.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(value.copy())


def _to_numpy(tensor: Any) -> Array:
    import torch

    if tensor.dtype == torch.bfloat16:
        return _to_numpy(tensor.contiguous().view(torch.int16)).view(ml_dtypes.bfloat16)
    return np.asarray(tensor.contiguous().numpy())


if __name__ == "__main__":
    import torch

    record(PATH, DRAWS, run, torch.__version__)
