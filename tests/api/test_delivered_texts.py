"""Rich text and links of the delivery API: present addresses, ids of headings, images, and the formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from content.models import ContentLink, Post
from content.paths.url_patterns import change_pattern, create_pattern
from content.posts.trash import delete_post, restore_post
from content.presenters.delivered_texts import present_global
from content.store.content_links import rebuild_links, update_global_links
from proofroom.core.errors import RuleViolation
from proofroom.core.json import JsonObject
from tests import make
from tests.api_client import ApiClient

pytestmark = pytest.mark.django_db

LIST = "/api/public/posts"


def read(post: Post, query: str = "") -> Any:
    return ApiClient().read(f"{LIST}/{post.pk}{query}")


def module_of(answer: Any, type: str) -> Any:
    return next(module for module in answer["modules"] if module["type"] == type)


def nodes(document: Any) -> Iterator[Any]:
    yield document
    for child in document.get("content", ()):
        yield from nodes(child)


def prose(answer: Any) -> Any:
    return module_of(answer, "prose")["props"]["content"]


def link_of(answer: Any) -> Any:
    """Return the attributes of the only link of the prose, None without one."""
    marks = [
        mark
        for node in nodes(prose(answer))
        for mark in node.get("marks", ())
        if mark["type"] == "link"
    ]
    assert len(marks) <= 1
    return marks[0]["attrs"] if marks else None


def texts(answer: Any) -> str:
    return "".join(node.get("text", "") for node in nodes(prose(answer)))


def moved(post: Post, slug: str) -> Post:
    return make.edited(post, {"slug": slug})


@pytest.mark.parametrize("prefix", ["", settings.SITE_URL])
def test_a_link_to_a_post_follows_its_moves(prefix: str) -> None:
    target = make.post("Target", slug="old")
    post = make.post("Linking", markdown=f"See [this]({prefix}/blog/old?a=1#part).")
    reference = {"id": str(target.pk), "url": "/blog/old"}
    assert link_of(read(post)) == {"href": "/blog/old?a=1#part", "post": reference}

    moved(target, "new")
    moved(Post.objects.get(pk=target.pk), "newer")

    expected = {
        "href": "/blog/newer?a=1#part",
        "post": {"id": str(target.pk), "url": "/blog/newer"},
    }
    assert link_of(read(post)) == expected
    listed = next(row for row in ApiClient().read(LIST)["data"] if row["id"] == str(post.pk))
    assert link_of(listed) == expected
    resolved = ApiClient().read(f"/api/public/resolve?path={post.path}")
    assert link_of(resolved["post"]) == expected


def test_a_link_keeps_its_post_when_another_post_takes_the_old_path() -> None:
    target = make.post("Target", slug="old")
    post = make.post("Linking", markdown="See [this](/blog/old).")
    moved(target, "new")
    other = make.post("Other", slug="old")
    later = make.post("Later", markdown="See [that](/blog/old).")

    assert link_of(read(post))["post"]["id"] == str(target.pk)
    assert link_of(read(later))["post"]["id"] == str(other.pk)


def test_a_link_does_not_lead_to_a_post_in_the_trash_that_moves_too() -> None:
    top = make.post("Top", type="page", slug="top")
    below = {"type": "page", "slug": "below", "parentId": str(top.pk)}
    delete_post(post_id=make.post("Old", **below).pk, actor=make.actor("admin"))
    target = make.post("Target", **below)
    delete_post(post_id=make.post("Other", **{**below, "slug": "c"}).pk, actor=make.actor("admin"))
    post = make.post("Linking", markdown="See [this](/top/below).")

    moved(top, "peak")

    assert link_of(read(post)) == {
        "href": "/peak/below",
        "post": {"id": str(target.pk), "url": "/peak/below"},
    }


def test_links_lead_to_a_restored_post_again_after_another_had_its_path() -> None:
    first = make.post("First", slug="x")
    post = make.post("Linking", markdown="See [this](/blog/x).")
    delete_post(post_id=first.pk, actor=make.actor("admin"))
    assert link_of(read(post)) is None
    second = make.post("Second", slug="x")
    assert link_of(read(post))["post"]["id"] == str(second.pk)

    with pytest.raises(RuleViolation):
        restore_post(post_id=first.pk, actor=make.actor("admin"))
    assert link_of(read(post))["post"]["id"] == str(second.pk)
    delete_post(post_id=second.pk, actor=make.actor("admin"))
    restore_post(post_id=first.pk, actor=make.actor("admin"))

    assert link_of(read(post))["post"]["id"] == str(first.pk)


def test_links_follow_the_post_that_moved_not_the_one_restored_at_its_path() -> None:
    first = make.post("First", slug="x")
    delete_post(post_id=first.pk, actor=make.actor("admin"))
    second = make.post("Second", slug="x")
    post = make.post("Linking", markdown="See [this](/blog/x).")
    moved(second, "y")

    restore_post(post_id=first.pk, actor=make.actor("admin"))
    later = make.post("Later", markdown="See [that](/blog/x).")

    assert link_of(read(post))["post"] == {"id": str(second.pk), "url": "/blog/y"}
    assert link_of(read(later))["post"] == {"id": str(first.pk), "url": "/blog/x"}


def test_a_restored_post_that_moves_leaves_the_links_of_the_post_at_its_former_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pattern = create_pattern(
        actor=make.actor("admin"), type="blog", locale="en", pattern="/stories/{slug}"
    )
    trashed, alone = make.post("Trashed", slug="x"), make.post("Alone", slug="z")
    for post in (trashed, alone):
        delete_post(post_id=post.pk, actor=make.actor("admin"))
    # A worker moves many posts, and did not come to these yet.
    monkeypatch.setattr("content.paths.url_patterns.BATCH_SIZE", 0)
    change_pattern(pattern_id=pattern.pk, actor=make.actor("admin"), pattern="/journal/{slug}")
    stories = make.post("Stories", type="page", slug="stories")
    page = make.post("Page", type="page", slug="x", parentId=str(stories.pk))
    to_page = make.post("To the page", markdown="See [this](/stories/x).")
    to_alone = make.post("To the other", markdown="See [this](/stories/z).")
    assert link_of(read(to_page))["post"]["id"] == str(page.pk)

    for post in (trashed, alone):
        restore_post(post_id=post.pk, actor=make.actor("admin"))

    assert Post.objects.get(pk=trashed.pk).path == "/journal/x"
    assert link_of(read(to_page))["post"] == {"id": str(page.pk), "url": "/stories/x"}
    # Nothing else was at the former path of this one.
    assert link_of(read(to_alone))["post"] == {"id": str(alone.pk), "url": "/journal/z"}


def test_a_link_is_remembered_through_edits_of_its_post_and_a_rebuild() -> None:
    target = make.post("Target", slug="old")
    post = make.post("Linking", markdown="See [this](/blog/old).")
    moved(target, "new")

    make.changed_module(
        post, make.module_id(post, "prose"), content_markdown="Now see [this](/blog/old), [a](/a)."
    )
    rebuild_links()

    rows = ContentLink.objects.filter(post=post)
    assert dict(rows.values_list("href", "target_id")) == {"/blog/old": target.pk, "/a": None}


def test_a_link_to_a_post_that_is_not_published_is_only_its_words() -> None:
    make.post("Draft", slug="draft", status="draft")
    gone = make.post("Gone", slug="gone")
    to_draft = make.post("To draft", markdown="See [this](/blog/draft).")
    to_gone = make.post("To gone", markdown="See [this](/blog/gone).")
    assert link_of(read(to_gone)) is not None

    delete_post(post_id=gone.pk, actor=make.actor("editor"))

    for post in (to_draft, to_gone):
        answer = read(post)
        assert link_of(answer) is None
        assert texts(answer) == "See this."


def test_other_links_stay_as_they_are() -> None:
    post = make.post(
        "Plain", markdown="[a](/blog) [b](https://b.example/) [c](#c) [d](mailto:d@d.example)"
    )

    hrefs = [mark["attrs"] for node in nodes(prose(read(post))) for mark in node.get("marks", ())]
    assert hrefs == [
        {"href": "/blog"},
        {"href": "https://b.example/"},
        {"href": "#c"},
        {"href": "mailto:d@d.example"},
    ]


def test_a_stored_answer_is_made_again_when_a_linked_post_changes() -> None:
    target = make.post("Target", slug="old")
    post = make.post("Linking", markdown="See [this](/blog/old) and [that](/blog/later).")
    assert "/blog/old" in str(read(post))

    moved(target, "new")
    assert "/blog/new" in str(read(post))
    ApiClient("editor").write("PUT", f"/api/posts/{target.pk}", {"status": "draft"})
    assert "/blog/new" not in str(read(post))
    later = make.post("Later", slug="later")
    assert str(later.pk) in str(read(post))


def test_link_fields_stay_texts_and_their_posts_stand_beside() -> None:
    target = make.post("Target", slug="old")
    post = make.post("Linking")
    hero = make.module_id(post, "hero")
    make.changed_module(post, hero, props={"ctaLabel": "Go", "ctaUrl": "/blog/old#x"})
    moved(target, "new")

    module = module_of(read(post), "hero")
    assert module["props"]["ctaUrl"] == "/blog/new#x"
    assert module["links"] == {"props.ctaUrl": {"post": {"id": str(target.pk), "url": "/blog/new"}}}
    assert "links" not in module_of(read(post), "prose")


def test_links_of_a_global_module_and_of_its_overrides_follow_moves() -> None:
    first, second = make.post("First", slug="first"), make.post("Second", slug="second")
    shared = make.global_module(ctaLabel="Go", ctaUrl="/blog/first")
    update_global_links([(shared, None)])
    post = make.post("Placing")
    make.placed(post, shared, ctaUrl="/blog/second")
    moved(first, "one")
    moved(second, "two")

    module = next(one for one in read(post)["modules"] if one["scope"] == "global")
    assert (module["props"]["ctaUrl"], module["overrides"]) == (
        "/blog/one",
        {"ctaUrl": "/blog/two"},
    )
    assert set(module["links"]) == {"props.ctaUrl", "overrides.ctaUrl"}


def test_a_global_module_alone_has_present_addresses() -> None:
    target = make.post("Target", slug="old")
    shared = make.global_module(ctaLabel="Go", ctaUrl="/blog/old")
    update_global_links([(shared, None)])
    moved(target, "new")
    wire: JsonObject = {"props": dict(shared.props)}

    present_global(shared.pk, shared.type, wire)

    assert wire["props"]["ctaUrl"] == "/blog/new"
    assert list(wire["links"]) == ["props.ctaUrl"]


def test_headings_have_ids_that_are_unique_on_the_page() -> None:
    post = make.post("Headed", markdown="## Grind & pour\n\n## Grind & pour\n\n## Main")
    faq = make.module_id(post, "faq")
    make.changed_module(post, faq, props={"items": [{"question": "Q", "answer": "## Main"}]})

    answer = read(post)
    found = [node["attrs"] for node in nodes(prose(answer)) if node["type"] == "heading"]
    assert [attrs["id"] for attrs in found] == ["grind-pour", "grind-pour-2", "main-2"]
    assert {attrs["level"] for attrs in found} == {2}
    items = module_of(answer, "faq")["props"]["items"]
    assert items[0]["answer"]["content"][0]["attrs"]["id"] == "main-3"
    page = ApiClient().get(post.path).content.decode()
    assert 'id="grind-pour-2"' in page


def test_images_in_texts_have_absolute_addresses_and_their_file() -> None:
    asset = make.image()
    post = make.post(
        "Pictured", markdown=f"![A]({asset.file.url})\n\n![B](https://b.example/b.png)"
    )

    images = [node["attrs"] for node in nodes(prose(read(post))) if node["type"] == "image"]
    assert [(one["src"], one["mediaId"]) for one in images] == [
        (settings.SITE_URL + asset.file.url, str(asset.pk)),
        ("https://b.example/b.png", None),
    ]


def test_rich_text_can_be_asked_for_as_html_and_as_markdown() -> None:
    target = make.post("Target", slug="old")
    make.post("Draft", slug="draft", status="draft")
    post = make.post("Formats", markdown="## Top\n\nSee [this](/blog/old) & [that](/blog/draft).")
    moved(target, "new")

    assert prose(read(post, "?richtext=html")) == (
        '<h2 id="top">Top</h2>\n<p>See <a href="/blog/new">this</a> &amp; that.</p>'
    )
    markdown = prose(read(post, "?richtext=markdown"))
    assert markdown.startswith("## Top\n\nSee [this](/blog/new)")
    assert "/blog/draft" not in markdown
    assert prose(read(post, "?richtext=json")) == prose(read(post))
    listed = ApiClient().read(f"{LIST}?richtext=html&fields=modules,slug")["data"]
    assert '<h2 id="top">' in str([row for row in listed if row["slug"] == "formats"])
    resolved = ApiClient().read(f"/api/public/resolve?path={post.path}&richtext=markdown")
    assert "## Top" in prose(resolved["post"])


@pytest.mark.parametrize("path", [LIST, "<one>", "/api/public/resolve?path=/"])
def test_an_unknown_format_is_refused(path: str) -> None:
    path = path.replace("<one>", f"{LIST}/{make.post().pk}")
    sign = "&" if "?" in path else "?"

    answer = ApiClient().read(f"{path}{sign}richtext=xml", expect=422)

    assert list(answer["details"]) == ["richtext"]


def test_the_number_of_queries_does_not_grow_with_the_links() -> None:
    asset = make.image()

    def statements(number: int) -> int:
        for place in range(number):
            make.post(f"Target {number} {place}", slug=f"target-{number}-{place}")
        lines = [
            f"[a](/blog/target-{number}-{place}) ![b]({asset.file.url})" for place in range(number)
        ]
        post = make.post(f"Linking {number}", markdown="\n\n".join(lines))
        with CaptureQueriesContext(connection) as caught:
            answer = read(post)
        assert str(answer).count("'post': {") == number
        return len(caught)

    statements(1)  # reads what a process reads once

    assert statements(2) == statements(9)


def test_stored_texts_stay_as_they_were_written() -> None:
    target = make.post("Target", slug="old")
    post = make.post("Linking", markdown="## Top\n\n[this](/blog/old)")
    moved(target, "new")
    read(post)

    managed = ApiClient("editor").read(f"/api/posts/{post.pk}")

    assert link_of(managed) == {"href": "/blog/old"}
    assert [node["attrs"] for node in nodes(prose(managed)) if node["type"] == "heading"] == [
        {"level": 2}
    ]


def test_a_delivered_document_can_be_stored() -> None:
    make.post("Target", slug="target")
    asset = make.image()
    post = make.post("Linking", markdown=f"## Top\n\n[this](/blog/target) ![A]({asset.file.url})")
    delivered = module_of(read(post), "prose")
    editor = ApiClient("editor")

    body = {"props": {"content": delivered["props"]["content"]}}
    editor.write("PUT", f"/api/post-modules/{delivered['postModuleId']}", body)

    stored = prose(editor.read(f"/api/posts/{post.pk}"))
    assert "mediaId" not in str(stored)
    assert "'id'" not in str(stored)
    assert module_of(read(post), "prose") == delivered
