"""Personal data of AI clients: tokens and calls."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy

from mcp_bridge.tasks import CALLS_KEPT_DAYS
from proofroom.core.privacy.kinds import Erasure, Table, TableKind
from proofroom.core.privacy.retention import Retention

KINDS: Final = (
    TableKind(
        "mcp.tokens",
        gettext_lazy("MCP tokens"),
        Table(
            "mcp_bridge.McpToken",
            ("name", "created_at", "last_used_at", "expires_at"),
            owners=("user",),
        ),
        erasure=Erasure.DELETED,
        order=10,
    ),
    TableKind(
        "mcp.calls",
        gettext_lazy("Calls of tools by AI clients"),
        Table("mcp_bridge.McpCall", ("tool", "created_at"), owners=("user",)),
        Table("mcp_bridge.McpToken", ("name", "created_at"), owners=("made_by",)),
        erasure=Erasure.KEPT,
        reason=gettext_lazy(
            "Calls contain no texts. They refer to the account without its name and are deleted by age."
        ),
    ),
)
WITHOUT_PERSONAL_DATA: Final = ("mcp_bridge.McpProcess",)
RETENTIONS: Final = (
    Retention(
        "mcp-calls",
        gettext_lazy("Calls of AI clients"),
        fixed_days=CALLS_KEPT_DAYS,
        task_name="mcp_bridge.tasks.prune_calls",
    ),
)
