"""The inbox: sorting, filters, marks and groups of equal changes, each decided on in the version shown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from django.test import Client

from content.document.document import PostDocument
from content.inbox.decisions import Marked, decide_queued
from content.models import Layer, Post, QueuedChange, Status
from content.posts.publish import set_status
from content.store import document_edits
from proofroom.core.errors import NotAllowed
from tests import make
from tests.conftest import RunOnCommit
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
INBOX = "/admin/inbox/"


def name(row: QueuedChange) -> str:
    return f"d.{row.pk}.{row.seen}"


def row(post: Post, path: str) -> QueuedChange:
    return QueuedChange.objects.get(post=post, path=path)


def titles(html: str) -> list[str]:
    return re.findall(r"data-open>([^<]+)</a>", html)


def staged(count: int, by: str = "seo-specialist") -> list[Post]:
    """Create posts whose meta description an agent corrected, safely and with equal texts."""
    posts = [
        make.post(f"Post {number}", slug=f"{by}-{number}", metaDescription="Read  it at once.")
        for number in range(count)
    ]
    for post in posts:
        make.staged(post, {"metaDescription": "Read it at once."}, by=make.agent_actor(by))
    return posts


def test_the_riskiest_come_first_and_filters_narrow(signed_in: SignedIn) -> None:
    low, high, mine = make.post("Low", type="page"), make.post("High"), make.post("Mine")
    make.staged(low, {"excerpt": "Some words"}, by=make.agent_actor("proofreader"))
    make.staged(high, {"slug": "another"})
    make.staged(mine, {"excerpt": "A person's"}, layer=Layer.REVIEW)
    client = signed_in()

    assert titles(client.get(INBOX).content.decode()) == ["High", "Mine", "Low"]
    for query, shown in (
        ("layer=review", ["Mine"]),
        ("risk=3", ["High"]),
        ("agent=proofreader", ["Low"]),
        ("author=editor", ["Mine"]),
        ("type=page", ["Low"]),
        ("locale=de", []),
        ("age=older-week", []),
        ("age=day&type=blog", ["High", "Mine"]),
        ("risk=nonsense&layer=nonsense&age=-1&agent=" + "x" * 200, ["High", "Mine", "Low"]),
    ):
        assert titles(client.get(f"{INBOX}?{query}").content.decode()) == shown, query


def test_filters_and_what_they_narrow_to_are_in_words(signed_in: SignedIn) -> None:
    make.staged(make.post("Page", type="page"), {"excerpt": "Ours"}, by=make.agent_actor("alumni"))
    staged(4)
    client = signed_in()

    shown = client.get(f"{INBOX}?agent=seo-specialist&locale=en").content.decode()
    together = client.get(f"{INBOX}all/?layer=ai-review&agent=seo-specialist&locale=en&type=blog")

    # An agent without a file is shown by its id.
    assert re.findall(r'<option value="([a-z-]+)"[^>]*>([^<]+) \(\d\)</option>', shown) == [
        ("alumni", "alumni"),
        ("seo-specialist", "SEO specialist"),
        ("blog", "Blog post"),
        ("page", "Page"),
        ("en", "English"),
    ]
    assert "SEO specialist, Blog post, English" in together.content.decode()


def test_a_change_to_a_draft_is_not_called_live(signed_in: SignedIn) -> None:
    draft = make.post("Draft", status=Status.DRAFT, excerpt="Some words")
    live = make.post("Live", excerpt="Some words")
    for post in (draft, live):
        make.staged(post, {"excerpt": "Some words."}, layer=Layer.REVIEW)
    client, of_draft = signed_in(), row(draft, "post.excerpt")

    shown = client.get(INBOX).content.decode().split("<li ")
    told = client.post(INBOX, {name(of_draft): "accept"}, follow=True).content.decode()

    (line,) = (part for part in shown if f'id="q-{of_draft.pk}"' in part)
    assert "data-unpublished" in line
    assert "not published" in line
    assert sum("data-unpublished" in part for part in shown) == 1
    assert "Approved 1 change of a post that is not published." in told
    assert "live." not in told.split('class="messagelist"')[1].split("</ul>")[0]
    assert Post.objects.get(pk=draft.pk).status == Status.DRAFT


def test_marks_are_applied_and_what_moved_since_is_left(signed_in: SignedIn) -> None:
    one, two, three, four = (
        make.post(title, metaTitle=f"{title},  better")
        for title in ("One", "Two", "Three", "<Four>")
    )
    make.staged(four, {"metaTitle": "Four, better"})
    make.staged(one, {"metaTitle": "One, better"})
    make.staged(two, {"metaTitle": "Two, better"}, layer=Layer.REVIEW)
    make.staged(three, {"metaTitle": "Three, better"})
    form = {
        name(row(one, "post.metaTitle")): "accept",
        name(row(two, "post.metaTitle")): "accept",
        name(row(three, "post.metaTitle")): "reject",
        name(row(four, "post.metaTitle")): "reject",
    }
    make.staged(three, {"metaTitle": "Three, still better"})

    client = signed_in()
    page = client.post(INBOX, form, follow=True).content.decode()
    back = page.split('form="message-form" formaction="')[1].split('"')[0]
    client.post(back)

    assert make.layers(four).ai_review.document.fields["metaTitle"] == "Four, better"
    assert "Submitted 1 change to Review. Approved 1 change. It is live." in page
    assert "“Three”: 1 change was skipped" in page
    assert make.layers(one).review.document.fields["metaTitle"] == "One, better"
    assert Post.objects.get(pk=two.pk).meta_title == "Two, better"
    assert make.layers(three).ai_review.document.fields["metaTitle"] == "Three, still better"


def test_nothing_marked_and_nonsense_change_nothing(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"title": "New"})
    before = make.live_hash()
    client = signed_in()

    for form in ({}, {"d.1.x": "accept"}, {name(row(post, "post.title")): "maybe"}):
        answer = client.post(INBOX, form)
        assert answer.status_code == 422
        assert "Choose “Accept” or “Reject” for at least one change." in answer.content.decode()
    gone = client.post(INBOX, {f"d.999999.{'0' * 32}": "accept"}, follow=True).content.decode()

    assert "1 change is no longer waiting: it was decided on" in gone
    assert make.live_hash() == before
    assert make.layers(post).ai_review.exists


def test_who_may_not_decide_reads(signed_in: SignedIn) -> None:
    posts = staged(4)
    group = row(posts[0], "post.metaDescription").like
    client = signed_in("translator")
    form = {name(row(posts[0], "post.metaDescription")): "accept"}

    for address in (INBOX, f"{INBOX}like/{group}/"):
        page = client.get(address)
        assert "but not decide on them" in page.content.decode()
        assert "data-apply" not in page.content.decode()
        assert client.post(address, {**form, "action": "accept"}).status_code == 403
    assert not make.layers(posts[0]).review.exists


def test_what_is_longer_than_a_line_is_only_accepted_in_full(signed_in: SignedIn) -> None:
    post = make.post()
    make.staged(post, {"excerpt": "Quite other words. " * 30})

    page = signed_in().get(INBOX).content.decode()

    assert 'class="wait-open"' in page
    assert 'value="accept"' not in page
    assert 'value="reject"' in page


@pytest.mark.parametrize("address", [INBOX, f"{INBOX}all/?layer=ai-review"])
def test_what_is_not_safe_must_be_opened_before_it_is_accepted(
    signed_in: SignedIn, address: str
) -> None:
    post, other = make.post(), make.post("Other", excerpt="Some other  words.")
    make.staged(post, {"canonicalUrl": "https://elsewhere.example/"})
    make.staged(other, {"excerpt": "Some other words."})
    client = signed_in()

    page = client.get(address).content.decode()
    found = row(post, "post.canonicalUrl")
    answer = client.post(address, {name(found): "accept", "action": "accept"})

    assert name(found) not in page
    assert name(row(other, "post.excerpt")) in page
    assert answer.status_code == 409
    assert "Open 1 change before you accept it." in answer.content.decode()
    assert not make.layers(post).review.exists
    client.post(address, {f"x.{found.pk}.{found.seen}": "reject", "action": "reject"})
    assert not make.layers(post).ai_review.exists


def test_like_changes_are_decided_on_together_after_a_sample(signed_in: SignedIn) -> None:
    posts = staged(5)
    staged(1, by="proofreader")
    client = signed_in()
    inbox = client.get(INBOX).content.decode()
    address = re.findall(r'href="(/admin/inbox/like/\w+/)"', inbox)
    assert "5 identical changes by SEO specialist: Meta description" in inbox
    assert len(address) == 1

    page = client.get(address[0]).content.decode()
    assert page.count("like-sample") == 3
    assert "Submit included <span data-count>(5)</span>" in page
    names = re.findall(r'name="(d\.[^"]+)"', page)
    make.staged(posts[0], {"metaDescription": "Moved meanwhile"})
    done = client.post(
        address[0], {**dict.fromkeys(names[1:], "accept"), "action": "accept"}, follow=True
    )

    left = [post for post in posts if make.layers(post).ai_review.exists]
    assert len(left) == 2 - (names[0] == name(row(posts[0], "post.metaDescription")))
    assert f"Submitted {5 - len(left)} changes to Review." in done.content.decode()
    assert "“Post 0”: 1 change was skipped" in done.content.decode()


def test_like_changes_go_live_at_once_on_published_posts_and_drafts_are_left_out(
    signed_in: SignedIn, run_on_commit: RunOnCommit
) -> None:
    posts = staged(43)
    set_status(post_id=posts[0].pk, status="draft", actor=make.actor("admin"))
    client = signed_in()
    address = f"{INBOX}like/{row(posts[1], 'post.metaDescription').like}/"
    page = client.get(address).content.decode()
    assert "Approve and publish included" in page
    assert "Drafts are skipped and listed" in page
    assert "Approve and publish" not in signed_in("translator").get(address).content.decode()
    few = [name(row(post, "post.metaDescription")) for post in posts[:3]]

    told = client.post(
        address, {**dict.fromkeys(few, "accept"), "action": "publish"}, follow=True
    ).content.decode()

    live = [Post.objects.get(pk=post.pk).meta_description for post in posts[:3]]
    assert live == ["Read  it at once.", "Read it at once.", "Read it at once."]
    assert "Approved 2 changes. They are live." in told
    assert "“Post 0” was not changed: This post is not published." in told
    assert make.layers(posts[0]).ai_review.exists

    many = re.findall(r'name="(d\.[^"]+)"', client.get(address).content.decode())
    rest = re.findall(r'name="rest" value="([^"]+)"', client.get(address).content.decode())[0]
    with run_on_commit():
        begun = client.post(
            address, {**dict.fromkeys(many, "accept"), "rest": rest, "action": "publish"}
        )
    done = client.get(begun["Location"]).content.decode()

    assert "41 changes to approve and publish" in done
    assert '<dt>Approved</dt><dd class="c-live">40</dd>' in done
    assert "Submitted to Review" not in done
    assert not QueuedChange.objects.exclude(post=posts[0]).exists()


@pytest.mark.parametrize("role", ["translator", "ai_agent"])
def test_who_may_not_publish_cannot_do_it_from_the_inbox(role: str) -> None:
    (post,) = staged(1)
    mark = row(post, "post.metaDescription")

    with pytest.raises(NotAllowed):
        decide_queued(marks=[Marked(mark.pk, mark.seen, "publish")], actor=make.actor(role))

    token = replace(make.actor("admin"), token_id="token")
    with pytest.raises(NotAllowed):
        decide_queued(marks=[Marked(mark.pk, mark.seen, "publish")], actor=token)
    assert not make.layers(post).review.exists
    assert make.layers(post).ai_review.exists


def test_a_sample_speaks_for_its_kind_alone(signed_in: SignedIn) -> None:
    posts, other = staged(3), make.post("Other")
    make.staged(other, {"slug": "else"})
    address = f"{INBOX}like/{row(posts[0], 'post.metaDescription').like}/"

    answer = signed_in().post(
        address, {name(row(other, "post.slug")): "accept", "action": "accept"}
    )

    assert answer.status_code == 409
    assert not make.layers(other).review.exists
    assert signed_in().get(f"{INBOX}like/nonsense/").status_code == 404


def test_many_like_changes_are_decided_on_in_a_batch_after_a_sample(
    signed_in: SignedIn, run_on_commit: RunOnCommit
) -> None:
    client = signed_in()
    assert f'href="{INBOX}batches/"' in client.get(INBOX).content.decode()
    posts = staged(44)
    address = f"{INBOX}like/{row(posts[0], 'post.metaDescription').like}/"

    page = client.get(address).content.decode()
    rest = re.findall(r'name="rest" value="([^"]+)"', page)[0]
    form = {**dict.fromkeys(re.findall(r'name="(d\.[^"]+)"', page), "accept"), "rest": rest}
    assert (len(form) - 1, rest.count(",") + 1) == (40, 4)
    assert (
        "Read them before you decide on the others. The 40 riskiest of 44 changes are listed."
        in page
    )
    make.staged(posts[-1], {"metaDescription": "Moved meanwhile."})
    with run_on_commit():
        begun = client.post(address, {**form, "action": "accept"})
        waiting = client.get(begun["Location"]).content.decode()
        inbox = client.get(INBOX).content.decode()
    done = client.get(begun["Location"]).content.decode()

    assert "0 of 44 done" in waiting
    assert "Applying your decisions on 44 changes: 0 done." in inbox
    assert "44 of 44 done" in done
    assert '<dt>Submitted to Review</dt><dd class="c-accept">43</dd>' in done
    assert "This has changed since you saw it. Check it again and decide." in done
    assert titles_of_links(done) == [posts[-1].title]
    assert not make.layers(posts[-1]).review.exists
    assert "44 of 44" in client.get(f"{INBOX}batches/").content.decode()
    assert client.post(f"{begun['Location']}cancel/", follow=True).status_code == 200
    other = signed_in("translator")
    for hidden in (other.get(begun["Location"]), other.post(f"{begun['Location']}cancel/")):
        assert hidden.status_code == 404
    assert signed_in("admin").get(begun["Location"]).status_code == 200


def test_what_is_not_listed_is_only_rejected_where_it_is_not_the_same(signed_in: SignedIn) -> None:
    client = signed_in()
    many = make.post("Many")
    make.staged(many, edit=with_modules(43))
    address = f"{INBOX}all/?layer=ai-review&locale=en"
    assert address.replace("&", "&amp;") in client.get(f"{INBOX}?locale=en").content.decode()

    page = client.get(address).content.decode()
    rest = re.findall(r'name="rest" value="([^"]+)"', page)[0]
    assert "43 changes in AI Review: English<" in page
    client.post(address, {"rest": rest, "action": "accept"})

    assert len(make.layers(many).ai_review.changes) == 43
    client.post(address, {"rest": rest, "action": "reject"})
    assert len(make.layers(many).ai_review.changes) == 40


def with_modules(count: int) -> Callable[[PostDocument], PostDocument]:
    def edit(document: PostDocument) -> PostDocument:
        for number in range(count):
            document, _ = document_edits.add_module(
                document, type="prose", content_markdown=f"No {number}"
            )
        return document

    return edit


def titles_of_links(html: str) -> list[str]:
    return re.findall(r'<th scope="row"><a [^>]+>([^<]+)</a>', html)


def test_no_page_of_the_inbox_asks_more_with_more_lines(signed_in: SignedIn) -> None:
    posts = staged(4)
    client = signed_in()
    group = f"{INBOX}like/{row(posts[0], 'post.metaDescription').like}/"

    def count(address: str) -> int:
        client.get(address)
        return count_queries(client.get, address)

    before = count(INBOX), count(group)
    staged(9, by="proofreader")
    for number in range(6):
        post = make.post(f"More {number}")
        make.staged(post, {"metaDescription": f"More {number}"})
    assert (count(INBOX), count(group)) == before == (9, 8)
