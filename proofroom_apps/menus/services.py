"""Menus: one per slug and locale, their items a tree of links."""

from __future__ import annotations

from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.database.id_filters import find_by_id
from proofroom.core.errors import Conflict, NotFound
from proofroom.core.i18n.languages import require_site_language
from proofroom.core.json import JsonObject
from proofroom.core.validation.input_validation import clean_name
from proofroom.core.validation.slugs import clean_ascii_slug
from proofroom.shared_content.approval import APPROVED, require_approver, require_live_change
from proofroom.shared_content.proposals import delete_proposals
from proofroom.shared_content.revisions import (
    RESTORED,
    SharedChange,
    delete_revisions,
    record_revisions,
)
from proofroom.shared_content.shared_types import MENU
from proofroom_apps.menus.items import clean_items, slug_taken
from proofroom_apps.menus.links import menu_post_ids
from proofroom_apps.menus.models import NAME_MAX, SLUG_MAX, Menu


def find_menu(slug: str, locale: str, default_locale: str) -> Menu | None:
    """Return the menu of a slug in the locale, else in the default locale, else None."""
    found = {
        row.locale: row
        for row in Menu.objects.filter(slug=slug, locale__in=[locale, default_locale])
    }
    return found.get(locale) or found.get(default_locale)


@transaction.atomic
def create_menu(
    *,
    actor: Actor,
    name: str,
    slug: str,
    locale: str,
    items: object = None,
    menu_id: UUID | None = None,
) -> Menu:
    """Create a menu. `menu_id` is the id from another installation. Raises `RuleViolation` by field."""
    _allow(actor)
    require_approver(MENU, actor)
    name, slug = clean_name(name, NAME_MAX), clean_ascii_slug("slug", slug, SLUG_MAX)
    require_site_language(locale)
    menu = Menu(
        id=menu_id or uuid4(),
        name=name,
        slug=slug,
        locale=locale,
        items=clean_items([] if items is None else items, actor=actor),
    )
    _save(menu, actor, "created")
    change = SharedChange(menu.pk, menu.version, menu_document(menu))
    record_revisions(MENU, [change], actor=actor, reason="created")
    return menu


@transaction.atomic
def change_menu(
    *,
    menu_id: UUID | str,
    actor: Actor,
    name: str | None = None,
    slug: str | None = None,
    locale: str | None = None,
    items: object = None,
    expected_version: int | None = None,
    reason: str = "edited",
) -> Menu:
    """Change the given values; None leaves a value unchanged.

    Raises `Conflict` for an old version, and the errors of `create_menu`.
    """
    _allow(actor)
    if reason != APPROVED:
        require_live_change(MENU, actor)
    menu = _lock_menu(menu_id)
    # Compared under the lock, so that no other writer comes in between.
    if expected_version is not None and expected_version != menu.version:
        raise Conflict(
            _("This menu has changed since you opened it. Reload it and repeat your change."),
            code="stale_version",
            current=menu.version,
        )
    earlier_version, earlier, earlier_at = menu.version, menu_document(menu), menu.updated_at
    document = edited_menu(
        menu,
        name=name,
        slug=slug,
        locale=locale,
        items=items,
        keeps_lost=reason == RESTORED,
        actor=None if reason in (RESTORED, APPROVED) else actor,
    )
    former_slug = menu.slug
    menu.name, menu.slug = str(document["name"]), str(document["slug"])
    menu.locale, menu.items = str(document["locale"]), document["items"]
    menu.version += 1
    _save(menu, actor, "changed", former_slug)
    change = SharedChange(
        menu.pk, menu.version, menu_document(menu), earlier_version, earlier, earlier_at
    )
    record_revisions(MENU, [change], actor=actor, reason=reason)
    return menu


@transaction.atomic
def delete_menu(*, menu_id: UUID | str, actor: Actor) -> UUID:
    """Delete a menu and return its id. Pages in its locale then show the default locale's menu of the slug."""
    _allow(actor)
    require_approver(MENU, actor)
    menu = _lock_menu(menu_id)
    # delete() sets the primary key of the object to None.
    id_ = menu.pk
    menu.delete()
    delete_revisions(MENU, id_)
    delete_proposals(MENU, id_)
    _record(menu, id_, actor, "deleted")
    return id_


def edited_menu(
    menu: Menu,
    *,
    name: str | None = None,
    slug: str | None = None,
    locale: str | None = None,
    items: object = None,
    keeps_lost: bool = False,
    actor: Actor | None = None,
) -> JsonObject:
    """Return the document of the menu with these values, validated like a write. Raises `RuleViolation` by field.

    With `keeps_lost`, an item may name a deleted post: pages leave it out. With an `actor`, posts hidden from the
    actor cannot be added.
    """
    document = menu_document(menu)
    if name is not None:
        document["name"] = clean_name(name, NAME_MAX)
    if slug is not None:
        document["slug"] = clean_ascii_slug("slug", slug, SLUG_MAX)
    if locale is not None:
        require_site_language(locale)
        document["locale"] = locale
    if items is not None:
        kept = {str(id_) for id_ in menu_post_ids(menu.items)}
        if keeps_lost and isinstance(items, list):
            kept |= {str(id_) for id_ in menu_post_ids(items)}
        document["items"] = clean_items(items, frozenset(kept), actor)
    return document


def menu_document(menu: Menu) -> JsonObject:
    """Return the menu as its revisions store it."""
    return {
        "name": menu.name,
        "slug": menu.slug,
        "locale": menu.locale,
        "items": list(menu.items),
    }


def _save(menu: Menu, actor: Actor, did: str, former_slug: str = "") -> None:
    try:
        # A savepoint: after an IntegrityError, PostgreSQL refuses further queries in the transaction.
        with transaction.atomic():
            menu.save()
    except IntegrityError:
        raise slug_taken(menu.slug, menu.locale) from None
    _record(menu, menu.pk, actor, did, former_slug)


def _record(menu: Menu, id_: UUID, actor: Actor, did: str, former_slug: str = "") -> None:
    payload: JsonObject = {"what": "menu", "id": str(id_), "did": did, "slug": menu.slug}
    if former_slug not in ("", menu.slug):
        payload["formerSlug"] = former_slug
    outbox.record("content.changed", actor=actor, payload=payload)


def _lock_menu(menu_id: UUID | str) -> Menu:
    menu = find_by_id(Menu.objects.select_for_update(), menu_id)
    if menu is None:
        raise NotFound(_("No menu has the ID %(menu_id)s.") % {"menu_id": str(menu_id)[:80]})
    return menu


def _allow(actor: Actor) -> None:
    actor.require_person("change menus")
    actor.require("menus.edit")
