"""The page that connects an AI client: where the server is, whether it answers, what each client is told."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_safe

from core.admin.forms import form_page
from core.admin.rights import may, require
from mcp_bridge.access.holders import active_tokens
from mcp_bridge.admin.clients import client_helps
from mcp_bridge.client_config import token_credential
from mcp_bridge.models import McpCall
from mcp_bridge.serving.address import ask, server_url

PERMISSIONS: Final = ("posts.edit", "settings.manage")
"""Who sees the address and the lane. What is configured is told to `settings.manage` alone."""


@require_safe
def connect(request: HttpRequest) -> HttpResponse:
    """The page. It asks the server for a sign of life, which takes two seconds at most."""
    require(request, *PERMISSIONS)
    url, manages = server_url(), may(request, "settings.manage")
    context = {
        "reached": ask(),
        "url": url,
        "manages": manages,
        "may_make_tokens": may(request, "tokens.manage"),
        "clients": client_helps(url=url, credential=token_credential(), stdio=manages),
        "prompts": _prompts(),
        **(_configured() if manages else {}),
    }
    title = gettext("Connect an AI client")
    return form_page(request, "admin/mcp/connect.html", McpCall, context, title=title)


def _configured() -> dict[str, Any]:
    """Which credentials there are, never what they are."""
    environment = settings.CMS_ENV
    has_static = bool(environment.mcp_auth_token or environment.mcp_auth_header_name)
    return {
        "has_token": bool(environment.mcp_auth_token),
        "header_name": environment.mcp_auth_header_name,
        "token_count": len(active_tokens()),
        "is_open": not has_static and not environment.mcp_url and not environment.mcp_allowed_hosts,
        "diagnostics": environment.mcp_diagnostics,
    }


def _prompts() -> list[str]:
    """What to say to a client first: from a mere question to a proposal."""
    return [
        gettext("Which posts are on this site? List the five that changed last."),
        gettext(
            "Read the newest blog post and propose a better title and meta description. "
            "Stage them in AI Review, and tell me what you changed and why."
        ),
        gettext(
            "Write a blog post from this brief: … Use modules that the post type allows, stage all of it in "
            "AI Review, and submit it to Review with a note for the editor."
        ),
        gettext(
            "Which posts have something in AI Review that nobody has submitted? Say what waits in each."
        ),
    ]
