"""The language of the admin: chosen by whoever reads it, kept in a cookie, so before logging in too."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST
from django.views.i18n import set_language


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Keep the choice and go back to the page it was made on; addresses elsewhere lead to the site's start."""
    response: HttpResponse = set_language(request)
    return response
