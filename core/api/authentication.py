"""Who calls: the session of a person."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import CSRFCheck, SessionAuthentication
from rest_framework.request import Request

from core.actor import Actor, Person
from core.api.exceptions import CsrfFailed
from core.errors import NotAuthenticated


class ManagementSession(SessionAuthentication):
    """Django's session; unsafe methods need the CSRF token."""

    def authenticate_header(self, request: Request) -> str:
        return "Session"

    def enforce_csrf(self, request: HttpRequest) -> None:
        check = CSRFCheck(lambda _: None)  # type: ignore[arg-type]  # it only checks
        check.process_request(request)
        if check.process_view(request, lambda _: HttpResponse(), (), {}):
            raise CsrfFailed


def actor_of(request: Request) -> Actor:
    """The caller as an actor. Raises `NotAuthenticated` for an anonymous one."""
    user = request.user
    if not getattr(user, "is_authenticated", False):
        raise NotAuthenticated("Log in first: POST /api/auth/login.")
    person: Person = user  # type: ignore[assignment]  # accounts.User is one
    return Actor(user=person, via="api")
