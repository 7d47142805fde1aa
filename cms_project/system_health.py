"""The page *System*: the state of each part of the site, and its setup."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.contrib import admin
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from agents_app.health import missing_packages
from analytics.health import figures, scheduler
from content.inbox.rows import check_queue
from media.models import FileCheck
from proofroom.core.admin.permissions import require
from proofroom.core.diagnostics.doctor import (
    CheckResult,
    Level,
    activity_log,
    folders,
    messages,
    providers,
)
from proofroom.core.i18n.languages import language_name
from proofroom.version import product_version

_WORST: Final[dict[Level, int]] = {"ok": 0, "warn": 1, "fail": 2}


@dataclass(frozen=True, slots=True)
class Light:
    """The state of one part. `found` and `advice` come from the doctor."""

    label: str
    level: Level
    word: str
    found: str = ""
    advice: str = ""


def worker_and_scheduler() -> Iterator[CheckResult]:
    """Yield the state of the activity log's seals, and of the scheduler."""
    yield from activity_log()
    yield from scheduler()


def ai_providers() -> Iterator[CheckResult]:
    """Yield the configured providers, and those whose package is not installed."""
    yield from providers()
    yield from missing_packages()


def files() -> Iterator[CheckResult]:
    """Yield the result of the last media check."""
    last = FileCheck.objects.exclude(finished_at=None).first()
    if last is None:
        yield CheckResult("ok", "media", _("not checked yet"))
    elif last.missing_count:
        advice = _("open the media check report")
        yield CheckResult(
            "fail",
            "media",
            ngettext("%(n)s file is missing", "%(n)s files are missing", last.missing_count)
            % {"n": f"{last.missing_count:,}"},
            advice,
        )
    else:
        yield CheckResult(
            "ok",
            "media",
            ngettext("%(n)s file found", "all %(n)s files found", last.checked)
            % {"n": f"{last.checked:,}"},
        )


_CHECKS: Final[tuple[tuple[Promise, Callable[[], Iterator[CheckResult]]], ...]] = (
    (gettext_lazy("Worker and scheduler"), worker_and_scheduler),
    (gettext_lazy("Task queue"), messages),
    (gettext_lazy("AI providers"), ai_providers),
    (gettext_lazy("Folders"), folders),
    (gettext_lazy("Media files"), files),
    (gettext_lazy("Visit statistics"), figures),
    (gettext_lazy("Inbox index"), check_queue),
)


def lights() -> list[Light]:
    """Return one light per part, for its worst finding. A check that fails is a red light."""
    words: dict[Level, str] = {"ok": _("OK"), "warn": _("Check"), "fail": _("Failed")}
    found_lights = []
    for label, check in _CHECKS:
        try:
            found = list(check())
        except Exception as error:
            # The message may contain a URL with a password; the type does not.
            found_lights.append(Light(str(label), "fail", words["fail"], type(error).__name__))
            continue
        worst = max(found, key=lambda finding: _WORST[finding.level])
        level = worst.level
        found_lights.append(Light(str(label), level, words[level], worst.found, worst.advice))
    return found_lights


@require_safe
def system(request: HttpRequest) -> HttpResponse:
    """Show all parts of the site with their findings, and the values from the environment."""
    require(request, "settings.manage")
    env = settings.CMS_ENV
    other_locales = [locale for locale in env.locales if locale != env.default_locale]
    context = {
        **admin.site.each_context(request),
        "title": _("System"),
        "lights": lights(),
        "site_url": settings.SITE_URL,
        "default_language": language_name(env.default_locale),
        "other_languages": [language_name(locale) for locale in other_locales],
        "version": product_version(),
        "database": connection.display_name,
        "has_redis": bool(env.redis_url),
    }
    return TemplateResponse(request, "admin/system.html", context)
