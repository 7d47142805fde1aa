"""The page with every component of the admin in each of its states, for developers."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.http import Http404, HttpRequest
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe


@require_safe
def design(request: HttpRequest) -> TemplateResponse:
    """Return the page in development. Raises `Http404` elsewhere."""
    if not settings.DEBUG:
        raise Http404
    context = {**admin.site.each_context(request), "title": _("Components")}
    return TemplateResponse(request, "admin/design.html", context)
