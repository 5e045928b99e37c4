"""Where models that are costly to look at are registered, and how they are written as text."""

from collections.abc import Callable, Sequence

import onnx
import onnx.parser

Build = Callable[[int], onnx.ModelProto]

HOSTILE: dict[str, Build] = {}
LARGE: dict[str, int] = {}
HUGE: set[str] = set()


def hostile(large: int) -> Callable[[Build], Build]:
    """Register a model under the name of its function; ``large`` makes it one of up to 1 MB."""

    def add(build: Build) -> Build:
        name = build.__name__.removeprefix("_")
        HOSTILE[name], LARGE[name] = build, large
        return build

    return add


def huge(large: int) -> Callable[[Build], Build]:
    """Register a model that ``large`` makes larger than what the promise for 1 MB is about."""

    def add(build: Build) -> Build:
        HUGE.add(build.__name__.removeprefix("_"))
        return hostile(large)(build)

    return add


def model_of(
    body: Sequence[str],
    *,
    inputs: str = "float[4, 2] x, float[1, 2] u",
    result: str = "float[4, 2] y",
    known: str = "",
    more: str = "",
) -> onnx.ModelProto:
    """A graph of text with a few constants; ``more`` are functions."""
    domain = ', "f" : 1' if more else ""
    return onnx.parser.parse_model(f"""<ir_version: 9, opset_import: ["" : 18{domain}]>
        g ({inputs}) => ({result})
        <int64 zero = {{0}}, int64 one = {{1}}, int64 two = {{2}}, int64[1] first = {{0}},
         int64[1] minus = {{-1}}{known}> {{ {chr(10).join(body)} }} {more}""")


def wide(power: int) -> str:
    """Return a constant of 2^power, for ``known``."""
    return f", int64[1] wide = {{{1 << power}}}"


WRITE = ["i = Unsqueeze (rows, minus)", "y = ScatterND (x, i, u)"]
