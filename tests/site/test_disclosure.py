"""The disclosure of AI work to visitors: share, kind and approver, on pages and in the delivery API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.layers import approve, digest_of, submit
from content.models import Layer, Post
from proofroom.accounts.models import User
from proofroom.accounts.services.preferences import change_preferences
from proofroom.accounts.services.users import change_user
from proofroom.core.actor import Actor
from proofroom.core.caching.content_version import bump_content_version, live_state
from proofroom.core.errors import NotAllowed, RuleViolation
from proofroom.core.json import Json
from proofroom.core.models import Event
from proofroom.disclosure.services import change_disclosure, load_disclosure
from tests import make
from tests.api_client import ApiClient
from tests.queries import page_queries
from tests.site.test_head import things
from tests.site.test_pages import home, text
from tests.site.test_previews import link_to
from tests.site.test_previews import shown as preview

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
AI = "http://cv.iptc.org/newscodes/digitalsourcetype/"


def disclose(*types: str, show: str = "both") -> None:
    change_disclosure(actor=make.actor("admin"), types=types, show=show)


def get(path: str) -> Any:
    response = Client().get(path)
    assert response.status_code == 200
    return response


def accept(post: Post, by: str = "editor") -> None:
    """Submit and approve all proposals of AI Review."""
    actor = make.actor(by)
    ai_review = make.layers(post).ai_review.changes
    if ai_review:
        submit(post_id=post.pk, actor=actor, paths=[*ai_review.paths])
    approve(post_id=post.pk, actor=actor, digest=digest_of(make.layers(post).review.changes))


def written_by_ai(post: Post, by: str = "editor", **fields: Json) -> None:
    make.staged(post, fields or {"excerpt": "Written by an agent, in a few words."})
    accept(post, by)


def all_by_ai() -> Post:
    """Create a post whose only texts are an agent's."""
    home()
    post = make.post("x", markdown="")
    make.staged(post, {"title": "Coffee", "excerpt": "All by an agent."})
    make.staged_module(post, make.module_id(post, "hero"), props={"title": "Coffee"})
    accept(post)
    return post


