"""Read and change the settings of the disclosure of AI work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from proofroom.accounts.models import Preferences
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.errors import invalid
from proofroom.core.event_kinds import SITE_CHANGED
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.definitions import post_types
from proofroom.disclosure.models import DisclosedType, DisclosureSettings, Show

CHANGED: Final = "disclosure.changed"
PERMISSION: Final = "disclosure.edit"
_SHOWN_ON_PAGES: Final = frozenset({"is_named_publicly", "username", "role", "is_active"})
"""Changes of an account that pages with the name or role of an approver show."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """`types`: the post types that disclose AI work, sorted. `show`: `line`, `jsonld` or `both`."""

    types: tuple[str, ...]
    show: str


def subscribe_disclosure() -> None:
    """Invalidate pages with a changed account. Called once, at start."""
    outbox.subscribe_in_transaction(["user.changed"], invalidate_account)


def load_disclosure() -> Disclosure:
    """Return the settings. Two queries."""
    show = DisclosureSettings.objects.filter(pk=1).values_list("show", flat=True).first()
    types = DisclosedType.objects.order_by("type").values_list("type", flat=True)
    return Disclosure(tuple(types), show or Show.BOTH.value)


@transaction.atomic
def change_disclosure(
    *, actor: Actor, types: Sequence[str] | None = None, show: str | None = None
) -> Disclosure:
    """Change the given settings; None leaves a value unchanged. Invalidates all pages.

    Raises `RuleViolation` on `types` for an unknown post type, and on `show`.
    """
    actor.require_person("change the disclosure of AI work")
    actor.require(PERMISSION)
    # The row must exist before it can be locked; a concurrent insert is harmless.
    DisclosureSettings.objects.bulk_create([DisclosureSettings()], ignore_conflicts=True)
    row = DisclosureSettings.objects.select_for_update().get(pk=1)
    before = load_disclosure()
    if show is not None:
        if show not in Show.values:
            raise invalid(
                "show", _("Choose one of: %(known)s.") % {"known": ", ".join(Show.values)}
            )
        row.show = show
    wanted = before.types if types is None else tuple(sorted(set(types)))
    # A type whose definition was removed may stay.
    for name in wanted:
        if name not in before.types and post_types.get(name) is None:
            printable = name[:60].encode("utf-8", "replace").decode()
            raise invalid("types", _("%(name)s is not a post type.") % {"name": printable})
    after = Disclosure(wanted, row.show)
    if after == before:
        return before
    row.save()
    DisclosedType.objects.exclude(type__in=wanted).delete()
    DisclosedType.objects.bulk_create(
        [DisclosedType(type=name) for name in wanted], ignore_conflicts=True
    )
    payload: JsonObject = {"types": [*after.types], "show": after.show}
    outbox.record(CHANGED, actor=actor, payload=payload)
    return after


def invalidate_account(event: Event) -> None:
    """Invalidate all pages if some may show what changed of an account: its name or role.

    At most two queries, none for other changes.
    """
    changed = event.payload.get("changed")
    found = _SHOWN_ON_PAGES.intersection(changed) if isinstance(changed, list) else frozenset()
    if not found or not DisclosedType.objects.exists():
        return
    is_named = Preferences.objects.filter(user_id=event.payload.get("id"), is_named_publicly=True)
    if found & {"role", "is_named_publicly"} or is_named.exists():
        outbox.record(SITE_CHANGED, actor=Actor(user=SYSTEM, via="system"), payload={})
