"""`/api/auth/…`: log in, log out, who am I."""

from __future__ import annotations

from typing import ClassVar

from django.contrib import auth
from django.middleware.csrf import get_token
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from accounts.api.schema import CREDENTIALS, LoggedOutSchema, MeSchema
from accounts.login_tries import LoginThrottle, count_for_account
from accounts.models import User
from accounts.services.sessions import record_login, record_logout
from core.actor import Actor
from core.api.body import Body, Words, read_body
from core.api.permissions import PUBLIC, SIGNED_IN, Declared
from core.api.views import ApiViewSet
from core.errors import NotAuthenticated


class Credentials(Body):
    email: Words
    password: Words


class SessionViewSet(ApiViewSet):
    """The session of a person. Agents have none."""

    permissions: ClassVar[dict[str, Declared]] = {
        "login": PUBLIC,
        "logout": PUBLIC,
        "me": SIGNED_IN,
    }

    def get_throttles(self) -> list[BaseThrottle]:
        return [LoginThrottle()] if self.action == "login" else super().get_throttles()

    @extend_schema(request=Credentials, responses={200: MeSchema}, examples=[CREDENTIALS])
    def login(self, request: Request) -> Response:
        """Log in with email and password. Unknown, wrong, disabled and agents' accounts get the same answer."""
        body = read_body(request, Credentials)
        tries = count_for_account(body.email)
        if tries.is_over:
            request._request.rate_limit_headers = tries.headers  # type: ignore[attr-defined]
            raise Throttled(wait=tries.wait)
        user = auth.authenticate(request._request, email=body.email, password=body.password)
        if not isinstance(user, User):
            raise NotAuthenticated("Email or password is wrong.", code="wrong_credentials")
        auth.login(request._request, user)
        get_token(request._request)
        record_login(actor=Actor(user=user, via="api"))
        return Response(me(user))

    @extend_schema(request=None, responses={200: LoggedOutSchema})
    def logout(self, request: Request) -> Response:
        """End the session."""
        if request.auth is None and isinstance(request.user, User):
            record_logout(actor=self.actor)
        auth.logout(request._request)
        return Response({"ok": True})

    @extend_schema(responses=MeSchema)
    def me(self, request: Request) -> Response:
        """Whose session or token it is, and what it may do."""
        if request.auth is None:  # a token needs no CSRF cookie
            get_token(request._request)
        return Response(me(request.user, self.actor.permissions))  # type: ignore[arg-type]  # SIGNED_IN made sure


def me(user: User, narrowed: frozenset[str] | None = None) -> dict[str, object]:
    permissions = user.permissions if narrowed is None else user.permissions & narrowed
    return {
        "id": user.pk,
        "email": user.email,
        "username": user.username,
        "role": user.role,
        "permissions": sorted(permissions),
    }
