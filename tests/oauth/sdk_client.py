"""The official client. Requests to the site are answered by the person's process, others by the
server.

The server is behind a proxy like in production: with its own host name, and another one for the
site.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.mcp.running import Person, Running

SITE = "https://cms.example.com"
SERVER = "https://ai.example.com/mcp"
VARIABLES = {
    "SITE_URL": SITE,
    "MCP_URL": SERVER,
    "MCP_ALLOWED_HOSTS": "ai.example.com",
    "THROTTLE_OAUTH": "off",
}
REDIRECT = "http://localhost:51234/callback"
DOCUMENT = "https://claude.ai/oauth/claude-code-client-metadata"


class Network(httpx2.AsyncBaseTransport):
    """The two host names, and their backends."""

    def __init__(self, server: Running, person: Person) -> None:
        self.server, self.person = server, person
        self.inner = httpx2.AsyncHTTPTransport()
        self.asked: list[str] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(f"{request.method} {request.url.host}{request.url.path}")
        if request.url.host == "cms.example.com":
            body = (await request.aread()).decode()
            told = await anyio.to_thread.run_sync(
                lambda: self.person.site(
                    method=request.method,
                    path=request.url.raw_path.decode(),
                    body=body,
                    headers=dict(request.headers),
                )
            )
            return httpx2.Response(
                told["status"], headers=told["headers"], content=told["body"].encode()
            )
        assert request.url.host == "ai.example.com"
        behind = urlsplit(self.server.url)
        # The Host header stays, like behind a proxy; the client repeats its own request after a
        # refusal.
        forwarded = httpx2.Request(
            request.method,
            request.url.copy_with(scheme="http", host=behind.hostname, port=behind.port),
            headers=request.headers,
            stream=request.stream,
            extensions=request.extensions,
        )
        return await self.inner.handle_async_request(forwarded)


class Storage:
    """The client's storage of credentials."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def provider(person: Person, storage: Storage, *, has_document: bool) -> OAuthClientProvider:
    """Return the client's own authorization; the person grants every request."""
    answers: list[str] = []

    async def open_browser(url: str) -> None:
        path = url.removeprefix(SITE)
        answers.append(await anyio.to_thread.run_sync(lambda: person.consent(path=path)))

    async def wait_for_answer() -> AuthorizationCodeResult:
        told = parse_qs(urlsplit(answers.pop()).query)
        return AuthorizationCodeResult(
            code=told["code"][0], state=told["state"][0], iss=told["iss"][0]
        )

    return OAuthClientProvider(
        server_url=SERVER,
        client_metadata=OAuthClientMetadata(
            client_name="Official client", redirect_uris=[AnyUrl(REDIRECT)]
        ),
        storage=storage,
        redirect_handler=open_browser,
        callback_handler=wait_for_answer,
        client_metadata_url=DOCUMENT if has_document else None,
    )


@asynccontextmanager
async def connected(
    server: Running,
    person: Person,
    storage: Storage,
    *,
    transport: str,
    mode: str,
    has_document: bool,
) -> AsyncIterator[tuple[Any, list[str]]]:
    """Yield the connected client, and its requests on the way."""
    network = Network(server, person)
    auth = provider(person, storage, has_document=has_document)
    if transport == "sse":

        def factory(**given: Any) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(transport=network, **given)

        link = sse_client(SERVER, auth=auth, httpx_client_factory=factory)
        async with Client(link, mode=mode) as client:
            yield client, network.asked
        return
    async with httpx2.AsyncClient(transport=network, auth=auth, timeout=30) as http:
        link = streamable_http_client(SERVER, http_client=http)
        async with Client(link, mode=mode) as client:
            yield client, network.asked
