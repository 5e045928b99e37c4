"""Makes the pictures of the pages: ``python docs/drawings.py`` writes docs/drawings/*.svg.

The picture drawings/NAME.svg is ``picture(NAME)``, for the transformer of that name in the page.
Two are others: drawings/pipeline.svg has the passes, as ``PIPELINE`` lists them, and
drawings/before_after.svg has a model before and after, as a report shows it.
"""

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import onnx_scatterx
from onnx_scatterx.files.writing import write_text
from onnx_scatterx.pipeline.order import PIPELINE
from onnx_scatterx.tell.page.map_figure import graph_figure
from onnx_scatterx.text.visible_text import as_html
from onnx_scatterx.theory import picture
from onnx_scatterx.theory.drawing import COLOURS, INK, TEXT

DOCS = Path(__file__).parent
STYLE = (DOCS.parent / "onnx_scatterx/tell/page/report.css").read_text(encoding="utf-8")


def drawings() -> Iterator[tuple[Path, str]]:
    """Yield each picture that a page shows: its file and what must be in it."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if names := re.findall(r"\]\((?:\.\./)?drawings/(\w+)\.svg\)", text):
            examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
            doctest.DocTestRunner().run(examples, clear_globs=False)
            for name in names:
                svg = pipeline() if name == "pipeline" else picture(examples.globs[name])
                yield DOCS / "drawings" / f"{name}.svg", svg
    yield DOCS / "drawings" / "before_after.svg", before_after("refine_centres_dynamo")


def before_after(model: str) -> str:
    """Draw the piece of graph around the scatters of a model, and the nodes that replace it."""
    entry = onnx_scatterx.inspect(DOCS.parent / f"models/{model}.onnx", target="standard").scatters[
        0
    ]
    assert entry.detail is not None
    assert entry.detail.before is not None
    assert entry.detail.after is not None
    left = graph_figure(entry.detail.before, "before")
    right = graph_figure(entry.detail.after, "after")
    width, height = left.width + 90 + right.width, 30 + max(left.height, right.height)
    place, middle = left.width + 90, 30 + left.height // 2
    down = middle - right.height // 2
    used = set(re.findall(r"sx-\w+", left.content + right.content))
    rules = [
        rule for name, rule in re.findall(r"^(?=\.(sx-\w+))(.*})$", STYLE, re.M) if name in used
    ]
    colours = set(re.findall(r"var\((--[\w-]+)\)", "".join(rules))) | {"--ink"}
    palette = re.findall(r"^  (--[\w-]+): light-dark\((.*), (.*)\);", STYLE, re.M)
    light, dark = (
        "".join(f"{name}: {pair[scheme]}; " for name, *pair in palette if name in colours)
        for scheme in (0, 1)
    )
    font = "13px ui-monospace, Menlo, Consolas, monospace"
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img">',
            f"<title>{as_html(left.label)}. {as_html(right.label)}.</title>",
            "<style>",
            f"svg {{ {light} fill: var(--ink); font: {font}; text-anchor: middle; }}",
            f"@media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}",
            *rules,
            "</style>",
            f'<text x="{left.width // 2}" y="18" fill="{INK}">before</text>',
            f'<g transform="translate(0 30)">{left.content}</g>',
            _arrow(left.width + 20, middle, left.width + 70, middle),
            f'<text x="{place + right.width // 2}" y="{down - 12}" fill="{INK}">after</text>',
            f'<g transform="translate({place} {down})">{right.content}</g>',
            "</svg>",
            "",
        )
    )


def pipeline() -> str:
    """Draw the pipeline: the model on the left, its passes, and on the right their shared data."""
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
    for path, drawn in drawings():
        write_text(path, drawn)
