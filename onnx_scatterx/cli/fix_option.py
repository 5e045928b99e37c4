"""The option --fix: sizes that are written into a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from onnx_scatterx.errors import ScatterXError


def add_fix(command: argparse.ArgumentParser) -> None:
    """Add --fix."""
    command.add_argument(
        "--fix",
        type=fixed_size,
        action="append",
        default=[],
        metavar="F",
        help="write numbers into the model's inputs: 'batch=4' a dim by its name, "
        "'x:1,3,224,224' the shape of an input",
    )


def fixed_size(text: str) -> tuple[str, int | tuple[int, ...]]:
    """Split the text of a fixed size into its name, and a number or a shape.

    >>> fixed_size("batch=8"), fixed_size("x:1,3,224"), fixed_size("in:0:2")
    (('batch', 8), ('x', (1, 3, 224)), ('in:0', (2,)))
    """
    name, _, number = text.rpartition("=")
    if name.strip() and number.strip().isdecimal():
        return name.strip(), int(number)
    name, _, shape = text.rpartition(":")
    dims = [dim.strip() for dim in shape.split(",")]
    if not name.strip() or not all(dim.isdecimal() for dim in dims):
        raise argparse.ArgumentTypeError(f"{text!r} is not like 'batch=4' or 'x:1,3,224,224'")
    return name.strip(), tuple(map(int, dims))


def fixed_sizes(
    given: Sequence[tuple[str, int | tuple[int, ...]]],
) -> dict[str, int | tuple[int, ...]]:
    """Return the fixed sizes by name; ScatterXError if one name is given two sizes."""
    found: dict[str, int | tuple[int, ...]] = {}
    for name, numbers in given:
        if found.setdefault(name, numbers) != numbers:
            raise ScatterXError(f"--fix gives {name!r} two sizes: {found[name]} and {numbers}")
    return found


def fix_texts(given: Sequence[tuple[str, int | tuple[int, ...]]]) -> list[str]:
    """Return the arguments of --fix as they are typed.

    >>> fix_texts([("batch", 8), ("x", (1, 3))])
    ['batch=8', 'x:1,3']
    """
    return [
        f"{name}={sizes}" if isinstance(sizes, int) else f"{name}:{','.join(map(str, sizes))}"
        for name, sizes in given
    ]
