"""Uploaded files, for servers without a web server or CDN in front."""

from __future__ import annotations

import errno

from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.static import serve

from core.csp import csp_override


# A file is shown on its own, never run: whatever it holds gets no script, no form and no origin.
@csp_override({"default-src": ["'none'"], "style-src": ["'unsafe-inline'"], "sandbox": True})
@require_safe
def media_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """The file of that name below MEDIA_ROOT; 404 where there is none."""
    try:
        response = serve(request, name, document_root=str(settings.MEDIA_ROOT))
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise Http404 from None
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response
