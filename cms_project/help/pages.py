"""The pages of the help, in the reader's language, and their sections."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from django.utils.translation import get_language

from cms_project.folders import PRODUCT_DIR

DOCS: Final = PRODUCT_DIR / "docs"
EDITORS: Final = "admin"
"""The folder of the pages for editors. Its subfolder `de` has the German pages, by the names of the English ones."""
SOURCE_LANGUAGE: Final = "en"
INDEX: Final = "index"
"""Name of a folder's first page, whose address is that of the folder."""
_FOLDERS: Final = (EDITORS, "", "tutorial", "how-to", "explanation", "reference")
"""Folders of the pages, in the order of the navigation."""
_LINK: Final = re.compile(r"\]\(([\w./-]+\.md)")
_HEADING: Final = re.compile(r"(#{1,6})\s+(.+)")
_FENCE: Final = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the text until the next one."""

    level: int
    title: str
    anchor: str
    """The anchor of the heading on GitHub."""
    text: str


@dataclass(frozen=True, slots=True)
class HelpPage:
    name: str
    """The path below `docs/` without its suffix. The first page of a folder has the name of the folder."""
    title: str
    path: Path
    source: Path
    """The English page. The same as `path` if the page is not translated."""
    language: str
    folder: str
    """The title of its folder."""

    @property
    def is_for_editors(self) -> bool:
        return self.name.partition("/")[0] == EDITORS


def reader_language() -> str:
    """Return the language of the admin without its variety, such as `de` for `de-at`."""
    return (get_language() or SOURCE_LANGUAGE).partition("-")[0]


def pages(docs: Path, language: str = SOURCE_LANGUAGE) -> dict[str, HelpPage]:
    """Return the pages by name, translated if possible, in the order of the navigation: pages for editors first.

    In a folder, the pages come in the order in which its first page links to them.
    """
    found: dict[str, HelpPage] = {}
    for folder in _FOLDERS:
        index = docs / folder / f"{INDEX}.md"
        linked = _LINK.findall(index.read_text(encoding="utf-8")) if index.exists() else []
        order = {name: place for place, name in reversed([*enumerate(linked)])}
        files = sorted(
            (docs / folder).glob("*.md"),
            key=lambda path: (path.stem != INDEX, order.get(path.name, len(order)), path),
        )
        title = ""
        for source in files:
            translated = source.parent / language / source.name
            is_translated = folder == EDITORS and translated.exists()
            path = translated if is_translated else source
            name = page_name(posixpath.join(folder, source.stem))
            own_title = _title(path)
            title = title or own_title
            page_language = language if is_translated else SOURCE_LANGUAGE
            found[name] = HelpPage(name, own_title, path, source, page_language, title)
    return found


def page_name(path: str) -> str:
    """Return the name of the page at a path below `docs/` without suffix."""
    return path.removesuffix(f"/{INDEX}")


def sections(path: Path) -> tuple[Section, ...]:
    """Return the sections of a page, the first of which has the title of the page."""
    return _sections(path, path.stat().st_mtime_ns)


def help_anchors(page: HelpPage) -> list[str]:
    """Return the anchors of the page's headings in the help, in order: the anchors of the English page.

    So a link leads to the same section in every language.
    """
    translated, source = sections(page.path), sections(page.source)
    # A translation with other headings is a mistake that a test reports. Its own anchors still work.
    own = translated if len(translated) != len(source) else source
    return [section.anchor for section in own]


@lru_cache(maxsize=512)
def _sections(path: Path, modified: int) -> tuple[Section, ...]:
    """`modified` makes the cache read changed files again."""
    found: list[tuple[int, str, list[str]]] = [(1, path.stem, [])]
    is_code = False
    for line in path.read_text(encoding="utf-8").splitlines():
        is_fence = _FENCE.match(line) is not None
        heading = None if is_code or is_fence else _HEADING.fullmatch(line)
        is_code ^= is_fence
        if heading:
            found.append((len(heading[1]), _plain(heading[2]), []))
        else:
            found[-1][2].append(line)
    if len(found) > 1:
        del found[0]
    anchors = _anchors([title for _level, title, _lines in found])
    return tuple(
        Section(level, title, anchor, _plain("\n".join(lines)))
        for (level, title, lines), anchor in zip(found, anchors, strict=True)
    )


def _anchors(titles: list[str]) -> list[str]:
    """Return an anchor for each title, as GitHub makes them."""
    bases = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    counts = [bases[:place].count(base) for place, base in enumerate(bases)]
    return [f"{base}-{count}" if count else base for base, count in zip(bases, counts, strict=True)]


def _plain(markdown: str) -> str:
    """Return the words of a text without marks, link addresses, images and the lines of tables."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<!--.*?-->|^\s*(?:```|~~~).*$", "", markdown, flags=re.M)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\|[-:| ]+\|$", "", text, flags=re.M)
    text = re.sub(r"^\s*[-*>]\s+|\*+|`|^\||\|$", "", text, flags=re.M)
    return " ".join(text.replace("|", " · ").split())


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        heading = re.match(r"#\s+(.+)", file.readline())
    return heading[1].strip() if heading else path.stem
