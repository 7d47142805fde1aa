"""Additions of other apps to the pages of a post. Content knows none of them; they register at start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from content.models import Post
from proofroom.core.hooks import ExtensionPoint, Hook


@dataclass(frozen=True, slots=True)
class PostTab:
    """A link above the pages of a post."""

    name: str
    label: str
    url: str
    count: int | None = None


@dataclass(frozen=True, slots=True)
class PostPanel:
    """A box in one of the tabs beside the form of a post."""

    tab: Literal["settings", "agents"]
    html: SafeString


@dataclass(frozen=True, slots=True)
class RunView:
    """The run that proposed a change, as a review shows it.

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
    """An action on one field, as a link beside it. `agent_id` is the agent that does it, if one does."""

    label: str
    url: str
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class ListAction:
    """An action on the posts that are marked in the list. `run` answers with a page about their ids."""

    name: str
    label: str | Promise
    permission: str
    run: Callable[[HttpRequest, Sequence[str]], HttpResponse]


FieldActions = Callable[[FieldPlace], Sequence[FieldAction]]
post_panels: Hook[[HttpRequest, Post], PostPanel] = Hook()
"""Shown in a tab beside the form of a post. A panel without HTML is not shown."""

post_tabs: Hook[[HttpRequest, Post], Iterable[PostTab]] = Hook()
"""Links above the pages of a post."""

run_lookups: Hook[[HttpRequest, Iterable[str]], Mapping[str, RunView]] = Hook()
"""Runs by their ids. At most one query, however many ids."""

field_action_sources: Hook[[HttpRequest, Post], FieldActions] = Hook()
"""Links beside the fields of a post. Asked once for a form, then of each field, without a query."""

translation_runs: Hook[[HttpRequest, Post], str] = Hook()
"""The page that starts an agent which translates a post, which takes `fields`; empty where there is none."""

post_list_actions: ExtensionPoint[ListAction] = ExtensionPoint()
"""Offered for several posts in the list of posts."""

variation_links: Hook[[HttpRequest, Post], Iterable[PostTab]] = Hook()
"""Links on the page of the variations of an original. No query."""


def test_links(request: HttpRequest, post: Post) -> list[PostTab]:
    """Return what other apps have to say of the variations of a post, to this person."""
    return [link for links in variation_links(request, post) for link in links]


def panels(request: HttpRequest, post: Post) -> list[PostPanel]:
    return [panel for panel in post_panels(request, post) if panel.html]


def more_tabs(request: HttpRequest, post: Post) -> list[PostTab]:
    return [tab for tabs in post_tabs(request, post) for tab in tabs]


def describe_runs(request: HttpRequest, ids: Iterable[str]) -> dict[str, RunView]:
    """Return what is known of these runs, by id."""
    wanted = sorted({id_ for id_ in ids if id_})
    found: dict[str, RunView] = {}
    if wanted:
        for runs in run_lookups(request, wanted):
            found |= runs
    return found


def field_actions(request: HttpRequest, post: Post) -> FieldActions:
    """Return what is offered beside each field of the form of this post, to this person."""
    known = field_action_sources(request, post)
    return lambda place: [action for actions in known for action in actions(place)]


def list_actions(request: HttpRequest) -> list[ListAction]:
    """Return what this person may do with several posts."""
    return [action for action in post_list_actions if request.user.has_perm(action.permission)]
