"""A page of HTML, read: its tags balance, its ids are unique, and its links lead somewhere."""

from html.parser import HTMLParser

VOID = {"meta", "input", "br"}


class Page(HTMLParser):
    """What a page holds."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.words: list[str] = []
        self.classes: list[str] = []
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
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
            assert not name.startswith("on"), (tag, name)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"}.intersection(self.open):
            self.words.append(data)

    @property
    def said(self) -> str:
        """What stands on the page, with single spaces."""
        return " ".join(" ".join(self.words).split())

    def check(self) -> None:
        """Assert that the page stands by itself and is well formed."""
        assert len(self.ids) == len(set(self.ids))
        assert not self.sources
        assert all(link.startswith("#") and link[1:] in set(self.ids) for link in self.links)
        assert "://" not in self.text
        assert "@import" not in self.text
        assert all(c.isprintable() or c == "\n" for c in self.text)
