"""Queries for accounts, roles and tokens."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Final, TypeVar, cast
from uuid import UUID

from django.db.models import Model, OuterRef, Q, QuerySet, Subquery, Value
from django.utils import timezone
from django.utils.translation import gettext as _

from proofroom.accounts.models import (
    AccountToken,
    ApiToken,
    DeliveryToken,
    Invitation,
    Preferences,
    ProgramToken,
    SiteRole,
    User,
    role_label,
)
from proofroom.accounts.roles import Role, grants, people_roles
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.database.compiled_queries import CompiledQuery, columns_of, instance_from_row
from proofroom.core.errors import NotFound
from proofroom.core.validation.input_validation import parse_uuid

T = TypeVar("T", bound=AccountToken)
P = TypeVar("P", bound=ProgramToken)
M = TypeVar("M", bound=Model)
_LONGEST_ID = 18
"""Number of digits of the longest id that every supported database accepts."""


def first_admin() -> User | None:
    """Return the first active admin, the default actor for system work."""
    return User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()


def active_people() -> QuerySet[User]:
    """Return the active accounts of people: those of agents are left out."""
    return User.objects.filter(is_active=True).exclude(role=Role.AI_AGENT)


_PREFERENCES_PREFIX: Final = "preferences__"
# Account and preferences in one query, because every request of the admin needs both.
_USER_QUERY: Final = CompiledQuery(
    lambda user_id: User.objects.filter(pk=user_id).values(
        *columns_of(User), *(_PREFERENCES_PREFIX + name for name in columns_of(Preferences))
    )
)


def list_site_roles() -> list[SiteRole]:
    """Return the site's own roles, by label. One query."""
    return list(SiteRole.objects.filter(is_built_in=False).exclude(name__in=[*grants()]))


def permissions_of(role: str) -> frozenset[str]:
    """Return the permissions of a role; none for an unknown role. One query for a role of the site."""
    if role in grants():
        return grants()[role]
    found = SiteRole.find(role)
    return found.granted if found is not None else frozenset()


def permissions_with_uninstalled_apps(role: str) -> frozenset[str]:
    """Return `SiteRole.promised` of a role. One query for a role of the site."""
    if role in grants():
        return grants()[role]
    found = SiteRole.find(role)
    return found.promised if found is not None else frozenset()


def scope_of(role: str) -> ContentScope:
    """Return the content a role is limited to. One query for a role of the site."""
    found = None if role in grants() else SiteRole.find(role)
    return found.scope if found is not None else ContentScope()


def find_role(name: str) -> SiteRole:
    """Return the role with this name, even if `migrate` has not written its row yet. Raises `NotFound`."""
    if name in grants():
        return SiteRole(name=name, is_built_in=True)
    # Role names are ASCII. PostgreSQL refuses a query with a NUL character.
    found = SiteRole.find(name) if name.isascii() and name.isprintable() else None
    if found is None:
        raise NotFound(_("No role is called %(name)r.") % {"name": name[:80]}, code="unknown_role")
    return found


def with_role_labels(rows: QuerySet[M]) -> QuerySet[M]:
    """Annotate accounts or invitations with the label of a site role, in the same query."""
    role = SiteRole.objects.filter(name=OuterRef("role"))
    annotated = rows.annotate(site_role_label=Subquery(role.values("label")[:1]))
    return cast("QuerySet[M]", annotated)


def people_role_choices() -> list[tuple[str, str]]:
    """Return names and labels of the roles people can have. One query."""
    declared = [(name, role_label(name)) for name in people_roles()]
    return [*declared, *((role.name, role.label) for role in list_site_roles())]


def roles_with(permission: str) -> list[str]:
    """Return the names of people's roles that have the permission. One query."""
    declared = [name for name in people_roles() if permission in grants()[name]]
    return [
        *declared,
        *(role.name for role in list_site_roles() if permission in role.granted),
    ]


def load_user(user_id: int) -> User | None:
    """Return the account with this id and its preferences, active or not. One query."""
    rows = _USER_QUERY.rows(user_id)
    if not rows:
        return None
    row, user = rows[0], instance_from_row(User, rows[0])
    stored = {name: row[_PREFERENCES_PREFIX + name] for name in columns_of(Preferences)}
    # The LEFT JOIN gives NULLs where the account has no preferences.
    user.preferences = (
        Preferences() if stored["user_id"] is None else instance_from_row(Preferences, stored)
    )
    return user


def preferences_of(user: User) -> Preferences:
    """Return the preferences of an account, or the defaults. No query after `load_user`."""
    try:
        return user.preferences
    except Preferences.DoesNotExist:
        user.preferences = Preferences()
        return user.preferences


def find_user(user_id: str) -> User:
    """Return the account with this id. Raises `NotFound`, also for malformed ids."""
    found = User.objects.filter(pk=parse_account_id(user_id)).first()
    if found is None:
        raise NotFound(
            _("No account has the ID %(user_id)s.") % {"user_id": user_id}, code="unknown_user"
        )
    return found


