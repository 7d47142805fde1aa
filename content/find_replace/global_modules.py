"""Find and replace in global modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import F, QuerySet
from django.utils import timezone

from content.find_replace.documents import edit_props, props_of_places
from content.global_modules.services import build_revision
from content.media_usage import follow_globals
from content.models import ModuleInstance, ModuleRevision
from content.rules.references import PropsChange, check_props
from content.search import keep_words_of_global
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import RuleViolation
from proofroom.core.find_replace import Edit, Hand, TextPlace, batches, find_rows
from proofroom.core.json import JsonObject
from proofroom.core.validation.text_values import clean_line
from proofroom.definitions import modules, validation

GLOBALS: Final = "global_modules"
_LINE: Final = 200


class GlobalModuleSource:
    """Global modules, each changed like by hand: with a revision before and after."""

    tables: tuple[str, ...] = (GLOBALS,)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        return find_rows(edit, GLOBALS, _globals(), ("label",), ("props",))

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        for part in batches(keys):
            changed: list[tuple[ModuleInstance, str, JsonObject]] = []
            for row in _globals().filter(pk__in=part).order_by("pk"):
                hand = Hand(edit, GLOBALS, row.pk)
                try:
                    label, props = _changed(row, hand)
                except RuleViolation as error:
                    edit.refuse(f"{GLOBALS}.{row.pk}", error)
                    continue
                if hand.places:
                    places += hand.places
                    changed.append((row, label, props))
            if edit.writes and not edit.problems:
                _write(changed, edit.reason, actor)
        return places


def _globals() -> QuerySet[ModuleInstance]:
    return ModuleInstance.objects.filter(scope="global")


def _changed(row: ModuleInstance, hand: Hand) -> tuple[str, JsonObject]:
    """The label and the props as the hand wants them and the rules leave them."""
    label = clean_line("label", hand.take("label", row.label), _LINE)
    definition = modules.get(row.type)
    props = dict(row.props)
    if definition is not None:
        wanted = edit_props(definition.Props, row.props, hand, "props")
        changed = {name: value for name, value in wanted.items() if value != props[name]}
        cleaned = validation.check_partial(
            definition.Props, changed, prefix="props", what=f"The module {row.type}"
        )
        check_props(PropsChange(definition.Props, row.props, cleaned))
        props |= cleaned
        hand.settle({"label": label, **props_of_places(definition.Props, props, "props")})
    return label, props


def _write(
    changed: Sequence[tuple[ModuleInstance, str, JsonObject]], reason: str, actor: Actor
) -> None:
    rows = [row for row, _, _ in changed]
    known = set(
        ModuleRevision.objects.filter(
            instance__in=rows, version=F("instance__version")
        ).values_list("instance_id", flat=True)
    )
    revisions = [build_revision(row, "before", None) for row in rows if row.pk not in known]
    before = [(row, row.props) for row in rows]
    for row, label, props in changed:
        row.label, row.props, row.updated_at = label, props, timezone.now()
        row.version += 1
        revisions.append(build_revision(row, reason, actor))
    names = ["label", "props", "version", "updated_at"]
    ModuleInstance.objects.bulk_update(rows, names, batch_size=100)
    ModuleRevision.objects.bulk_create(revisions, batch_size=500)
    follow_globals(before)
    for row in rows:
        keep_words_of_global(row.pk, actor)
    payloads: list[tuple[None, JsonObject]] = [
        (
            None,
            {
                "what": "global-module",
                "id": str(row.pk),
                "did": "updated",
                "slug": row.global_slug,
            },
        )
        for row in rows
    ]
    outbox.record_all("content.changed", payloads, actor=actor)
