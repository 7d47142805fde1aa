"""What other apps add to the pages of a post. Content knows none of them; they register at start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

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
    """What a review says of the run that proposed a change.

    `cost` is in words; `problem` says why a run that ended early did; `prompt` is the version of what it was told.
    """

    url: str
    agent: str
    model: str
    by: str
    is_demo: bool = False
    cost: str = ""
    problem: str = ""
    has_read_untrusted: bool = False
    prompt: str = ""
    prompt_url: str = ""

    @property
    def started(self) -> str:
        return _("started by %(by)s") % {"by": self.by}

    @property
    def prompted(self) -> str:
        return _("prompt %(version)s") % {"version": self.prompt}


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field of the form of a post: its key (`post.title`, `module.hero.title`), its type, its module if any.

    `retried_in` is the layer whose proposal for the field is to be tried again, `made_by` the agent that made it,
    which is then offered first.
    """

    key: str
    kind: str
    module_id: str = ""
    retried_in: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class FieldAction:
    """What may be done with one field, as a link beside it. `agent_id` is the agent that does it, if one does."""

    label: str
    url: str
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class ListAction:
    """What may be done with the posts that are marked in the list. `run` answers with a page about their ids."""

    name: str
    label: str | Promise
    permission: str
    run: Callable[[HttpRequest, Sequence[str]], HttpResponse]


FieldActions = Callable[[FieldPlace], Sequence[FieldAction]]
FieldActionsOf = Callable[[HttpRequest, Post], FieldActions]
Panel = Callable[[HttpRequest, Post], SafeString]
Tabs = Callable[[HttpRequest, Post], Iterable[Tab]]
Runs = Callable[[HttpRequest, Iterable[str]], Mapping[str, RunView]]

_panels: list[Panel] = []
_tabs: list[Tabs] = []
_runs: list[Runs] = []
_field_actions: list[FieldActionsOf] = []
_list_actions: list[ListAction] = []
_test_links: list[Tabs] = []


def register_panel(panel: Panel) -> None:
    """Show `panel(request, post)` beside the form of a post; empty shows nothing."""
    _panels.append(panel)


def register_tabs(tabs: Tabs) -> None:
    """Add links above the pages of a post."""
    _tabs.append(tabs)


def register_runs(runs: Runs) -> None:
    """Answer for runs by their ids. At most one query, however many ids."""
    _runs.append(runs)


def register_field_actions(actions: FieldActionsOf) -> None:
    """Offer links beside the fields of a post. Asked once for a form, then of each field, without a query."""
    _field_actions.append(actions)


def register_list_action(action: ListAction) -> None:
    """Offer something for several posts in the list of posts."""
    _list_actions.append(action)


def register_test_links(links: Tabs) -> None:
    """Add links to the page of the variations of a post: `links(request, original)`. No query."""
    _test_links.append(links)


def test_links(request: HttpRequest, post: Post) -> list[Tab]:
    """What other apps have to say of the variations of a post, to this person."""
    return [link for links in _test_links for link in links(request, post)]


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


def field_actions(request: HttpRequest, post: Post) -> FieldActions:
    """What is offered beside each field of the form of this post, to this person."""
    known = [actions(request, post) for actions in _field_actions]
    return lambda place: [action for actions in known for action in actions(place)]


def list_actions(request: HttpRequest) -> list[ListAction]:
    """What this person may do with several posts."""
    return [action for action in _list_actions if request.user.has_perm(action.permission)]
