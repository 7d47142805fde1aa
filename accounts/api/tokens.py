"""`/api/tokens`: what programs call the API with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, ClassVar

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import presenters, queries
from accounts.api import account_schema as schema
from accounts.models import ApiToken
from accounts.services.tokens import create_token, revoke_token
from core.api.body import Body, Moment, Words, read_body
from core.api.pagination import page_of
from core.api.permissions import Declared
from core.api.query import WholeNumber, YesOrNo, is_yes, read_query
from core.api.views import ApiViewSet
from core.errors import RuleViolation

_ON_THE_WIRE = {"expires_at": "expiresAt", "user_id": "userId"}


@contextmanager
def named_on_the_wire() -> Iterator[None]:
    """A refusal's details by the names that the body has."""
    try:
        yield
    except RuleViolation as error:
        details = {_ON_THE_WIRE.get(name, name): texts for name, texts in error.details.items()}
        raise RuleViolation(error.message, code=error.code, details=details) from None


class NewToken(Body):
    name: Annotated[Words, Field(min_length=1, max_length=100)]
    permissions: Annotated[
        list[Annotated[Words, Field(max_length=100)]], Field(min_length=1, max_length=100)
    ]
    expires_at: Moment | None = None
    user_id: Annotated[int | None, Field(ge=1, le=2**53)] = None


class TokenQuery(Body):
    user_id: WholeNumber | None = None
    active: YesOrNo | None = None


class TokenViewSet(ApiViewSet):
    """API tokens."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "tokens.manage",
        "create": "tokens.manage",
        "destroy": "tokens.manage",
    }

    @extend_schema(parameters=schema.TOKEN_PARAMETERS, responses=schema.TokenListSchema)
    def list(self, request: Request) -> Response:
        """Tokens with when they were last used, newest first. Their secrets cannot be read."""
        page, asked = page_of(request), read_query(request, TokenQuery)
        user_id = int(asked.user_id) if asked.user_id is not None else None
        found = queries.tokens(ApiToken, user_id=user_id, is_active=is_yes(asked.active))
        rows = [presenters.token(token) for token in found[page.slice]]
        return Response(page.envelope(rows, found.count()))

    @extend_schema(request=NewToken, responses={201: schema.MadeTokenSchema})
    def create(self, request: Request) -> Response:
        """Make a token of one's own, or of another person's account. Needs a session.

        `permissions` can only narrow what the account may do; without `expiresAt` it works until it is revoked.
        The secret is in `token`, this once.
        """
        body = read_body(request, NewToken)
        with named_on_the_wire():
            token, secret = create_token(**body.model_dump(), actor=self.actor)
        return Response({**presenters.token(token), "token": secret}, status=201)

    @extend_schema(responses=schema.TokenSchema)
    def destroy(self, request: Request, token_id: str) -> Response:
        """Revoke a token; it opens nothing from now on. Needs a session."""
        token = revoke_token(token_id=queries.token_id(token_id), actor=self.actor)
        return Response(presenters.token(token))
