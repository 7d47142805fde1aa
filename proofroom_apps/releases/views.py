"""`/preview/release/<token>/…`: the site as of a release, for holders of the link."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from proofroom.core.middleware import csp_override
from proofroom_apps.previews.views import POLICY, hide_from_caches
from proofroom_apps.releases.preview_links import open_release_link, show_link
from proofroom_apps.releases.preview_pages import preview_answer
from proofroom_apps.website.http_cache import rate_limit_response
from proofroom_apps.website.pages import missing_page


@require_safe
@csp_override(POLICY)
def release_preview(request: HttpRequest, token: str, path: str) -> HttpResponse:
    """Return a page of the site as of the release, or the same 404 for every token that does not work."""
    refusal = rate_limit_response(request)
    if refusal is not None:
        return hide_from_caches(refusal)
    # HEAD shows nothing, so it is no view.
    link = open_release_link(token, counts=request.method == "GET")
    if link is None:
        return hide_from_caches(
            HttpResponse(missing_page(settings.CMS_ENV.default_locale), status=404)
        )
    prefix = reverse("release-preview", args=[token, ""])
    with show_link(link) as preview:
        return preview_answer(request, preview, f"/{path}", prefix.rstrip("/"))
