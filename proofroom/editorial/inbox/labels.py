"""The queue in words: places, risks, reasons, ages."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.models import DecisionItem, QueuedChange
from content.review.labels import field_label, module_label, prop_label

RISKS: Final[dict[int, Promise]] = {
    3: gettext_lazy("High risk"),
    2: gettext_lazy("Medium risk"),
    1: gettext_lazy("Low risk"),
}
AGES: Final[dict[str, Promise]] = {
    "day": gettext_lazy("Last 24 hours"),
    "week": gettext_lazy("Last 7 days"),
    "month": gettext_lazy("Last 30 days"),
    "older-week": gettext_lazy("Older than 7 days"),
    "older-month": gettext_lazy("Older than 30 days"),
}
LAYERS: Final = {"ai-review": "AI Review", "review": "Review"}
_FLAGS: Final[dict[str, Promise]] = {
    "conflict": gettext_lazy("a person staged something else"),
    "drifted": gettext_lazy("changed meanwhile"),
    "edited": gettext_lazy("edited by a person"),
    "removed": gettext_lazy("something removed"),
    "characters": gettext_lazy("hidden or look-alike characters"),
    "price": gettext_lazy("price"),
    "negation": gettext_lazy("negation"),
    "number": gettext_lazy("number"),
    "date": gettext_lazy("date"),
    "name": gettext_lazy("name"),
    "link": gettext_lazy("link"),
    "image": gettext_lazy("image"),
    "embed": gettext_lazy("embedded page"),
    "reference": gettext_lazy("reference"),
    "slug": gettext_lazy("address of the page"),
    "seo": gettext_lazy("search engines"),
    "structured-data": gettext_lazy("structured data"),
    "module": gettext_lazy("module"),
    "choice": gettext_lazy("setting"),
    "boolean": gettext_lazy("yes or no"),
    "mark": gettext_lazy("formatting"),
    "code": gettext_lazy("code"),
    "structure": gettext_lazy("structure"),
}


def risk_word(risk: int) -> str:
    return str(RISKS[min(max(risk, 1), 3)])


def flag_words(flags: Iterable[str]) -> list[str]:
    """Return why to look, in words."""
    return [str(_FLAGS.get(flag, flag)) for flag in flags]


def place_of(row: QueuedChange | DecisionItem) -> str:
    """Return where the change is: "Meta description", "Hero › Title", "New module: Prose"."""
    if not row.subject.startswith("module."):
        return field_label(row.post.type if row.post else "", row.subject.removeprefix("post."))
    _module, type_name, *rest = row.subject.split(".", 2)
    name = module_label(type_name)
    if row.kind == "added":
        return _("New module: %(name)s") % {"name": name}
    if row.kind == "removed":
        return _("Module removed: %(name)s") % {"name": name}
    if row.kind == "replaced":
        return _("Module replaced: %(name)s") % {"name": name}
    if row.kind == "moved":
        return _("%(name)s › Position") % {"name": name}
    return f"{name} › {prop_label(type_name, rest[0])}" if rest else name


def age_of(moment: datetime) -> str:
    """Return how long ago, in words."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(age)s ago") % {"age": timesince(moment, depth=1)}
