"""A site with only Django: one view, no app, no database. Run by `granian benchmarks.bare_site:application`."""

from __future__ import annotations

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

if not settings.configured:
    settings.configure(
        ROOT_URLCONF=__name__, SECRET_KEY="benchmark-" * 6, ALLOWED_HOSTS=["127.0.0.1"]
    )


def health(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


urlpatterns = [path("health", health)]
application = get_wsgi_application()
