"""Labels for the author of a value and its entry point, shared by all pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from proofroom.core.activity.presenters import names_of
from proofroom.core.actor import Actor

MCP: Final = "mcp"
_DOORS: Final[Mapping[str, Promise]] = {
    "admin": _("in the admin"),
    "api": _("through the API"),
    MCP: _("by an AI client (MCP)"),
    "agent": _("by an agent run"),
    "command": _("from the command line"),
    "system": _("by the system"),
}


def door_label(via: str, client: str = "") -> str:
    """Return the label of an entry point, with the name of the AI client if known."""
    if via == MCP and client:
        return gettext("by the AI client %(name)s") % {"name": client}
    return str(_DOORS.get(via, via))


def author_label(name: str, via: str, client: str = "") -> str:
    """Return the label of an author: "SEO specialist", or "SEO specialist, by the AI client Cursor".

    An AI client acts for an agent or account, so the name alone would suggest that they wrote it.
    """
    if via != MCP:
        return name
    return gettext("%(author)s, %(origin)s") % {"author": name, "origin": door_label(via, client)}


def reason_label(via: str) -> str:
    """Return the label for the reason of a change."""
    return gettext("The AI client’s reason") if via == MCP else gettext("The agent’s reason")


def client_names(principals: Iterable[str], actor: Actor) -> Mapping[str, str]:
    """Return the names of AI clients by credential. At most two queries, none without credentials."""
    return names_of("client", set(principals) - {""}, actor)
