"""Rules for search engines as check boxes; rules that have none stay JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.translation import gettext_lazy as _

from proofroom.core.json import Json
from proofroom.editorial.post_editor.form_fields import EditorField

ROBOTS: Final = "robotsJson"
_BOXES: Final = {"noindex": "index", "nofollow": "follow"}


def robots_field() -> EditorField:
    return EditorField(
        ROBOTS,
        str(_("Robots")),
        "object",
        nested=(
            EditorField("noindex", str(_("Keep this page out of search results")), "boolean"),
            EditorField(
                "nofollow", str(_("Search engines follow no link of this page")), "boolean"
            ),
            EditorField("more", str(_("Other rules")), "json", str(_("JSON, seldom needed."))),
        ),
    )


def robots_to_form(value: Json) -> Json:
    """The stored rules as the form shows them."""
    rules = dict(value) if isinstance(value, Mapping) else {}
    boxes: dict[str, Json] = {}
    for box, rule in _BOXES.items():
        boxes[box] = rules.get(rule) is False
        if boxes[box]:
            del rules[rule]
    return {**boxes, "more": rules or None}


def robots_from_form(value: Json) -> Json:
    """Return what was typed as the rules to store; null where there are none."""
    if not isinstance(value, Mapping):
        return value
    more = value.get("more")
    if more is not None and not isinstance(more, Mapping):
        return more  # the service says what is wrong with it
    rules = dict(more or {})
    rules |= {rule: False for box, rule in _BOXES.items() if value.get(box) is True}
    return rules or None
