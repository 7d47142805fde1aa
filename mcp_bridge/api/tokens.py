"""`/api/mcp-tokens`: the tokens of AI clients for the MCP server."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from mcp_bridge.access.token_fields import MadeMcpTokenAnswer, McpTokenAnswer, NewMcpToken
from mcp_bridge.access.tokens import create_token, limit_token, revoke_token
from mcp_bridge.models import McpToken
from proofroom.accounts.api.tokens import (
    TOKEN_PARAMETERS,
    TokenQuery,
    named_on_the_wire,
)
from proofroom.accounts.queries import list_tokens
from proofroom.accounts.queries import parse_token_id as read_id
from proofroom.accounts.token_fields import TokenLimits
from proofroom.core.api.answer import list_of
from proofroom.core.api.body import read_body
from proofroom.core.api.pagination import page_of
from proofroom.core.api.permissions import Declared
from proofroom.core.api.query import parse_boolean, read_query
from proofroom.core.api.views import ApiViewSet
from proofroom.core.errors import NotFound


class McpTokenViewSet(ApiViewSet):
    """Tokens of AI clients."""

    permissions: ClassVar[dict[str, Declared]] = {
        "list": "tokens.manage",
        "create": "tokens.manage",
        "retrieve": "tokens.manage",
        "update": "tokens.manage",
        "destroy": "tokens.manage",
    }

    @extend_schema(
        parameters=TOKEN_PARAMETERS, responses=list_of(McpTokenAnswer, "Tokens, newest first.")
    )
    def list(self, request: Request) -> Response:
        """Tokens of AI clients with their last use, newest first. Their secrets cannot be read."""
        page, query = page_of(request), read_query(request, TokenQuery)
        user_id = int(query.user_id) if query.user_id is not None else None
        found = list_tokens(McpToken, user_id=user_id, is_active=parse_boolean(query.active))
        rows = [McpTokenAnswer.model_validate(token) for token in found[page.slice]]
        return Response(page.envelope(rows, found.count()))

    @extend_schema(request=NewMcpToken, responses={201: MadeMcpTokenAnswer})
    def create(self, request: Request) -> Response:
        """Make a token for an AI client, bound to the account of a person or an agent. Needs a
        session.

        Without `tools` it may call all that the account may use; `diagnostics` grants the
        diagnostics tools, for any account. The secret is in `token`, only once.
        """
        body = read_body(request, NewMcpToken)
        with named_on_the_wire():
            token, secret = create_token(
                **body.model_dump(exclude={"scope"}), scope=body.scope.read(), actor=self.actor
            )
        return Response(
            MadeMcpTokenAnswer(**McpTokenAnswer.model_validate(token).model_dump(), token=secret),
            status=201,
        )

    @extend_schema(responses=McpTokenAnswer)
    def retrieve(self, request: Request, token_id: str) -> Response:
        """A token of an AI client."""
        token = list_tokens(McpToken).filter(pk=read_id(token_id)).first()
        if token is None:
            raise NotFound(f"No token has the ID {token_id}.", code="unknown_token")
        return Response(McpTokenAnswer.model_validate(token))

    @extend_schema(request=TokenLimits, responses=McpTokenAnswer)
    def update(self, request: Request, token_id: str) -> Response:
        """Limit a token to a part of the content; its open sessions end within seconds. Needs a session."""
        scope = read_body(request, TokenLimits).scope.read()
        token = limit_token(token_id=read_id(token_id), scope=scope, actor=self.actor)
        return Response(McpTokenAnswer.model_validate(token))

    @extend_schema(responses=McpTokenAnswer)
    def destroy(self, request: Request, token_id: str) -> Response:
        """Revoke a token; its open sessions end within seconds. Needs a session."""
        return Response(
            McpTokenAnswer.model_validate(
                revoke_token(token_id=read_id(token_id), actor=self.actor)
            )
        )
