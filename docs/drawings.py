"""Draws the pictures of the pages: ``python docs/drawings.py`` writes docs/drawings/*.svg.

The picture drawings/NAME.svg is ``draw(NAME)``, for the transformer of that name in the page. Only
drawings/pipeline.svg is another: the passes, as ``PIPELINE`` lists them.
"""

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

from onnx_scatterx.pipeline import PIPELINE
from onnx_scatterx.system.writing import write_text
from onnx_scatterx.text.visible import as_html
from onnx_scatterx.theory import draw
from onnx_scatterx.theory.drawing import COLOURS, INK, TEXT

DOCS = Path(__file__).parent


def drawings() -> Iterator[tuple[Path, str]]:
    """Yield each picture that a page shows: its file and what must be in it."""
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if names := re.findall(r"\]\(drawings/(\w+)\.svg\)", text):
            examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
            doctest.DocTestRunner().run(examples, clear_globs=False)
            for name in names:
                picture = pipeline() if name == "pipeline" else draw(examples.globs[name])
                yield DOCS / "drawings" / f"{name}.svg", picture


def pipeline() -> str:
    """Draw the pipeline: the model on the left, its passes, and on the right what they share."""
    parts: list[str] = []
    box, step, left, right = 30, 46, 20, 330
    rows = ["a model (.onnx)", *(p.name for p in PIPELINE), "the optimized model, and the report"]
    for place, name in enumerate(rows):
        top = 20 + step * place
        is_pass = 0 < place < len(rows) - 1
        parts += _box(left, top, 270, box, name, COLOURS[0] if is_pass else COLOURS[4])
        if place:
            parts.append(_arrow(left + 135, top - step + box, left + 135, top))
        if is_pass:
            parts.append(_arrow(left + 270, top + 15, right, top + 15, both=True))
    last = 20 + step * (len(rows) - 2) + box
    parts += _box(right, 20 + step, 300, last - 20 - step, "", COLOURS[2])
    words = (
        *("ModelAnalysis", "", "what is known of every value:"),
        *("  its shape, in terms of sizes", "  its elements, if they are integers", ""),
        *("Facts", "", "terms that are never negative:", "  N - M, as the model checks", ""),
        *("Kept while passes change the model:", "new nodes are interpreted too."),
    )
    for line, word in enumerate(words):
        weight = ' font-weight="bold"' if word in ("ModelAnalysis", "Facts") else ""
        indent = 16 * word.startswith("  ")
        x, y = right + 14 + indent, 20 + step + 26 + 20 * line
        parts.append(f'<text x="{x}" y="{y}" fill="{TEXT}"{weight}>{as_html(word.strip())}</text>')
    height = 20 + step * len(rows)
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="650" height="{height}" '
            f'viewBox="0 0 650 {height}" role="img">',
            "<title>The pipeline</title>",
            '<g font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13">',
            *parts,
            "</g>",
            "</svg>",
            "",
        )
    )


def _box(x: int, y: int, width: int, height: int, name: str, colour: str) -> list[str]:
    shape = f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{colour}"/>'
    text = f'<text x="{x + 12}" y="{y + 20}" fill="{TEXT}">{as_html(name)}</text>'
    return [shape, text] if name else [shape]


def _arrow(x: int, y: int, to_x: int, to_y: int, *, both: bool = False) -> str:
    """Draw an arrow to the right or downwards, with a head at both ends if asked."""
    across = 1 if y == to_y else 0
    heads = f"M{to_x} {to_y}l{-6 if across else -4} {-4 if across else -6}"
    heads += "v8z" if across else "h8z"
    if both:
        heads += f"M{x} {y}l6 -4v8z"
    return f'<path d="M{x} {y}L{to_x} {to_y}{heads}" fill="{INK}" stroke="{INK}"/>'


if __name__ == "__main__":
    (DOCS / "drawings").mkdir(exist_ok=True)
    for path, picture in drawings():
        write_text(path, picture)
