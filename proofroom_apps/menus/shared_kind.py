"""Menus as a kind of shared content: the document of a revision, and how a menu is written from it."""

from __future__ import annotations

from copy import copy
from uuid import UUID

from django.utils.translation import gettext_lazy

from proofroom.core.actor import Actor
from proofroom.core.json import JsonObject
from proofroom.shared_content.shared_types import MENU, SharedRow
from proofroom_apps.menus.links import portable_items
from proofroom_apps.menus.models import Menu
from proofroom_apps.menus.services import change_menu, menu_document


class MenuKind:
    name = MENU
    label = gettext_lazy("Menus")
    permission = "menus.edit"
    model = Menu

    def find(self, row_id: UUID) -> Menu | None:
        return Menu.objects.filter(pk=row_id).first()

    def with_document(self, row: SharedRow, document: JsonObject) -> Menu:
        if not isinstance(row, Menu):
            raise TypeError(row)
        shown = copy(row)
        shown.name, shown.slug = str(document["name"]), str(document["slug"])
        shown.locale, shown.items = str(document["locale"]), document["items"]
        return shown

    def document_of(self, row: SharedRow) -> JsonObject:
        if not isinstance(row, Menu):
            raise TypeError(row)
        return menu_document(row)

    def portable(self, document: JsonObject) -> JsonObject:
        items = document.get("items")
        return {**document, "items": portable_items(items if isinstance(items, list) else [])}

    def write(
        self,
        *,
        row_id: UUID,
        document: JsonObject,
        actor: Actor,
        expected_version: int | None,
        reason: str,
    ) -> Menu:
        return change_menu(
            menu_id=row_id,
            actor=actor,
            name=str(document["name"]),
            slug=str(document["slug"]),
            locale=str(document["locale"]),
            items=document["items"],
            expected_version=expected_version,
            reason=reason,
        )
