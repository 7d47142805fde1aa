"""The queue in words: places, risks, reasons, ages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from content.definitions import post_types
from content.models import DecisionItem, QueuedChange
from content.review.labels import field_label, module_label, prop_label
from core.words import in_words

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
_REASONS: Final[dict[str, Promise]] = {
    "conflict": gettext_lazy("a person staged something else"),
    "drift": gettext_lazy("changed meanwhile"),
    "removed": gettext_lazy("module removed"),
    "replaced": gettext_lazy("module replaced"),
    "added": gettext_lazy("new module"),
    "moved": gettext_lazy("moved"),
    "emptied": gettext_lazy("all text removed"),
    "rewritten": gettext_lazy("much shorter"),
    "price": gettext_lazy("price"),
    "negation": gettext_lazy("negation"),
    "number": gettext_lazy("number"),
    "date": gettext_lazy("date"),
    "name": gettext_lazy("name"),
    "link": gettext_lazy("link"),
    "image": gettext_lazy("image"),
    "address": gettext_lazy("address of the page"),
    "robots": gettext_lazy("search engines"),
    "structured-data": gettext_lazy("structured data"),
    "schedule": gettext_lazy("publication"),
    "choice": gettext_lazy("setting"),
}


def risk_word(risk: int) -> str:
    return str(RISKS[min(max(risk, 1), 3)])


def reason_words(row: QueuedChange) -> list[str]:
    """Why to look, in words; that a published post is at stake is one of them."""
    found = [str(_REASONS.get(reason, reason)) for reason in row.reasons]
    if row.is_outward and row.post.status == "published":
        found.append(_("published, seen by search engines"))
    return found


def place_of(row: QueuedChange | DecisionItem) -> str:
    """Where the change is: "Meta description", "Hero › Title", "New module: Prose"."""
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
    """How long ago, in words."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("just now")
    return _("%(age)s ago") % {"age": timesince(moment, depth=1)}


def type_label(name: str) -> str:
    """The label of a post type; its name where there is none any more."""
    definition = post_types.get(name)
    return in_words(definition.label) if definition else name
