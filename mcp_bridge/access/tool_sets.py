"""The core set of tools, and the tools that a client enabled besides it.

A set decides only which tools `tools/list` answers. Every tool can be called that the credential may use.
"""

from __future__ import annotations

from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol
from urllib.parse import parse_qs

from django.conf import settings
from django.core.cache import cache

from mcp_bridge.access.principals import Principal
from mcp_bridge.access.server_access import notify_access_change
from proofroom.oauth.scopes import CORE as CORE_SCOPE

ToolSet = Literal["all", "core"]
CORE: Final = "core"
QUERY_PARAMETER: Final = "tools"
FIND_TOOL: Final = "find_tools"
ENABLE_TOOL: Final = "enable_tools"
CORE_TOOLS: Final = (
    *(FIND_TOOL, ENABLE_TOOL),
    *("list_posts", "audit_posts", "get_post_context", "get_post_type_config", "get_module_schema"),
    *("search_media", "create_post_ai_review", "create_translation_ai_review"),
    *("save_post_ai_review", "save_posts_ai_review"),
    *("update_post_module_ai_review", "add_module_to_post_ai_review"),
    *("submit_ai_review_to_review", "create_post_preview_link", "list_my_proposals"),
)
"""What most work needs, in the order of `tools/list`. The others are found with `find_tools`."""
_SESSION_KEY: Final = "cms.enabled_tools"
_ENABLED_SECONDS: Final = 7 * 24 * 3600
"""Time after the last call of `enable_tools` for which a credential without sessions has the tools."""


def is_core(principal: Principal, query: bytes) -> bool:
    """Return whether `tools/list` answers the core set. `query`: the query string of the request."""
    return (
        principal.tool_set == CORE
        or CORE_SCOPE in (principal.scopes or ())
        or settings.CMS_ENV.mcp_tool_set == CORE
        or asks_for_core(query)
    )


def asks_for_core(query: bytes) -> bool:
    """Return whether a request names the core set in its address."""
    return CORE in parse_qs(query.decode("latin-1")).get(QUERY_PARAMETER, [])


class EnabledTools(Protocol):
    """The tools that a session, or a credential without sessions, enabled."""

    def names(self) -> frozenset[str]: ...

    def add(self, names: Collection[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class SessionTools:
    """The tools of a session; `state` lives as long as it."""

    state: dict[str, Any]

    def names(self) -> frozenset[str]:
        found: frozenset[str] = self.state.get(_SESSION_KEY, frozenset())
        return found

    def add(self, names: Collection[str]) -> None:
        self.state[_SESSION_KEY] = self.names() | set(names)


@dataclass(frozen=True, slots=True)
class CredentialTools:
    """The tools of a credential whose revision has no sessions. Shared by all processes."""

    principal_id: str

    def names(self) -> frozenset[str]:
        return frozenset(cache.get(self._key, ()))

    def add(self, names: Collection[str]) -> None:
        cache.set(self._key, sorted(self.names() | set(names)), _ENABLED_SECONDS)
        # Servers compare their clients' lists then, and notify of changed ones.
        notify_access_change()

    @property
    def _key(self) -> str:
        return f"mcp-enabled-tools:{self.principal_id}"


@dataclass(frozen=True, slots=True)
class ClientCall:
    """The call of a client that is being answered."""

    principal: Principal
    enabled: EnabledTools


current_call: ContextVar[ClientCall | None] = ContextVar("mcp_client_call", default=None)
"""The call in progress; None for calls by agents' runs."""
