"""The commands of a page, run as by a reader, and the output that is shown below them."""

import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

from onnx_scatterx.doors.cli import main

BLOCK = re.compile(r"^```(sh|text|toml)\n(.*?)^```", re.M | re.S)


def follow(page: str, read: Callable[[], tuple[str, str]]) -> Iterator[tuple[list[str], int, str]]:
    """Run the commands of a page one after the other, in the current directory.

    ``read`` gives what was printed since the last time. A block of text below commands must have
    lines that the last of them prints, in that order; a profile is written to ``npu.toml``. Yields
    the arguments, the exit status and the output of each. Commands of other programs are left out,
    and so is what asks for a package that is not installed.
    """
    printed = ""
    for kind, block in BLOCK.findall(page):
        if kind == "toml":
            Path("npu.toml").write_text(block, encoding="utf-8")
        elif kind == "sh":
            printed = ""
            for command in (part for line in block.splitlines() for part in line.split("&&")):
                arguments = shlex.split(command, comments=True)
                if arguments[:1] != ["onnx-scatterx"]:
                    continue
                status = main(arguments[1:])
                output, told = read()
                printed = output + told
                if "is not installed" in told:
                    printed = ""
                    continue
                yield arguments[1:], status, printed
        elif printed:
            place = 0
            for line in block.splitlines():
                place = printed.find(line + "\n", place)
                assert place >= 0, f"not printed, or not in that order: {line}\n{printed}"
