"""The speed of a machine in ONNX Runtime's operators: a few constants for each kind of work.

    nanoseconds of a node = launch + bytes * byte[op] + runs * run[op]

``bytes`` is the size of the node's output, ``runs`` its number of contiguous pieces. The packaged
constants are those of one core of a server; ``onnx-scatterx calibrate`` measures yours.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from onnx_scatterx.errors import ScatterXError
from onnx_scatterx.system.reading import note_read, read_toml

VARIABLE = "ONNX_SCATTERX_MACHINE"
KINDS = ("Concat", "Elementwise", "Gather", "Pad", "ScatterX", "Slice", "Transpose")
"""The kinds of work that are distinguished."""
WAYS = ("lines", "turns", "moves", "memcpy", "no-prefetch", "no-blocks", "no-panels")
"""The ways of copying that the ScatterX library has, as words of the variable SCATTERX_COPY."""


@dataclass(frozen=True)
class Machine:
    """A machine's constants, in nanoseconds: per node, per byte and per run of each kind.

    ``kernel`` has the words for the fastest ways of copying in the ScatterX library there.
    """

    launch: float
    byte: Mapping[str, float]
    run: Mapping[str, float]
    kernel: str = ""

    def time(self, kind: str, size: float, runs: float) -> float:
        """Return how long it takes to write ``size`` bytes in so many runs."""
        return size * self.byte[kind] + runs * self.run[kind]

    def to_toml(self) -> str:
        """Return the constants as text, the inverse of ``read``."""
        tables = [
            "\n".join([f"\n[{name}]", *(f"{k} = {v:.4g}" for k, v in sorted(table.items()))])
            for name, table in (("byte", self.byte), ("run", self.run))
        ]
        head = ["# nanoseconds", f'kernel = "{self.kernel}"', f"launch = {self.launch:.4g}"]
        return "\n".join([*head, *tables]) + "\n"

    @classmethod
    def read(cls, path: Path) -> Machine:
        """Return the constants in a file; ScatterXError if it does not hold them."""
        note_read(path, "the file of the machine's times")
        content = read_toml(path)
        again = "measure it again with 'onnx-scatterx calibrate'"
        if set(content) | {"kernel"} != {f.name for f in fields(cls)}:
            raise ScatterXError(f"{path}: must have launch, [byte] and [run]; {again}")
        for table in (content["byte"], content["run"], {"launch": content["launch"]}):
            if not isinstance(table, dict) or not all(map(_is_time, table.values())):
                raise ScatterXError(f"{path}: times are numbers that are not negative; {again}")
        for name in ("byte", "run"):
            if set(content[name]) != set(KINDS):
                raise ScatterXError(f"{path}: [{name}] must have {', '.join(KINDS)}; {again}")
        kernel = content.get("kernel", "")
        if not isinstance(kernel, str) or not set(kernel.split()) <= set(WAYS):
            raise ScatterXError(f"{path}: kernel must be words of {', '.join(WAYS)}; {again}")
        return cls(**content)


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12


def calibration_file() -> Path:
    """Return where this user's measured constants are kept."""
    given = os.environ.get(VARIABLE)
    if given:
        return Path(given)
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "onnx-scatterx" / "machine.toml"


def local_machine() -> Machine:
    """Return the constants that were measured here, or those in the package."""
    measured = calibration_file()
    if measured.exists() or os.environ.get(VARIABLE):
        return Machine.read(measured)
    return Machine.read(Path(__file__).with_name("machine.toml"))
