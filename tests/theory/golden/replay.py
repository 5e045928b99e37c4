"""Golden vectors: what a framework answered to drawn cases, and the conventions held against it.

    DRAWS = {"scatter": scatter, ...}   each function draws a call's arguments by name from a Draws
    run(call, arguments)                asks the framework: an array, or None if it refuses
    convention(**arguments).run()       the same by this package: an array, or a ValueError

``record`` asks the framework and writes one file; ``replay`` needs only that file; ``compare`` asks
the framework there and then. A refusal must name one of the call's arguments.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from tests.theory.golden.draws import BY_NAME, Array, Draws

Arguments = dict[str, Any]
Draw = Callable[[Draws], Arguments]
Run = Callable[[str, Arguments], Array | None]
COUNT = 250
_NAMES = list(BY_NAME)
_REFUSED = -1


def record(path: Path, draws: Mapping[str, Draw], run: Run, version: str) -> None:
    """Ask the framework all cases of all calls, and write its answers."""
    file: dict[str, Array] = {"version": np.array(version)}
    for call, draw in draws.items():
        asked, outcome, shapes, data = [], [], [], []
        for number in range(COUNT):
            arguments = draw(Draws(call, number))
            asked.append(digest(arguments))
            answer = run(call, arguments)
            outcome.append(_REFUSED if answer is None else _NAMES.index(answer.dtype.name))
            if answer is not None:
                shapes += [answer.ndim, *answer.shape]
                data.append(answer.tobytes())
        file[f"{call}.asked"] = np.array(asked, np.uint32)
        file[f"{call}.outcome"] = np.array(outcome, np.int8)
        file[f"{call}.shapes"] = np.array(shapes, np.uint8)
        file[f"{call}.data"] = np.frombuffer(b"".join(data), np.uint8)
    np.savez_compressed(path, **file)  # type: ignore[arg-type]  # allow_pickle is no array


def replay(
    path: Path, call: str, draw: Draw, convention: Callable[..., Any], *, accepted: int = 90
) -> None:
    """Hold a convention against all recorded answers: many are accepted, and many refused."""
    with np.load(path) as file:
        asked, outcome, shapes, data = (
            file[f"{call}.{part}"] for part in ("asked", "outcome", "shapes", "data")
        )
    seen: Counter[bool] = Counter()
    extents = shapes.tolist()
    s = d = 0
    for number, (expected_digest, kind) in enumerate(zip(asked, outcome, strict=True)):
        arguments = draw(Draws(call, number))
        assert digest(arguments) == expected_digest, f"{call} {number} is drawn otherwise: re-make"
        answer = None
        if kind != _REFUSED:
            shape = tuple(extents[s + 1 : s + 1 + extents[s]])
            dtype = BY_NAME[_NAMES[kind]]
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            answer = np.frombuffer(data[d : d + size].tobytes(), dtype).reshape(shape)
            s, d = s + 1 + len(shape), d + size
        seen[agree(f"{call} {number}", convention, arguments, answer)] += 1
    assert (s, d) == (shapes.size, data.size)
    assert seen[True] + seen[False] == COUNT >= 200
    assert seen[True] >= accepted
    assert seen[False] >= 30


def compare(
    call: str, draw: Draw, convention: Callable[..., Any], run: Run, numbers: Iterable[int]
) -> Counter[bool]:
    """Hold a convention against the framework itself."""
    seen: Counter[bool] = Counter()
    for number in numbers:
        arguments = draw(Draws(call, number))
        seen[agree(f"{call} {number}", convention, arguments, run(call, arguments))] += 1
    return seen


def agree(
    case: str, convention: Callable[..., Any], arguments: Arguments, answer: Array | None
) -> bool:
    """Assert that a convention answers or refuses alike; return whether it was accepted."""
    output: Array = np.empty(0)
    refusal = None
    try:
        output = convention(**arguments).run()
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        assert answer is None, f"{case} is refused: {refusal}\n{arguments}"
        names = "|".join(inspect.signature(convention).parameters)
        assert re.search(rf"\b({names})\b", refusal), f"{case} names no argument: {refusal}"
        return False
    assert answer is not None, f"{case} must be refused\n{arguments}"
    told = f"{case}: {output!r} must be {answer!r}\n{arguments}"
    assert (output.dtype, output.shape) == (answer.dtype, answer.shape), told
    assert bits(output) == bits(answer), told
    return True


def bits(array: Array) -> bytes:
    """Return every bit, but one NaN for all: which NaN comes out is the processor's choice."""
    if array.dtype.kind in "fcV":
        with np.errstate(invalid="ignore"):
            nan = array != array
        if nan.any():
            array = np.where(nan, np.array(np.nan, array.dtype), array)
    return array.tobytes()


def digest(value: Any) -> int:
    """Return a checksum of arguments: arrays, numbers, names, slices, and dicts and tuples of them.

    >>> digest({"dim": 1}) == digest({"dim": 1}), digest({"dim": 1}) == digest({"dim": 2})
    (True, False)
    """
    return crc32(_told(value).encode())


def _told(value: Any) -> str:
    match value:
        case np.ndarray():
            return f"{value.dtype.name}{value.shape}{crc32(value.tobytes())}"
        case dict():
            return repr([(name, _told(item)) for name, item in value.items()])
        case tuple() | list():
            return repr([_told(item) for item in value])
        case _:
            return repr(value)
