"""The stored thumbnails of embeds."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from proofroom_apps.embeds.models import EmbedFacts


@require_safe
def thumbnail(request: HttpRequest, facts_id: UUID, digest: str) -> HttpResponse:
    """Return a thumbnail. Its address names its content, so it never changes."""
    rows = EmbedFacts.objects.filter(pk=facts_id, thumbnail_digest=digest)
    content = rows.exclude(thumbnail=None).values_list("thumbnail", flat=True).first()
    if content is None:
        raise Http404
    response = HttpResponse(bytes(content), content_type="image/webp")
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
