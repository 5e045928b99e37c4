"""Pieces against time: how long the same bytes take in more and more strided copies.

    python benchmarks/pieces.py [--plot docs/measured/pieces.svg]

Half of the rows of 4 MB of float32 are written, on one thread. Rows are in order, which is one
strided copy, or in a random order; they are made shorter and shorter. The last column is a memcpy
of data and updates. Each time is the least of the runs, which alternate.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from kernel import bound, memcpy, seconds_of
from kernel_writes import pick_rows, rows_0

import onnx_scatterx
from onnx_scatterx.files.writing import write_text
from onnx_scatterx.theory import XTransformer, moves
from onnx_scatterx.theory.conventions.axes import by_axes
from onnx_scatterx.theory.drawing import COLOURS, INK

ELEMENTS, RUNS = 1 << 20, 40
WIDE, HIGH, LEFT, TOP = 640, 360, 60, 40


def transformer(order: str, width: int) -> XTransformer:
    """Give the transformer of half of the rows."""
    height = ELEMENTS // width
    rows = pick_rows(height, height // 2, order)
    return by_axes((height // 2, width), (height, width), [rows[:, None], 1])


def measured(order: str, width: int, library: str) -> tuple[int, float, float, float]:
    """Count the pieces, and time ScatterND, ScatterX and a memcpy, in ms."""
    case = rows_0("rows", (ELEMENTS // width, width), ELEMENTS // width // 2, order, "float32")
    calls = [bound(model, case, 1, library) for model in (case.builtin, case.scatterx)]
    calls.append(memcpy(case, 1))
    runs = [[seconds_of(call) for call in calls] for _ in range(RUNS)]
    builtin, own, limit = (1e3 * min(taken) for taken in zip(*runs, strict=True))
    return len(moves(transformer(order, width), 4)), builtin, own, limit


def figure(rows: list[tuple[str, int, int, float, float, float]]) -> str:
    """Draw times over pieces, both logarithmic."""
    most = math.log10(max(row[2] for row in rows))
    low, high = (f(math.log10(t) for row in rows for t in row[3:]) for f in (min, max))

    def place(pieces: float, milliseconds: float) -> tuple[float, float]:
        across = math.log10(pieces) / most
        up = (math.log10(milliseconds) - low) / (high - low)
        return LEFT + across * (WIDE - LEFT - 20), HIGH - 40 - up * (HIGH - 40 - TOP)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{HIGH}" role="img">',
        "<title>the time of a scatter over the number of its strided copies</title>",
        f'<g font-family="sans-serif" font-size="13" fill="{INK}">',
        f'<text x="{WIDE // 2}" y="{HIGH - 4}">strided copies</text><text x="4" y="14">ms</text>',
    ]
    frame = f"M{LEFT - 12} {TOP - 12} V{HIGH - 34} H{WIDE - 8}"
    parts.append(f'<path d="{frame}" fill="none" stroke="{INK}"/>')
    for power in range(int(most) + 1):
        x = place(10**power, 10**low)[0]
        parts.append(f'<text x="{x:.0f}" y="{HIGH - 20}" text-anchor="middle">{10**power}</text>')
    for step in range(5):
        level = 10 ** (low + step * (high - low) / 4)
        y = place(1, level)[1]
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{level:.2f}</text>')
    for number, (name, column) in enumerate((("ScatterND", 3), ("ScatterX", 4), ("memcpy", 5))):
        colour = COLOURS[number]
        parts.append(f'<text x="{LEFT + 110 * number}" y="30" fill="{colour}">{name}</text>')
        for row in rows:
            x, y = place(row[2], float(row[column]))
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>')
    return "\n".join((*parts, "</g>", "</svg>", ""))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--plot", type=Path)
    args = parser.parse_args()
    library = str(onnx_scatterx.library_path())
    names = "rows", "elements of a row", "verdict", "strided copies"
    print(f"| {' | '.join(names)} | ScatterND ms | ScatterX ms | memcpy ms |")
    print("|---|---:|---|---:|---:|---:|---:|")
    rows = []
    for order in ("following", "random"):
        for width in (1 << 14, 1 << 11, 1 << 8, 1 << 5, 1 << 2, 1):
            found = (order, width, *measured(order, width, library))
            rows.append(found)
            verdict = transformer(order, width).verdict().sliceability.value
            times = " | ".join(f"{t:.3f}" for t in found[3:])
            named = {"following": "in order", "random": "random"}[order]
            print(f"| {named} | {width} | {verdict} | {found[2]} | {times} |", flush=True)
    if args.plot:
        write_text(args.plot, figure(rows))


if __name__ == "__main__":
    main()
