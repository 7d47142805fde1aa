"""`/api/tokens`: tokens that programs call the API with, and helpers for all kinds of tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Final, Literal

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from proofroom.accounts import queries
from proofroom.accounts.models import DeliveryToken
from proofroom.accounts.services.delivery_tokens import (
    create_delivery_token,
    revoke_delivery_token,
)
from proofroom.accounts.services.tokens import create_token, limit_token, revoke_token
from proofroom.accounts.token_fields import (
    TOKEN_KINDS,
    MadeTokenAnswer,
    NewToken,
    TokenAnswer,
    TokenLimits,
)
from proofroom.core.api.answer import list_of
from proofroom.core.api.body import Body, read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import BooleanText, WholeNumber, parse_boolean, read_query
from proofroom.core.api.schema import PAGES, choice_schema, query_parameter
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import RuleViolation, invalid

WIRE_NAMES: Final = {"expires_at": "expiresAt", "user_id": "userId"}
_OF_ACCOUNTS: Final = {"permissions": "permissions", "user_id": "userId", "scope": "scope"}
"""Fields that only tokens of accounts have, with their names in the request body."""
TOKEN_PARAMETERS: Final = [
    query_parameter(
        "userId", "Tokens of this account.", {"type": "integer", "minimum": 0, "maximum": 2**53}
    ),
    query_parameter(
        "active", "Tokens that open something, or no longer do.", choice_schema("true", "false")
    ),
    *PAGES,
]
API_TOKEN_PARAMETERS: Final = [
    query_parameter("kind", "API tokens, or delivery tokens.", choice_schema(*TOKEN_KINDS)),
    *TOKEN_PARAMETERS,
]


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # registers itself
    """The OpenAPI security scheme of `TokenAuthentication`."""

    target_class = "proofroom.accounts.backends.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "An API token. It needs no CSRF token, and may do no more than its permissions say.",
        }


@contextmanager
def named_on_the_wire() -> Iterator[None]:
    """Rename the fields of a refusal's details to their names in the request body."""
    try:
        yield
    except RuleViolation as error:
        details = {WIRE_NAMES.get(name, name): texts for name, texts in error.details.items()}
        raise RuleViolation(error.message, code=error.code, details=details) from None


class TokenQuery(Body):
    user_id: WholeNumber | None = None
    active: BooleanText | None = None


class ApiTokenQuery(TokenQuery):
    kind: Literal["api", "delivery"] | None = None


class TokenViewSet(ApiViewSet):
    """API tokens and delivery tokens."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "tokens.manage",
        "create": "tokens.manage",
        "update": "tokens.manage",
        "destroy": "tokens.manage",
    }

    @extend_schema(
        parameters=API_TOKEN_PARAMETERS, responses=list_of(TokenAnswer, "Tokens, newest first.")
    )
    def list(self, request: Request) -> Response:
        """List tokens with their last use, newest first. Their secrets cannot be read."""
        page, asked = page_of(request), read_query(request, ApiTokenQuery)
        keys = queries.token_keys(
            kind=asked.kind or "",
            user_id=int(asked.user_id) if asked.user_id is not None else None,
            is_active=parse_boolean(asked.active),
        )
        rows = [
            TokenAnswer.of_delivery(token)
            if isinstance(token, DeliveryToken)
            else TokenAnswer.model_validate(token)
            for token in queries.load_tokens(keys[page.slice])
        ]
        return Response(page.envelope(rows, keys.count()))

    @extend_schema(request=NewToken, responses={201: MadeTokenAnswer})
    def create(self, request: Request) -> Response:
        """Create a token for the caller's account or another person's, or one for a frontend. Needs a session.

        `permissions` can only narrow the account's permissions, and `scope` limits it to a part of the content;
        without `expiresAt` it works until it is revoked. A token of the kind `delivery` has none of these.
        The secret is in `token`, only in this response.
        """
        body = read_body(request, NewToken)
        with named_on_the_wire():
            answer, secret = (
                self._create_delivery_token(body)
                if body.kind == "delivery"
                else self._create_api_token(body)
            )
        return Response(MadeTokenAnswer(**answer.model_dump(), token=secret), status=201)

    def _create_api_token(self, body: NewToken) -> tuple[TokenAnswer, str]:
        if body.rate is not None:
            raise invalid("rate", "Only a delivery token has a rate of its own.")
        token, secret = create_token(
            name=body.name,
            permissions=body.permissions or (),
            expires_at=body.expires_at,
            user_id=body.user_id,
            scope=body.scope.read(),
            actor=self.actor,
        )
        return TokenAnswer.model_validate(token), secret

    def _create_delivery_token(self, body: NewToken) -> tuple[TokenAnswer, str]:
        for name, wire_name in _OF_ACCOUNTS.items():
            if name in body.model_fields_set:
                raise invalid(
                    wire_name,
                    f"A delivery token belongs to no account, so it has no {wire_name}.",
                )
        rate = f"{body.rate}/minute" if isinstance(body.rate, int) else body.rate or ""
        token, secret = create_delivery_token(
            name=body.name, expires_at=body.expires_at, rate=rate, actor=self.actor
        )
        return TokenAnswer.of_delivery(token), secret

    @extend_schema(request=TokenLimits, responses=TokenAnswer)
    def update(self, request: Request, token_id: str) -> Response:
        """Limit a token to a part of the content, from its next request on. Needs a session."""
        scope = read_body(request, TokenLimits).scope.read()
        id_ = queries.parse_token_id(token_id)
        token = limit_token(token_id=id_, scope=scope, actor=self.actor)
        return Response(TokenAnswer.model_validate(token))

    @extend_schema(responses=TokenAnswer)
    def destroy(self, request: Request, token_id: str) -> Response:
        """Revoke a token, effective immediately. Needs a session."""
        id_ = queries.parse_token_id(token_id)
        if DeliveryToken.objects.filter(pk=id_).exists():
            revoked = revoke_delivery_token(token_id=id_, actor=self.actor)
            return Response(TokenAnswer.of_delivery(revoked))
        token = revoke_token(token_id=id_, actor=self.actor)
        return Response(TokenAnswer.model_validate(token))
