"""Compilers of devices are asked, and models are timed.

Come here for ``check``, with the program of each compiler, and for ``bench``. Not for what is known
of a device without its compiler (``targets``), and not for the comparison of two models
(``compare``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_scatterx.faces import face

if TYPE_CHECKING:
    from onnx_scatterx.lab.benchmarking.models import bench as bench
    from onnx_scatterx.lab.devices.checking import Check as Check
    from onnx_scatterx.lab.devices.checking import reference_runs as reference_runs
    from onnx_scatterx.lab.devices.consumer import Consumer as Consumer
    from onnx_scatterx.lab.devices.consumer import ConsumerProcess as ConsumerProcess
    from onnx_scatterx.lab.devices.consumer import consumer_of as consumer_of
else:
    __getattr__, __dir__, __all__ = face(
        __name__,
        {
            "benchmarking.models": "bench",
            "devices.checking": "Check reference_runs",
            "devices.consumer": "Consumer ConsumerProcess consumer_of",
        },
    )
