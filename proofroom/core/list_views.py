"""Saved views of the admin's lists: reading, saving and sharing.

A view is private, shared with a role, or shared with all users of the list. Users with `lists.share` share views and
change the shared ones that they see. Only the owner changes with whom a view is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl, urlencode

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.errors import NotAllowed, NotFound, invalid
from proofroom.core.hooks import Hook
from proofroom.core.json import JsonObject
from proofroom.core.models import LIST_VIEW_NAME_MAX, LIST_VIEW_QUERY_MAX, ListView
from proofroom.core.validation.input_validation import clean_line

SHARE: Final = "lists.share"
_ADOPT: Final = "users.manage"
"""Permission to see the views of deleted accounts that are shared with other roles."""
MAX_OWN: Final = 30
"""Maximum number of a user's views of one list."""
MAX_SHARED: Final = 30
"""Maximum number of shared views of one list."""
MAX_COLUMNS: Final = 40
_MAX_PARAMETERS: Final = 20
role_choices: Hook[[], list[tuple[str, str]]] = Hook()
"""Functions that return the roles of people, each with its label. The app with the roles registers one."""


def find_roles() -> list[tuple[str, str]]:
    """Return the roles that a view can be shared with, each with its label. At most one query."""
    return [choice for choices in role_choices() for choice in choices]


def list_views(*, actor: Actor, list_name: str) -> list[ListView]:
    """Return the actor's unnamed row of a list, their views and those shared with them, by name. One query."""
    rows = ListView.objects.filter(_visible_to(actor), list_name=list_name)
    return list(rows.order_by("name", "pk"))


def _visible_to(actor: Actor) -> Q:
    """Return the condition on the views that the actor sees."""
    shared = Q(is_shared=True)
    found = Q(owner=actor.user.pk) | shared & Q(role__in=["", actor.user.role])
    # Without its owner, a view for a role without `lists.share` could not be changed or deleted by anyone.
    return found | shared & Q(owner=None) if actor.can(_ADOPT) else found


@transaction.atomic
def save_view(
    *,
    actor: Actor,
    list_name: str,
    name: str,
    query: str,
    columns: Sequence[str],
    is_shared: bool = False,
    role: str = "",
) -> ListView:
    """Save a new view of the actor, shared with a `role` or with everyone. Raises `RuleViolation` by field, and
    `NotAllowed`.
    """
    return restore_view(
        actor=actor,
        owner_id=actor.user.pk,
        list_name=list_name,
        name=name,
        query=query,
        columns=columns,
        is_shared=is_shared,
        role=role,
    )


@transaction.atomic
def restore_view(
    *,
    actor: Actor,
    owner_id: int | None,
    list_name: str,
    name: str,
    query: str,
    columns: Sequence[str],
    is_shared: bool,
    role: str = "",
) -> ListView:
    """Save a deleted view again, for its owner. Raises the errors of `save_view`.

    A shared view may belong to another user; it has no owner if that account was deleted.
    """
    _lock(actor)
    if is_shared:
        actor.require(SHARE)
    elif owner_id != actor.user.pk:
        raise NotAllowed(_("You cannot save other people’s views."))
    if owner_id is not None:
        # The account may have been deleted since.
        accounts = get_user_model()._default_manager.filter(pk=owner_id)
        owner_id = accounts.values_list("pk", flat=True).first()
    view = ListView(owner_id=owner_id, list_name=list_name, is_shared=is_shared)
    view.role = _clean_role(role) if is_shared else ""
    view.name = clean_line("name", name, LIST_VIEW_NAME_MAX, required=True)
    view.query, view.columns = _clean_query(query), _clean_columns(columns)
    own = ListView.objects.filter(owner=owner_id, list_name=list_name).exclude(name="")
    if owner_id is not None and own.count() >= MAX_OWN:
        message = _("You have %(most)s views of this list. Delete one first.") % {"most": MAX_OWN}
        raise invalid("name", message, code="too_many")
    _require_room(view)
    _store(view, "created", actor)
    return view


@transaction.atomic
def change_view(
    *,
    actor: Actor,
    list_name: str,
    view_id: int,
    name: str | None = None,
    query: str | None = None,
    columns: Sequence[str] | None = None,
    is_shared: bool | None = None,
    role: str = "",
) -> ListView:
    """Change the given attributes of a view; `role` together with `is_shared`.

    Raises `NotFound`, `NotAllowed`, and `RuleViolation` by field.
    """
    view = _locked_view(actor, list_name, view_id)
    if is_shared is not None and (is_shared, role) != (view.is_shared, view.role):
        if view.owner_id != actor.user.pk:
            raise NotAllowed(_("Only the owner of a view can change with whom it is shared."))
        actor.require(SHARE)
        view.is_shared, view.role = is_shared, _clean_role(role) if is_shared else ""
        _require_room(view)
    if name is not None:
        view.name = clean_line("name", name, LIST_VIEW_NAME_MAX, required=True)
    if query is not None:
        view.query = _clean_query(query)
    if columns is not None:
        view.columns = _clean_columns(columns)
    _store(view, "changed", actor)
    return view


