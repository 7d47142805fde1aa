"""Partial exports: the selected posts with everything they refer to."""

from __future__ import annotations

import json
from datetime import timedelta
from io import BytesIO, StringIO
from zipfile import ZipFile

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from content.models import Layer, Post
from proofroom.core.errors import RuleViolation
from proofroom.taxonomies.models import Term
from proofroom.taxonomies.services import create_term
from tests import make
from tests.archive import site

pytestmark = pytest.mark.django_db


def rows_of(archive: bytes) -> dict[str, list[dict]]:
    with ZipFile(BytesIO(archive)) as file:
        return {
            name.removesuffix(".jsonl"): [json.loads(line) for line in file.read(name).splitlines()]
            for name in file.namelist()
            if name.endswith(".jsonl")
        }


def titles(archive: bytes) -> set[str]:
    return {row["document"]["post"]["title"] for row in rows_of(archive)["posts"]}


def test_a_post_comes_with_what_it_refers_to_and_nothing_else() -> None:
    site.fill()
    make.image("other.png")
    make.term("Tea")
    make.global_module("other")
    make.form("other")
    post = Post.objects.get(slug="brewing", variation_of=None)

    for name in (str(post.pk), "brewing", "/stories/brewing"):
        rows = rows_of(site.export(posts=frozenset({name})))

        assert {row["variation"] for row in rows["posts"]} == {"", "B"}
        assert [row["filename"] for row in rows["media"]] == ["cup.png"]
        assert [row["name"] for row in rows["terms"]] == ["Coffee"]
        assert [row["slug"] for row in rows["global-modules"]] == ["newsletter"]
        assert rows["forms"] == []
        assert {row["layer"] for row in rows["drafts"]} == {"review", "ai-review"}
        assert not {"menus", "redirects", "url-patterns", "revisions"} & set(rows)


def test_staged_references_and_parent_terms_are_exported() -> None:
    post = make.post()
    above = create_term(
        actor=make.actor("admin"), taxonomy="topics", name="Drinks", slug="drinks", locale="en"
    )
    term = create_term(
        actor=make.actor("admin"),
        taxonomy="topics",
        name="Espresso",
        slug="espresso",
        locale="en",
        parent_id=str(above.pk),
    )
    picture = make.image("staged.png")
    make.staged(
        post,
        {"featuredMediaId": str(picture.pk), "taxonomyTermIds": [str(term.pk)]},
        layer=Layer.REVIEW,
    )

    rows = rows_of(site.export(posts=frozenset({str(post.pk)})))
    assert [row["filename"] for row in rows["media"]] == ["staged.png"]
    assert [row["name"] for row in rows["terms"]] == ["Drinks", "Espresso"]

    rows = rows_of(site.export(published_only=True))
    assert (rows["media"], rows["terms"]) == ([], [])
    assert "drafts" not in rows
    assert Term.objects.count() == 2


def test_a_section_includes_its_descendants_and_exports_its_ancestors() -> None:
    top = make.post("Products", type="page")
    middle = make.post("Coffee", type="page", parentId=str(top.pk))
    make.post("Overview", type="page", parentId=str(middle.pk))
    other = make.post("Services", type="page")
    make.post("Overview", type="page", parentId=str(other.pk))
    make.post("Alone", type="page")

    assert titles(site.export(sections=frozenset({"/products"}))) == {
        "Products",
        "Coffee",
        "Overview",
    }
    archive = site.export(posts=frozenset({"/products/coffee/overview"}))
    assert titles(archive) == {"Products", "Coffee", "Overview"}
    site.empty()
    site.bring(archive)
    assert {post.path for post in Post.objects.all()} == {
        "/products",
        "/products/coffee",
        "/products/coffee/overview",
    }
    assert site.export() != archive, "patterns and the like are in that one"
    assert titles(site.export()) == titles(archive)


def test_since_and_published() -> None:
    old, new = make.post("Old"), make.post("New")
    staged, draft = make.post("Staged"), make.post("Draft", status="draft")
    make.staged(staged, {"title": "Staged now"}, layer=Layer.REVIEW)
    before = timezone.now() - timedelta(days=9)
    Post.objects.filter(pk__in=(old.pk, staged.pk)).update(updated_at=before)
    since = timezone.now() - timedelta(days=2)

    assert titles(site.export(changed_since=since)) == {"New", "Staged", "Draft"}
    assert titles(site.export(changed_since=since, published_only=True)) == {"New"}
    assert titles(site.export(published_only=True)) == {"Old", "New", "Staged"}
    assert {new.status, draft.status} == {"published", "draft"}


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"posts": frozenset({"nowhere"})}, "No post has the ID, slug or address 'nowhere'"),
        ({"sections": frozenset({"/a/b"})}, "No post has the ID, slug or address '/a/b'"),
        ({"post_types": frozenset({"spell"})}, "spell"),
        ({"locales": frozenset({"xx"})}, "'xx' is not a language"),
    ],
)
def test_what_is_not_there_is_said(choice, sentence) -> None:
    with pytest.raises(RuleViolation, match=sentence):
        site.export(**choice)


def test_the_command_takes_the_same_choice(tmp_path) -> None:
    make.post("One", type="page")
    make.post("Two", type="page", status="draft")
    file = tmp_path / "some.zip"

    call_command(
        "export",
        str(file),
        "--section", "/one", "--type", "page", "--locale", "en", "--since", "2020-01-01",
        "--published", "--revisions",
        stderr=StringIO(),
    )  # fmt: skip

    assert titles(file.read_bytes()) == {"One"}
    assert [row["reason"] for row in rows_of(file.read_bytes())["revisions"]] == ["created"]
    for wrong in (("--since", "soon"), ("--post", "nowhere"), ("--only", "spells")):
        with pytest.raises(CommandError):
            call_command("export", str(tmp_path / "none.zip"), *wrong, stderr=StringIO())
    assert not (tmp_path / "none.zip").exists()
