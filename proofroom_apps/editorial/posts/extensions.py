"""Additions of other apps to the pages of a post: links, panels, actions. An app registers one extension."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal
from uuid import UUID

from django.contrib.admin import SimpleListFilter
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from content.layers import Layers
from content.models import Post
from proofroom.core.hooks import ExtensionPoint

_MAIN_TABS: Final = frozenset({"source", "review", "ai-review"})


@dataclass(frozen=True, slots=True)
class PostTab:
    """A link above the pages of a post. Narrow screens show the main ones, and the rest in a menu."""

    name: str
    label: str
    url: str
    count: int | None = None

    @property
    def is_main(self) -> bool:
        return self.name in _MAIN_TABS


@dataclass(frozen=True, slots=True)
class PostBadge:
    """A linked word beside a post in the list."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class PostPanel:
    """A box in one of the tabs beside the form of a post."""

    tab: Literal["settings", "agents"]
    html: SafeString


@dataclass(frozen=True, slots=True)
class ReviewGate:
    """What must happen before changes in Review are approved.

    `actions` are its buttons, which take the place of approval; `notice` says why.
    """

    actions: SafeString
    notice: SafeString


@dataclass(frozen=True, slots=True)
class RunView:
    """The run that proposed a change, for a review.

    `cost` is formatted; `problem` says why a run ended early.
    """

    url: str
    agent: str
    model: str
    by: str
    is_demo: bool = False
    cost: str = ""
    problem: str = ""
    has_read_untrusted: bool = False

    @property
    def started(self) -> str:
        return _("started by %(by)s") % {"by": self.by}


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """A field in the form of a post: key (`post.title`, `module.hero.title`), type, and module if any.

    `retried_in` is the layer of a proposal to repeat, `made_by` its agent, which is offered first.
    """

    key: str
    kind: str
    module_id: str = ""
    retried_in: str = ""
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class FieldAction:
    """An action on one field, shown as a link. `agent_id` is the agent that executes it, if any."""

    label: str
    url: str
    agent_id: str = ""


@dataclass(frozen=True, slots=True)
class ListAction:
    """An action on the selected posts. `run` returns a page for their ids.

    `label` contains `{number}`, which stands for how many are selected, and ends with "…" if `run` asks first.
    """

    name: str
    label: str | Promise
    permission: str
    run: Callable[[HttpRequest, Sequence[str]], HttpResponse]


FieldActions = Callable[[FieldPlace], Sequence[FieldAction]]


