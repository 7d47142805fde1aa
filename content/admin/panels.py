"""What other apps add to the pages of a post. Content knows none of them; they register at start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.safestring import SafeString

from content.models import Post


@dataclass(frozen=True, slots=True)
class Tab:
    """A link above the pages of a post."""

    name: str
    label: str
    url: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class RunView:
    """What a review says of the run that proposed a change."""

    url: str
    agent: str
    model: str
    by: str
    is_demo: bool = False


Panel = Callable[[HttpRequest, Post], SafeString]
Tabs = Callable[[HttpRequest, Post], Iterable[Tab]]
Runs = Callable[[HttpRequest, Iterable[str]], Mapping[str, RunView]]

_panels: list[Panel] = []
_tabs: list[Tabs] = []
_runs: list[Runs] = []


def register_panel(panel: Panel) -> None:
    """Show `panel(request, post)` beside the form of a post; empty shows nothing."""
    _panels.append(panel)


def register_tabs(tabs: Tabs) -> None:
    """Add links above the pages of a post."""
    _tabs.append(tabs)


def register_runs(runs: Runs) -> None:
    """Answer for runs by their ids. At most one query, however many ids."""
    _runs.append(runs)


def panels(request: HttpRequest, post: Post) -> list[SafeString]:
    return [html for panel in _panels if (html := panel(request, post))]


def more_tabs(request: HttpRequest, post: Post) -> list[Tab]:
    return [tab for tabs in _tabs for tab in tabs(request, post)]


def describe_runs(request: HttpRequest, ids: Iterable[str]) -> dict[str, RunView]:
    """What is known of these runs, by id."""
    wanted = sorted({id_ for id_ in ids if id_})
    found: dict[str, RunView] = {}
    if wanted:
        for runs in _runs:
            found |= runs(request, wanted)
    return found
