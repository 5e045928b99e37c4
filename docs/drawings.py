"""Draws the pictures of the pages: ``python docs/drawings.py`` writes docs/drawings/*.svg.

The picture drawings/NAME.svg is ``draw(NAME)``, for the transformer of that name in the page.
"""

import doctest
import re
from collections.abc import Iterator
from pathlib import Path

from onnx_scatterx.system.writing import write_text
from onnx_scatterx.theory import draw

DOCS = Path(__file__).parent


def drawings() -> Iterator[tuple[Path, str]]:
    """Yield each picture that a page shows: its file and what must be in it."""
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if names := re.findall(r"\]\(drawings/(\w+)\.svg\)", text):
            examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
            doctest.DocTestRunner().run(examples, clear_globs=False)
            for name in names:
                yield DOCS / "drawings" / f"{name}.svg", draw(examples.globs[name])


if __name__ == "__main__":
    (DOCS / "drawings").mkdir(exist_ok=True)
    for path, picture in drawings():
        write_text(path, picture)
