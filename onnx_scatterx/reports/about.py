"""The subject of a report: the model, and the options."""

from __future__ import annotations

from dataclasses import dataclass

_UNITS = ("kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class About:
    """A model: its name or that of its file, its sizes in bytes, and the options that were chosen.

    ``size_before`` and ``size_after`` are those of the file, ``size_outside`` is that of external
    data; None without a file. ``opset`` is the operator set afterwards.
    """

    model: str
    size_before: int | None = None
    size_after: int | None = None
    size_outside: int = 0
    opset: int | None = None
    options: tuple[str, ...] = ()


def bytes_text(count: int) -> str:
    """Return a number of bytes as a person reads it.

    >>> bytes_text(1), bytes_text(999), bytes_text(12_345), bytes_text(3_210_000_000)
    ('1 byte', '999 bytes', '12.3 kB', '3.21 GB')
    """
    if count < 1000:
        return f"{count} byte{'s' * (count != 1)}"
    amount, power = count / 1000, 0
    while amount >= 999.5 and power < len(_UNITS) - 1:
        amount, power = amount / 1000, power + 1
    digits = 2 if amount < 9.995 else 1 if amount < 99.95 else 0
    return f"{amount:.{digits}f} {_UNITS[power]}"
