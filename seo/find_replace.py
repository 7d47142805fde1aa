"""Find and replace in redirects: both addresses, one row at a time, because each change could close a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from proofroom.core.actor import Actor
from proofroom.core.batches import batches
from proofroom.core.errors import RuleViolation
from proofroom.core.find_replace import Edit, Hand, TextPlace, find_rows, names_of_rows
from seo.models import Redirect, RedirectChanges
from seo.redirect_paths import clean_from, clean_to
from seo.services.redirects import change_redirect

REDIRECTS: Final = "redirects"


class RedirectSource:
    """Redirects, including automatic ones."""

    tables: tuple[str, ...] = (REDIRECTS,)
    permission: str = "redirects.edit"

    def names(self, keys: Sequence[str]) -> dict[str, tuple[str, str]]:
        return names_of_rows(Redirect.objects.all(), keys)

    def find(self, edit: Edit, tables: frozenset[str]) -> list[Any]:
        return find_rows(edit, REDIRECTS, Redirect.objects.all(), ("from_path", "to_path"))

    def change(
        self, keys: Sequence[Any], edit: Edit, tables: frozenset[str], actor: Actor
    ) -> list[TextPlace]:
        places: list[TextPlace] = []
        for part in batches(keys):
            for row in Redirect.objects.filter(pk__in=part).order_by("pk"):
                hand = Hand(edit, REDIRECTS, row.pk)
                try:
                    self._change_row(row, hand, actor, writes=edit.writes)
                except RuleViolation as error:
                    edit.refuse(f"{REDIRECTS}.{row.pk}", error)
                    continue
                places += hand.places
        return places

    def _change_row(self, row: Redirect, hand: Hand, actor: Actor, *, writes: bool) -> None:
        from_path = str(hand.take("fromPath", row.from_path))
        to_path = str(hand.take("toPath", row.to_path))
        if not hand.places:
            return
        changes = RedirectChanges(from_path=clean_from(from_path), to_path=clean_to(to_path))
        if writes:
            row = change_redirect(redirect_id=row.pk, actor=actor, changes=changes)
            hand.settle({"fromPath": row.from_path, "toPath": row.to_path})
        else:
            hand.settle({"fromPath": changes.from_path, "toPath": changes.to_path})
