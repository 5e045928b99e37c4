"""Ask TensorFlow, and write tensorflow.npz:  python -m tests.theory.golden.make_tensorflow."""

import os
from pathlib import Path

import numpy as np

from tests.theory.golden.draws import Array
from tests.theory.golden.replay import Arguments, record
from tests.theory.golden.tensorflow_draws import DRAWS

PATH = Path(__file__).parent / "tensorflow.npz"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def run(call: str, arguments: Arguments) -> Array | None:
    """Return TensorFlow's answer on the CPU, or None if it refuses."""
    import tensorflow as tf

    given = {
        name: tf.convert_to_tensor(value) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    try:
        return np.asarray(getattr(tf, call)(**given).numpy())
    except (tf.errors.OpError, ValueError, TypeError, IndexError):
        return None


if __name__ == "__main__":
    import tensorflow as tf

    record(PATH, DRAWS, run, tf.__version__)
