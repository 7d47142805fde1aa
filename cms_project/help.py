"""The help in the admin: the pages and pictures of `docs/`, and nothing else of the disk."""

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
"""The folder with a page for each part of the admin."""
_SCREENS: Final = "screens"
"""The folder with the pictures of every screen, within that of all pictures; no two share a name."""
_FIRST: Final = ("editors", "inbox", "review", "editor", "fields", "agents-at-work", "layers")
_KINDS: Final = {".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
_ID: Final = "help-"
"""Before every id of a text, which must not meet the ids of the admin's own page."""
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
    """The pages by name, those for editors first."""
    files = [*docs.glob("*.md"), *(docs / _ADMIN).glob("*.md")]
    found = {path.stem: HelpPage(path.stem, _title(path), path) for path in files}
    names = [name for name in _FIRST if name in found]
    return {name: found[name] for name in [*names, *sorted(set(found) - set(names))]}


def render(page: HelpPage, known: set[str]) -> str:
    """The page as HTML that is safe in the admin; links lead to the pages that are known, or nowhere."""
    # Only who reads the help loads what renders it.
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
        id_prefix=_ID,
    )


@require_safe
def help_page(request: HttpRequest, page: str = "") -> HttpResponseBase:
    """A page, the first one without a name. Raises `Http404` for what is no page."""
    all_pages = pages(DOCS)
    shown = all_pages.get(page) if page else next(iter(all_pages.values()), None)
    if shown is None:
        raise Http404(_("Page not found."))
    context = {
        **admin.site.each_context(request),
        "title": shown.title,
        "shown": shown,
        "pages": all_pages.values(),
        "body": mark_safe(render(shown, set(all_pages))),  # noqa: S308  # nh3 has cleaned it
    }
    return TemplateResponse(request, "admin/help.html", context)


@require_safe
def help_image(request: HttpRequest, name: str) -> HttpResponseBase:
    """A picture of the pages. The name is looked up among the files there, never made into a path."""
    folder = DOCS / "images"
    files = [*folder.glob("*"), *(folder / _SCREENS).glob("*")]
    found = {path.name: path for path in files if path.suffix in _KINDS}
    if name not in found:
        raise Http404(_("Image not found."))
    return FileResponse(found[name].open("rb"), content_type=_KINDS[found[name].suffix])


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
    """Return where a link leads: out, to a page of the help, or nowhere, since other files are not served."""
    parts = urlsplit(value)
    if parts.scheme or parts.netloc:
        return value
    fragment = f"#{_ID}{parts.fragment}" if parts.fragment else ""
    if not parts.path:
        return fragment or None
    folder, name = posixpath.split(posixpath.normpath(parts.path))
    stem, suffix = posixpath.splitext(name)
    if folder not in ("", "..", _ADMIN) or suffix != ".md" or stem not in known:
        return None
    return reverse("admin:help-page", args=[stem]) + fragment
