"""Serves uploaded files, for installations without a web server or CDN in front."""

from __future__ import annotations

import errno

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.static import serve

from cms_project.byte_ranges import apply_range
from media.models import StoredFile
from media.presenters import url_of
from media.queries import find_current_name
from proofroom.core.middleware import csp_override


# An uploaded file can contain anything, so it gets no scripts, no forms and no origin.
@csp_override({"default-src": ["'none'"], "style-src": ["'unsafe-inline'"], "sandbox": True})
@require_safe
def media_file(request: HttpRequest, name: str) -> HttpResponseBase:
    """Return the file with this name. Redirect to the current file if it was replaced or is still being made."""
    try:
        response = _file(request, name)
        response.headers["Cache-Control"] = "public, max-age=3600"
    except Http404:
        found = find_current_name(name)
        if found is None and not _is_local() and "\x00" not in name:
            stored = StoredFile.objects.filter(name=name, is_deleted=False)
            found = name if stored.exists() else None
        if found is None:
            raise Http404 from None
        response = HttpResponseRedirect(url_of(found))
        # The target can be made or replaced at any time.
        response.headers["Cache-Control"] = "public, max-age=60"
    return response


def _file(request: HttpRequest, name: str) -> HttpResponseBase:
    if not _is_local():
        raise Http404
    try:
        return apply_range(request, serve(request, name, document_root=str(settings.MEDIA_ROOT)))
    except (SuspiciousFileOperation, ValueError):  # a path out of the folder, or a NUL
        raise Http404 from None
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise Http404 from None


def _is_local() -> bool:
    return bool(settings.CMS_ENV.media_storage == "local")
