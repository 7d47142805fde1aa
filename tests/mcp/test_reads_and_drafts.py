"""Threat 51: known problems between AI clients and drafts, one case each, with the SDK's client."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from content.models import Post
from content.posts.publish import set_status
from tests import make

pytestmark = pytest.mark.django_db
Client = Callable[..., Any]


def done(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = client("call_tool", tool, arguments)
    assert result.is_error is False, result.content[0].text
    return dict(result.structured_content)


def refused(client: Client, tool: str, **arguments: Any) -> str:
    result = client("call_tool", tool, arguments)
    assert result.is_error is True, result.structured_content
    return str(result.content[0].text)


def test_threat_51_reads_know_drafts(client: Client) -> None:
    post = make.post("Kettle")
    done(client, "save_post_ai_review", postId=str(post.pk), patch={"title": "Better kettle"})

    staged = done(client, "get_post_manifest", postId=str(post.pk))
    live = done(client, "get_post_manifest", postId=str(post.pk), layer="source")

    assert (staged["post"]["title"], live["post"]["title"]) == ("Better kettle", "Kettle")


def test_threat_51_a_list_value_must_be_one_of_the_choices(client: Client) -> None:
    text = refused(client, "list_posts", status="publishd")

    assert "`status`" in text
    assert "published" in text


@pytest.mark.parametrize("field", ["featuredMediaId", "taxonomyTermIds"])
def test_threat_51_a_reference_leads_somewhere(client: Client, field: str) -> None:
    post, absent = make.post(), str(uuid4())
    value = [absent] if field.endswith("s") else absent

    text = refused(client, "save_post_ai_review", postId=str(post.pk), patch={field: value})

    assert absent in text
    assert not make.layers(post).ai_review.exists


def test_threat_51_an_error_names_its_place(client: Client) -> None:
    post = make.post()
    hero = make.module_id(post, "hero")

    text = refused(
        client, "update_post_module_ai_review", postModuleId=hero, props={"titel": "New"}
    )

    assert "props.titel" in text
    assert not make.layers(post).ai_review.exists


def test_threat_51_a_post_without_an_author_is_read_and_proposed_for(client: Client) -> None:
    post = make.post("Orphan")
    Post.objects.filter(pk=post.pk).update(author=None)

    listed = done(client, "list_posts", q="Orphan")
    staged = done(client, "save_post_ai_review", postId=str(post.pk), patch={"excerpt": "Kept"})

    assert [row["id"] for row in listed["items"]] == [str(post.pk)]
    assert staged["staged"] == ["post.excerpt"]
    assert Post.objects.get(pk=post.pk).author is None


def test_threat_51_the_first_publication_stays_and_no_client_changes_it(client: Client) -> None:
    post = make.post(status="published")
    first = Post.objects.get(pk=post.pk).published_at
    assert first is not None
    editor = make.actor("editor")
    set_status(post_id=post.pk, status="draft", actor=editor)

    text = refused(
        client,
        "save_post_ai_review",
        postId=str(post.pk),
        patch={"publishedAt": "2020-01-01T00:00:00Z"},
    )
    set_status(post_id=post.pk, status="published", actor=editor)

    assert "publishedAt" in text
    assert Post.objects.get(pk=post.pk).published_at == first
