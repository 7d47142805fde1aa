"""Under which of the site's own names it was asked: the beginning of absolute addresses."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port


def origin_of(request: HttpRequest) -> str:
    """`scheme://host` of the request where the settings name that host; else that of `SITE_URL`.

    Only so many exist: a wildcard of `ALLOWED_HOSTS` or a made-up port has no answers of its own to keep.
    """
    # In lower case, and without the dot that a name may end with.
    name, port = split_domain_port(request.get_host())
    site = urlsplit(settings.SITE_URL)
    ports = {"", str(settings.CMS_ENV.port), str(site.port or "")}
    if name in settings.ALLOWED_HOSTS and port in ports and not name.startswith((".", "*")):
        return f"{request.scheme}://{name}:{port}" if port else f"{request.scheme}://{name}"
    return str(settings.SITE_URL)
