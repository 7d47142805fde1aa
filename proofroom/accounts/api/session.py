"""`/api/auth/…`: login, logout and the current account."""

from __future__ import annotations

from typing import ClassVar, Final

from django.conf import settings
from django.contrib import auth
from django.middleware.csrf import get_token
from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import Field
from rest_framework.exceptions import Throttled
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from proofroom.accounts.login_limits import LoginThrottle, count_for_account
from proofroom.accounts.models import User
from proofroom.accounts.services.sessions import record_logout
from proofroom.accounts.services.sign_in import check_login, finish_sign_in, record_failed_login
from proofroom.accounts.user_fields import AnsweredRole
from proofroom.core.api.answer import Answer
from proofroom.core.api.body import Body, Words, read_body
from proofroom.core.api.django_request import django_request
from proofroom.core.api.permissions import PUBLIC, SIGNED_IN, Declared
from proofroom.core.api.views import ApiViewSet
from proofroom.core.caching.rate_limits import set_rate_limit_headers
from proofroom.core.errors import NotAllowed, NotAuthenticated

CREDENTIALS: Final = OpenApiExample(
    "An editor",
    {"email": "editor@example.com", "password": "your password"},
    request_only=True,
)


class MeAnswer(Answer):
    """The current account and its permissions."""

    id: int = Field(ge=1)
    email: str = Field(json_schema_extra={"format": "email"})
    username: str
    role: AnsweredRole
    permissions: list[str]


class LoggedOutAnswer(Answer):
    """The answer to logging out."""

    ok: bool


class Credentials(Body):
    email: Words
    password: Words
    code: Words | None = None


class SessionViewSet(ApiViewSet):
    """The session of a person. Agents have none."""

    permissions: ClassVar[dict[str, Declared]] = {
        "login": PUBLIC,
        "logout": PUBLIC,
        "me": SIGNED_IN,
    }

    def get_throttles(self) -> list[BaseThrottle]:
        return [LoginThrottle()] if self.action == "login" else super().get_throttles()

    @extend_schema(request=Credentials, responses={200: MeAnswer}, examples=[CREDENTIALS])
    def login(self, request: Request) -> Response:
        """Log in with email and password. Unknown, wrong, disabled and agents' accounts get the same answer."""
        body = read_body(request, Credentials)
        # The throttle counts per address; this one also stops attempts on one account from many addresses.
        tries = count_for_account(body.email)
        if tries.is_over:
            set_rate_limit_headers(django_request(request), tries)
            raise Throttled(wait=tries.wait)
        if not settings.PASSWORD_LOGIN:
            raise NotAllowed("This site has no login with passwords.", code="password_login_off")
        user = auth.authenticate(django_request(request), email=body.email, password=body.password)
        if not isinstance(user, User):
            record_failed_login(body.email, via="api")
            raise NotAuthenticated("Email or password is wrong.", code="wrong_credentials")
        check_login(user, body.code)
        auth.login(django_request(request), user)
        # Sets the CSRF cookie, which the client needs for its next unsafe request.
        get_token(django_request(request))
        finish_sign_in(django_request(request), user, via="api")
        return Response(account_answer(user))

    @extend_schema(request=None, responses={200: LoggedOutAnswer})
    def logout(self, request: Request) -> Response:
        """End the session."""
        if request.auth is None and isinstance(request.user, User):
            record_logout(actor=self.actor)
        auth.logout(django_request(request))
        return Response({"ok": True})

    @extend_schema(responses=MeAnswer)
    def me(self, request: Request) -> Response:
        """Return the caller's account and permissions."""
        if request.auth is None:  # a token needs no CSRF cookie
            get_token(django_request(request))
        return Response(account_answer(request.user, self.actor.permissions))  # type: ignore[arg-type]  # SIGNED_IN made sure


def account_answer(user: User, narrowed: frozenset[str] | None = None) -> MeAnswer:
    """Return the account with its permissions, limited to `narrowed` for tokens."""
    permissions = user.permissions if narrowed is None else user.permissions & narrowed
    return MeAnswer.model_validate(
        {
            "id": user.pk,
            "email": user.email,
            "username": user.username,
            "role": user.role,
            "permissions": sorted(permissions),
        }
    )
