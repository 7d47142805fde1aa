"""Content without its definition, or below trashed posts, is imported unchanged."""

from __future__ import annotations

import json
from io import BytesIO
from typing import cast
from zipfile import ZipFile

import pytest

from content.models import ModuleInstance, Post, PostModule
from content.posts.trash import delete_post
from proofroom.archive.container import ArchiveError
from proofroom.archive.imports import Mode
from proofroom.archive.services import import_archive
from proofroom.core.json import JsonObject
from proofroom.definitions import validate_props
from tests import make
from tests.archive import site
from tests.archive.site import with_rows

pytestmark = pytest.mark.django_db


def stored(post: Post, type: str = "prose") -> ModuleInstance:
    return PostModule.objects.get(post=post, instance__type=type).instance


def test_modules_and_values_without_a_definition_stay_as_they_are():
    ghost, old = make.post("Ghost"), make.post("Old")
    nested = make.post("Nested")
    person = make.post("Person", type="profile")
    shared = make.global_module()
    ModuleInstance.objects.filter(pk=stored(ghost).pk).update(
        type="ghost", props={"words": "kept", "n": 1.5}
    )
    instance = stored(old)
    ModuleInstance.objects.filter(pk=instance.pk).update(
        props={**instance.props, "gone": ["a", None]}
    )
    props = validate_props("faq", {"items": [{"question": "Why?"}]})
    items = [{**item, "gone": "nested"} for item in cast("list[JsonObject]", props["items"])]
    ModuleInstance.objects.filter(pk=stored(nested, "faq").pk).update(
        props={**props, "items": items}
    )
    Post.objects.filter(pk=person.pk).update(custom_fields={**person.custom_fields, "gone": 7})
    ModuleInstance.objects.filter(pk=shared.pk).update(type="ghost", props={"words": "shared"})
    make.staged(old, {"title": "New title"})
    archive = site.export()
    site.empty()

    report = site.bring(archive)

    assert site.export() == archive
    assert sorted(note for note in report.notes) == [
        "Ghost: Kept, although this site has no definition of it: module ghost.",
        "Nested: Kept, although this site has no definition of it: faq.items.0.gone.",
        "Old: Kept, although this site has no definition of it: prose.gone.",
        "Person: Kept, although this site has no definition of it: customFields.gone.",
    ]
    assert site.bring(archive).counts["posts"] == {"unchanged": 4}


def test_what_the_definition_knows_is_still_judged():
    post = make.post("Old")
    instance = stored(post)
    ModuleInstance.objects.filter(pk=instance.pk).update(props={**instance.props, "gone": 1})
    archive = site.export()
    site.empty()

    def spoil(rows: list[dict]) -> None:
        rows[0]["document"]["modules"][1]["props"]["content"] = {
            "type": "doc",
            "content": [{"type": "evil"}],
        }

    with pytest.raises(ArchiveError):
        site.bring(with_rows(archive, "posts.jsonl", spoil))
    assert not Post.objects.exists()


def test_what_cannot_be_stored_is_refused_without_a_definition_too():
    post = make.post("Ghost")
    ModuleInstance.objects.filter(pk=stored(post).pk).update(type="ghost", props={})
    archive = site.export()
    site.empty()

    def spoil(rows: list[dict]) -> None:
        rows[0]["document"]["modules"][1]["props"] = {"words": "a\x00b"}

    with pytest.raises(ArchiveError):
        site.bring(with_rows(archive, "posts.jsonl", spoil))
    assert not Post.objects.exists()


def test_a_post_with_a_trashed_parent_moves_to_the_top_with_a_free_slug():
    parent = make.post("Old parent", type="page")
    clashing = make.post("Team", type="page", parentId=str(parent.pk))
    make.post("Alone", type="page", parentId=str(parent.pk))
    top = make.post("Team", type="page")
    delete_post(post_id=parent.pk, actor=make.actor("admin"))
    archive, exported = site.export_with_notes()
    site.empty()

    site.bring(archive)

    slug = f"team-{clashing.pk.hex[:8]}"
    assert dict(Post.objects.values_list("pk", "slug"))[clashing.pk] == slug
    assert Post.objects.get(pk=top.pk).path == "/team"
    assert len(exported.notes) == 2
    assert (
        f"Team: at the top level, because its parent page is in the trash. Its slug is {slug} there."
        in exported.notes
    )
    assert "Alone: at the top level, because its parent page is in the trash." in exported.notes
    assert site.export() == archive
    with ZipFile(BytesIO(archive)) as file:
        rows = [json.loads(line) for line in file.read("posts.jsonl").splitlines()]
    assert [row["document"]["post"]["parentId"] for row in rows] == [None] * 3


def test_an_editor_who_proposes_brings_nothing_without_a_definition():
    post = make.post("Ghost")
    ModuleInstance.objects.filter(pk=stored(post).pk).update(type="ghost", props={})
    archive = site.export()
    site.empty()

    with pytest.raises(ArchiveError, match="no module named 'ghost'"):
        import_archive(source=BytesIO(archive), actor=make.actor("editor"), mode=Mode.PROPOSE)
