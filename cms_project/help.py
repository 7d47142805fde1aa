"""The help in the admin: pages and images of `docs/`. No other files are served."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cms_project.folders import PRODUCT_DIR

DOCS: Final = PRODUCT_DIR / "docs"
_ADMIN: Final = "admin"
"""Folder with one page per part of the admin."""
_SCREENS: Final = "screens"
"""Subfolder of the images folder with screenshots. All image names are unique."""
_FIRST_PAGES: Final = ("editors", "inbox", "review", "editor", "fields", "agents-at-work", "layers")
_CONTENT_TYPES: Final = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
_ID_PREFIX: Final = "help-"
"""Prefix of ids in the text, so that they differ from ids of the admin's page."""
_TAGS: Final = frozenset(
    {"a", "blockquote", "br", "code", "em", "hr", "img", "li", "ol", "p", "pre", "strong", "ul"}
    | {"table", "tbody", "td", "th", "thead", "tr"}
    | {f"h{level}" for level in range(1, 7)}
)
_ATTRIBUTES: Final = {
    "a": {"href"},
    "img": {"src", "alt"},
    "ol": {"start"},
    **{f"h{level}": {"id"} for level in range(1, 7)},
}


@dataclass(frozen=True, slots=True)
class HelpPage:
    name: str
    title: str
    path: Path


def pages(docs: Path) -> dict[str, HelpPage]:
    """Return the pages by name, pages for editors first."""
    files = [*docs.glob("*.md"), *(docs / _ADMIN).glob("*.md")]
    found = {path.stem: HelpPage(path.stem, _title(path), path) for path in files}
    names = [name for name in _FIRST_PAGES if name in found]
    return {name: found[name] for name in [*names, *sorted(set(found) - set(names))]}


def render(page: HelpPage, known: set[str]) -> str:
    """Return the page as safe HTML. Links to unknown pages are removed."""
    # Imported here, because most processes never render help pages.
    import markdown  # type: ignore[import-untyped]  # the package brings no types
    import nh3

    text = page.path.read_text(encoding="utf-8")
    html = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
    return nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=partial(_attribute, known),
        set_tag_attribute_values={"img": {"loading": "lazy"}},
        url_schemes={"http", "https", "mailto"},
        id_prefix=_ID_PREFIX,
    )


@require_safe
def help_page(request: HttpRequest, page: str = "") -> HttpResponseBase:
    """Show a page, or the first one without a name. Raises `Http404` for an unknown page."""
    all_pages = pages(DOCS)
    current = all_pages.get(page) if page else next(iter(all_pages.values()), None)
    if current is None:
        raise Http404(_("Page not found."))
    context = {
        **admin.site.each_context(request),
        "title": current.title,
        "shown": current,
        "pages": all_pages.values(),
        "body": mark_safe(render(current, set(all_pages))),  # noqa: S308  # nh3 has cleaned it
    }
    return TemplateResponse(request, "admin/help.html", context)


@require_safe
def help_image(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return an image of the help pages."""
    # The name is looked up among existing files and never made into a path, so it cannot leave the folder.
    folder = DOCS / "images"
    files = [*folder.glob("*"), *(folder / _SCREENS).glob("*")]
    found = {path.name: path for path in files if path.suffix in _CONTENT_TYPES}
    if name not in found:
        raise Http404(_("Image not found."))
    return FileResponse(found[name].open("rb"), content_type=_CONTENT_TYPES[found[name].suffix])


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        heading = re.match(r"#\s+(.+)", file.readline())
    return heading[1].strip() if heading else path.stem


def _attribute(known: set[str], tag: str, name: str, value: str) -> str | None:
    if (tag, name) == ("a", "href"):
        return _link(known, value)
    if (tag, name) == ("img", "src"):
        folder, name = posixpath.split(value)
        is_picture = folder.removesuffix(f"/{_SCREENS}") in ("images", "../images") and name
        return reverse("admin:help-image", args=[name]) if is_picture else None
    return value


def _link(known: set[str], value: str) -> str | None:
    """Return the target of a link: an external URL, a help page, or None, because other files are not served."""
    parts = urlsplit(value)
    if parts.scheme or parts.netloc:
        return value
    fragment = f"#{_ID_PREFIX}{parts.fragment}" if parts.fragment else ""
    if not parts.path:
        return fragment or None
    folder, name = posixpath.split(posixpath.normpath(parts.path))
    stem, suffix = posixpath.splitext(name)
    if folder not in ("", "..", _ADMIN) or suffix != ".md" or stem not in known:
        return None
    return reverse("admin:help-page", args=[stem]) + fragment