@transaction.atomic
def delete_view(*, actor: Actor, list_name: str, view_id: int) -> ListView:
    """Delete and return a view. Raises `NotFound` and `NotAllowed`."""
    view = _locked_view(actor, list_name, view_id)
    _record(view, "deleted", actor)
    ListView.objects.filter(pk=view.pk).delete()
    return view


@transaction.atomic
def set_columns(*, actor: Actor, list_name: str, columns: Sequence[str]) -> None:
    """Set the columns that the actor sees in the list without a view; empty for the default ones."""
    _lock(actor)
    own = _own_row(actor, list_name)
    own.columns = _clean_columns(columns)
    _store(own, "columns", actor)


@transaction.atomic
def set_opening_view(*, actor: Actor, list_name: str, view_id: int | None) -> None:
    """Set the view that opens first for the actor; None for the list itself. Raises `NotFound`."""
    _lock(actor)
    own = _own_row(actor, list_name)
    if view_id is not None:
        rows = ListView.objects.filter(_visible_to(actor), pk=view_id, list_name=list_name)
        found = rows.exclude(name="")
        if not found.exists():
            raise _not_found()
    own.opens_id = view_id
    _store(own, "opening", actor)


def _lock(actor: Actor) -> None:
    """Serialise writes of one user by locking the account, so that the limits hold."""
    actor.require_session("save views of lists")
    get_user_model()._default_manager.select_for_update().get(pk=actor.user.pk)


def _locked_view(actor: Actor, list_name: str, view_id: int) -> ListView:
    """Return a view that the actor may change, after locking it."""
    _lock(actor)
    rows = ListView.objects.select_for_update().filter(list_name=list_name).exclude(name="")
    view = rows.filter(_visible_to(actor), pk=view_id).first()
    if view is None:
        raise _not_found()
    if view.is_shared and not actor.can(SHARE):
        raise NotAllowed(_("Your role cannot change shared views."))
    return view


def _own_row(actor: Actor, list_name: str) -> ListView:
    rows = ListView.objects.filter(owner=actor.user.pk, list_name=list_name, name="")
    return rows.first() or ListView(owner_id=actor.user.pk, list_name=list_name)


def _not_found() -> NotFound:
    return NotFound(_("View not found."))


def _require_room(view: ListView) -> None:
    if view.is_shared:
        shared = ListView.objects.filter(list_name=view.list_name, is_shared=True).exclude(
            pk=view.pk
        )
        if shared.count() >= MAX_SHARED:
            message = _("This list has %(most)s shared views. Delete one first.")
            raise invalid("name", message % {"most": MAX_SHARED}, code="too_many")


def _clean_query(query: str) -> str:
    """Return the query string in its normalised form."""
    try:
        pairs = parse_qsl(query, max_num_fields=_MAX_PARAMETERS, errors="strict")
    except ValueError:
        raise invalid("query", _("These filters cannot be saved.")) from None
    cleaned = urlencode(sorted(pairs))
    # PostgreSQL refuses NUL in text.
    if len(cleaned) > LIST_VIEW_QUERY_MAX or any("\0" in text for pair in pairs for text in pair):
        raise invalid("query", _("These filters cannot be saved."))
    return cleaned


def _clean_role(role: str) -> str:
    if role and role not in dict(find_roles()):
        raise invalid("role", _("There is no role %(name)s.") % {"name": role[:80]})
    return role


def _clean_columns(columns: Sequence[str]) -> list[str]:
    if len(columns) > MAX_COLUMNS:
        message = _("A list can show at most %(most)s columns.") % {"most": MAX_COLUMNS}
        raise invalid("columns", message, code="too_many")
    return [clean_line("columns", name, LIST_VIEW_NAME_MAX) for name in dict.fromkeys(columns)]


def _store(view: ListView, did: str, actor: Actor) -> None:
    try:
        # A savepoint: the constraint must not abort the caller's transaction.
        with transaction.atomic():
            view.save()
    except IntegrityError:
        raise invalid("name", _("Another view has this name."), code="name_taken") from None
    _record(view, did, actor)


def _record(view: ListView, did: str, actor: Actor) -> None:
    payload: JsonObject = {
        "id": view.pk,
        "list": view.list_name,
        "did": did,
        "shared": view.is_shared,
        "role": view.role,
    }
    outbox.record("list-view.changed", actor=actor, payload=payload)
