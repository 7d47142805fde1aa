"""The views of the help in the admin."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.contrib import admin
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import register_converter
from django.urls.converters import StringConverter
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from cms_project.help.pages import DOCS, HelpPage, help_anchors, pages, reader_language, sections
from cms_project.help.rendering import CONTENT_TYPES, ID_PREFIX, images, render
from cms_project.help.search import MAX_QUERY_LENGTH, search


class PageName(StringConverter):
    """The converter `<help_page:…>`: a page, or a folder and a page."""

    regex = "[a-z0-9-]+(?:/[a-z0-9-]+)?"


register_converter(PageName, "help_page")


@require_safe
def help_page(request: HttpRequest, page: str = "") -> HttpResponseBase:
    """Show a page, or the first one without a name. Raises `Http404` for an unknown page."""
    all_pages = pages(DOCS, reader_language())
    current = all_pages.get(page) if page else next(iter(all_pages.values()), None)
    if current is None:
        raise Http404(_("Page not found."))
    body = render(current, DOCS, all_pages)
    before, after = _neighbours(all_pages, current)
    context = {
        **_context(request, all_pages),
        "title": current.title,
        "shown": current,
        "contents": [
            (section, f"{ID_PREFIX}{anchor}")
            for section, anchor in zip(sections(current.path), help_anchors(current), strict=True)
            if section.level in (2, 3)
        ],
        "before": before,
        "after": after,
        "body": mark_safe(body),  # noqa: S308  # nh3 has cleaned it
    }
    return TemplateResponse(request, "admin/help/page.html", context)


@require_safe
def help_search(request: HttpRequest) -> HttpResponseBase:
    """Show the sections that contain the words of `q`."""
    all_pages = pages(DOCS, reader_language())
    query = " ".join(request.GET.get("q", "").split())[:MAX_QUERY_LENGTH]
    context = {
        **_context(request, all_pages),
        "title": _("Search the help"),
        "query": query,
        "results": search(all_pages.values(), query),
        "id_prefix": ID_PREFIX,
    }
    return TemplateResponse(request, "admin/help/search.html", context)


@require_safe
def help_image(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return an image of the help pages."""
    # The name is looked up among existing files and never made into a path, so it cannot leave the folder.
    path = images(DOCS).get(name)
    if path is None:
        raise Http404(_("Image not found."))
    return FileResponse(path.open("rb"), content_type=CONTENT_TYPES[path.suffix])


def _context(request: HttpRequest, all_pages: dict[str, HelpPage]) -> dict[str, Any]:
    editors = [page for page in all_pages.values() if page.is_for_editors]
    others = [page for page in all_pages.values() if not page.is_for_editors]
    folders = [(title, list(group)) for title, group in groupby(others, lambda page: page.folder)]
    return {
        **admin.site.each_context(request),
        "reader_language": reader_language(),
        "editors_pages": editors,
        "other_folders": folders,
    }


def _neighbours(
    all_pages: dict[str, HelpPage], current: HelpPage
) -> tuple[HelpPage | None, HelpPage | None]:
    """Return the pages before and after a page in its folder."""
    folder = [page for page in all_pages.values() if page.folder == current.folder]
    place = folder.index(current)
    return (folder[place - 1] if place else None, next(iter(folder[place + 1 :]), None))
