"""Profiles of devices as files, and models that a profile changes."""

from pathlib import Path

HEAD = '<ir_version: 8, opset_import: ["" : 18]>'
BOX = f"""{HEAD} g (float[6,4] x, float[2,4] u) => (float[6,4] y)
    {{ y = ScatterND (x, [[2], [3]], u) }}"""

EVEN = f"""{HEAD} g (float[8,2] x, float[4,2] u, float[4,2] v) => (float[8,2] z) {{
        y = ScatterND (x, [[0], [2], [4], [6]], u)
        z = ScatterND (y, [[1], [3], [5], [7]], v) }}"""


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)
