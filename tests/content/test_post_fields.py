"""Every declared post field is supported wherever the declaration is used, also a field added later."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import models

from agents_app.models import AgentRun
from agents_app.runs.field_target import find_field
from agents_app.runs.payloads import canonical_payload, field_payload
from content.checks import differences
from content.document.document import FIELD_NAMES, PostDocument
from content.document.labels import label_of
from content.document.post_fields import (
    AUTHORS,
    LISTED_FIELDS,
    POST_FIELDS,
    SCHEDULE_FIELDS,
    PostField,
)
from content.layers import approve, digest_of, submit
from content.models import Layer, Post, QueuedChange
from content.models.post import column_of
from content.posts.variations import create_variation
from content.store import search
from content.translated_words import words
from content.translations.translate import create_translation
from proofroom.core.json import Json
from proofroom_apps.editorial.post_editor.form import post_sections
from tests import make
from tests.admin.pages import fields, review, url
from tests.agents.tooling import claimed
from tests.api.refusals import refused
from tests.api_client import ApiClient
from tests.api_description import api_description
from tests.content.replacing import send
from tests.mcp.calling import by, done

pytestmark = pytest.mark.django_db

FIELDS = tuple(POST_FIELDS.values())
PROPOSABLE = tuple(field for field in FIELDS if field.proposable)
TEXTS = tuple(field for field in FIELDS if field.is_text)
COPIED = tuple(field for field in FIELDS if field.copied)


def name_of(field: PostField) -> str:
    return field.name


def value_of(field: PostField, number: int = 1) -> Any:
    """Return a distinct valid value of the field."""
    word = f"walked{field.name.lower()}{number}"
    if field.format == "robots":
        return {"index": number % 2 == 0}
    values = {
        "text": lambda: word,
        "textarea": lambda: f"{word}\nand more",
        "url": lambda: f"https://example.com/{word}",
        "json": lambda: {"@type": word},
        "media": lambda: str(make.image().pk),
        "people": lambda: [make.user("editor", word).pk],
        "post-reference": lambda: str(make.post(f"Above {number}", type="page").pk),
        "number": lambda: number,
        # A post is unpublished after it was published.
        "moment": lambda: f"209{number}-0{1 + SCHEDULE_FIELDS.index(field.name)}-01T00:00:00.000Z",
    }
    return values[field.kind]()


def written(*, status: str = "draft", number: int = 1) -> tuple[Post, dict[str, Any]]:
    """Create a page with a value in every field allowed in that status. Return it with the values."""
    values = {
        field.name: value_of(field, number)
        for field in FIELDS
        if status == "draft" or field.name != "publishAt"
    }
    return make.post(type="page", status=status, **values), values


def staged() -> tuple[Post, dict[str, Any]]:
    """Create a page with a proposal for every field that agents may propose. Return it with the values."""
    post = make.post(type="page")
    values = {field.name: value_of(field) for field in PROPOSABLE}
    make.staged(post, values)
    return post, values


def test_every_column_holds_what_is_declared() -> None:
    assert [reason for field in FIELDS for reason in differences(field)] == []


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"column": "subtitel"}, "Post has no such column"),
        ({"kind": "json"}, "a json cannot stand in a CharField"),
        ({"max_length": 7}, "it may have 7 characters, its column 300"),
        ({"listed": True, "delivered": False}, "lists answer texts that everybody may read"),
        ({"is_nullable": False}, "nullable is False here and True in its column"),
    ],
)
def test_the_check_says_where_declaration_and_column_differ(
    changed: dict[str, Any], reason: str
) -> None:
    assert list(differences(replace(POST_FIELDS["metaTitle"], **changed))) == [reason]


def test_a_column_that_the_model_does_not_spell_is_made_from_the_declaration() -> None:
    line = column_of(POST_FIELDS["metaTitle"])
    lines = column_of(replace(POST_FIELDS["metaTitle"], kind="textarea"))

    assert (type(line), line.max_length, line.null) == (models.CharField, 300, True)
    assert (type(lines), lines.max_length, lines.null) == (models.TextField, 300, True)
    for name in ("title", "featuredMediaId", "parentId"):
        with pytest.raises(TypeError, match="spell a foreign key in Post"):
            column_of(POST_FIELDS[name])


def test_documents_and_revisions_keep_every_field() -> None:
    post, values = written()
    document = make.layers(post).live

    again = PostDocument.from_json(document.to_json())

    assert tuple(document.to_json()["post"])[2:-1] == FIELD_NAMES == tuple(POST_FIELDS)
    assert again == document
    assert {name: again.fields[name] for name in values} == values
    assert post.revisions.order_by("-version")[0].document == document.to_json()


def test_the_api_writes_and_answers_every_field() -> None:
    post, _ = written()
    client = ApiClient("admin")
    values = {field.name: value_of(field, 2) for field in FIELDS}

    answer = client.write("PUT", f"/api/posts/{post.pk}", values)

    assert {name: answer[name] for name in values} == values
    read = client.read(f"/api/posts/{post.pk}")
    assert {name: read[name] for name in values} == values
    row = client.read("/api/posts?type=page&search=walkedtitle2")["data"][0]
    assert {field.name: row[field.name] for field in LISTED_FIELDS} == {
        field.name: values[field.name] for field in LISTED_FIELDS
    }


def test_a_number_that_is_taken_away_is_zero_where_a_column_must_have_one() -> None:
    post = make.post(orderIndex=7)

    answer = ApiClient("editor").write("PUT", f"/api/posts/{post.pk}", {"orderIndex": None})

    assert answer["orderIndex"] == 0
    newest = post.revisions.order_by("version").last()
    assert newest is not None
    assert newest.document["post"]["orderIndex"] == 0


@pytest.mark.parametrize("field", [f for f in FIELDS if f.max_length], ids=name_of)
def test_a_text_that_is_too_long_is_refused_by_its_name(field: PostField) -> None:
    assert field.max_length is not None
    beginning = "https://example.com/" if field.kind == "url" else ""
    body = {field.name: beginning + "x" * (field.max_length + 1 - len(beginning))}

    refused("PUT", f"/api/posts/{make.post().pk}", body, 422, "invalid", field.name)


@pytest.mark.parametrize(
    ("schema", "shown"),
    [
        ("Post", FIELDS),
        ("DeliveredPost", [f for f in FIELDS if f.delivered]),
        ("ListedPost", LISTED_FIELDS),
        ("NewPost", FIELDS),
        ("PostChanges", FIELDS),
        ("ReviewInput", [f for f in FIELDS if f.proposable]),
        ("DocumentFields", FIELDS),
        ("ExportFields", FIELDS),
        ("ImportedFieldsInput", FIELDS),
    ],
)
def test_the_api_description_has_every_field(schema: str, shown: list[PostField]) -> None:
    described = api_description()["components"]["schemas"][schema]["properties"]

    assert {field.name for field in shown} <= set(described)


def test_everybody_reads_what_is_delivered_and_nothing_else() -> None:
    post, values = written(status="published")

    answer = ApiClient().read(f"/api/public/posts/{post.pk}")

    delivered = {field.name for field in FIELDS if field.delivered}
    # Names in place of the ids of accounts.
    assert {name for name in POST_FIELDS if name in answer} == delivered | {AUTHORS}
    assert {name: answer[name] for name in delivered} == {name: values[name] for name in delivered}


def test_what_is_exported_is_imported_again() -> None:
    post, values = written()
    client = ApiClient("editor")
    document = client.read(f"/api/posts/{post.pk}/export")

    made = client.write(
        "POST", "/api/posts/import", {"document": document, "slug": "again"}, expect=201
    )

    kept = set(values) - {"slug", AUTHORS, *SCHEDULE_FIELDS}
    assert {name: made[name] for name in kept} == {name: values[name] for name in kept}


def test_the_form_shows_and_saves_every_field(client: Any) -> None:
    post, _ = written()
    client.force_login(make.user("admin"))
    sections = post_sections(make.layers(post).live)
    sent = fields(client.get(url(post)))
    typed = {f"post.{field.name}": value_of(field, 2) for field in TEXTS}

    answer = client.post(url(post), {**sent, **typed, "do": "save"})

    shown = {unit.path for section in sections for unit in section.units}
    assert shown >= {f"post.{name}" for name in POST_FIELDS}
    # Dates have dialogs of their own.
    named = [name for name in POST_FIELDS if name not in SCHEDULE_FIELDS]
    assert all(any(key.startswith(f"post.{name}") for key in sent) for name in named)
    assert answer.status_code == 302
    live = make.layers(post).live.fields
    assert {f"post.{field.name}": live[field.name] for field in TEXTS} == typed


def test_every_label_is_in_the_catalogue_and_on_the_cards_of_a_review(client: Any) -> None:
    post, values = staged()
    client.force_login(make.user("admin"))
    layers = make.layers(post)

    page = client.get(review(post)).content.decode()
    inbox = QueuedChange.objects.filter(post=post, layer=Layer.AI_REVIEW)

    assert {field.label for field in FIELDS} <= set(words())
    for name in values:
        label = label_of(f"post.{name}", layers.ai_review.document, {})
        assert label == POST_FIELDS[name].label
        assert f">{label}<" in page or f" {label}" in page, name
    assert {row.path for row in inbox} == {f"post.{name}" for name in values}


def test_what_is_proposed_is_approved_into_every_field() -> None:
    post, values = staged()
    admin = make.actor("admin")

    submit(post_id=post.pk, actor=admin)
    approve(post_id=post.pk, actor=admin, digest=digest_of(make.layers(post).review.changes))

    live = make.layers(post).live.fields
    assert {name: live[name] for name in values} == values


def test_agents_are_given_every_field() -> None:
    post, values = written()
    layers = make.layers(post)
    document = layers.ai_review.document
    run = claimed(
        AgentRun.objects.create(
            agent_id="seo-specialist", scope="field", post=post, by_name="editor", via="api"
        )
    )
    payload: Any = canonical_payload(run, post, document)
    texts = {field.name for field in PROPOSABLE if field.kind != "media"}

    assert {name: payload["post"][name] for name in texts} == {name: values[name] for name in texts}
    for field in PROPOSABLE:
        target = find_field(document, f"post.{field.name}")
        asked: Any = field_payload(run, post, layers, target)
        assert target.field_type == field.field_type
        assert asked["field"]["currentValue"] == values[field.name]
        assert {name: asked["draftBase"][name] for name in values} == values


def test_tools_read_and_stage_every_field() -> None:
    post, values = written()
    patch: dict[str, Json] = {field.name: value_of(field, 2) for field in PROPOSABLE}
    person = by("editor")

    done("save_post_ai_review", postId=str(post.pk), patch=patch)

    context = done("get_post_context", person, postId=str(post.pk))
    shown = {name: value for name, value in values.items() if name != AUTHORS}
    assert {name: context["post"][name] for name in shown} == shown
    staged = {change["path"]: change["after"] for change in context["aiReview"]["changes"]}
    assert staged == {f"post.{name}": value for name, value in patch.items()}
    manifest = done("get_post_manifest", person, postId=str(post.pk))
    assert {name: manifest["post"][name] for name in patch} == patch
    exported = done("export_post_canonical_json", person, postId=str(post.pk))
    assert {name: exported["post"][name] for name in values} == values
    listed = done("list_posts", person, type="page", q="walkedtitle1", format="full")["items"][0]
    assert {field.name: listed[field.name] for field in LISTED_FIELDS} == {
        field.name: values[field.name] for field in LISTED_FIELDS
    }


def test_tools_leave_out_of_lists_what_has_no_value() -> None:
    make.post(type="page")

    listed = done("list_posts", by("editor"), type="page", format="full")["items"][0]

    assert [name for name, value in listed.items() if value is None] == []


@pytest.mark.parametrize("field", TEXTS, ids=name_of)
def test_search_finds_the_words_of_fields_that_are_searched(field: PostField) -> None:
    post, _ = written(status="published")

    found = search.find_posts(Post.objects.all(), f"walked{field.name.lower()}1", "en")[:9]

    assert found == ([post] if field.search_weight else [])


@pytest.mark.parametrize("field", TEXTS, ids=name_of)
def test_words_of_every_text_are_replaced(field: PostField) -> None:
    post, values = written(status="published")

    send(f"walked{field.name.lower()}1", "replaced", "posts")

    live = make.layers(post).live.fields[field.name]
    assert live == values[field.name].replace(f"walked{field.name.lower()}1", "replaced")


def test_translations_and_variations_take_over_what_is_copied() -> None:
    post, values = written(status="published")
    admin = make.actor("admin")

    translation = create_translation(post_id=post.pk, locale="de", actor=admin)
    variation = create_variation(post_id=post.pk, variation="B", actor=admin)

    for copy in (translation, variation):
        live = make.layers(copy).live.fields
        assert {f.name: live[f.name] for f in COPIED} == {f.name: values[f.name] for f in COPIED}


@pytest.mark.parametrize("field", FIELDS, ids=name_of)
def test_translators_write_what_is_translated_and_nothing_else(field: PostField) -> None:
    source, _ = written(status="published")
    post = create_translation(post_id=source.pk, locale="de", actor=make.actor("admin"))
    path, body = f"/api/posts/{post.pk}", {field.name: value_of(field, 2)}
    if field.kind == "post-reference":
        body[field.name] = str(make.post("Oben", type="page", locale="de").pk)

    if not field.translatable:
        refused("PUT", path, body, 403, "not_allowed", f"post.{field.name}", role="translator")
        return
    answer = ApiClient("translator").write("PUT", path, body)
    assert answer[field.name] == body[field.name]


def test_the_front_matter_of_a_document_may_give_every_translated_text(tmp_path: Path) -> None:
    texts = {field.name: f"Walked {field.name}" for field in TEXTS if field.translatable}
    front = "\n".join(f"{name}: {value}" for name, value in texts.items())
    (tmp_path / "one.md").write_text(f"---\n{front}\n---\nText")

    make.user("admin")

    call_command("import", "markdown", str(tmp_path))

    live = make.layers(Post.objects.get()).live.fields
    assert {name: live[name] for name in texts} == texts
