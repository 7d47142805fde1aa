"""The preview of what an agent reads, with a brief that is not saved yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings

from proofroom.briefs.effective import BriefSet, EffectiveBrief
from proofroom.briefs.models import Brief
from proofroom.briefs.services import checked_brief
from proofroom.core.errors import RuleViolation
from proofroom.core.post_type_names import post_type_labels

TYPE_INPUT: Final = "previewType"
LOCALE_INPUT: Final = "previewLocale"


@dataclass(frozen=True, slots=True)
class BriefPreview:
    """What an agent reads for texts of a type and language. `problem`: why the entered values cannot be shown."""

    type: str
    locale: str
    effective: EffectiveBrief
    is_applied: bool
    problem: str = ""

    @property
    def text(self) -> str:
        return self.effective.to_markdown()

    @property
    def characters(self) -> int:
        return len(self.text)


def preview_of(
    brief: Brief, choice: Mapping[str, str], values: Mapping[str, Any] | None = None
) -> BriefPreview:
    """Return the preview for the chosen type and language, by default the type and language of the brief. One query.

    `values`: what was entered in the form; without it, the stored brief is shown.
    """
    problem, shown = "", brief
    if values is not None:
        try:
            shown = checked_brief(values)
        except RuleViolation as error:
            problem = error.message
    shown.id, shown.version = brief.pk, brief.version
    type_ = choice.get(TYPE_INPUT, shown.type)
    locale = choice.get(LOCALE_INPUT, shown.locale)
    # Other values than the choices of the page show what holds for all.
    type_ = type_ if type_ in post_type_labels() else ""
    locale = locale if locale in settings.CMS_ENV.locales else ""
    others = list(Brief.objects.exclude(pk=brief.pk))
    found = BriefSet([*others, shown]).effective(
        post_type=type_, locale=locale, section=shown.section
    )
    is_applied = any(source.id == brief.pk for source in found.sources)
    return BriefPreview(type_, locale, found, is_applied, problem)
