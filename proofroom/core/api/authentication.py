"""Authenticates callers: the session of a person, or a program with a person's token."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from rest_framework.authentication import CSRFCheck, SessionAuthentication
from rest_framework.request import Request

from proofroom.core.actor import Actor, ActorUser
from proofroom.core.api.exceptions import CsrfFailed
from proofroom.core.errors import NotAuthenticated

LOG_IN_FIRST: Final = "Log in first (POST /api/auth/login), or send an API token."


@dataclass(frozen=True, slots=True)
class ApiCredential:
    """The credential of an API token: `request.auth` where there is one."""

    token_id: str
    permissions: frozenset[str]


class ManagementSession(SessionAuthentication):
    """Django's session; unsafe methods need the CSRF token."""

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def enforce_csrf(self, request: HttpRequest) -> None:
        check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]  # it only checks
        # The token comes in the header; a body is not read for whoever has not shown it.
        bare: Any = copy(getattr(request, "_request", request))
        bare._post = QueryDict()
        check.process_request(bare)
        if check.process_view(bare, lambda _: HttpResponse(), (), {}):
            raise CsrfFailed


def actor_of(request: Request) -> Actor:
    """The caller as an actor. Raises `NotAuthenticated` for an anonymous one."""
    user = request.user
    if not getattr(user, "is_authenticated", False):
        raise NotAuthenticated(LOG_IN_FIRST)
    person: ActorUser = user  # type: ignore[assignment]  # accounts.User is one
    token: object = request.auth
    if isinstance(token, ApiCredential):
        return Actor(user=person, via="api", token_id=token.token_id, permissions=token.permissions)
    return Actor(user=person, via="api")
