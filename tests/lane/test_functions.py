"""The functions of the role do one thing each, whatever they are given."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from content.document.changes import diff
from content.layers import submit
from content.layers.live import revision_row
from content.models import Draft, Layer, Post, QueuedChange, Status
from content.posts.create import PLACEHOLDER_TITLE, empty_document, new_row
from content.posts.trash import delete_post
from content.store import document_edits, lane
from content.store.post_paths import path_for
from proofroom.core.json import JsonObject
from tests import make
from tests.lane.role import as_lane
from tests.mcp.tools import tables

pytestmark = [pytest.mark.services, pytest.mark.usefixtures("role")]


def refused(sql: str, *parameters: object) -> str:
    """Run a statement under the role, and return the message of its refusal."""
    with (
        as_lane(),
        pytest.raises(ProgrammingError) as caught,
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, parameters)
    return str(caught.value)


def proposed(**values: Any) -> Post:
    """Return an unsaved post as an agent proposes it, but for these values."""
    post = new_row(make.mcp_actor(), "blog", None, None)
    post.title, post.slug, post.is_placeholder = PLACEHOLDER_TITLE, "proposed-0123456789ab", True
    post.path = path_for(post)
    for name, value in values.items():
        setattr(post, name, value)
    return post


def make_proposed(post: Post, tags: tuple[str, ...] = ("list:any",), **values: Any) -> bool:
    document = empty_document(post)
    revision = revision_row(post, document, diff(document, document), make.mcp_actor(), "created")
    for name, value in values.items():
        setattr(revision, name, value)
    with as_lane(), transaction.atomic():
        return lane.make_proposed_post(post, revision, tags)


def test_a_proposed_post_is_made_once() -> None:
    post = proposed()

    assert make_proposed(post)
    assert not make_proposed(proposed(id=post.pk))
    assert not make_proposed(proposed())  # its slug is taken
    assert Post.objects.get().pk == post.pk


@pytest.mark.parametrize(
    "values",
    [
        {"status": Status.PUBLISHED},
        {"title": "Buy this"},
        {"is_placeholder": False},
        {"slug": "buy-this"},
        {"path": "/"},
        {"excerpt": "Buy this"},
        {"meta_title": "Buy this"},
        {"custom_fields": {"rating": "Buy this"}},
        {"robots_json": {"index": False}},
        {"jsonld_overrides": {"@type": "Product"}},
        {"canonical_url": "https://evil.example/"},
        {"published_at": timezone.now()},
        {"publish_at": timezone.now()},
        {"unpublish_at": timezone.now()},
        {"deleted_at": timezone.now()},
        {"version": 7},
        {"order_index": -1},
        {"type": "unknown"},
        {"variation_running": True},
    ],
    ids=lambda values: next(iter(values)),
)
def test_a_proposed_post_has_no_content_of_its_own(values: dict[str, Any]) -> None:
    make.post()
    before = tables.hashes()

    with pytest.raises(ProgrammingError):
        make_proposed(proposed(**values))

    assert tables.changed(before) <= {"proofroom_accounts.User"}


@pytest.mark.parametrize(
    "values",
    [
        {"version": 2},
        {"reason": "approved"},
        {"note": "Buy this"},
        {"changed_paths": ["post.title"]},
        {"document": {"post": {"title": "Buy this"}, "modules": [], "taxonomyTermIds": []}},
        {"post_id": UUID(int=1)},
    ],
    ids=lambda values: next(iter(values)),
)
def test_the_first_revision_of_a_proposed_post_is_empty(values: dict[str, Any]) -> None:
    with pytest.raises(ProgrammingError, match="revision"):
        make_proposed(proposed(), **values)

    assert not Post.objects.exists()


def test_a_proposed_post_joins_no_other_post() -> None:
    post, page = make.post(), make.post("Parent", slug="parent")

    for values in (
        {"parent_id": page.pk},
        {"translation_group": post.translation_group},
        {"translated_from_id": post.pk},
        {"translated_from_id": uuid4(), "translation_group": uuid4()},
        {"variation_of_id": post.pk, "variation": "b", "variation_weight": 50},
        {
            "translated_from_id": post.pk,
            "translation_group": post.translation_group,
            "locale": "de",
            "parent_id": page.pk,
        },
    ):
        with pytest.raises(ProgrammingError):
            make_proposed(proposed(**values))

    assert Post.objects.count() == 2


@pytest.mark.parametrize("tags", [("a\nb",), ("x" * 2000,), ("é",)])
def test_tags_of_the_cache_are_one_short_line(tags: tuple[str, ...]) -> None:
    with pytest.raises(ProgrammingError, match="Tags"):
        make_proposed(proposed(), tags)


class Submission:
    """A post with changes in both layers, and the arguments of a submit that is in order."""

    def __init__(self) -> None:
        self.post = make.post()
        self.hero, self.faq = make.module_id(self.post, "hero"), make.module_id(self.post, "faq")
        make.staged(self.post, {"excerpt": "By a person"}, layer=Layer.REVIEW)
        make.staged_module(self.post, self.hero, layer=Layer.REVIEW, props={"title": "A person's"})
        make.staged(self.post, {"metaTitle": "By an agent", "excerpt": "Also by an agent"})
        make.staged_module(self.post, self.faq, props={"heading": "An agent's"})
        layers = make.layers(self.post)
        review, ai_review = layers.review, layers.ai_review
        document = review.document.with_fields({"metaTitle": "By an agent"})
        # Copies: documents share the objects of what they have in common.
        self.base: dict[str, Any] = deepcopy(layers.live.to_json())
        self.document: dict[str, Any] = deepcopy(document.to_json())
        marks = review.marks | {"post.metaTitle": ai_review.marks["post.metaTitle"]}
        self.marks: dict[str, JsonObject] = {path: mark.to_json() for path, mark in marks.items()}

    def field(self, name: str, value: object, *, base: bool = False) -> None:
        (self.base if base else self.document)["post"][name] = value

    def module(self, id_: str) -> Any:
        [found] = [one for one in self.document["modules"] if one["postModuleId"] == id_]
        return found

    def send(self, post_id: UUID | None = None) -> str:
        given = (self.base, self.document, self.marks)
        return refused(
            "SELECT proofroom_lane.submit(%s, %s::jsonb, %s::jsonb, %s::jsonb, NULL)",
            post_id or self.post.pk,
            *map(json.dumps, given),
        )


Change = Callable[[Submission], object]
_NEW_MODULE: dict[str, Any] = {
    "postModuleId": "new",
    "moduleInstanceId": "new",
    "type": "html",
    "props": {},
    "overrides": None,
}
HOSTILE: dict[str, tuple[Change, str]] = {
    "a value that nobody staged": (lambda s: s.field("title", "Taken"), "post.title"),
    "another value than the staged one": (lambda s: s.field("metaTitle", "Other"), "post.metaTitle"),
    "over a person's": (lambda s: s.field("excerpt", "Also by an agent"), "post.excerpt"),
    "a person's taken out": (lambda s: s.field("excerpt", s.base["post"]["excerpt"]), "post.excerpt"),
    "a person's hidden by its base": (lambda s: s.field("excerpt", "By a person", base=True), "post.excerpt"),
    "a custom field": (lambda s: s.field("customFields", {"x": 1}), "post.customFields.x"),
    "terms": (lambda s: s.document.update(taxonomyTermIds=[str(uuid4())]), "taxonomyTermIds"),
    "a prop of a person": (lambda s: s.module(s.hero)["props"].update(title="Taken"), "props.title"),
    "a prop that nobody staged": (lambda s: s.module(s.faq)["props"].update(other="x"), "props.other"),
    "a lock": (lambda s: s.module(s.hero).update(locked=not s.module(s.hero)["locked"]), "locked"),
    "another type": (lambda s: s.module(s.hero).update(type="html"), "type"),
    "a module more": (lambda s: s.document["modules"].append(_NEW_MODULE), "modules.new"),
    "a module less": (lambda s: s.document["modules"].remove(s.module(s.faq)), "modules."),
    "another version": (lambda s: s.document.update(schemaVersion=99), "no document"),
    "a key more": (lambda s: s.document.update(more=1), "no document"),
    "a module twice": (lambda s: s.document["modules"].append(s.document["modules"][0]), "no document"),
    "a mark that cannot be read": (lambda s: s.marks["post.metaTitle"].update(more=1), "no document"),
    "another author": (lambda s: s.marks["post.metaTitle"].update(user="editor", via="api", agent_id=""), "author"),
    "an agent for a person": (lambda s: s.marks.update({"post.excerpt": s.marks["post.metaTitle"]}), "author"),
    "a mark less": (lambda s: s.marks.pop("post.excerpt"), "author"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_submit_moves_only_what_is_staged(name: str) -> None:
    submission = Submission()
    change, named = HOSTILE[name]
    change(submission)
    drafts = list(Draft.objects.order_by("pk").values())

    message = submission.send()

    assert named in message
    assert list(Draft.objects.order_by("pk").values()) == drafts


def test_a_submit_needs_a_post_and_something_staged() -> None:
    submission, other = Submission(), make.post("Tea", slug="tea")

    assert "no such post" in submission.send(uuid4())
    assert "Nothing is staged" in submission.send(other.pk)
    delete_post(post_id=submission.post.pk, actor=make.actor("admin"))
    assert "no such post" in submission.send()


def test_a_persons_order_stays() -> None:
    post = make.post()
    faq = make.module_id(post, "faq")
    order = [one.id for one in make.layers(post).live.modules if one.id != faq]
    order.insert(1, faq)
    make.staged(
        post,
        edit=lambda document: document_edits.reorder_modules(document, order),
        layer=Layer.REVIEW,
    )
    make.staged(post, {"metaTitle": "By an agent"})
    layers = make.layers(post)
    document = layers.review.document.with_fields({"metaTitle": "By an agent"}).to_json()
    document["modules"] = layers.live.to_json()["modules"]
    marks = {path: mark.to_json() for path, mark in layers.review.marks.items()}

    message = refused(
        "SELECT proofroom_lane.submit(%s, %s::jsonb, %s::jsonb, %s::jsonb, NULL)",
        post.pk,
        *map(json.dumps, (layers.live.to_json(), document, marks)),
    )

    assert "order of the modules" in message


def test_an_agent_cannot_sign_as_a_person() -> None:
    post = make.post()
    make.staged(post, {"metaTitle": "By an agent"})
    mark = make.layers(post).ai_review.marks["post.metaTitle"].to_json()

    for forged in (
        {**mark, "via": "api", "agent_id": ""},
        {**mark, "edited_by": "editor"},
        {**mark, "agent_id": "", "via": None},
    ):
        message = refused(
            "UPDATE content_draft SET marks = %s::jsonb", json.dumps({"post.metaTitle": forged})
        )
        assert "sign as a person" in message


@pytest.mark.parametrize(
    "broken",
    [
        "document = '{}'",
        "document = NULL",
        "base = '[]'",
        "document = document || '{\"schemaVersion\": 99}'",
        "document = jsonb_set(document, '{modules}', '{}')",
        "document = jsonb_set(document, '{modules,0,type}', 'null')",
        "document = jsonb_set(document, '{taxonomyTermIds}', '[1]')",
        'marks = \'{"post.title": {"via": "mcp"}}\'',
        "marks = '[]'",
    ],
)
def test_what_no_page_could_read_is_refused(broken: str) -> None:
    make.staged(make.post(), {"metaTitle": "By an agent"})

    assert "no document" in refused(f"UPDATE content_draft SET {broken}")  # noqa: S608  # the test's


def test_only_the_post_that_is_submitted_opens_and_only_in_that_transaction() -> None:
    post, other = make.post(), make.post("Tea", slug="tea")
    for one in (post, other):
        make.staged(one, {"excerpt": "By a person"}, layer=Layer.REVIEW)
    make.staged(post, {"metaTitle": "By an agent"})
    rows = QueuedChange.objects.filter(layer="review")

    with as_lane():
        submit(post_id=post.pk, actor=make.mcp_actor())
        opened = rows.update(weight=1)

    assert (opened, rows.filter(post=post).count(), rows.filter(post=other).count()) == (2, 2, 1)


def test_a_lock_is_taken_and_nothing_changes() -> None:
    post = make.post()
    before = tables.hashes()

    with as_lane():
        lane.lock_posts([post.pk, uuid4()])

    assert tables.changed(before) == set()
