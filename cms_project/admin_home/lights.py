"""Whether the system is well, as lights with words: those checks of the doctor that only ask the database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from analytics.health import figures
from content.inbox.health import queue
from media.models import FileCheck
from proofroom.core.diagnostics.doctor import (
    CheckResult,
    Level,
    activity_log,
    folders,
    messages,
    providers,
)

_WORST: Final[dict[Level, int]] = {"ok": 0, "warn": 1, "fail": 2}


@dataclass(frozen=True, slots=True)
class Light:
    """One part of the system. `found` and `advice` are the doctor's."""

    label: str
    level: Level
    word: str
    found: str = ""
    advice: str = ""


def files() -> Iterator[CheckResult]:
    """What the last check of the media found."""
    last = FileCheck.objects.exclude(finished_at=None).first()
    if last is None:
        yield CheckResult("ok", "media", _("no check was made yet"))
    elif last.missing_count:
        advice = _("open the integrity report of the media")
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
            ngettext("%(n)s file is there", "all %(n)s files are there", last.checked)
            % {"n": f"{last.checked:,}"},
        )


_CHECKS: Final[tuple[tuple[Promise, Callable[[], Iterator[CheckResult]]], ...]] = (
    (gettext_lazy("Worker and scheduler"), activity_log),
    (gettext_lazy("Messages to workers"), messages),
    (gettext_lazy("AI providers"), providers),
    (gettext_lazy("Folders"), folders),
    (gettext_lazy("Media files"), files),
    (gettext_lazy("Figures of visits"), figures),
    (gettext_lazy("List of what waits"), queue),
)


def lights() -> list[Light]:
    """One for each part, as the worst of what was found. A check that breaks is a red light, never a broken page."""
    return [_light(str(label), check) for label, check in _CHECKS]


def _light(label: str, check: Callable[[], Iterator[CheckResult]]) -> Light:
    words: dict[Level, str] = {"ok": _("well"), "warn": _("look at it"), "fail": _("broken")}
    try:
        found = list(check())
    except Exception as error:
        # Its text may hold an address with a password in it; its kind does not.
        return Light(label, "fail", words["fail"], type(error).__name__)
    worst = max(found, key=lambda finding: _WORST[finding.level])
    return Light(label, worst.level, words[worst.level], worst.found, worst.advice)