class PostPagesExtension:
    """Additions of an app to the pages of a post. Override what you add, and register an instance at start."""

    def panels(self, request: HttpRequest, post: Post) -> Iterable[PostPanel]:
        """Return boxes for the tabs beside the form of a post. A panel without HTML is left out."""
        return ()

    def tabs(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        """Return links above the pages of a post."""
        return ()

    def history_links(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        """Return links for the page of the post's revisions. No query."""
        return ()

    def variation_links(self, request: HttpRequest, post: Post) -> Iterable[PostTab]:
        """Return links for the page of an original's variations. No query."""
        return ()

    def notes(self, request: HttpRequest, post: Post) -> SafeString:
        """Return HTML to show below the comments on a post, empty without notes."""
        return SafeString()

    def review_panel(self, request: HttpRequest, post: Post) -> SafeString:
        """Return HTML for the review of changes in Review, with buttons of the form `review-form`; empty for none."""
        return SafeString()

    def take_accepted(
        self, request: HttpRequest, post: Post, action: str, accept: Collection[str]
    ) -> HttpResponse | None:
        """Do what a button of `review_panel` asks for with the accepted paths. None for other buttons.

        Raises `CmsError`.
        """
        return None

    def review_gate(self, request: HttpRequest, layers: Layers) -> ReviewGate | None:
        """Return what must happen before the changes in Review are approved; None if they can be."""
        return None

    def submitted_for_review(self, request: HttpRequest, post: Post) -> None:
        """Follow a save by the button that submits for review. Not called if nothing was saved."""

    def field_actions(self, request: HttpRequest, post: Post) -> FieldActions:
        """Return a function that lists the links beside a field without a query. Called once for a form."""
        return lambda place: ()

    def list_actions(self) -> Iterable[ListAction]:
        """Return actions on the selected posts of the list."""
        return ()

    def list_filters(self) -> Sequence[type[SimpleListFilter]]:
        """Return filters of the list of posts. A filter without choices is not shown."""
        return ()

    def list_badges(self, types: Mapping[UUID, str]) -> Mapping[UUID, PostBadge]:
        """Return the badges of posts in the list, by id. `types`: the type of each post. At most one query."""
        return {}

    def describe_runs(self, request: HttpRequest, ids: Sequence[str]) -> Mapping[str, RunView]:
        """Return the runs with these ids. At most one query, however many ids."""
        return {}

    def translation_run_url(self, request: HttpRequest, post: Post) -> str:
        """Return the page that starts an agent which translates the post, and takes `fields`; empty without one."""
        return ""


post_pages_extensions: ExtensionPoint[PostPagesExtension] = ExtensionPoint()


def panels(request: HttpRequest, post: Post) -> list[PostPanel]:
    added = [panel for each in post_pages_extensions for panel in each.panels(request, post)]
    return [panel for panel in added if panel.html]


def notes(request: HttpRequest, post: Post) -> list[SafeString]:
    added = [each.notes(request, post) for each in post_pages_extensions]
    return [html for html in added if html]


def review_panels(request: HttpRequest, post: Post) -> list[SafeString]:
    added = [each.review_panel(request, post) for each in post_pages_extensions]
    return [html for html in added if html]


def take_accepted(
    request: HttpRequest, post: Post, action: str, accept: Collection[str]
) -> HttpResponse | None:
    """Return the answer of the extension whose button was pressed; None if it is no such button."""
    answers = (each.take_accepted(request, post, action, accept) for each in post_pages_extensions)
    return next((answer for answer in answers if answer is not None), None)


def review_gate(request: HttpRequest, layers: Layers) -> ReviewGate | None:
    """Return the first gate that is closed, or None."""
    gates = (each.review_gate(request, layers) for each in post_pages_extensions)
    return next((gate for gate in gates if gate is not None), None)


def submitted_for_review(request: HttpRequest, post: Post) -> None:
    for each in post_pages_extensions:
        each.submitted_for_review(request, post)


def extension_tabs(request: HttpRequest, post: Post) -> list[PostTab]:
    return [tab for each in post_pages_extensions for tab in each.tabs(request, post)]


def history_links(request: HttpRequest, post: Post) -> list[PostTab]:
    return [link for each in post_pages_extensions for link in each.history_links(request, post)]


def variation_links(request: HttpRequest, post: Post) -> list[PostTab]:
    return [link for each in post_pages_extensions for link in each.variation_links(request, post)]


def describe_runs(request: HttpRequest, ids: Iterable[str]) -> dict[str, RunView]:
    """Return the runs with these ids, as far as they are known, by id."""
    wanted = sorted({id_ for id_ in ids if id_})
    found: dict[str, RunView] = {}
    if wanted:
        for each in post_pages_extensions:
            found |= each.describe_runs(request, wanted)
    return found


def field_actions(request: HttpRequest, post: Post) -> FieldActions:
    """Return a function that lists what the user is offered beside a field of this post's form."""
    added = [each.field_actions(request, post) for each in post_pages_extensions]
    return lambda place: [action for actions in added for action in actions(place)]


def list_actions() -> list[ListAction]:
    return [action for each in post_pages_extensions for action in each.list_actions()]


def list_filters() -> list[type[SimpleListFilter]]:
    return [found for each in post_pages_extensions for found in each.list_filters()]


def list_badges(types: Mapping[UUID, str]) -> dict[UUID, PostBadge]:
    """Return the badge of each post that has one, by id. Of several the last one counts."""
    found: dict[UUID, PostBadge] = {}
    for each in post_pages_extensions:
        found |= each.list_badges(types)
    return found


def translation_run_url(request: HttpRequest, post: Post) -> str:
    """Return the page that starts an agent which translates the post; empty without one."""
    urls = (each.translation_run_url(request, post) for each in post_pages_extensions)
    return next((url for url in urls if url), "")
