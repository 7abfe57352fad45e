"""Check that every link inside the built site leads to a page, and to a place on it."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places on it that links can name."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take what is of use."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def broken(folder: Path) -> list[str]:
    """Links that lead nowhere, with the pages that have them."""
    files = [
        path for path in folder.rglob("*.html") if "_static" not in path.parts
    ]  # the theme has templates there
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            goal = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            lost = parts.fragment and goal in pages and unquote(parts.fragment) not in pages[goal].places
            if not goal.exists() or lost:
                found.append(f"{path.relative_to(folder.resolve())}: {link}")
    return found


def main() -> int:
    """Print them; the number is the exit code."""
    folder = Path(sys.argv[1])
    found = broken(folder)
    print("\n".join(found) or f"{len(list(folder.rglob('*.html')))} pages, no broken link inside the site")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
