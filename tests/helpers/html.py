"""A page of HTML, read: its tags balance, its ids are unique, and its links lead somewhere.

No element has a style or a handler of its own, which a policy without 'unsafe-inline' forbids.
"""

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "col"}


class Page(HTMLParser):
    """What a page holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.open: list[str] = []
        self.within: list[str] = []  # the classes, or the tags, of what is open
        self.svgs: list[tuple[tuple[str, ...], tuple[float, ...]]] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.words: list[str] = []
        self.classes: list[str] = []
        self.cells: list[str] = []  # of the tables
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._part(tag)
        if tag in ("td", "th"):
            self.cells.append("")
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert value is not None, (tag, name)
            if name == "id":
                self.ids.append(value)
            if name == "class":
                self.classes += [value]
            if name == "href":
                self.links.append(value)
            if name in ("src", "action", "data", "poster", "srcset"):
                self.sources.append(value)
            if tag == "svg" and name == "viewBox":
                self.svgs.append((tuple(self.within), tuple(map(float, value.split()))))
            assert name != "style", (tag, value)
            assert not name.startswith("on"), (tag, name)
        if tag not in VOID:
            self.within.append(dict(attrs).get("class") or tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()
            self.within.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag
        self.within.pop()
        self._part(tag)

    def handle_data(self, data: str) -> None:
        if not {"style", "script"}.intersection(self.open):
            self.words.append(data)
        if {"td", "th"}.intersection(self.open):
            self.cells[-1] += data.strip()

    def _part(self, tag: str) -> None:
        """Note that a word ends; the parts of a shortened name are one word."""
        if tag != "span":
            self.words.append(" ")

    @property
    def said(self) -> str:
        """What stands on the page, with single spaces."""
        return " ".join("".join(self.words).split())

    def check(self) -> None:
        """Assert that the page stands by itself and is well formed."""
        assert len(self.ids) == len(set(self.ids))
        assert not self.sources
        assert all(link.startswith("#") and link[1:] in set(self.ids) for link in self.links)
        assert "://" not in self.text
        assert "@import" not in self.text
        assert all(c.isprintable() or c == "\n" for c in self.text)
