"""The consumers: one for each file in `consumers`, or a file of yours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from onnx_scatterx.doors.devices.adapter import Adapter
from onnx_scatterx.doors.devices.child import load
from onnx_scatterx.errors import ScatterXError, did_you_mean, one_line

_CONSUMERS = Path(__file__).resolve().parent / "consumers"


@dataclass(frozen=True)
class Consumer:
    """An adapter, and the file that it is in."""

    adapter: Adapter
    place: Path

    @property
    def name(self) -> str:
        """Its name on the command line."""
        return self.adapter.name

    @property
    def packages(self) -> tuple[str, ...]:
        """What pip installs for it."""
        return tuple(self.adapter.packages)


def consumer_names() -> list[str]:
    """Return the names of the consumers in the package.

    >>> "opencv" in consumer_names()
    True
    """
    return sorted(path.stem for path in _CONSUMERS.glob("*.py") if path.stem != "__init__")


def consumer_of(name: str) -> Consumer:
    """Return a consumer by its name, or by the path of a file that ends with ``adapter = ...``.

    >>> consumer_of("opencv").packages
    ('opencv-python-headless',)
    """
    if name.endswith(".py"):
        return _own(Path(name))
    known = consumer_names()
    if name not in known:
        near = did_you_mean(name, known) or f"; there are {', '.join(known)}, and files .py"
        raise ScatterXError(f"no consumer is called {name!r}{near}")
    place = _CONSUMERS / f"{name}.py"
    return Consumer(load(str(place)), place)


def _own(place: Path) -> Consumer:
    if not place.is_file():
        raise ScatterXError(f"{place}: no such file")
    try:
        adapter = load(str(place.resolve()))
    except Exception as error:  # a user's module may raise any exception
        raise ScatterXError(f"{place}: no adapter: {one_line(error)}") from error
    if not re.fullmatch(r"[\w.-]+", str(getattr(adapter, "name", ""))):
        raise ScatterXError(f"{place}: the adapter has no name")
    return Consumer(adapter, place.resolve())
