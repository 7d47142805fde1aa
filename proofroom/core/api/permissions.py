"""Authentication and permissions of endpoints: a session or a token, checked against what the endpoint declares.

An endpoint that declares nothing is closed.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from rest_framework.authentication import CSRFCheck, SessionAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from proofroom.core.actor import Actor, ActorUser
from proofroom.core.api.django_request import django_request
from proofroom.core.api.exceptions import CsrfFailed, SecondFactorRequired
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import NotAllowed, NotAuthenticated
from proofroom.core.second_factor import lacks_second_factor

LOG_IN_FIRST: Final = "Log in first (POST /api/auth/login), or send an API token."


@dataclass(frozen=True, slots=True)
class ApiCredential:
    """The credential of an API token, as `request.auth`."""

    token_id: str
    permissions: frozenset[str]
    limited_to: tuple[ContentScope, ...] = ()


WITHOUT_SECOND_FACTOR: Final = "/api/auth/"
"""Path prefix that stays open to sessions whose account must still set up a second factor."""


class ManagementSession(SessionAuthentication):
    """Django's session authentication. Unsafe methods need the CSRF token.

    Only endpoints that need the caller use it: public endpoints don't read the session.
    """

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        found: tuple[Any, None] | None = super().authenticate(request)
        is_exempt = request.path_info.startswith(WITHOUT_SECOND_FACTOR)
        if found is not None and not is_exempt and lacks_second_factor(found[0], request.session):
            raise SecondFactorRequired
        return found

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def enforce_csrf(self, request: Request) -> None:
        check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]  # no view follows
        # Only the header counts as a token. Django reads the body of a POST for one first, and a client that has
        # not proved itself must not make the server parse an upload; of a PUT it reads the header alone.
        headers_only = copy(django_request(request))
        if headers_only.method == "POST":
            headers_only.method = "PUT"
        check.process_request(headers_only)
        if check.process_view(headers_only, lambda _: HttpResponse(), (), {}):
            raise CsrfFailed


def actor_of(request: Request) -> Actor:
    """Return the caller as an actor. Raises `NotAuthenticated` for anonymous requests."""
    user = request.user
    if not getattr(user, "is_authenticated", False):
        raise NotAuthenticated(LOG_IN_FIRST)
    person: ActorUser = user  # type: ignore[assignment]  # an accounts.User
    token: object = request.auth
    if isinstance(token, ApiCredential):
        return Actor(
            user=person,
            via="api",
            token_id=token.token_id,
            permissions=token.permissions,
            limited_to=token.limited_to,
        )
    return Actor(user=person, via="api")


PUBLIC: Final = "public"
SIGNED_IN: Final = "signed-in"
SECRET: Final = "secret"  # noqa: S105  # the name of a policy
"""The view itself compares a secret."""

Declared = str | tuple[str, ...]
"""`PUBLIC`, `SIGNED_IN`, `SECRET`, a permission, or several permissions of which one is enough."""


class DeclaredPermission(BasePermission):
    """Checks the access that `view.permissions[action]` declares."""

    def has_permission(self, request: Request, view: Any) -> bool:
        wanted = declared_access(view, view.action)
        if wanted in (PUBLIC, SECRET):
            return True
        actor = actor_of(request)
        if wanted == SIGNED_IN:
            return True
        names = (wanted,) if isinstance(wanted, str) else wanted
        if not any(actor.can(name) for name in names):
            raise NotAllowed(
                f"This needs the permission {' or '.join(names)}.",
                details={"permission": list(names)},
            )
        return True


def declared_access(view: Any, action: str | None) -> Declared:
    """Return the access that a view declares for an action.

    HEAD requires the same as GET. OPTIONS and unsupported methods require a login, unless an action of the URL is
    public.
    """
    permissions: dict[str, Declared] = view.permissions
    if action in (None, "metadata"):
        # An unsupported method must reach DRF to be answered with 405, so require only what opens
        # the URL at all.
        here = {permissions.get(name) for name in view.action_map.values()}
        return PUBLIC if here & {PUBLIC, SECRET} else SIGNED_IN
    if action not in permissions:
        raise ImproperlyConfigured(f"{type(view).__name__} declares no permission for {action!r}")
    return permissions[action]
