r"""README.md as a package index shows it: the text alone, without the files beside it.

`pyproject.toml` may say where the files of a version are on the web (``files``) and where pictures
are (``pictures``), with ``{version}`` in them. Then links and pictures lead there. Otherwise a link
is its text, and a picture is left out.

>>> page("See [what](docs/a.md#b) and ![it](c.svg)", {}, "1.0")
'See what and '
>>> page("See [what](docs/a.md)", {"files": "https://example.com/v{version}/"}, "1.0")
'See [what](https://example.com/v1.0/docs/a.md)'
>>> page("[here](#here) and [there](https://example.com)\n```\n[a](b)\n```", {}, "1.0")
'[here](#here) and [there](https://example.com)\n```\n[a](b)\n```'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_BLOCK = re.compile(r"^(```.*?^```)$", re.M | re.S)
_INSIDE = r"\((?!\w+:|#)([^)\s]+)\)"  # a target that is neither on the web nor on this page
_PICTURE = re.compile(rf"!\[([^\]]*)\]{_INSIDE}")
_LINK = re.compile(rf"(?<!!)\[([^\]]*)\]{_INSIDE}")


def dynamic_metadata(settings: Mapping[str, str], project: Mapping[str, Any]) -> dict[str, Any]:
    """Return the readme of the package: scikit-build-core asks for it."""
    text = Path("README.md").read_text(encoding="utf-8")
    told = page(text, settings, str(project["version"]))
    return {"readme": {"text": told, "content-type": "text/markdown"}}


def page(text: str, places: Mapping[str, str], version: str) -> str:
    """Return a text in Markdown, without links to files that are only beside it."""
    files = places.get("files", "").format(version=version)
    pictures = places.get("pictures", "").format(version=version)
    parts = _BLOCK.split(text)
    for at in range(0, len(parts), 2):  # between blocks of code
        shown = _PICTURE.sub(rf"![\1]({pictures}\2)" if pictures else "", parts[at])
        parts[at] = _LINK.sub(rf"[\1]({files}\2)" if files else r"\1", shown)
    return "".join(parts)
