"""The URL where clients reach the MCP server, and a check that it answers there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from django.conf import settings

from proofroom.core.http_client import CallRefused, Unreachable, fetch
from proofroom.core.http_client.local_process import own_status
from proofroom.oauth.addresses import resource

State = Literal["answers", "silent", "wrong_host", "elsewhere", "not_asked"]
_TIMEOUT_SECONDS: Final = 2.0
_PATH: Final = "/mcp"
# With this header a GET opens no stream but is answered immediately, with or without
# authentication.
_HEADERS: Final = {"MCP-Protocol-Version": "2025-11-25"}


def server_url(host: str = "127.0.0.1", port: int | None = None) -> str:
    """Return the URL of the endpoint: MCP_URL, or the local one if a host or port is given."""
    if host == "127.0.0.1" and port is None:
        return resource()
    url_host = f"[{host}]" if ":" in host else host
    return f"http://{url_host}:{port or settings.CMS_ENV.mcp_port}{_PATH}"


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """The result of the check. `note`: the reason, if any."""

    state: State
    url: str
    note: str = ""


def check_server() -> ServerStatus:
    """Check the server at its URL without a credential. Takes two seconds at most."""
    url = server_url()
    if not settings.CMS_ENV.mcp_url:
        return ServerStatus(
            _state(own_status(settings.CMS_ENV.mcp_port, _PATH, headers=_HEADERS)), url
        )
    try:
        answer = fetch("GET", url, headers=_HEADERS, seconds=_TIMEOUT_SECONDS)
    except CallRefused as error:
        return ServerStatus("not_asked", url, str(error))
    except Unreachable as error:
        return ServerStatus("silent", url, str(error))
    return ServerStatus(_state(answer.status), url)


def _state(status: int | None) -> State:
    if status is None:
        return "silent"
    if status == 421:
        return "wrong_host"
    # Any of these comes from an MCP endpoint; a redirect or 404 from another server.
    return "answers" if status in (200, 401, 405) else "elsewhere"
