"""Connections between users and AI clients: made by consent, used with tokens, ended by either side."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.utils import timezone
from django.utils.translation import gettext as _
from oauth2_provider.models import (
    clear_expired,
    get_access_token_model,
    get_grant_model,
    get_refresh_token_model,
)

from proofroom.accounts.services.account_tokens import TokenUse, record_use
from proofroom.accounts.services.content_scopes import check_parts
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.core import outbox
from proofroom.core.actor import SYSTEM, Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotFound, invalid
from proofroom.core.independent_steps import independent_steps
from proofroom.core.json import JsonObject
from proofroom.core.models import Event
from proofroom.oauth.addresses import resource
from proofroom.oauth.models import OAuthClient, OAuthClientKeys, OAuthConnection
from proofroom.oauth.scopes import DIAGNOSTICS, add_agents, grantable
from proofroom.oauth.token_values import hash_value

UNUSED_CLIENTS_KEPT_DAYS: Final = 90
"""Days after which an ended connection is deleted. Until then, the log of calls shows its name."""
UNUSED_HOURS: Final = 24
"""Hours after which a client that was never connected is deleted."""
CONNECTION_PREFIX: Final = "oauth:"
"""Prefix of the principal of a connected client. The id of the connection follows."""


@transaction.atomic
def connect(
    *, client: OAuthClient, scopes: Iterable[str], actor: Actor, limits: ContentScope | None = None
) -> OAuthConnection:
    """Connect an AI client to the user, with these scopes, limited to the user's own permissions.

    `limits`: the content it is limited to. Raises `NotAllowed` unless the actor has an admin session, `RuleViolation`
    by part of the limits.
    """
    actor.require_session("connect AI clients")
    actor.require("posts.view")
    content_scope = check_parts(limits or ContentScope(), actor)
    granted = [
        one
        for one in grantable(scopes, actor)
        # Diagnostics show the whole site, so a limited client cannot have them.
        if not (one == DIAGNOSTICS and content_scope.is_limited)
    ]
    connection, _is_new = OAuthConnection.objects.update_or_create(
        user_id=actor.user.pk,
        client=client,
        defaults={
            "role": actor.user.role,
            "scopes": granted,
            "content_scope": content_scope.to_json(),
            "propose_starts_agents": False,
            "connected_at": timezone.now(),
            "ended_at": None,
        },
    )
    record_connected(connection, actor)
    return connection


def record_connected(connection: OAuthConnection, actor: Actor) -> None:
    """Record the event that a user connected a client."""
    payload: JsonObject = {
        "id": str(connection.pk),
        "name": connection.client.label,
        "userId": connection.user_id,
        "scopes": [*connection.scopes],
    }
    if connection.content_scope:
        payload["limits"] = connection.content_scope
    outbox.record("mcp_client.connected", actor=actor, payload=payload)


@transaction.atomic
def disconnect(*, connection_id: UUID, actor: Actor) -> OAuthConnection:
    """End a connection and revoke its tokens. Its open sessions end within seconds. Idempotent.

    Raises `NotFound` for another user's connection, unless the actor manages tokens.
    """
    actor.require_session("disconnect AI clients")
    connection = find_manageable_connection(
        connection_id=connection_id, actor=actor, is_locked=True
    )
    if connection.ended_at is None:
        _end_connections(OAuthConnection.objects.filter(pk=connection.pk))
        payload: JsonObject = {
            "id": str(connection.pk),
            "name": connection.client.label,
            "userId": connection.user_id,
        }
        outbox.record("mcp_client.disconnected", actor=actor, payload=payload)
    return connection


@transaction.atomic
def limit_connection(*, connection_id: UUID, limits: ContentScope, actor: Actor) -> OAuthConnection:
    """Limit a client to a part of the content. Its open sessions end within seconds and can be reopened.

    Raises `NotFound` as `disconnect` does, `NotAllowed` if the client's user has more permissions than the actor,
    `RuleViolation` by part, or on `scope` if the client has diagnostics.
    """
    actor.require_session("limit AI clients")
    connection = find_manageable_connection(
        connection_id=connection_id, actor=actor, is_locked=True
    )
    if connection.user_id != actor.user.pk:
        require_permissions_of_role(actor, connection.user.role)
    if limits.is_limited and DIAGNOSTICS in connection.scopes:
        raise invalid(
            "scope",
            _(
                "This client can read logs and server status, which show the whole site. "
                "Disconnect it, and connect it again without this permission."
            ),
            code="whole_site",
        )
    connection.content_scope = check_parts(limits, actor).to_json()
    connection.save(update_fields=["content_scope"])
    payload: JsonObject = {
        "id": str(connection.pk),
        "name": connection.client.label,
        "userId": connection.user_id,
        "limits": connection.content_scope,
    }
    outbox.record("mcp_client.limited", actor=actor, payload=payload)
    return connection


def find_manageable_connection(
    *, connection_id: UUID, actor: Actor, is_locked: bool = False
) -> OAuthConnection:
    """Return a connection of the actor, or any connection if they manage tokens. Raises `NotFound`."""
    found = OAuthConnection.objects.select_related("client", "user")
    if is_locked:
        found = found.select_for_update(of=("self",))
    if not actor.can("tokens.manage"):
        found = found.filter(user_id=actor.user.pk)
    connection = found.filter(pk=connection_id).first()
    if connection is None:
        raise NotFound("No connected AI client has this id.", code="unknown_connection")
    return connection


def find_limits(*, client: OAuthClient, user_id: int) -> ContentScope:
    """Return the limits of the user's last connection with the client. One query."""
    found = OAuthConnection.objects.filter(client=client, user_id=user_id).first()
    return found.scope if found is not None else ContentScope()


