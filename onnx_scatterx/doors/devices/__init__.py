"""The answers of device compilers about a model: each runs it in a process of its own.

`check` decides whether a consumer takes a model and computes what ONNX Runtime computes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx_scatterx.doors.devices.checking import Check, check

__all__ = ["Check", "check"]


def __getattr__(name: str) -> object:
    # Late, because the processes of consumers import this package and do not need these.
    if name in __all__:
        from onnx_scatterx.doors.devices import checking

        return getattr(checking, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
