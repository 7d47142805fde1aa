"""`/preview/<token>`: a page of the site with the content of a layer, for holders of the link."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import override
from django.views.decorators.http import require_safe

from proofroom.core.middleware import CSP, Policy, csp_override
from proofroom_apps.previews.services import open_preview, preview_labels
from proofroom_apps.website.http_cache import rate_limit_response
from proofroom_apps.website.layer_pages import preview_page
from proofroom_apps.website.pages import missing_page

POLICY: Final[Policy] = {
    **settings.SECURE_CSP,
    "script-src": [CSP.NONE],
    "form-action": [CSP.NONE],
}
"""Content security policy of a preview: no scripts, no form submissions."""


@require_safe
@csp_override(POLICY)
def preview(request: HttpRequest, token: str) -> HttpResponse:
    """Return the page, or the same 404 for every token that does not work."""
    refusal = rate_limit_response(request)
    if refusal is not None:
        return hide_from_caches(refusal)
    # HEAD shows nothing, so it is no view.
    opened = open_preview(token, counts=request.method == "GET")
    if opened is None:
        return hide_from_caches(
            HttpResponse(missing_page(settings.CMS_ENV.default_locale), status=404)
        )
    with override(opened.post.locale):
        label = preview_labels(opened.post)[opened.link.layer]
        html = preview_page(opened.post, opened.document, label)
    return hide_from_caches(HttpResponse(html))


def hide_from_caches(response: HttpResponse) -> HttpResponse:
    """Keep the response out of caches and search engines, and its address out of referrers."""
    response["Cache-Control"] = "no-store"
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    return response