@transaction.atomic
def unblock_connection(*, connection_id: UUID, actor: Actor) -> OAuthConnection:
    """Allow a client again that the user disconnected and whose tokens another server issues. Idempotent.

    Raises `NotFound` for another user's connection.
    """
    actor.require_session("connect AI clients")
    actor.require("posts.view")
    rows = OAuthConnection.objects.select_for_update(of=("self",)).select_related("client")
    connection = rows.filter(
        pk=connection_id, user_id=actor.user.pk, expires_at__isnull=False
    ).first()
    if connection is None:
        raise NotFound("No connected AI client has this id.", code="unknown_connection")
    if connection.ended_at is not None:
        connection.ended_at, connection.role = None, actor.user.role
        connection.save(update_fields=["ended_at", "role"])
        record_connected(connection, actor)
    return connection


# A changed name or email leaves connections alone.
_ENDING_CHANGES: Final = frozenset({"role", "permissions", "is_active", "password"})


def end_after_account_change(event: Event) -> None:
    """End the connections of an account that was disabled, or whose role, password or permissions changed."""
    # "user.password-reset" has no list of changes.
    changed = event.payload.get("changed", ["password"])
    if isinstance(changed, list) and _ENDING_CHANGES.intersection(changed):
        _end_connections(OAuthConnection.objects.filter(user_id=event.payload.get("id")))


def _end_connections(connections: QuerySet[OAuthConnection]) -> None:
    """End these connections and revoke their tokens."""
    # The library's tables have no link to connections, so tokens are found by account and client.
    for user_id, client_id in list(
        connections.filter(ended_at=None).values_list("user_id", "client_id")
    ):
        of_client = {"user_id": user_id, "application_id": client_id}
        get_grant_model().objects.filter(**of_client).delete()
        get_refresh_token_model().objects.filter(**of_client, revoked=None).update(
            revoked=timezone.now()
        )
        get_access_token_model().objects.filter(**of_client).delete()
    connections.filter(ended_at=None).update(ended_at=timezone.now())


def revoke_family(family: UUID) -> None:
    """Revoke all tokens that came from one consent, because one of its codes or refresh tokens was used twice."""
    # The second use may be an attacker's or the client's own, so all of them are revoked.
    refresh_tokens = get_refresh_token_model()
    live = refresh_tokens.objects.filter(token_family=family, revoked=None)
    found = live.select_related("application").first()
    if found is None:
        return
    refresh_tokens.revoke_family(family)
    payload: JsonObject = {"name": found.application.label, "userId": found.user_id}
    outbox.record("mcp_client.token-reused", actor=Actor(SYSTEM, "system"), payload=payload)


_IS_USABLE: Final = Q(ended_at=None, user__is_active=True, user__role=F("role"))
"""Condition: the account of a connection is active and has the same role as at consent."""


def _usable() -> QuerySet[OAuthConnection]:
    return OAuthConnection.objects.filter(_IS_USABLE)


def _has_token() -> Q:
    """Return a condition: a token of the connection is valid, or can be exchanged for a valid one."""
    of_client = {"user_id": OuterRef("user_id"), "application_id": OuterRef("client_id")}
    now = timezone.now()
    access = get_access_token_model().objects.filter(**of_client, expires__gt=now)
    refresh = get_refresh_token_model().objects.filter(**of_client, revoked=None)
    return Q(Exists(access)) | Q(Exists(refresh)) | Q(expires_at__gt=now)


def with_state(connections: QuerySet[OAuthConnection]) -> QuerySet[OAuthConnection]:
    """Annotate `is_open`: True if the connection still gives access to the MCP server."""
    is_open = Case(When(_IS_USABLE & _has_token(), then=True), default=False)
    return connections.annotate(is_open=is_open)


