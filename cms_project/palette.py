"""The command palette: finds admin pages, actions, posts, media and people by words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Final
from urllib.parse import urlencode

from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from agents_app.admin.labels import agent_name
from agents_app.definitions.agents import agents_for, only_enabled
from agents_app.definitions.schema import Scope
from content.models import Post
from content.store.scopes import visible_to
from content.store.search import find_posts
from media.models import Asset
from media.queries import filter_by_words
from media.scopes import visible_assets
from proofroom.accounts.models import User
from proofroom.core.admin.navigation import allowed_entries
from proofroom.core.admin.permissions import actor_of, may
from proofroom.core.i18n import in_words
from proofroom.core.i18n.languages import language_name
from proofroom.core.validation.input_validation import parse_uuid
from proofroom.definitions import post_types
from proofroom_apps.editorial.posts.post_pages import title_of, with_proposed_titles

MAX_WORDS_LENGTH: Final = 200
"""Largest number of characters of a query. The rest is ignored."""
MAX_RESULTS: Final = 6
"""Largest number of results of each kind."""


@dataclass(frozen=True, slots=True)
class Command:
    """A line of the palette. `icon`: id of a symbol in `static/cms/design/icons.svg`."""

    label: str
    url: str
    icon: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class CommandGroup:
    label: str
    items: list[Command]


@dataclass(frozen=True, slots=True)
class PaletteAction:
    """An action that users with the permission can start from any page."""

    label: str | Promise
    url_name: str
    icon: str
    permission: str


ACTIONS: Final = (
    PaletteAction(gettext_lazy("New post"), "admin:content_post_add", "plus", "posts.create"),
    PaletteAction(gettext_lazy("New file"), "admin:media_asset_add", "plus", "media.upload"),
    PaletteAction(gettext_lazy("New form"), "admin:forms_formdefinition_add", "plus", "forms.edit"),
    PaletteAction(gettext_lazy("New menu"), "admin:proofroom_menus_menu_add", "plus", "menus.edit"),
    PaletteAction(gettext_lazy("New redirect"), "admin:seo_redirect_add", "plus", "redirects.edit"),
    PaletteAction(gettext_lazy("Ask an agent"), "admin:agents_app_ask", "spark", "agents.global"),
    PaletteAction(gettext_lazy("Help"), "admin:help", "help", "posts.view"),
)


@require_safe
def palette(request: HttpRequest) -> JsonResponse:
    """Return the matches for `q`: `{"groups": [{"label", "items": [{"label", "url", "icon", "hint"}]}]}`.

    Without words, return the pages and actions that the user may open.
    """
    words = " ".join(request.GET.get("q", "").split())[:MAX_WORDS_LENGTH]
    finders: tuple[tuple[str, Callable[[HttpRequest, str], list[Command]]], ...] = (
        (_("Agents"), _agents),
        (_("Pages"), _pages),
        (_("Actions"), _actions),
        (_("Posts"), _posts),
        (_("Media"), _media),
        (_("People"), _people),
    )
    groups = [CommandGroup(label, find(request, words)) for label, find in finders]
    return JsonResponse({"groups": [asdict(group) for group in groups if group.items]})


def _matching(commands: Iterable[Command], words: str) -> list[Command]:
    """Return the commands whose label contains all words, first the ones that begin with the text."""
    query = words.casefold()
    found = [
        command
        for command in commands
        if all(word in command.label.casefold() for word in query.split())
    ]
    return sorted(found, key=lambda command: not command.label.casefold().startswith(query))


def _agents(request: HttpRequest, words: str) -> list[Command]:
    """Return the agents that can run on the open post, given by `post`."""
    post_id = parse_uuid(request.GET.get("post"))
    if post_id is None:
        return []
    posts = visible_to(Post.objects.alive(), actor_of(request))
    if not may(request, "agents.dropdown") or not posts.filter(pk=post_id).exists():
        return []
    url = reverse("admin:agents_app_run_start", args=[post_id])
    return _matching(
        (
            Command(
                _("Run %(agent)s on this post") % {"agent": agent_name(agent.id)},
                f"{url}?{urlencode({'agent': agent.id})}",
                "spark",
            )
            for agent in only_enabled(agents_for(Scope.DROPDOWN))
        ),
        words,
    )


def _pages(request: HttpRequest, words: str) -> list[Command]:
    entries = allowed_entries(request)
    return _matching(
        (Command(str(entry.label), reverse(entry.url_name), entry.icon) for entry in entries), words
    )


def _actions(request: HttpRequest, words: str) -> list[Command]:
    """Return the actions. New posts of a type are found by words only, and not listed without any."""
    found = [
        Command(str(action.label), reverse(action.url_name), action.icon)
        for action in ACTIONS
        if may(request, action.permission)
    ]
    if words and may(request, "posts.create"):
        address = reverse("admin:content_post_add")
        found += [
            Command(
                _("New post: %(type)s") % {"type": in_words(definition.label)},
                f"{address}?{urlencode({'type': definition.name})}",
                "plus",
            )
            for definition in post_types
        ]
    return _matching(found, words)


def _posts(request: HttpRequest, words: str) -> list[Command]:
    if not words or not may(request, "posts.view"):
        return []
    visible = visible_to(Post.objects.alive(), actor_of(request))
    posts = find_posts(with_proposed_titles(visible), words)[:MAX_RESULTS]
    return [
        Command(
            title_of(post),
            reverse("admin:content_post_change", args=[post.pk]),
            "file",
            f"{post.path or post.slug} · {language_name(post.locale)}",
        )
        for post in posts
    ]


def _media(request: HttpRequest, words: str) -> list[Command]:
    if not words or not may(request, "media.view"):
        return []
    visible = visible_assets(Asset.objects.all(), actor_of(request))
    files = filter_by_words(visible, words)[:MAX_RESULTS]
    return [
        Command(
            file.alt_text or file.filename,
            reverse("admin:media_asset_change", args=[file.pk]),
            "image",
            file.filename,
        )
        for file in files
    ]


def _people(request: HttpRequest, words: str) -> list[Command]:
    if not words or not may(request, "users.manage"):
        return []
    people = User.objects.filter(username__icontains=words) | User.objects.filter(
        email__icontains=words
    )
    return [
        Command(
            person.username,
            reverse("admin:proofroom_accounts_user_change", args=[person.pk]),
            "people",
            person.email,
        )
        for person in people.order_by("username")[:MAX_RESULTS]
    ]
