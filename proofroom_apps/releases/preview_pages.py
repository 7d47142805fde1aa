"""Pages of the site as of a release: below the address of a link, and in the frame of the admin."""

from __future__ import annotations

import re
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.translation import get_language, gettext, ngettext

from proofroom.core.i18n.time_zones import exact_time
from proofroom_apps.previews.views import hide_from_caches
from proofroom_apps.releases.preview import ReleasePreview
from proofroom_apps.website.views import answer_page, requested_page
from seo.queries import target_of

_LINK: Final = re.compile(r'(<a\b[^>]*?\shref=")(/(?!/)[^"]*)')
"""A link to an address of this site. Texts cannot match: their quotes are escaped."""
_BODY: Final = re.compile(r"<body\b[^>]*>")
_OWN_PATHS: Final = (settings.STATIC_URL, settings.MEDIA_URL, *settings.MANAGEMENT_PREFIXES)
"""Addresses that are the same in a preview."""


def preview_answer(
    request: HttpRequest, preview: ReleasePreview, path: str, prefix: str
) -> HttpResponse:
    """Return the answer of the site at a path, whose links lead to the preview below `prefix`.

    Called in the block that shows the release.
    """
    answer = answer_page(request, requested_page(request, path))
    location = answer.headers.get("Location", "")
    if answer.status_code == 404 and (target := target_of(path)) is not None:
        location = target.to_path
    if location:
        # Temporary: browsers keep a permanent redirect beyond the preview.
        headers = {"Location": _inside(location, prefix)}
        return hide_from_caches(HttpResponse(status=302, headers=headers))
    content_type = answer.headers.get("Content-Type", "")
    content = b"".join(answer).decode()
    if content_type.startswith("text/html"):
        content = _LINK.sub(lambda found: found[1] + _inside(found[2], prefix), content)
        bar = preview_bar(preview)
        content = _BODY.sub(lambda found: found[0] + bar, content, count=1)
    return hide_from_caches(
        HttpResponse(content, status=answer.status_code, content_type=content_type)
    )


def _inside(address: str, prefix: str) -> str:
    """Return an address of the preview for one of the site."""
    if not address.startswith("/") or address.startswith(("//", *_OWN_PATHS)):
        return address
    return prefix + address


def preview_bar(preview: ReleasePreview) -> str:
    """Return the bar that names the release, its date, and how many items it does not show."""
    release = preview.release
    parts = [f"{gettext('Preview')}: {release.name}", exact_time(preview.at)]
    if release.published_at is not None:
        parts[1] = gettext("went live on %(date)s") % {"date": exact_time(release.published_at)}
    elif release.at is None:
        parts[1] = gettext("no date yet")
    if count := len(preview.missing):
        text = ngettext("%(count)s item is not shown", "%(count)s items are not shown", count)
        parts.append(text % {"count": count})
    return format_html(
        '<p class="preview-bar" role="status" lang="{}">{}</p>',
        get_language() or "en",
        " · ".join(parts),
    )
