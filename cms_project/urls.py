"""URLs. Each app defines its own: `<app>/api/urls.py` under /api/, `<app>/urls.py` at the root."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, URLResolver, include, path, re_path
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from cms_project import errors
from cms_project.admin_urls import AdminURLs
from cms_project.logs import mark_logged
from cms_project.media_files import media_file
from proofroom.core.database.errors import RETRY_AFTER_SECONDS
from proofroom.core.diagnostics.availability import readiness
from proofroom.core.observability.metrics import answer_scrape
from proofroom.core.site_icon import favicon

# The website comes last: its pages answer every path that no other app does.
APPS = (
    "proofroom.core",
    "proofroom.accounts",
    "proofroom.oauth",
    "proofroom.notifications",
    "proofroom.webhooks",
    "media",
    "forms",
    "seo",
    "analytics",
    "agents_app",
    "mcp_bridge",
    "proofroom.briefs",
    "proofroom.disclosure",
    "proofroom.taxonomies",
    "proofroom_apps.menus",
    "proofroom_apps.snippets",
    "proofroom_apps.embeds",
    "proofroom_apps.previews",
    "proofroom_apps.reviewers",
    "proofroom_apps.feedback",
    "proofroom_apps.comments",
    "proofroom_apps.releases",
    "proofroom_apps.calendar",
    "proofroom_apps.steps",
    "proofroom_apps.privacy",
    "content",
    "proofroom_apps.website",
)

handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.not_found
handler429 = errors.too_many_requests  # called by allauth
handler500 = errors.server_error


def health(request: HttpRequest) -> JsonResponse:
    """Answer that the process is running. Uses no other service."""
    return JsonResponse({"status": "ok"})


@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Answer if the services that the site needs are available, and name the missing ones."""
    status, body = readiness()
    response = JsonResponse(body, status=status)
    if status == 503:
        response["Retry-After"] = str(RETRY_AFTER_SECONDS)
        mark_logged(request)  # by `readiness`
    return response


@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Answer Prometheus, if METRICS_TOKEN is set and sent as a bearer token."""
    answer = answer_scrape(request.headers.get("Authorization", ""))
    if answer is None:
        return errors.not_found(request)
    return HttpResponse(answer.body, status=answer.status, headers=answer.headers)


def _modules(name: str) -> list[str]:
    found = []
    for app in APPS:
        with suppress(ModuleNotFoundError):  # the app has no package of that name
            if find_spec(f"{app}.{name}") is not None:
                found.append(f"{app}.{name}")
    return found


def _api_patterns() -> list[URLPattern | URLResolver]:
    """Return the addresses below /api/ in one list, so that pages of the site skip them in one comparison.

    No two apps share a path. Public addresses come first, then content, because they are requested most.
    """
    found = [
        pattern
        for module in reversed(_modules("api.urls"))
        for pattern in import_module(module).urlpatterns
    ]
    return sorted(found, key=lambda pattern: not str(pattern.pattern).startswith("public/"))


urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/", include("proofroom.accounts.sign_in_urls")),
    AdminURLs("admin/"),
    path("health", health, name="health"),
    path("health/live", health, name="health-live"),
    path("health/ready", ready, name="health-ready"),
    path("health/metrics", metrics, name="health-metrics"),
    path("favicon.ico", favicon, name="favicon"),
    re_path(r"^media/(?P<name>.+)$", media_file, name="media-file"),
    path("api/", include(_api_patterns())),
    re_path(r"^api(/|$)", csrf_exempt(errors.not_found)),  # an unknown path needs no token
    *[path("", include(module)) for module in _modules("urls")],
]
