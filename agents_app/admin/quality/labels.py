"""Labels of quality figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from agents_app.admin.labels import format_money
from agents_app.ai_settings import provider_label
from agents_app.providers.interface import DEMO_PROVIDER
from agents_app.providers.vendors import all_vendors
from agents_app.quality.figures import QualityFigures, Tallied
from agents_app.quality.notes import HeededNotes
from analytics.experiments.confidence import Range
from analytics.experiments.sentences import percent
from content.document.document import CUSTOM_PREFIX
from content.document.labels import field_label
from proofroom.core.i18n import in_words
from proofroom.definitions import Prop, modules, post_types, props_of


@dataclass(frozen=True, slots=True)
class ShareLabel:
    """A share and its 95 % interval as text. `range` says if there are too few to tell."""

    share: str
    range: str


def share_label(value: float | None, found: Range | None) -> ShareLabel:
    if value is None:
        return ShareLabel("—", "")
    return ShareLabel(percent(value), range_label(found))


def range_label(found: Range | None) -> str:
    if found is None:
        return _("Too few to tell")
    return _("%(low)s to %(high)s") % {"low": percent(found.low), "high": percent(found.high)}


def acceptance_label(found: Tallied) -> ShareLabel:
    return share_label(found.acceptance, found.interval)


def heeded_label(found: HeededNotes) -> ShareLabel:
    return share_label(found.share, found.interval)


def distance_label(value: float | None) -> str:
    """Return the changed part of the words in percent."""
    return "—" if value is None else percent(value)


def money_label(row: QualityFigures) -> str:
    return "—" if row.cost_per_accepted is None else format_money(row.cost_per_accepted)


def minutes_label(value: float | None) -> str:
    """Return minutes as text: with a decimal below ten, in hours or days from two hours."""
    if value is None:
        return "—"
    if value >= 2 * 24 * 60:
        return _("%(number)s days") % {"number": number_format(value / 24 / 60, 1)}
    if value >= 2 * 60:
        return _("%(number)s h") % {"number": number_format(value / 60, 1)}
    return _("%(number)s min") % {"number": number_format(value, 1 if value < 10 else 0)}


def model_title(name: str) -> str:
    """Return `provider:model` as people read it, such as "OpenAI gpt-4.1-mini"."""
    provider, _colon, model = name.partition(":")
    if provider == DEMO_PROVIDER:
        return provider_label(provider)
    vendor = all_vendors().get(provider)
    return f"{vendor.name if vendor else provider} {model}".strip()


def field_title(field: str) -> str:
    """Return the label of a field as `field_of` names it: "Meta title", "Module › Subtitle"."""
    kind, _dot, name = field.partition(".")
    if kind == "post":
        custom = name.removeprefix(CUSTOM_PREFIX)
        if custom == name:
            return field_label("", name)
        return _common_label(custom, [props_of(row.CustomFields) for row in post_types])
    if not name:
        return _("Module")
    prop = name.partition(".")[0]
    if prop == "position":
        return f"{_('Module')} › {_('Position')}"
    return f"{_('Module')} › {_common_label(prop, [props_of(row.Props) for row in modules])}"


def _common_label(name: str, owners: Sequence[Mapping[str, Prop]]) -> str:
    """Return the most frequent label of a property: module types may label it differently."""
    labels = Counter(str(props[name].label) for props in owners if name in props)
    return in_words(labels.most_common(1)[0][0]) if labels else name
