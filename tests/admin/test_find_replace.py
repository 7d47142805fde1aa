"""Find and replace in the admin: hits with titles, selection, target layer, progress, cancel, undo."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.translation import override

from content.find_replace import runs
from content.find_replace.hits import find_hits
from content.find_replace.runs import REPLACEMENTS, start_replacement
from content.find_replace.services import undo_replacement
from content.layers import approve, digest_of
from content.models import Layer, Post, ReplacedPlace, Replacement, Revision
from content.tasks import purge_trash
from proofroom.core.content_scope import ContentScope
from proofroom.core.errors import Conflict, NotAllowed, RuleViolation
from tests import make
from tests.conftest import RunOnCommit

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
ADD = "/admin/content/replacement/add/"
LIST = "/admin/content/replacement/"


def search(find: str, replace: str, *tables: str, **more: str) -> dict[str, object]:
    fields = {"find": find, "replace": replace, "tables": list(tables or ("posts", "modules"))}
    return {**fields, "case_sensitive": "on", **more}


def keys(html: str) -> list[str]:
    return re.findall(r'name="hit" value="([^"]+)"', html)


def start(find: str, replace: str, *, role: str = "editor", to_review: bool = False) -> Replacement:
    actor = make.actor(role, "admin")
    finder = find_hits(actor=actor, find=find, replace=replace, tables=["posts", "modules"])
    return start_replacement(
        actor=actor,
        find=find,
        replace=replace,
        tables=["posts", "modules"],
        to_review=to_review,
        chosen=[hit.key for hit in finder.hits],
    )


def test_hits_stand_in_their_text_by_post_and_nothing_is_written(signed_in: SignedIn) -> None:
    post = make.post("Tea at <noon>", excerpt="Good tea,  no-break\u00a0tea and tea ")
    draft = make.post("Draft of tea", status="draft", slug="draft-of-tea")
    make.staged(post, {"metaTitle": "Waiting"})
    before = make.live_hash()

    page = signed_in().post(ADD, search("tea", "coffee ")).content.decode()

    assert make.live_hash() == before
    assert "Tea at &lt;noon&gt;</a>" in page
    assert f'href="/admin/content/post/{draft.pk}/change/"' in page
    assert "1 change is waiting for review and is not replaced" in page
    assert ">Draft</span>" in page
    assert '<span class="replace-place">Excerpt</span>' in page
    assert '<del><span class="visually-hidden">[removed: </span>tea<' in page
    assert "</span>coffee␣<" in page
    assert page.count('class="default"') <= 2


def test_whole_words_are_searched_and_replaced_where_that_is_ticked(signed_in: SignedIn) -> None:
    post = make.post("Tea and teapot", excerpt="Steam, tea")
    sent, client = search("tea", "mate", whole_words="on"), signed_in()

    page = client.post(ADD, sent).content.decode()
    hits = keys(page)
    client.post(ADD, {**sent, "hit": hits, "action": "live"})

    assert '<input type="hidden" name="whole_words" value="on">' in page
    assert len(hits) == 1
    assert len(keys(client.post(ADD, search("tea", "mate")).content.decode())) == 3
    post.refresh_from_db()
    assert (post.title, post.excerpt) == ("Tea and teapot", "Steam, mate")
    assert Replacement.objects.get().whole_words


def test_an_editor_sends_the_chosen_hits_to_review_and_takes_them_back(signed_in: SignedIn) -> None:
    post = make.post("Tea", excerpt="Good tea and cold tea")
    other = make.post("More tea", slug="more")
    client = signed_in()
    before = make.live_hash()
    page = client.post(ADD, search("tea", "coffee", "posts")).content.decode()
    first, second, third = keys(page)[:3]
    assert page.index("Send to Review") < page.index("Replace live text")
    listed = [first, second, third]

    done = client.post(
        ADD,
        {**search("tea", "coffee", "posts"), "action": "review", "hit": second, "listed": listed},
        follow=True,
    ).content.decode()

    assert make.live_hash() == before
    staged = {str(one.pk): dict(make.layers(one).review.document.fields) for one in (post, other)}
    changed = [
        fields[name]
        for fields in staged.values()
        for name in ("title", "excerpt")
        if "coffee" in str(fields[name])
    ]
    assert len(changed) == 1
    assert "Sent 1 text to Review. Nothing is live yet." in done
    row = Replacement.objects.get()
    assert (row.layer, row.total, row.by_name) == ("review", 1, "editor")
    client.post(f"{LIST}{row.pk}/change/", {"action": "undo"})
    assert not make.layers(post).review.exists
    assert not make.layers(other).review.exists
    assert Replacement.objects.get().undone_at is not None


def test_one_occurrence_of_a_text_is_replaced_live_and_the_others_stay(
    signed_in: SignedIn,
) -> None:
    post = make.post("A pot", excerpt="tea, tea and tea")
    client = signed_in()
    page = client.post(ADD, search("tea", "coffee", "posts")).content.decode()
    _first, second, _third = keys(page)

    client.post(ADD, {**search("tea", "coffee", "posts"), "action": "live", "hit": second})

    post.refresh_from_db()
    assert post.excerpt == "tea, coffee and tea"
    assert Revision.objects.filter(post=post, reason="find-replace").count() == 1
    row = Replacement.objects.get()
    client.post(f"{LIST}{row.pk}/change/", {"action": "undo"})
    post.refresh_from_db()
    assert post.excerpt == "tea, tea and tea"


def test_what_changed_since_it_was_listed_is_left_and_counted(signed_in: SignedIn) -> None:
    post, still = make.post("One", excerpt="tea"), make.post("Two", excerpt="tea")
    client = signed_in()
    chosen = keys(client.post(ADD, search("tea", "coffee", "posts")).content.decode())
    make.edited(post, {"excerpt": "more tea"})

    done = client.post(
        ADD, {**search("tea", "coffee", "posts"), "action": "live", "hit": chosen}, follow=True
    ).content.decode()

    assert "1 result was skipped" in done
    post.refresh_from_db()
    still.refresh_from_db()
    assert (post.excerpt, still.excerpt) == ("more tea", "coffee")
    again = client.post(ADD, {**search("tea", "coffee", "posts"), "action": "live", "hit": chosen})
    assert again.status_code == 422
    assert "The selected text can no longer be replaced." in again.content.decode()


def test_what_review_holds_already_stays_and_is_counted() -> None:
    post = make.post("One", excerpt="tea", metaTitle="tea")
    make.staged(post, {"excerpt": "A colleague's tea"}, layer=Layer.REVIEW)

    row = start("tea", "coffee", to_review=True)

    review = make.layers(post).review.document.fields
    assert (review["excerpt"], review["metaTitle"]) == ("A colleague's tea", "coffee")
    assert (row.total, row.missed) == (1, 1)


def test_undo_after_an_approval_proposes_the_old_text_and_keeps_later_edits() -> None:
    post, edited = make.post("One", excerpt="tea"), make.post("Two", excerpt="tea")
    row = start("tea", "coffee", to_review=True)
    for each in (post, edited):
        review = make.layers(each).review.changes
        approve(post_id=each.pk, actor=make.actor("editor", "admin"), digest=digest_of(review))
    make.edited(edited, {"excerpt": "A person's"})

    done = undo_replacement(actor=make.actor("editor", "admin"), replacement_id=row.pk)

    assert make.layers(post).review.document.fields["excerpt"] == "tea"
    assert not make.layers(edited).review.exists
    assert len(done.kept) == 1


def test_a_value_that_would_not_be_valid_says_so_and_is_not_ticked(signed_in: SignedIn) -> None:
    make.post("One", canonicalUrl="https://example.com/tea")
    page = signed_in().post(ADD, search("https://", "javascript:", "posts")).content.decode()

    assert "Cannot be replaced:" in page
    assert re.search(r'name="hit" value="[^"]+" disabled', page)


def test_hits_in_addresses_are_not_ticked_unless_an_address_is_looked_for(
    signed_in: SignedIn,
) -> None:
    make.post("One", excerpt="Tea of /blog/tea, tea (https://tea.example/a?b=tea) and black/tea")
    client = signed_in()

    page = client.post(ADD, search("tea", "coffee", "posts")).content.decode()
    addresses = client.post(ADD, search("/blog/tea", "/tea", "posts")).content.decode()

    ticked = re.findall(r'name="hit" value="[^"]+"( checked)?>', page)
    assert ticked == ["", " checked", "", "", " checked"]
    assert page.count("Excerpt · link address</span>") == 3
    assert "Results in link addresses are not selected" in page
    assert re.findall(r'name="hit" value="[^"]+"( checked)?>', addresses) == [" checked"]
    assert "link address" not in addresses


def test_many_rows_are_replaced_by_a_worker_with_progress_and_cancelled_in_between(
    signed_in: SignedIn, run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PART_SIZE", 2)
    posts = [make.post(f"Post {n}", slug=f"post-{n}", excerpt="tea") for n in range(5)]
    client = signed_in()
    with run_on_commit():
        row = start("tea", "coffee")
        waiting = client.get(f"{LIST}{row.pk}/change/").content.decode()
    assert "0 of 5 done" in waiting
    assert "Cancel remaining" in waiting
    row.refresh_from_db()
    assert (row.state, row.total, row.pending) == ("done", 5, [])
    undo_replacement(actor=make.actor("editor", "admin"), replacement_id=row.pk)

    row = start("tea", "coffee")
    with pytest.raises(Conflict):
        undo_replacement(actor=make.actor("editor", "admin"), replacement_id=row.pk)
    REPLACEMENTS.execute_part(row.pk)
    client.post(f"{LIST}{row.pk}/change/", {"action": "cancel"})
    REPLACEMENTS.execute(row.pk)

    row.refresh_from_db()
    assert (row.state, row.total, row.done) == ("cancelled", 2, 2)
    texts = sorted(Post.objects.filter(pk__in=[post.pk for post in posts]).values_list("excerpt"))
    assert texts == [("coffee",)] * 2 + [("tea",)] * 3
    undo_replacement(actor=make.actor("editor", "admin"), replacement_id=row.pk)
    assert not Post.objects.filter(excerpt="coffee").exists()


def test_a_worker_that_lost_its_message_is_followed_by_the_sweep(
    run_on_commit: RunOnCommit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PART_SIZE", 1)
    for number in range(3):
        make.post(f"Post {number}", slug=f"post-{number}", excerpt="tea")
    row = start("tea", "coffee")
    assert REPLACEMENTS.resume_late() == 0
    Replacement.objects.update(touched_at="2020-01-01T00:00:00Z")

    with run_on_commit():
        assert REPLACEMENTS.resume_late() == 1

    row.refresh_from_db()
    assert (row.state, row.total) == ("done", 3)


def test_a_defect_ends_a_replacement_in_the_words_of_who_started_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "PART_SIZE", 1)
    for number in range(3):
        make.post(f"Post {number}", slug=f"post-{number}", excerpt="tea")
    with override("de"):
        row = start("tea", "coffee")
    replace_part, calls = runs._replace_part, iter(range(3))

    def breaks_at_the_second(*arguments: Any) -> Any:
        if next(calls) == 1:
            raise KeyError("a defect")
        return replace_part(*arguments)

    monkeypatch.setattr(runs, "_replace_part", breaks_at_the_second)
    REPLACEMENTS.execute(row.pk)

    row.refresh_from_db()
    assert (row.state, row.total, row.done) == ("failed", 1, 1)
    assert row.why.startswith("Etwas ist schiefgegangen.")
    Replacement.objects.update(touched_at="2020-01-01T00:00:00Z")
    assert REPLACEMENTS.resume_late() == 0
    undo_replacement(actor=make.actor("editor", "admin"), replacement_id=row.pk)
    assert not Post.objects.filter(excerpt="coffee").exists()


@pytest.mark.parametrize("away", [OperationalError, InterfaceError])
def test_a_replacement_waits_for_a_database_that_is_away(
    away: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PART_SIZE", 1)
    for number in range(2):
        make.post(f"Post {number}", slug=f"post-{number}", excerpt="tea")
    row = start("tea", "coffee")

    def is_away(*_arguments: Any) -> Any:
        raise away("gone")

    with monkeypatch.context() as patch:
        patch.setattr(runs, "_replace_part", is_away)
        with pytest.raises(away):
            REPLACEMENTS.execute(row.pk)
    row.refresh_from_db()
    assert (row.state, row.why) == ("running", "")
    REPLACEMENTS.execute(row.pk)

    row.refresh_from_db()
    assert (row.state, row.total) == ("done", 2)


def test_a_replacement_is_forgotten_90_days_after_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    make.post("One", excerpt="tea")
    ended = start("tea", "coffee")
    monkeypatch.setattr(runs, "PART_SIZE", 0)
    running = start("coffee", "tea")
    Replacement.objects.update(touched_at=timezone.now() - timedelta(days=89))
    purge_trash()
    assert Replacement.objects.count() == 2
    Replacement.objects.update(touched_at=timezone.now() - timedelta(days=91))

    purge_trash()

    assert list(Replacement.objects.all()) == [running]
    assert not ReplacedPlace.objects.filter(replacement_id=ended.pk).exists()


def test_who_may_not_is_refused_and_nothing_changes(signed_in: SignedIn) -> None:
    make.post("One", excerpt="tea")
    before = make.live_hash()

    assert signed_in("translator").get(ADD).status_code == 403
    assert signed_in("translator").post(ADD, search("tea", "coffee")).status_code == 403
    for by in (
        make.agent_actor(),
        make.mcp_actor("admin"),
        make.actor("translator", "admin"),
        make.actor("admin", "api", agent_id="seo-specialist"),
    ):
        with pytest.raises(NotAllowed):
            find_hits(actor=by, find="tea", replace="coffee", tables=["posts"])
        with pytest.raises(NotAllowed):
            start_replacement(
                actor=by, find="tea", replace="coffee", tables=["posts"], chosen=["x"]
            )
    assert make.live_hash() == before


def test_editors_undo_their_own_and_admins_any() -> None:
    make.post("One", excerpt="tea")
    row = start("tea", "coffee", role="admin")

    with pytest.raises(NotAllowed):
        undo_replacement(actor=make.actor("editor", "admin"), replacement_id=row.pk)
    undo_replacement(actor=make.actor("admin", "admin"), replacement_id=row.pk)

    assert Post.objects.get().excerpt == "tea"


def test_only_posts_can_go_to_review() -> None:
    make.redirect("/tea", "/drinks")

    with pytest.raises(RuleViolation) as refused:
        start_replacement(
            actor=make.actor("editor", "admin"),
            find="/tea",
            replace="/coffee",
            tables=["posts", "redirects"],
            to_review=True,
            chosen=["x"],
        )

    assert list(refused.value.details) == ["tables"]


def test_words_in_modules_are_found_and_sent_to_review(signed_in: SignedIn) -> None:
    post = make.post(markdown="A pot of tea.\n\nMore **tea** here.")
    module = make.module_id(post, "prose")
    page = signed_in().post(ADD, search("tea", "coffee")).content.decode()
    assert "Prose › " in page

    start("tea", "coffee", to_review=True)

    review = make.layers(post).review
    assert review.changes.paths == (f"modules.{module}.props.content",)
    assert str(review.document.module(module)).count("coffee") == 2


def test_forty_posts_take_no_more_queries_than_two(signed_in: SignedIn) -> None:
    client = signed_in()
    counts = []
    for number in (2, 40):
        for each in range(number):
            post = make.post(f"{number} {each}", slug=f"p-{number}-{each}", excerpt=f"tea{number}x")
            make.edited(post, {"metaTitle": "Title"})
        client.get(ADD)
        with CaptureQueriesContext(connection) as caught:
            assert client.post(ADD, search(f"tea{number}x", "coffee")).status_code == 200
        counts.append(len(caught))

    assert counts[0] == counts[1]
    assert counts[0] <= 25


def test_who_may_not_see_a_table_finds_nothing_in_it(signed_in: SignedIn) -> None:
    make.redirect("/secret-old-plan", "/blog/secret-new-plan")
    make.site_role("desk", "content.replace", "posts.view", "posts.review.save")
    desk = signed_in("desk")

    page = desk.get(ADD).content.decode()
    found = desk.post(ADD, search("plan", "x", "redirects"))

    assert 'value="posts"' in page
    assert 'value="redirects"' not in page
    assert found.status_code == 422
    assert "secret" not in found.content.decode()
    with pytest.raises(NotAllowed):
        find_hits(actor=make.actor("desk"), find="plan", replace="x", tables=["redirects"])


def test_who_is_limited_sees_no_replacements_of_others(signed_in: SignedIn) -> None:
    make.post("Merger with Acme")
    row = start("Merger", "Deal", role="admin")
    scope = ContentScope(types=frozenset({"page"}))
    make.site_role("pages", "content.replace", "posts.view", "posts.edit", scope=scope)
    pages = signed_in("pages")

    assert "Merger" not in pages.get(LIST).content.decode()
    assert pages.get(f"{LIST}{row.pk}/change/").status_code == 404
    make.post("Merger of ours", type="page", slug="ours")
    start("Merger", "Deal", role="pages")
    assert "Merger" in pages.get(LIST).content.decode()