def find_consent(*, user_id: int, client_id: int) -> list[str] | None:
    """Return the scopes of the user's last consent for the client; None if no tokens may be issued. One query."""
    found = _usable().filter(user_id=user_id, client_id=client_id)
    return found.values_list("scopes", flat=True).first()


@dataclass(frozen=True, slots=True)
class ConnectedClient:
    """The holder of an access token: connection, account, allowed scopes and content."""

    id: UUID
    user_id: int
    role: str
    scopes: frozenset[str]
    client_id: str
    expires: datetime
    content_scope: ContentScope


def describe_use(connection: OAuthConnection) -> TokenUse:
    """Return the use of a connection for the event of the first use of a day."""
    actor = Actor(user=connection.user, via="mcp", principal=f"{CONNECTION_PREFIX}{connection.pk}")
    return TokenUse(actor, "oauth", connection.client.label)


def find_connected_client(token: str, *, is_use: bool = True) -> ConnectedClient | None:
    """Return the holder of an access token, or None if it is invalid here. Records the use if `is_use`."""
    # One query for the whole check, because it runs for every request of the MCP server.
    token_hash = hash_value(token)
    rows = _usable().filter(
        client__accesstoken__token_checksum=token_hash,
        client__accesstoken__user=F("user"),
        client__accesstoken__expires__gt=timezone.now(),
    )
    row = rows.values(
        "id",
        "user_id",
        "role",
        "content_scope",
        "propose_starts_agents",
        "last_used_at",
        allowed=F("scopes"),
        name=F("client__client_id"),
        expires=F("client__accesstoken__expires"),
        scope=F("client__accesstoken__scope"),
        audience=F("client__accesstoken__resource"),
    ).first()
    if row is None or row["audience"] != [resource()]:
        return None
    if is_use:
        connection_id: UUID = row["id"]
        record_use(
            OAuthConnection,
            connection_id,
            row["last_used_at"],
            lambda: describe_use(
                OAuthConnection.objects.select_related("client", "user").get(pk=connection_id)
            ),
        )
    return ConnectedClient(
        row["id"],
        row["user_id"],
        row["role"],
        # The user may have allowed less in a later consent, which also applies to tokens of earlier ones.
        add_agents(
            set(row["scope"].split()).intersection(row["allowed"]), row["propose_starts_agents"]
        ),
        row["name"],
        row["expires"],
        ContentScope.from_json(row["content_scope"]),
    )


def usable_connections(ids: Collection[UUID]) -> dict[UUID, tuple[ContentScope, frozenset[str]]]:
    """Return the connections that give access to the MCP server, with their content and scopes. One query."""
    rows = _usable().filter(_has_token(), pk__in=ids).order_by()
    found = rows.values_list("pk", "content_scope", "scopes", "propose_starts_agents")
    return {
        pk: (ContentScope.from_json(limits), add_agents(scopes, propose_starts_agents))
        for pk, limits, scopes, propose_starts_agents in found
    }


def connections_of(user_id: int) -> QuerySet[OAuthConnection]:
    """Return the user's connections that are open or blocked, latest first."""
    is_blocked = Q(ended_at__isnull=False, expires_at__isnull=False)
    rows = OAuthConnection.objects.filter(user_id=user_id)
    return rows.filter(_IS_USABLE | is_blocked).select_related("client")


def connection_names(ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of the clients of these connections. One query."""
    rows = OAuthConnection.objects.filter(pk__in=ids).select_related("client")
    return {row.pk: row.client.label for row in rows}


def purge() -> int:
    """Delete expired codes and tokens, connections that ended long ago, and clients that were never connected.

    Return how many connections and clients.
    """
    count = 0
    with independent_steps() as step:
        with step("clearing expired tokens"):
            clear_expired()
        with step("purging unused connections"):
            count += _purge_connections()
        with step("purging unused clients"):
            count += _purge_clients()
    return count


def _purge_connections() -> int:
    now = timezone.now()
    cutoff: datetime = now - timedelta(days=UNUSED_CLIENTS_KEPT_DAYS)
    # A blocked connection stays. Without it, the client's next token would connect it again.
    expired = OAuthConnection.objects.exclude(
        ended_at__isnull=False, expires_at__isnull=False
    ).filter(
        ~_has_token(), Q(last_used_at=None) | Q(last_used_at__lt=cutoff), connected_at__lt=cutoff
    )
    connections: int = expired.delete()[0]
    return connections


def _purge_clients() -> int:
    unused = timezone.now() - timedelta(hours=UNUSED_HOURS)
    known = OAuthClient.objects.filter(client_id=OuterRef("client_id"))
    OAuthClientKeys.objects.filter(~Exists(known), read_at__lt=unused).delete()
    clients: int = OAuthClient.objects.filter(connections=None, created__lt=unused).delete()[0]
    return clients
