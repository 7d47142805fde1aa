"""Services that create, limit and revoke API tokens."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from proofroom.accounts.models import ApiToken
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.services import account_tokens
from proofroom.accounts.services.content_scopes import check_scope, refuse_whole_site
from proofroom.accounts.services.role_grants import require_permissions_of_role
from proofroom.core import outbox
from proofroom.core.actor import Actor
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import invalid
from proofroom.core.json import JsonObject

TOKEN_PREFIX: Final = "cms_"  # noqa: S105  # not a secret: the public beginning of every token


@transaction.atomic
def create_token(
    *,
    name: str,
    permissions: Collection[str],
    actor: Actor,
    expires_at: datetime | None = None,
    user_id: int | None = None,
    scope: ContentScope | None = None,
) -> tuple[ApiToken, str]:
    """Create a token of the actor, or of the person with this id. Return it with its secret, which is not stored.

    `scope` limits it to a part of the content. Raises `NotAllowed`, or `RuleViolation` by field: if it has a
    permission that its account lacks, or a limited token has one that applies to the whole site.
    """
    account_tokens.allow(actor)
    name = account_tokens.check_token(name, expires_at)
    owner = account_tokens.lock_owner(actor.user.pk if user_id is None else user_id)
    if not permissions:
        raise invalid("permissions", _("Select at least one permission."))
    own = permissions_of(owner.role)
    if owner.pk != actor.user.pk:
        # A token acts as its account, so the actor needs all permissions of the account's role.
        require_permissions_of_role(actor, owner.role)
    wider = sorted(set(permissions) - own)
    if wider:
        named = ", ".join(repr(name[:80]) for name in wider[:5])
        raise invalid(
            "permissions",
            _("%(username)s does not have %(named)s. Available: %(own)s.")
            % {"username": owner.username, "named": named, "own": ", ".join(sorted(own))},
        )
    limits = scope or ContentScope()
    refuse_whole_site(permissions, limits)
    token, secret = account_tokens.make(
        ApiToken,
        TOKEN_PREFIX,
        name=name,
        user=owner,
        role=owner.role,
        expires_at=expires_at,
        actor=actor,
        permissions=sorted(set(permissions)),
        content_scope=check_scope(limits, actor).to_json(),
    )
    payload: JsonObject = {
        "id": str(token.pk),
        "name": token.name,
        "userId": owner.pk,
        "permissions": [*token.permissions],
    }
    if token.content_scope:
        payload["scope"] = token.content_scope
    outbox.record("token.created", actor=actor, payload=payload)
    return token, secret


@transaction.atomic
def limit_token(*, token_id: UUID, scope: ContentScope, actor: Actor) -> ApiToken:
    """Limit a token to a part of the content, from its next request on.

    Raises `NotAllowed`, `NotFound`, or `RuleViolation` by part.
    """
    return account_tokens.limit(
        ApiToken,
        token_id,
        scope,
        actor,
        check=lambda token: refuse_whole_site(token.permissions, scope),
        event="token.limited",
    )


@transaction.atomic
def revoke_token(*, token_id: UUID, actor: Actor) -> ApiToken:
    """Revoke a token. Idempotent. Raises `NotAllowed` or `NotFound`."""
    account_tokens.allow(actor)
    token, is_new = account_tokens.revoke(ApiToken, token_id)
    if is_new:
        payload: JsonObject = {
            "id": str(token.pk),
            "name": token.name,
            "userId": token.user_id,
        }
        outbox.record("token.revoked", actor=actor, payload=payload)
    return token