def delivered(post: Post, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = Client().get(f"/api/public/posts/{post.pk}{query}").json()
    return found


def test_nothing_is_disclosed_unless_it_is_set() -> None:
    home()
    post = make.post()
    written_by_ai(post)
    shown = get(post.path)
    assert 'class="disclosure"' not in text(shown)
    assert "digitalSourceType" not in text(shown)
    assert "disclosure" not in delivered(post)

    disclose("page")

    assert 'class="disclosure"' not in text(get(post.path)), "another type"


def test_a_page_says_the_share_and_the_role_without_name() -> None:
    home()
    post = make.post(markdown="People wrote this text. " * 20)
    written_by_ai(post)
    disclose("blog")

    shown = get(post.path)

    share = delivered(post)["disclosure"]["share"]
    assert 1 <= share < 30
    line = f"About {share}% of this text was written with AI. It was approved by an editor."
    assert f'<p class="disclosure">{line}</p>' in text(shown)
    thing = things(shown)["BlogPosting"]
    assert thing["digitalSourceType"] == f"{AI}compositeWithTrainedAlgorithmicMedia"
    assert thing["creditText"] == line
    assert delivered(post)["disclosure"] == {
        "share": share,
        "kind": "assisted",
        "digitalSourceType": f"{AI}compositeWithTrainedAlgorithmicMedia",
        "approvedBy": {"role": "editor", "name": None},
    }
    # Fields, agents and accounts are private.
    for secret in ("seo-specialist", "ai_origins", "excerpt&quot;"):
        assert secret not in text(shown)
    assert set(delivered(post)["disclosure"]) == {
        "share",
        "kind",
        "digitalSourceType",
        "approvedBy",
    }


def test_a_text_all_by_ai_is_generated_until_people_edit_it() -> None:
    post = all_by_ai()
    disclose("blog")
    told = delivered(post)["disclosure"]
    assert (told["share"], told["kind"]) == (100, "generated")
    assert told["digitalSourceType"] == f"{AI}trainedAlgorithmicMedia"
    assert "This text was written with AI. It was" in text(get(post.path))

    make.staged(post, {"excerpt": "All by an agent, again."})
    actor = make.actor("editor")
    submit(post_id=post.pk, actor=actor, paths=["post.excerpt"])
    make.staged(post, {"excerpt": "All by an agent, and edited."}, layer=Layer.REVIEW)
    accept(post)

    told = delivered(post)["disclosure"]
    assert (told["share"], told["kind"]) == (100, "assisted")
    assert "written with AI and edited by people" in text(get(post.path))


def test_text_by_people_alone_says_nothing_on_the_page() -> None:
    home()
    post = make.post()
    make.edited(post, {"excerpt": "By an editor."})
    disclose("blog")

    shown = text(get(post.path))

    assert 'class="disclosure"' not in shown
    assert "digitalSourceType" not in shown
    assert delivered(post)["disclosure"] == {
        "share": 0,
        "kind": "none",
        "digitalSourceType": None,
        "approvedBy": None,
    }


def test_what_people_wrote_over_it_counts_as_theirs() -> None:
    post = make.post(markdown="People wrote this text. " * 20)
    written_by_ai(post)
    disclose("blog")
    make.edited(post, {"excerpt": "Now by an editor, in other words."})
    assert delivered(post)["disclosure"]["share"] == 0


def test_modules_by_ai_count_and_shared_modules_do_not() -> None:
    post = make.post(markdown="Short.")
    make.staged_addition(
        post, type="faq", props={"heading": "Many words that an agent wrote here, and more"}
    )
    accept(post)
    disclose("blog")
    before = delivered(post)["disclosure"]["share"]
    assert 30 < before < 90
    make.placed(post, make.global_module(title="Shared words " * 10))
    assert delivered(post)["disclosure"]["share"] == before


def test_show_chooses_line_or_structured_data() -> None:
    home()
    post = make.post()
    written_by_ai(post)
    for show, has_line, has_data in (("line", True, False), ("jsonld", False, True)):
        disclose("blog", show=show)
        shown = text(get(post.path))
        assert ('class="disclosure"' in shown, "digitalSourceType" in shown) == (has_line, has_data)


def test_a_person_is_described_beside_the_page() -> None:
    home()
    post = make.post("Ada", type="profile", customFields={"role": "Roaster"})
    written_by_ai(post)
    disclose("profile")

    found = things(get(post.path))

    assert "digitalSourceType" not in found["Person"]
    assert found["WebPage"]["digitalSourceType"].startswith(AI)


def test_a_person_is_named_only_after_agreeing_and_pages_change_at_once() -> None:
    home()
    post = make.post()
    written_by_ai(post)
    disclose("blog")
    editor = make.user("editor")
    admin = make.actor("admin")
    assert "approved by an editor" in text(get(post.path))

    change_preferences(actor=Actor(user=editor, via="admin"), is_named_publicly=True)
    assert f"approved by {editor.username}." in text(get(post.path))
    assert delivered(post)["disclosure"]["approvedBy"]["name"] == editor.username

    change_user(user_id=editor.pk, actor=admin, username="grace")
    assert "approved by grace." in text(get(post.path))

    change_user(user_id=editor.pk, actor=admin, is_active=False)
    assert "grace" not in text(get(post.path))
    assert delivered(post)["disclosure"]["approvedBy"]["name"] is None


def test_other_changes_of_accounts_leave_caches_alone() -> None:
    disclose("blog")
    make.user("editor")
    before = live_state()
    change_preferences(actor=Actor(user=make.user("editor"), via="admin"), theme="dark")
    change_user(
        user_id=User.objects.get(username="editor").pk, actor=make.actor("admin"), username="grace"
    )
    assert live_state() == before


def test_a_page_needs_no_further_statement() -> None:
    home()
    post = make.post()
    browser = Client()
    for number in range(5):
        written_by_ai(post, excerpt=f"Version {number}", metaTitle=f"Title {number}")

    def statements(address: str) -> int:
        # A change of anything empties the caches of pages.
        bump_content_version()
        return page_queries(browser, address)

    api = f"/api/public/posts/{post.pk}"
    # The first call of a process also reads what changed before.
    statements(post.path), statements(api)
    pages, answers = statements(post.path), statements(api)
    disclose("blog")
    assert statements(post.path) == pages
    assert statements(api) == answers
    assert 'class="disclosure"' in text(get(post.path))


def test_sparse_fields_have_the_same_disclosure() -> None:
    post = make.post()
    written_by_ai(post)
    disclose("blog")
    whole = delivered(post)["disclosure"]
    assert delivered(post, "?fields=disclosure") == {"disclosure": whole}
    assert delivered(post, "?fields=title") == {"title": post.title}
    disclose()
    assert delivered(post, "?fields=disclosure,title") == {"title": post.title}


def test_the_settings_are_for_admins_and_take_effect_at_once() -> None:
    post = make.post()
    written_by_ai(post)
    assert "disclosure" not in delivered(post)
    address, admin = "/api/settings/disclosure", ApiClient("admin")
    assert admin.read(address) == {"types": [], "show": "both"}

    told = admin.write("PUT", address, {"types": ["page", "blog"], "show": "line"})

    assert told == {"types": ["blog", "page"], "show": "line"} == admin.read(address)
    assert "disclosure" in delivered(post)
    event = Event.objects.get(name="disclosure.changed")
    assert event.payload == {"types": ["blog", "page"], "show": "line"}
    before = live_state()
    assert admin.write("PUT", address, {"show": "line"}) == told
    assert live_state() == before, "nothing changed"
    assert ApiClient("editor").send("GET", address).status_code == 403
    with pytest.raises(NotAllowed):
        change_disclosure(actor=make.actor("editor"), show="line")
    with pytest.raises(NotAllowed):
        change_disclosure(actor=make.agent_actor(), show="line")
    for values in ({"types": ["no-type"]}, {"show": "nowhere"}):
        with pytest.raises(RuleViolation):
            change_disclosure(actor=make.actor("admin"), **values)


def test_the_page_of_the_settings_saves_what_was_chosen(signed_in: SignedIn) -> None:
    address = "/admin/proofroom_disclosure/disclosuresettings/"
    browser = signed_in("admin")
    assert "<h1>Disclosure of AI</h1>" in browser.get(address).content.decode()

    answer = browser.post(address, {"types": ["blog"], "show": "jsonld"})

    assert answer.status_code == 302
    found = load_disclosure()
    assert (found.types, found.show) == (("blog",), "jsonld")
    assert browser.post(address, {"types": ["nothing"], "show": "line"}).status_code == 422
    assert signed_in("editor").get(address).status_code == 403


def test_a_preview_discloses_nothing() -> None:
    home()
    post = make.post()
    written_by_ai(post)
    disclose("blog")
    make.staged(post, {"excerpt": "Not approved."})

    shown = text(preview(link_to(post, "ai-review")))

    assert "Not approved." in shown
    assert 'class="disclosure"' not in shown
    assert "digitalSourceType" not in shown
