"""The cards of a layer with what only a request knows: decisions so far, links to runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.utils.dateparse import parse_datetime

from content.admin.authors import agent_accounts, is_ais
from content.admin.lookups import references_of
from content.admin.panels import RunView, describe_runs
from content.layers import LayerView
from content.review.cards import Card, cards_of_layer

_DOORS = {
    "admin": "in the admin",
    "api": "over REST",
    "mcp": "by an AI client (MCP)",
    "agent": "by an agent's run",
    "command": "by a command",
    "system": "by the system",
}
_FAMILIAR = {"accept": "Accept", "reject": "Reject"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A card as it is shown. `decision` is accept, reject or leave; `was` what it was before the change moved."""

    card: Card
    decision: str
    was: str
    door: str
    at: datetime | None
    is_ai: bool
    run: RunView | None


@dataclass(frozen=True, slots=True)
class ShownGroup:
    name: str
    cards: tuple[Shown, ...]
    is_locked: bool


def shown_cards(
    request: HttpRequest, view: LayerView, decisions: Mapping[str, str], moved: set[str]
) -> list[ShownGroup]:
    """The groups of a layer. At most five queries, however many changes."""
    references = references_of(view.changes, view.document, view.below)
    groups = cards_of_layer(view, references)
    marks = [card.mark for group in groups for card in group.cards if card.mark]
    runs = describe_runs(request, (mark.run_id for mark in marks))
    agents = agent_accounts(marks)
    return [
        ShownGroup(
            group.name,
            tuple(_shown(card, decisions, moved, runs, agents) for card in group.cards),
            group.is_locked,
        )
        for group in groups
    ]


def _shown(
    card: Card,
    decisions: Mapping[str, str],
    moved: set[str],
    runs: Mapping[str, RunView],
    agents: set[int],
) -> Shown:
    decision = decisions.get(card.path, "leave")
    was = ""
    if card.path in moved:
        decision, was = "leave", _FAMILIAR.get(decision, "")
    mark = card.mark
    return Shown(
        card,
        decision,
        was,
        _DOORS.get(mark.via, mark.via) if mark else "",
        parse_datetime(mark.at) if mark else None,
        is_ais(mark, agents) if mark else False,
        runs.get(mark.run_id) if mark else None,
    )
