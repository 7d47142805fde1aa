"""Replacing and deleting files: existing uses do not break, and nothing is left over."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.core.files.storage import default_storage
from django.utils import timezone

from media import file_store
from media.models import Asset, MediaReference, StoredFile
from media.services.files import delete_asset, replace_file
from media.services.variants import dark_status, request_variants
from proofroom.core.actor import Actor
from proofroom.core.caching.content_version import content_version
from proofroom.core.errors import Conflict, NotAllowed, NotFound
from proofroom.core.models import Event
from tests import make
from tests.conftest import RunOnCommit
from tests.media.pictures import on_disk, opened, picture, store

pytestmark = pytest.mark.django_db
PDF = b"%PDF-1.7 plan %%EOF"


def replace(
    asset: Asset, content: bytes, name: str = "new.png", actor: Actor | None = None
) -> Asset:
    made = replace_file(
        asset_id=asset.pk,
        file=BytesIO(content),
        filename=name,
        actor=actor or make.actor("editor"),
    )
    made.refresh_from_db()
    return made


def due_now() -> int:
    StoredFile.objects.filter(due_at__isnull=False).update(due_at=timezone.now())
    return file_store.delete_due_files()


def test_another_file_has_the_same_id_and_new_names() -> None:
    asset = store(picture("JPEG", (100, 50)), "old.jpg", alt_text="A wall", categories=["walls"])
    before = content_version()

    made = replace(asset, picture("PNG", (60, 90)))

    assert made.pk == asset.pk
    assert (made.mime, made.width, made.height, made.filename) == ("image/png", 60, 90, "new.png")
    assert (made.alt_text, made.categories, made.status) == ("A wall", ["walls"], "ready")
    assert made.size == (Path(django_settings.MEDIA_ROOT) / str(made.file.name)).stat().st_size
    assert opened(made.variants["large"]).size == (60, 90)
    assert {made.file.name, *made.variants.values()}.isdisjoint(
        {asset.file.name, *asset.variants.values()}
    )
    assert content_version() > before
    assert Event.objects.get(name="media.replaced").payload == {
        "id": str(asset.pk),
        "filename": "new.png",
        "mime": "image/png",
        "before": "old.jpg",
    }


def test_old_names_go_on_and_then_lead_to_the_new_file(client) -> None:
    asset = store(picture("PNG", (900, 10)))
    old, old_small = asset.file.name, asset.variants["small"]
    made = replace(asset, picture("PNG", (60, 90)))

    assert client.get(f"/media/{old}").status_code == 200  # pages in caches show it
    assert file_store.delete_due_files() == 0
    assert due_now() == 4

    for gone, present in ((old, made.file.name), (old_small, made.variants["small"])):
        answer = client.get(f"/media/{gone}")
        assert (answer.status_code, answer["Location"]) == (302, f"/media/{present}")
        assert client.get(answer["Location"]).status_code == 200
    assert len(on_disk()) == 4

    again = replace(made, picture("PNG", (30, 30)))
    due_now()
    for gone in (old, made.file.name):
        assert client.get(f"/media/{gone}")["Location"] == f"/media/{again.file.name}"


@pytest.mark.usefixtures("variants_later")
def test_a_size_that_is_still_being_made_leads_to_the_file(client) -> None:
    asset = store(picture("PNG", (900, 10)))

    answer = client.get(f"/media/{asset.variants['small']}")

    assert (answer.status_code, answer["Location"]) == (302, f"/media/{asset.file.name}")
    assert answer["Cache-Control"] == "public, max-age=60"


def test_a_picture_becomes_a_document_and_a_picture_again() -> None:
    asset = store(picture("PNG", (60, 60)))

    made = replace(asset, PDF, "plan.pdf")
    assert (made.mime, made.width, made.variants, made.status) == (
        "application/pdf",
        None,
        {},
        "ready",
    )

    made = replace(made, picture("GIF", (30, 20)), "x.gif")
    assert (made.mime, made.width, made.status) == ("image/gif", 30, "ready")
    due_now()
    assert len(on_disk()) == 4


def test_who_had_dark_sizes_gets_dark_ones_of_the_new_file() -> None:
    asset = store(picture("PNG", (60, 60)))
    request_variants(asset_id=asset.pk, theme="dark", actor=make.actor("editor"))
    asset.refresh_from_db()
    assert asset.dark_variants

    made = replace(asset, picture("PNG", (20, 20)))

    assert dark_status(made) == "ready"
    assert opened(made.dark_variants["small"]).size == (20, 20)
    assert set(made.dark_variants.values()).isdisjoint(asset.dark_variants.values())


@pytest.mark.parametrize("content", [b"", b"no image", picture("PNG", (9, 9))[:50]])
def test_a_file_that_is_refused_replaces_nothing(content: bytes) -> None:
    asset, before = store(picture("PNG", (60, 60))), content_version()
    files, rows = sorted(on_disk()), sorted(StoredFile.objects.values_list("name", "due_at"))

    with pytest.raises(Exception, match=r"empty|damaged|not a valid"):
        replace(asset, content)

    asset.refresh_from_db()
    assert asset.filename == "a.jpg"
    assert sorted(on_disk()) == files
    assert sorted(StoredFile.objects.values_list("name", "due_at")) == rows
    assert content_version() == before


def test_a_write_that_fails_replaces_nothing(monkeypatch) -> None:
    asset = store(picture("PNG", (60, 60)))
    files = sorted(on_disk())

    def fail(*given, **more):
        raise RuntimeError("the outbox is gone")

    monkeypatch.setattr("media.services.files.queue_variants", lambda *given: None)
    monkeypatch.setattr("media.services.files.outbox.record", fail)
    with pytest.raises(RuntimeError):
        replace(asset, picture("PNG", (20, 20)))

    assert sorted(on_disk()) == files
    assert StoredFile.objects.count() == 4
    assert not StoredFile.objects.exclude(due_at=None).exists()


def actors() -> list[Actor]:
    return [make.actor("translator"), make.actor("ai_agent"), make.mcp_actor("admin")]


def test_who_may_not_changes_nothing() -> None:
    asset = store(picture("PNG", (60, 60)))
    files = sorted(on_disk())

    for actor in (*actors(), make.actor("admin", via="agent")):
        with pytest.raises(NotAllowed):
            replace(asset, PDF, actor=actor)
        with pytest.raises(NotAllowed):
            delete_asset(asset_id=asset.pk, actor=actor, force=True)
    for bad in (uuid4(), "x", "\x00"):
        with pytest.raises(NotFound):
            delete_asset(asset_id=bad, actor=make.actor("editor"))
        with pytest.raises(NotFound):
            replace_file(asset_id=bad, file=BytesIO(PDF), filename="x", actor=make.actor("editor"))

    assert Asset.objects.get() == asset
    assert sorted(on_disk()) == files


def test_what_is_deleted_is_gone_after_the_commit(run_on_commit: RunOnCommit, client) -> None:
    asset = store(picture("PNG", (60, 60)), "wall.png")
    replace(asset, picture("PNG", (20, 20)), "wall2.png")
    due_now()

    with run_on_commit():
        delete_asset(asset_id=asset.pk, actor=make.actor("editor"))
        assert len(on_disk()) == 4

    assert on_disk() == []
    assert not Asset.objects.exists()
    assert not StoredFile.objects.exists()
    assert client.get(f"/media/{asset.file.name}").status_code == 404
    payload = Event.objects.get(name="media.deleted").payload
    assert payload == {"id": str(asset.pk), "filename": "wall2.png", "places": 0}


def test_a_deletion_that_is_undone_deletes_nothing(run_on_commit: RunOnCommit, monkeypatch) -> None:
    asset = store(picture("PNG", (60, 60)))

    def fail(*given, **more):
        raise RuntimeError("the outbox is gone")

    monkeypatch.setattr("media.services.files.outbox.record", fail)
    with run_on_commit(), pytest.raises(RuntimeError):
        delete_asset(asset_id=asset.pk, actor=make.actor("editor"))

    assert len(on_disk()) == 4
    assert not StoredFile.objects.exclude(asset=asset, due_at=None).exists()


def test_a_storage_that_is_away_is_tried_again(monkeypatch) -> None:
    asset = store(PDF)
    with monkeypatch.context() as patch:
        patch.setattr(default_storage, "delete", fails)
        delete_asset(asset_id=asset.pk, actor=make.actor("editor"))
        assert file_store.delete_due_files() == 0
    assert len(on_disk()) == 1

    assert due_now() == 1
    assert on_disk() == []
    assert not StoredFile.objects.exists()


def fails(name: str) -> None:
    raise OSError("the storage is away")


def in_use() -> tuple[Asset, str]:
    """Create an image used by a published post, live and staged."""
    asset = store(picture("PNG", (60, 60)), alt_text="Canary")
    post = make.post(status="published", featuredMediaId=str(asset.pk))
    return asset, str(post.pk)


def test_what_is_in_use_stays_and_says_where() -> None:
    asset, _ = in_use()
    references = MediaReference.objects.filter(asset=asset).count()
    assert references == 1

    with pytest.raises(Conflict) as caught:
        delete_asset(asset_id=asset.pk, actor=make.actor("editor"))

    assert (caught.value.status, caught.value.code) == (409, "media_in_use")
    assert caught.value.message == "The file is in use in one place."
    (place,) = caught.value.details["usedIn"]
    assert place.endswith(", live: post.featuredMediaId")
    assert Asset.objects.get() == asset
    assert len(on_disk()) == 4


def test_who_insists_deletes_and_pages_go_on_without_the_picture(client) -> None:
    asset, post_id = in_use()
    from content.models import Post

    post = Post.objects.get(pk=post_id)
    assert b"Canary" in client.get(post.path).content

    delete_asset(asset_id=asset.pk, actor=make.actor("editor"), force=True)

    assert not MediaReference.objects.exists()
    page = client.get(post.path)
    assert page.status_code == 200
    assert b"Canary" not in page.content
    assert Event.objects.get(name="media.deleted").payload["places"] == 1


def test_a_live_document_keeps_the_id_of_a_picture_that_is_gone(client) -> None:
    from content.models import Post, PostModule

    asset = store(picture("PNG", (60, 60)), alt_text="Canary")
    post = make.post()
    editor = make.actor("editor")
    make.added_module(post, type="prose-with-media", props={"imageId": str(asset.pk)}, by=editor)
    path = Post.objects.get(pk=post.pk).path
    assert b"Canary" in client.get(path).content

    delete_asset(asset_id=asset.pk, actor=editor, force=True)

    page = client.get(path)
    assert (page.status_code, b"Canary" in page.content) == (200, False)
    module = PostModule.objects.get(post=post, instance__type="prose-with-media")
    assert module.instance.props["imageId"] == str(asset.pk)
    make.edited(post, {"title": "Another"}, by=editor)
    assert Post.objects.get(pk=post.pk).title == "Another"
