"""The navigation of the admin: the same on every page, limited to the role."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import Client

from content.models import Layer
from proofroom.accounts.roles import Role, grants
from proofroom.core.admin.navigation import (
    MAX_COUNT,
    MAX_LINKS,
    NavigationEntry,
    NavigationGroup,
    navigation_entries,
)
from tests import make

pytestmark = pytest.mark.django_db
_NAV = re.compile(r'<nav class="nav".*?</nav>', re.DOTALL)
_LINK = re.compile(
    r'<a href="([^"]+)"(?: aria-current="(\w+)")? title="([^"]+)">.*?'
    r'</span>(?: <span class="nav-count">([^<]+)</span>)?</a>'
)


def client_of(role: str) -> Client:
    client = Client()
    client.force_login(make.user(role))
    return client


def navigation(client: Client, address: str) -> dict[str, tuple[str, str, str]]:
    """Return address, `aria-current` and number by label."""
    found = _NAV.search(client.get(address).content.decode())
    assert found, address
    links = _LINK.findall(found[0])
    return {unescape(label): (url, current, count) for url, current, label, count in links}


@pytest.mark.parametrize("role", ["admin", "editor", "translator"])
def test_every_entry_that_a_role_sees_opens(role: str) -> None:
    client = client_of(role)

    for label, (url, _, _) in navigation(client, "/admin/").items():
        assert client.get(url, follow=True).status_code == 200, label


def test_a_role_sees_only_what_it_may_open() -> None:
    assert [*navigation(client_of("translator"), "/admin/")] == [
        "Home",
        "Posts",
        "Page tree",
        "Media",
        "Translations",
        "Inbox",
        "Comments",
        "Calendar",
        "Editorial briefs",
        "Help",
    ]
    assert "People" not in navigation(client_of("editor"), "/admin/")
    assert "People" in navigation(client_of("admin"), "/admin/")


def test_the_navigation_marks_where_the_page_belongs() -> None:
    client, post = client_of("admin"), make.post("Tea")
    make.staged(post, {"title": "Green tea"}, layer=Layer.REVIEW)

    def marked(address: str) -> dict[str, str]:
        links = navigation(client, address)
        return {label: current for label, (_, current, _) in links.items() if current}

    assert marked("/admin/") == {"Home": "page"}
    assert marked("/admin/content/post/") == {"Posts": "page"}
    assert marked(f"/admin/content/post/{post.pk}/review/?layer=review") == {"Posts": "true"}
    assert marked("/admin/content/translations/") == {"Translations": "page"}
    assert marked("/admin/forms/formsubmission/") == {"Forms": "true"}
    assert marked("/admin/help/") == {"Help": "true"}
    assert marked("/admin/password_change/") == {}


@pytest.mark.parametrize("role", sorted(set(grants()) - {Role.AI_AGENT}))
def test_no_role_has_more_than_14_entries_before_more_and_settings(role: str) -> None:
    found = _NAV.search(client_of(role).get("/admin/").content.decode())
    assert found
    lists, _, end = found[0].partition('<div class="nav-end">')
    first, _, more = lists.partition("<details")
    labels = [unescape(label) for *_, label, _ in _LINK.findall(first)]

    assert len(labels) <= MAX_LINKS == 14
    assert end.index("data-nav-list") < end.index("nav-foot")
    assert bool(_LINK.findall(more)) == (role in {"editor", "admin"})
    if role in {"editor", "admin"}:
        assert labels == [
            *("Home", "Posts", "Page tree", "Media", "Forms", "Translations"),
            *("Inbox", "AI activity", "Comments", "Calendar"),
            *("Menus", "Topics and tags", "Global modules", "Analytics"),
        ]


def test_frequent_entries_beyond_the_14th_are_below_more() -> None:
    own = NavigationEntry(NavigationGroup.WRITE, "Recipes", "admin:help", "file")

    with navigation_entries.registered_temporarily(own):
        page = client_of("editor").get("/admin/").content.decode()
    first, more = page.split('data-nav-list="more"')

    assert 'title="Recipes"' in first
    assert 'title="Analytics"' not in first
    assert 'title="Analytics"' in more


def test_lists_of_the_navigation_open_as_they_were_left_and_around_their_page() -> None:
    client = client_of("editor")

    def open_lists(address: str) -> list[str]:
        return re.findall(r'data-nav-list="(\w+)" open', client.get(address).content.decode())

    assert open_lists("/admin/") == []
    assert open_lists("/admin/seo/redirect/") == ["more"]
    assert open_lists("/admin/content/urlpattern/") == ["settings"]
    client.cookies["admin_navigation_lists"] = "more.settings"
    assert open_lists("/admin/") == ["more", "settings"]


def test_the_inbox_shows_how_much_waits_up_to_a_bound() -> None:
    client, post = client_of("editor"), make.post("Tea")
    assert navigation(client, "/admin/")["Inbox"][2] == ""

    make.staged(post, {"title": "Green tea", "excerpt": "Leaves."}, layer=Layer.REVIEW)
    assert navigation(client, "/admin/")["Inbox"][2] == "2"

    from content.models import QueuedChange

    row = QueuedChange.objects.order_by("pk").first()
    assert row is not None
    for number in range(MAX_COUNT):
        row.pk, row.path = None, f"post.copy{number}"
        row.save(force_insert=True)
    assert navigation(client, "/admin/")["Inbox"][2] == f"{MAX_COUNT}+"


def test_the_navigation_stays_as_wide_as_it_was_left() -> None:
    client = client_of("editor")
    wide = client.get("/admin/").content.decode()
    assert "shell-collapsed" not in wide
    assert 'data-collapse-nav aria-expanded="true"' in wide

    client.cookies["admin_navigation"] = "icons"
    narrow = client.get("/admin/").content.decode()
    assert "shell-collapsed" in narrow
    assert 'data-collapse-nav aria-expanded="false"' in narrow


def test_an_app_of_the_site_adds_an_entry() -> None:
    own = NavigationEntry(
        NavigationGroup.WRITE, "Recipes", "admin:help", "file", permissions=("posts.publish",)
    )

    with navigation_entries.registered_temporarily(own):
        assert navigation(client_of("editor"), "/admin/")["Recipes"][0] == "/admin/help/"
        assert "Recipes" not in navigation(client_of("translator"), "/admin/")


def test_the_new_menu_offers_what_the_role_may_create() -> None:
    def offered(role: str) -> list[str]:
        bar = client_of(role).get("/admin/help/").content.decode().partition('class="bar"')[2]
        return re.findall(r'<a href="([^"]+/add/)"', bar.partition("</header>")[0])

    expected = [
        "/admin/content/post/add/",
        "/admin/media/asset/add/",
        "/admin/forms/formdefinition/add/",
        "/admin/proofroom_menus/menu/add/",
        "/admin/seo/redirect/add/",
    ]
    assert offered("editor") == expected
    assert offered("translator") == []
    client = client_of("editor")
    for address in expected:
        assert client.get(address).status_code == 200, address


def tabs(client: Client, address: str) -> list[tuple[str, str]]:
    """Return the sibling pages: address and label; the current page is marked."""
    page = client.get(address).content.decode()
    found = re.search(r'<ul class="tabs" aria-label="Pages of this section">(.*?)</ul>', page)
    return re.findall(r'<a href="([^"]+)"[^>]*>([^<]+)</a>', found[1]) if found else []


def test_pages_of_one_section_show_each_other() -> None:
    client = client_of("admin")
    both = [
        ("/admin/forms/formdefinition/", "Forms"),
        ("/admin/forms/formsubmission/", "Submissions"),
    ]

    assert tabs(client, "/admin/forms/formdefinition/") == both
    assert tabs(client, "/admin/forms/formsubmission/") == both
    assert tabs(client, "/admin/content/post/") == []
    # The entry opens the form at once; what was replaced is beside it.
    assert navigation(client, "/admin/")["Find and replace"][0] == "/admin/content/replacement/add/"
    assert tabs(client, "/admin/content/replacement/add/") == [
        ("/admin/content/replacement/add/", "Find and replace"),
        ("/admin/content/replacement/", "Earlier replacements"),
    ]
    assert tabs(client, "/admin/forms/formdefinition/add/") == []


@pytest.mark.parametrize("role", ["admin", "editor"])
def test_every_tab_that_a_role_sees_opens(role: str) -> None:
    client = client_of(role)
    seen = set()
    for url, _, _ in navigation(client, "/admin/").values():
        for address, label in tabs(client, url):
            assert client.get(address).status_code == 200, label
            seen.add(label)
    assert ("Deliveries" in seen) == (role == "admin")


def test_an_app_has_no_page_of_its_own() -> None:
    answer = client_of("admin").get("/admin/content/")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/")


_OTHERWISE_CALLED = {"Home", "Agents and AI", "AI clients", "Help"}
"""Entries with several pages, whose names differ from the page titles."""


@pytest.mark.parametrize(
    ("form", "label"),
    [("seo/redirect", "Redirects"), ("proofroom_accounts/user", "People")],
)
def test_a_forms_breadcrumb_has_the_navigations_name_of_its_list(form: str, label: str) -> None:
    page = client_of("admin").get(f"/admin/{form}/add/").content.decode()

    assert f'&rsaquo; <a href="/admin/{form}/">{label}</a>' in page


def test_a_list_is_called_what_the_navigation_calls_it() -> None:
    client = client_of("admin")

    for label, (url, _, _) in navigation(client, "/admin/").items():
        if label not in _OTHERWISE_CALLED:
            page = unescape(client.get(url, follow=True).content.decode())
            assert re.search(rf"<h1[^>]*>{re.escape(label)}</h1>", page), label
            assert re.search(
                rf'class="breadcrumbs">[^\n]*(› |&rsaquo; ){re.escape(label)}</div>', page
            ), label
