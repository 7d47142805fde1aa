"""What the database role of agents may do with the connections of AI clients."""

from __future__ import annotations

from typing import Final

from proofroom.core.lane import hidden, readable, writable

_OF_ANOTHER_SERVER: Final = "starts_with(client_id, 'external:')"
"""Clients of an authorization server that is not this site. The MCP server learns of them from their tokens."""

RIGHTS: Final = (
    *writable("proofroom_oauth.OAuthClient", inserts=True, rows=_OF_ANOTHER_SERVER),
    *writable(
        "proofroom_oauth.OAuthConnection",
        inserts=True,
        updates=("expires_at", "last_used_at", "role", "scopes"),
        new_rows=(
            "EXISTS (SELECT FROM {tables}.proofroom_oauth_oauthclient c "
            "WHERE c.id = proofroom_oauth_oauthconnection.client_id AND starts_with(c.client_id, 'external:'))"
        ),
    ),
    *readable("oauth2_provider.AccessToken"),
    *hidden(
        "proofroom_oauth.OAuthClientKeys",
        "oauth2_provider.Grant",
        "oauth2_provider.RefreshToken",
        "oauth2_provider.IDToken",
        "oauth2_provider.DeviceGrant",
    ),
)
