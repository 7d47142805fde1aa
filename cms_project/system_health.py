"""The page *System*: whether each part of the site works, and how the site is set up."""

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

from analytics.health import figures, scheduler
from content.inbox.rows import check_queue
from media.models import FileCheck
from proofroom.archive.container import product_version
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

_WORST: Final[dict[Level, int]] = {"ok": 0, "warn": 1, "fail": 2}


@dataclass(frozen=True, slots=True)
class Light:
    """One part of the system. `found` and `advice` are the doctor's."""

    label: str
    level: Level
    word: str
    found: str = ""
    advice: str = ""


def worker_and_scheduler() -> Iterator[CheckResult]:
    """Yield whether what happens is sealed, and whether the scheduler goes on."""
    yield from activity_log()
    yield from scheduler()


def files() -> Iterator[CheckResult]:
    """Yield what the last check of the media found."""
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
    (gettext_lazy("AI providers"), providers),
    (gettext_lazy("Folders"), folders),
    (gettext_lazy("Media files"), files),
    (gettext_lazy("Visit statistics"), figures),
    (gettext_lazy("Inbox index"), check_queue),
)


def lights() -> list[Light]:
    """One for each part, as the worst of what was found. A check that breaks is a red light, never a broken page."""
    words: dict[Level, str] = {"ok": _("OK"), "warn": _("Check"), "fail": _("Failed")}
    shown = []
    for label, check in _CHECKS:
        try:
            found = list(check())
        except Exception as error:
            # Its text may hold an address with a password in it; its kind does not.
            shown.append(Light(str(label), "fail", words["fail"], type(error).__name__))
            continue
        worst = max(found, key=lambda finding: _WORST[finding.level])
        level = worst.level
        shown.append(Light(str(label), level, words[level], worst.found, worst.advice))
    return shown


@require_safe
def system(request: HttpRequest) -> HttpResponse:
    """Every part of the site with what its check found, and what the environment sets."""
    require(request, "settings.manage")
    env = settings.CMS_ENV
    others = [locale for locale in env.locales if locale != env.default_locale]
    context = {
        **admin.site.each_context(request),
        "title": _("System"),
        "lights": lights(),
        "site_url": settings.SITE_URL,
        "default_language": language_name(env.default_locale),
        "other_languages": [language_name(locale) for locale in others],
        "version": product_version(),
        "database": connection.display_name,
        "has_redis": bool(env.redis_url),
    }
    return TemplateResponse(request, "admin/system.html", context)
