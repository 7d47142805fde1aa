"""Pages that also stand in a dialog over another page: the same content, without the frame of the admin."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.utils.cache import patch_vary_headers

_HEADER: Final = "X-Dialog"


def in_dialog(request: HttpRequest) -> bool:
    """Whether the script of the dialog asks, which shows what it gets over the page at hand."""
    return bool(request.headers.get(_HEADER) == "1")


def for_dialog(request: HttpRequest, page: TemplateResponse, template: str) -> TemplateResponse:
    """The page, or where a dialog asks for it, its content by another template."""
    patch_vary_headers(page, [_HEADER])
    if in_dialog(request):
        page.template_name = template
    return page
