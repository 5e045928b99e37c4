"""What a release says of itself: its version everywhere, its date, and README on an index."""

from __future__ import annotations

import hashlib
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_string
from html.parser import HTMLParser
from pathlib import Path

import readme_renderer.markdown

from wheels.built import DIST, ROOT


def version_faults() -> Iterator[str]:
    """Yield the places that do not name the version of pyproject.toml, or lack its date."""
    version = _version()
    changes = _text("CHANGELOG.md")
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", changes, re.M):
        yield f"CHANGELOG.md has no heading `## {version} (YYYY-MM-DD)`"
    if f"\nversion: {version}\n" not in _text("CITATION.cff"):
        yield f"CITATION.cff does not name version {version}"
    for file in sorted(DIST.iterdir()):
        if not file.name.startswith(
            f"onnx_scatterx-{version}{'.' if file.suffix == '.gz' else '-'}"
        ):
            yield f"{file.name} is not of version {version}"


def page_faults() -> Iterator[str]:
    """Yield what is wrong with README as an index shows it, of each file."""
    for file in sorted(DIST.iterdir()):
        metadata = message_from_string(_metadata(file))
        if metadata["Description-Content-Type"] != "text/markdown":
            yield f"{file.name}: its description is not Markdown"
        page = readme_renderer.markdown.render(str(metadata.get_payload()))
        links = _Links()
        links.feed(page or "")
        if not links.headings:
            yield f"{file.name}: its description is not shown"
        for link in links.found:
            if not re.match(r"(\w+:|#)", link):
                yield f"{file.name}: the page has a link to {link}, which is not on an index"


class _Links(HTMLParser):
    """The targets of links and pictures of a page, and how many headings it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.headings = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the target of a link or of a picture."""
        self.headings += tag in ("h1", "h2")
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def write_digests(to: Path) -> str:
    """Write the SHA-256 sums of the files in dist/, as `sha256sum` does, and return them."""
    lines = [
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
        for file in sorted(DIST.iterdir())
    ]
    to.parent.mkdir(parents=True, exist_ok=True)
    to.write_text("".join(lines), encoding="utf-8")
    return "".join(lines)


def _metadata(file: Path) -> str:
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as archive:
            (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
            return archive.read(name).decode("utf-8")
    with tarfile.open(file) as archive:
        (member,) = (
            m
            for m in archive.getmembers()
            if m.name.count("/") == 1 and m.name.endswith("PKG-INFO")
        )
        content = archive.extractfile(member)
        assert content is not None
        return content.read().decode("utf-8")


def _version() -> str:
    return str(tomllib.loads(_text("pyproject.toml"))["project"]["version"])


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
