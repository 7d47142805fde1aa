"""Pages of the help as safe HTML."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

from django.urls import reverse

from cms_project.help.pages import (
    EDITORS,
    HelpPage,
    help_anchors,
    page_name,
    sections,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

ID_PREFIX: Final = "help-"
"""Prefix of ids in the text, so that they differ from ids of the admin's page."""
_SCREENS: Final = "screens"
"""Subfolder of the images folder with screenshots. All image names are unique."""
CONTENT_TYPES: Final = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
_TAGS: Final = frozenset(
    {"a", "blockquote", "br", "code", "em", "hr", "img", "li", "ol", "p", "pre", "strong", "ul"}
    | {"table", "tbody", "td", "th", "thead", "tr"}
    | {f"h{level}" for level in range(1, 7)}
)
_ATTRIBUTES: Final = {
    "a": {"href"},
    "img": {"src", "alt", "width", "height"},
    "ol": {"start"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}


def render(page: HelpPage, docs: Path, known: Mapping[str, HelpPage]) -> str:
    """Return the page as safe HTML. Links to unknown pages are removed."""
    # Imported here, because most processes never render help pages.
    import nh3
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark").enable("table")
    tokens = reader.parse(page.path.read_text(encoding="utf-8"))
    headings = [token for token in tokens if token.type == "heading_open"]
    for heading, anchor in zip(headings, help_anchors(page), strict=False):
        heading.attrSet("id", anchor)
    found = images(docs)
    for token in tokens:
        for child in token.children or ():
            name = posixpath.basename(str(child.attrs.get("src", "")))
            if child.type == "image" and name in found:
                _set_size(child, found[name])
    return nh3.clean(
        reader.renderer.render(tokens, reader.options, {}),
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_attribute, page, docs, known),
        # Wide code scrolls, also by keyboard.
        set_tag_attribute_values={"img": {"loading": "lazy"}, "pre": {"tabindex": "0"}},
        url_schemes={"http", "https", "mailto"},
        id_prefix=ID_PREFIX,
    )


def images(docs: Path) -> dict[str, Path]:
    """Return the images of the help pages by name."""
    folder = docs / "images"
    files = (*folder.glob("*"), *(folder / _SCREENS).glob("*"))
    return {path.name: path for path in files if path.suffix in CONTENT_TYPES}


def _set_size(image: Token, path: Path) -> None:
    """Set the size of an image, so that the text below does not move when it loads."""
    width, height = _size(path, path.stat().st_mtime_ns)
    image.attrSet("width", str(width))
    image.attrSet("height", str(height))


@lru_cache(maxsize=256)
def _size(path: Path, modified: int) -> tuple[int, int]:
    """`modified` makes the cache read changed files again."""
    from PIL import Image

    with Image.open(path) as image:
        return image.size


def _attribute(
    page: HelpPage,
    docs: Path,
    known: Mapping[str, HelpPage],
    tag: str,
    name: str,
    value: str,
) -> str | None:
    if (tag, name) == ("a", "href"):
        return _link(page, docs, known, value)
    if (tag, name) == ("img", "src"):
        folder, image = posixpath.split(_below_docs(page, docs, value))
        is_image = folder.removesuffix(f"/{_SCREENS}") == "images" and image
        return reverse("admin:help-image", args=[image]) if is_image else None
    return value


def _link(page: HelpPage, docs: Path, known: Mapping[str, HelpPage], value: str) -> str | None:
    """Return the target of a link: an external URL, a help page, or None, because other files are not served."""
    parts = urlsplit(value)
    if parts.scheme or parts.netloc:
        return value
    if not parts.path:
        return _fragment(page, parts.fragment) or None
    if parts.path.startswith("/"):
        return None
    stem, suffix = posixpath.splitext(_below_docs(page, docs, parts.path))
    folder, file = posixpath.split(stem)
    # A translated page leads to translated pages of its folder, which have the names of the English ones.
    if posixpath.dirname(folder) == EDITORS:
        stem = posixpath.join(EDITORS, file)
    target = known.get(page_name(stem))
    if suffix != ".md" or target is None:
        return None
    return reverse("admin:help-page", args=[target.name]) + _fragment(target, parts.fragment)


def _fragment(page: HelpPage, anchor: str) -> str:
    """Return the fragment of a section in the help. `anchor` may be that of the translated page."""
    if not anchor:
        return ""
    anchor = unquote(anchor)  # the Markdown reader encodes letters such as "ü"
    own = [section.anchor for section in sections(page.path)]
    found = help_anchors(page)[own.index(anchor)] if anchor in own else anchor
    return f"#{ID_PREFIX}{found}"


def _below_docs(page: HelpPage, docs: Path, path: str) -> str:
    """Return the path below `docs/` to which a relative path in a page leads."""
    folder = page.path.parent.relative_to(docs).as_posix()
    return posixpath.normpath(posixpath.join(folder, path))
