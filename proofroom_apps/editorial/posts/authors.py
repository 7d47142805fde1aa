"""The words that say who proposed a value, and through which door it came: the same on every page."""

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
    """Return how a value came, with the name of the AI client where it has one."""
    if via == MCP and client:
        return gettext("by the AI client %(name)s") % {"name": client}
    return str(_DOORS.get(via, via))


def author_label(name: str, via: str, client: str = "") -> str:
    """Return an author as one text: "SEO specialist", or "SEO specialist, by the AI client Cursor".

    An AI client writes in the name of an agent or an account, so the name alone would say that they wrote it.
    """
    if via != MCP:
        return name
    return gettext("%(author)s, %(origin)s") % {"author": name, "origin": door_label(via, client)}


def reason_label(via: str) -> str:
    """Return whose words the reason of a change is."""
    return gettext("The AI client’s reason") if via == MCP else gettext("The agent’s reason")


def client_names(principals: Iterable[str], actor: Actor) -> Mapping[str, str]:
    """Return the names of AI clients by their credentials. Two queries at most, none where there is no credential."""
    return names_of("client", set(principals) - {""}, actor)
