"""A hook of MkDocs: a file outside of docs, or a script, to which a page links becomes a page, too.

The page of a file shows its text, and the page of a folder lists its files. A Markdown page of the
project is rendered. In a strict build, a link to a missing file is an error.
"""

from __future__ import annotations

import logging
import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files, InclusionLevel

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")  # relative ones
FENCED = re.compile(r"(^```.*?^```$)", re.M | re.S)
KINDS = {".py": "python", ".cc": "cpp", ".h": "cpp", ".json": "json", ".toml": "toml", ".sh": "sh"}
LOG = logging.getLogger("mkdocs.hooks.sources")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each source that a page links to."""
    waiting = [f for f in files if f.is_documentation_page()]
    found: set[str] = set()
    for file in waiting:
        folder = _folder(file.src_uri)
        for target, _ in LINK.findall(FENCED.sub("", file.content_string)):
            source = posixpath.normpath(posixpath.join(folder, target))
            if _is_outside(source) and source not in found and (ROOT / source).exists():
                found.add(source)
                page = File.generated(config, _page(source), content=_content(source))
                page.inclusion = InclusionLevel.NOT_IN_NAV
                files.append(page)
                if source.endswith(".md"):
                    waiting.append(page)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead the links of a page to the pages that were added."""
    here = page.file.src_uri
    folder = _folder(here)

    def changed(match: re.Match[str]) -> str:
        source = posixpath.normpath(posixpath.join(folder, match[1]))
        if not _is_outside(source):
            to = source.removeprefix("docs/")
            if not here.startswith("source/"):
                return match[0]
        elif files.get_file_from_path(_page(source)) is None:
            LOG.warning("%s links to %s, which does not exist", here, match[1])
            return match[0]
        else:
            to = _page(source)
        return f"]({posixpath.relpath(to, posixpath.dirname(here) or '.')}{match[2] or ''})"

    parts = FENCED.split(markdown)  # text and code in turns
    parts[::2] = [LINK.sub(changed, text) for text in parts[::2]]
    return "".join(parts)


def _folder(page: str) -> str:
    """Return the folder of the project in which the source of a page lies."""
    if page.startswith("source/"):
        return posixpath.dirname(page.removeprefix("source/"))
    return posixpath.dirname(f"docs/{page}")


def _is_outside(source: str) -> bool:
    return not source.startswith("docs/") or source.endswith(".py")


def _page(source: str) -> str:
    return f"source/{source.removesuffix('.md')}.md"


def _content(source: str) -> str:
    path = ROOT / source
    if path.is_dir():
        names = sorted(p.name + "/" * p.is_dir() for p in path.iterdir() if _is_listed(p))
        return "\n".join((f"# {source}", "", *(f"- `{name}`" for name in names), ""))
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return text
    fence = "`" * (3 + max((len(run) for run in re.findall("`{3,}", text)), default=0))
    return f"# {source}\n\n{fence}{KINDS.get(path.suffix, 'text')}\n{text}{fence}\n"


def _is_listed(path: Path) -> bool:
    return not path.name.startswith(("__pycache__", ".")) and os.access(path, os.R_OK)
