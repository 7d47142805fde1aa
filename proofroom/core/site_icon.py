"""The site's icon in tabs and bookmarks: a static file of the project, or Proofroom's."""

from __future__ import annotations

import mimetypes
from collections.abc import Sequence
from typing import Final

from django.apps import AppConfig
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Error, register
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.templatetags.static import static
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

_SHIPPED: Final = "cms/favicon.svg"
_DAY_SECONDS: Final = 24 * 60 * 60


def icon_name() -> str:
    """Return the name of the static file."""
    return settings.CMS_ENV.site_icon or _SHIPPED


def icon_type() -> str:
    """Return the media type of the file, such as `image/png`."""
    return mimetypes.guess_type(icon_name())[0] or "image/x-icon"


@require_safe
@cache_control(public=True, max_age=_DAY_SECONDS)
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect `/favicon.ico`, which browsers and feed readers request if no page names an icon."""
    return HttpResponseRedirect(static(icon_name()))


@register("definitions")
def check_site_icon(
    app_configs: Sequence[AppConfig] | None = None, **kwargs: object
) -> list[CheckMessage]:
    """Report a missing file. Every page links to it, so all of them would fail."""
    if finders.find(icon_name()):
        return []
    return [
        Error(
            f"SITE_ICON: no static file {icon_name()!r}.",
            hint="Name a file below a `static` folder of the project, such as site/icon.svg.",
            id="proofroom_core.E002",
        )
    ]
