"""URLs of core."""

from __future__ import annotations

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@require_safe
@never_cache
def websockets(request: HttpRequest) -> JsonResponse:
    """Return whether the server supports websockets.

    Pages check it first, because browsers log failed websockets as errors.
    """
    return JsonResponse({"websockets": isinstance(request, ASGIRequest)})


urlpatterns = [path("ws/", websockets, name="websockets")]
