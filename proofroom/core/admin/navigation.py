"""The navigation of the admin: the entries that apps register, and the ones the user sees on a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from proofroom.core.hooks import ExtensionPoint

MAX_COUNT: Final = 99
"""Larger counts are shown as "99+", so that no page counts a long list to its end."""
MAX_LINKS: Final = 14
"""Entries before *More*. Settings do not count: they have a list of their own at the bottom."""


class NavigationGroup(StrEnum):
    """The groups of the navigation, in their order."""

    TOP = "top"
    WRITE = "write"
    REVIEW = "review"
    SITE = "site"
    INSIGHTS = "insights"
    SETTINGS = "settings"


GROUP_LABELS: Final[dict[NavigationGroup, str | Promise]] = {
    NavigationGroup.TOP: "",
    NavigationGroup.WRITE: gettext_lazy("Write"),
    NavigationGroup.REVIEW: gettext_lazy("Review"),
    NavigationGroup.SITE: gettext_lazy("Site"),
    NavigationGroup.INSIGHTS: gettext_lazy("Insights"),
    NavigationGroup.SETTINGS: gettext_lazy("Settings"),
}


@dataclass(frozen=True, slots=True)
class NavigationTab:
    """A page shown as a tab beside other pages of one entry.

    Without a `permission` it needs the entry's permission.
    """

    label: str | Promise
    url_name: str
    permission: str = ""


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A page linked in the navigation.

    `permissions`: one of them is required; if empty, all users see the entry. `icon` is a symbol of
    `static/cms/design/icons.svg`. `tabs` are the pages of the entry, including its own, shown as tabs on each of
    them. `covers` are URL names of further pages; they and all pages below them belong to the entry. `waiting`
    returns the rows whose number is shown beside the label. Entries that are not `is_frequent` are listed below
    *More* if the user has more than `MAX_LINKS`.
    """

    group: NavigationGroup
    label: str | Promise
    url_name: str
    icon: str
    permissions: tuple[str, ...] = ()
    tabs: tuple[NavigationTab, ...] = ()
    covers: tuple[str, ...] = ()
    waiting: Callable[[HttpRequest], QuerySet[Any]] | None = None
    is_frequent: bool = True


navigation_entries: ExtensionPoint[NavigationEntry] = ExtensionPoint()
"""Registered in `AppConfig.ready` with an `order`, which sorts the entries of a group."""


@dataclass(frozen=True, slots=True)
class NavigationLink:
    """An entry as shown on a page. `current` is the value of `aria-current`, empty for other pages."""

    label: str
    url: str
    icon: str
    current: str
    count: str


@dataclass(frozen=True, slots=True)
class NavigationSection:
    name: str
    label: str
    links: list[NavigationLink]


@dataclass(frozen=True, slots=True)
class Navigation:
    """The navigation of a page: the groups, and the lists that open below *More* and *Settings*."""

    sections: list[NavigationSection]
    more: list[NavigationLink]
    settings: list[NavigationLink]

    @property
    def is_in_more(self) -> bool:
        """True if the page belongs to an entry below *More*."""
        return any(link.current for link in self.more)

    @property
    def is_in_settings(self) -> bool:
        return any(link.current for link in self.settings)


def allowed_entries(request: HttpRequest) -> list[NavigationEntry]:
    """Return the entries that the user may open, in their order."""
    return [
        entry
        for entry in navigation_entries
        if not entry.permissions or any(map(request.user.has_perm, entry.permissions))
    ]


def build_navigation(request: HttpRequest) -> Navigation:
    """Return the entries that the user may open. Runs one query per entry with a number."""
    allowed = allowed_entries(request)
    owner = _find_owner(request, allowed)
    links: dict[NavigationEntry, NavigationLink] = {}
    for entry in allowed:
        url = reverse(entry.url_name)
        here = "page" if request.path == url else "true"
        links[entry] = NavigationLink(
            str(entry.label),
            url,
            entry.icon,
            here if entry is owner else "",
            "" if entry.waiting is None else _bounded_count(entry.waiting(request)),
        )
    # In the order of the page: `navigation_entries` are in the order of their numbers within a group.
    by_group = [entry for group in NavigationGroup for entry in allowed if entry.group == group]
    settings = [entry for entry in by_group if entry.group == NavigationGroup.SETTINGS]
    others = [entry for entry in by_group if entry.group != NavigationGroup.SETTINGS]
    first = others
    if len(others) > MAX_LINKS:
        first = [entry for entry in others if entry.is_frequent][:MAX_LINKS]
    sections = [
        NavigationSection(
            group, str(label), [links[entry] for entry in first if entry.group == group]
        )
        for group, label in GROUP_LABELS.items()
    ]
    return Navigation(
        [section for section in sections if section.links],
        [links[entry] for entry in others if entry not in first],
        [links[entry] for entry in settings],
    )


def _find_owner(request: HttpRequest, allowed: Sequence[NavigationEntry]) -> NavigationEntry | None:
    """Return the entry that the page belongs to: the one with the longest URL that is a prefix of its path."""
    home = reverse("admin:index")
    places = [
        (len(address), entry)
        for entry in allowed
        for address in map(
            reverse, (entry.url_name, *(tab.url_name for tab in entry.tabs), *entry.covers)
        )
        # The home page's URL is a prefix of all others.
        if request.path == address or (address != home and request.path.startswith(address))
    ]
    return max(places, key=lambda place: place[0])[1] if places else None


def build_tabs(request: HttpRequest) -> list[NavigationLink]:
    """Return the tabs of this page that the user may open. Empty if the page has no other tabs."""
    for entry in navigation_entries:
        addresses = [reverse(tab.url_name) for tab in entry.tabs]
        if request.path not in addresses:
            continue
        links = [
            NavigationLink(str(tab.label), url, "", "page" if url == request.path else "", "")
            for tab, url in zip(entry.tabs, addresses, strict=True)
            if request.user.has_perm(tab.permission)
            or (not tab.permission and any(map(request.user.has_perm, entry.permissions)))
        ]
        return links if len(links) > 1 else []
    return []


def _bounded_count(rows: QuerySet[Any]) -> str:
    # One more than the maximum, to see whether there are more without counting all rows.
    number = rows.order_by()[: MAX_COUNT + 1].count()
    return f"{MAX_COUNT}+" if number > MAX_COUNT else str(number or "")