def parse_account_id(text: str) -> int:
    """Return the account id as a number, or -1, which matches no account, for a malformed id."""
    # `isdigit` alone accepts digits of other scripts and "²", which `int` refuses.
    is_id = text.isascii() and text.isdigit() and len(text) <= _LONGEST_ID
    return int(text) if is_id else -1


def parse_token_id(text: str) -> UUID:
    """Return the token id as a UUID. Raises `NotFound` if malformed."""
    id_ = parse_uuid(text)
    if id_ is None:
        raise NotFound(_("No token has the ID %(text)s.") % {"text": text}, code="unknown_token")
    return id_


def list_users(
    *, role: str | None = None, is_active: bool | None = None, search: str = ""
) -> QuerySet[User]:
    """Return accounts sorted by name."""
    found = User.objects.order_by("username", "pk")
    if role is not None:
        found = found.filter(role=role)
    if is_active is not None:
        found = found.filter(is_active=is_active)
    if search:
        found = found.filter(Q(username__icontains=search) | Q(email__icontains=search))
    return found


def list_tokens(
    kind: type[T], *, user_id: int | None = None, is_active: bool | None = None
) -> QuerySet[T]:
    """Return tokens of a kind with their accounts, newest first. Active means neither revoked nor expired."""
    found = kind._default_manager.select_related("user", "made_by")
    if user_id is not None:
        found = found.filter(user_id=user_id)
    return _with_state(found, is_active)


def token_keys(
    *, kind: str = "", user_id: int | None = None, is_active: bool | None = None
) -> QuerySet[Model, tuple[UUID, datetime, str]]:
    """Return (id, creation, kind) of API tokens and delivery tokens, newest first.

    `kind` is `api`, `delivery`, or empty for both. Delivery tokens belong to no account, so none has a `user_id`.
    """
    columns = ("id", "created_at", "kind")
    api = list_tokens(ApiToken, user_id=user_id, is_active=is_active)
    delivery = _with_state(DeliveryToken.objects.all(), is_active)
    if user_id is not None:
        delivery = delivery.none()
    found = [
        rows.order_by().annotate(kind=Value(name)).values_list(*columns)
        for name, rows in (("api", api), ("delivery", delivery))
        if kind in ("", name)
    ]
    keys = found[0] if len(found) == 1 else found[0].union(*found[1:], all=True)
    return cast("QuerySet[Model, tuple[UUID, datetime, str]]", keys.order_by("-created_at", "-id"))


def load_tokens(
    keys: Iterable[tuple[UUID, datetime, str]],
) -> list[ApiToken | DeliveryToken]:
    """Return the tokens of `token_keys` in their order. Three queries."""
    wanted = [(id_, kind) for id_, _created_at, kind in keys]
    api = ApiToken.objects.select_related("user", "made_by").in_bulk(
        [id_ for id_, kind in wanted if kind == "api"]
    )
    delivery = DeliveryToken.objects.select_related("made_by").in_bulk(
        [id_ for id_, kind in wanted if kind == "delivery"]
    )
    found: dict[UUID, ApiToken | DeliveryToken] = {**api, **delivery}
    return [found[id_] for id_, _kind in wanted if id_ in found]


def _with_state(rows: QuerySet[P], is_active: bool | None) -> QuerySet[P]:
    """Return tokens that still open something, or no longer do; all with None."""
    if is_active is None:
        return rows
    is_open = Q(revoked_at=None) & (Q(expires_at=None) | Q(expires_at__gt=timezone.now()))
    return rows.filter(is_open) if is_active else rows.exclude(is_open)


def list_invitations() -> QuerySet[Invitation]:
    """Return invitations with their inviters, newest first."""
    return Invitation.objects.select_related("invited_by").order_by("-created_at", "-id")


def token_names(ids: Collection[str], actor: Actor) -> dict[str, str]:
    """Return names of API and delivery tokens by id, if the actor may manage tokens. One query."""
    if not actor.can("tokens.manage"):
        return {}
    api = ApiToken.objects.filter(pk__in=ids).values_list("pk", "name")
    delivery = DeliveryToken.objects.filter(pk__in=ids).values_list("pk", "name")
    return {str(pk): name for pk, name in api.order_by().union(delivery.order_by(), all=True)}


def account_names(ids: Collection[str], actor: Actor) -> dict[str, str]:
    """Return names of accounts by id, if the actor may manage accounts. One query."""
    if not actor.can("users.manage"):
        return {}
    rows = User.objects.filter(pk__in=ids).values_list("pk", "username")
    return {str(pk): name for pk, name in rows}


def find_operator(email: str | None = None) -> Actor:
    """Return the actor for a command: the person with this email, else the first admin. Raises `NotFound`."""
    people = active_people().order_by("pk")
    person = people.filter(email=email.lower()).first() if email else first_admin()
    if person is None:
        if email:
            raise NotFound(
                _("No active account has the email address %(email)s.") % {"email": email}
            )
        raise NotFound(_("No active account has the role admin. Create one, or use --as."))
    return Actor(user=person, via="command")
