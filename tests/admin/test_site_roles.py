"""The pages of roles, and the table of permissions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from content.posts.trash import delete_post
from proofroom.accounts.access import explain_access
from proofroom.accounts.models import SiteRole, User
from proofroom.accounts.permission_labels import COMMON
from proofroom.accounts.queries import permissions_of
from proofroom.accounts.services.invitations import create_invitation
from proofroom.core.content_scope import ContentScope
from tests import make
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
LIST = "/admin/proofroom_accounts/siterole/"


def test_a_role_is_made_from_a_copy(signed_in: SignedIn) -> None:
    admin = signed_in("admin")

    page = admin.get(f"{LIST}add/?copy=translator").content.decode()
    assert "Copy of Translator" in page
    assert "Approve changes in Review" in page
    assert page.count("checked") == len(permissions_of("translator"))
    answer = admin.post(
        f"{LIST}add/", {"label": "Desk", "permissions": ["posts.view", "posts.review.approve"]}
    )

    assert answer.status_code == 302
    assert permissions_of("desk") == {"posts.view", "posts.review.approve"}
    assert "Desk" in admin.get(LIST).content.decode()
    assert admin.get(f"{LIST}add/?copy=nobody").status_code == 404


def test_every_role_opens_from_the_list_and_from_who_may_what(signed_in: SignedIn) -> None:
    make.site_role("coffee_desk", "posts.view", label="Coffee desk")
    admin = signed_in("admin")

    for page in (LIST, f"{LIST}access/"):
        shown = admin.get(page).content.decode()
        links = set(re.findall(rf'href="({LIST}[^"]+/change/)"', shown))
        assert f"{LIST}coffee_5Fdesk/change/" in links
        assert len(links) == SiteRole.objects.count()
        assert {admin.get(link).status_code for link in links} == {200}


@pytest.mark.parametrize("is_named", [True, False])
def test_a_copy_of_a_role_with_a_second_factor_starts_with_it(
    signed_in: SignedIn, settings: Any, is_named: bool
) -> None:
    settings.TWO_FACTOR_ROLES = frozenset({"translator"}) if is_named else frozenset()
    admin = signed_in("admin")

    page = admin.get(f"{LIST}add/?copy=translator").content.decode()
    data = {"label": "Desk", "permissions": ["posts.view"]}
    if is_named:
        data["requires_second_factor"] = "on"
    admin.post(f"{LIST}add/", data)
    settings.TWO_FACTOR_ROLES = frozenset()
    again = admin.get(f"{LIST}add/?copy=desk").content.decode()
    own = admin.get(f"{LIST}desk/change/").content.decode()

    for shown in (page, again, own):
        [tag] = re.findall(r'<input[^>]*name="requires_second_factor"[^>]*>', shown)
        assert ("checked" in tag) == is_named
    assert SiteRole.objects.get(name="desk").requires_second_factor == is_named
    matrix = admin.get(f"{LIST}access/").content.decode()
    assert ("Must use two-factor authentication" in matrix) == is_named
    rows = admin.get(LIST).content.decode()
    assert ('field-second_factor">Yes' in rows) == is_named


def test_a_role_is_changed_and_removed(signed_in: SignedIn) -> None:
    make.site_role("desk", "posts.view")
    make.user("desk")
    admin, path = signed_in("admin"), f"{LIST}desk/change/"

    changed = admin.post(
        path, {"do": "change", "label": "Press desk", "permissions": ["posts.view", "media.view"]}
    )
    assert changed.status_code == 302
    assert permissions_of("desk") == {"posts.view", "media.view"}
    page = admin.get(path).content.decode()
    assert "Press desk" in page
    refused = admin.post(path, {"do": "remove", "move_to": ""})
    assert refused.status_code == 422
    assert "Choose the role that they get instead" in refused.content.decode()
    assert SiteRole.objects.filter(name="desk").exists()

    assert admin.post(path, {"do": "remove", "move_to": "editor"}).status_code == 302

    assert User.objects.get(username="desk").role == "editor"
    assert not SiteRole.objects.filter(name="desk").exists()
    assert admin.get(path).status_code == 404


def test_what_is_built_in_is_shown_and_takes_no_change(signed_in: SignedIn) -> None:
    admin = signed_in("admin")

    for name in ("admin", "translator", "ai_agent"):
        page = admin.get(f"{LIST}{name}/change/").content.decode()
        assert 'value="change"' not in page
        admin.post(f"{LIST}{name}/change/", {"do": "change", "label": "X", "permissions": []})
        admin.post(f"{LIST}{name}/change/", {"do": "remove", "move_to": "editor"})
    assert not User.objects.filter(role="editor", username="admin").exists()
    assert SiteRole.objects.filter(is_built_in=True).count() == 4


def test_nobody_is_offered_what_they_could_not_give(signed_in: SignedIn) -> None:
    make.site_role("manager", "users.manage", "posts.view")
    make.site_role("strong", "posts.view", "posts.publish")
    manager = signed_in("manager")

    page = manager.get(f"{LIST}add/").content.decode()
    assert 'value="posts.view"' in page
    assert 'value="posts.publish"' not in page
    assert 'value="change"' not in manager.get(f"{LIST}strong/change/").content.decode()
    refused = manager.post(f"{LIST}add/", {"label": "X", "permissions": ["posts.publish"]})
    assert refused.status_code == 422
    assert not SiteRole.objects.filter(label="X").exists()


def test_a_role_for_posts_can_open_them(signed_in: SignedIn) -> None:
    admin = signed_in("admin")

    answer = admin.post(
        f"{LIST}add/", {"label": "Publisher", "permissions": ["posts.publish", "media.view"]}
    )

    assert answer.status_code == 422
    assert (
        "Also select “View posts, including drafts”. Without it, nobody can use: Publish and "
        "unpublish posts."
    ) in answer.content.decode()
    assert not SiteRole.objects.filter(label="Publisher").exists()


def test_pages_of_people_who_see_no_posts_open_no_connection(signed_in: SignedIn) -> None:
    make.site_role("shop", "media.view")

    assert b'<meta name="live"' not in signed_in("shop").get("/admin/").content
    assert b'<meta name="live"' in signed_in("editor").get("/admin/").content


def test_the_page_says_which_role_may_do_what(signed_in: SignedIn) -> None:
    make.site_role("desk", "posts.view")
    admin = signed_in("admin")

    page = admin.get(f"{LIST}access/").content.decode()

    assert "Desk" in page
    assert "Approve changes in Review" in page
    few = count_queries(admin.get, f"{LIST}access/")
    for number in range(5):
        make.site_role(f"desk{number}", "posts.view")
    assert count_queries(admin.get, f"{LIST}access/") == few


def test_the_page_says_why_a_person_may_and_why_not(signed_in: SignedIn) -> None:
    make.site_role("desk", "posts.view", "posts.publish")
    desk, translator = make.user("desk"), make.user("translator")
    admin = signed_in("admin")

    def asked(user: User, permission: str) -> str:
        return admin.get(f"{LIST}access/?person={user.pk}&permission={permission}").content.decode()

    assert "Yes. desk has the role Desk" in asked(desk, "posts.publish")
    no = asked(translator, "posts.publish")
    assert "No. translator has the role Translator" in no
    assert "Roles that do: Admin, Editor, Desk." in no
    assert "Yes." not in asked(translator, "posts.fly")
    User.objects.filter(pk=desk.pk).update(is_active=False)
    assert not explain_access(
        person=User.objects.get(pk=desk.pk), permission="posts.publish", reader=make.actor("admin")
    ).is_allowed


def test_lists_of_people_and_invitations_cost_the_same_for_many_roles(signed_in: SignedIn) -> None:
    admin = signed_in("admin")
    counts = []
    for number in range(3):
        make.site_role(f"desk{number}", "users.manage")
        inviter = make.actor(f"desk{number}")
        create_invitation(email=f"new{number}@example.com", role=f"desk{number}", actor=inviter)
        for path in ("user/", "invitation/", "siterole/"):
            admin.get(f"/admin/proofroom_accounts/{path}")
            with CaptureQueriesContext(connection) as found:
                page = admin.get(f"/admin/proofroom_accounts/{path}").content.decode()
            assert f"Desk{number}" in page
            counts.append((path, len(found)))

    assert len(set(counts)) == 3


def test_a_role_is_limited_to_a_part_of_the_content(signed_in: SignedIn) -> None:
    section, term = make.post("Docs", type="page", slug="docs"), make.term("Coffee")
    admin = signed_in("admin")
    chosen = {
        "label": "Desk",
        "permissions": ["posts.view", "posts.edit"],
        "types": ["page"],
        "locales": ["de"],
        "sections": [str(section.pk)],
        "terms": [str(term.pk)],
        "reads_all": "on",
    }

    assert admin.post(f"{LIST}add/", chosen).status_code == 302

    scope = SiteRole.objects.get(name="desk").scope
    assert scope == ContentScope(
        types=frozenset({"page"}),
        locales=frozenset({"de"}),
        sections=frozenset({section.pk}),
        terms=frozenset({term.pk}),
        reads_all=True,
    )
    page = admin.get(f"{LIST}desk/change/").content.decode()
    for value in ("page", "de", str(section.pk), str(term.pk)):
        assert f'value="{value}"' in page
    assert "Docs (/docs)" in page
    assert "Topics: Coffee" in page
    access = admin.get(f"{LIST}access/").content.decode()
    assert "Sections: Docs (/docs)" in access
    assert "Can see everything else." in access
    copied = admin.get(f"{LIST}add/?copy=desk").content.decode()
    assert "Docs (/docs)" in copied
    del chosen["reads_all"], chosen["sections"], chosen["terms"], chosen["locales"], chosen["types"]
    admin.post(f"{LIST}desk/change/", {**chosen, "do": "change"})
    assert not SiteRole.objects.get(name="desk").scope.is_limited


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("types", "castle", "Select a valid choice"),
        ("locales", "tlh", "Select a valid choice"),
        ("sections", "00000000-0000-4000-8000-000000000000", "does not exist"),
        ("sections", "'; drop", "Select a valid choice"),
        ("terms", "00000000-0000-4000-8000-000000000000", "does not exist"),
    ],
)
def test_a_limit_to_what_is_not_there_is_refused(
    signed_in: SignedIn, part: str, value: str, said: str
) -> None:
    chosen = {"label": "Desk", "permissions": ["posts.view"], part: [value]}

    answer = signed_in("admin").post(f"{LIST}add/", chosen)

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not SiteRole.objects.filter(label="Desk").exists()


def test_a_limit_to_what_is_gone_is_not_lost_by_another_change(signed_in: SignedIn) -> None:
    section = make.post("Docs", type="page", slug="docs")
    scope = ContentScope(sections=frozenset({section.pk}))
    make.site_role("desk", "posts.view", scope=scope)
    delete_post(post_id=section.pk, actor=make.actor("admin"))
    admin, path = signed_in("admin"), f"{LIST}desk/change/"

    page = admin.get(path).content.decode()

    assert f'value="{section.pk}" checked' in page
    chosen = {"do": "change", "label": "Renamed", "permissions": ["posts.view"]}
    refused = admin.post(path, {**chosen, "sections": [str(section.pk)]})
    assert refused.status_code == 422
    assert SiteRole.objects.get(name="desk").scope == scope


def test_what_holds_for_the_whole_site_cannot_be_limited(signed_in: SignedIn) -> None:
    chosen = {"label": "Desk", "permissions": ["users.manage"], "types": ["page"]}

    answer = signed_in("admin").post(f"{LIST}add/", chosen)

    assert answer.status_code == 422
    assert "These permissions apply to the whole site" in answer.content.decode()


def test_the_page_says_why_a_person_may_do_something_with_a_post(signed_in: SignedIn) -> None:
    page, post = make.post("Docs", type="page", slug="docs"), make.post("News")
    make.site_role("desk", "posts.view", scope=ContentScope(types=frozenset({"page"})))
    desk, admin = make.user("desk"), signed_in("admin")

    def asked(about: str) -> str:
        query = f"person={desk.pk}&permission=posts.view&post={about}"
        return admin.get(f"{LIST}access/?{query}").content.decode()

    assert "Yes. desk has the role Desk" in asked(str(page.pk))
    assert "“News” is outside of the content" in asked(str(post.pk))
    assert "Post types: Page" in asked(str(post.pk))
    assert "Only for the content that the role is limited to." in asked("")
    assert "Yes. desk" in asked("nonsense")
    about = [
        explain_access(
            person=desk, permission="posts.view", reader=make.actor("admin"), thing=thing
        ).is_allowed
        for thing in (page, post)
    ]
    assert about == [True, False]


def test_a_new_role_starts_from_an_existing_one_with_the_common_permissions_first(
    signed_in: SignedIn,
) -> None:
    admin = signed_in("admin")

    def start(query: str) -> tuple[str, set[str]]:
        page = admin.get(f"{LIST}add/{query}").content.decode()
        own = page.partition("data-permission-list")[2]
        return page, set(re.findall(r'value="([^"]+)" id="[^"]+" checked', own))

    page, checked = start("")
    assert '<option value="editor" selected>' in page
    assert checked == permissions_of("editor")
    common, *folded = page.partition("data-permission-list")[2].split("data-permission-group")[1:]
    assert re.findall(r'value="([^"]+)"', common) == [*COMMON]
    assert len(folded) == page.count('<details class="permission-group"') > 10
    assert not any(name in group for name in COMMON for group in folded)
    media = next(group for group in folded if "<summary>Media " in group)
    assert "1 of 1</span>" in media

    page, checked = start("?from=translator")
    assert '<option value="translator" selected>' in page
    assert checked == permissions_of("translator")
    assert "Copy of" not in page
    assert start("?from=")[1] == set()
