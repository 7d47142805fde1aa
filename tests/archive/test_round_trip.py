"""An export, imported into a fresh installation and exported again, is the same byte for byte."""

from __future__ import annotations

import json
from io import BytesIO, StringIO
from zipfile import ZipFile

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command

from content.models import Draft, Layer, Post, Provenance, QueuedChange
from content.store.media_usage import rebuild_references
from content.store.search import find_posts
from media.models import Asset, MediaReference
from proofroom.accounts.models import User
from proofroom.core.models import Event
from tests import make
from tests.archive import site

pytestmark = pytest.mark.django_db


def test_a_fresh_installation_exports_the_same_bytes():
    post = site.fill()
    archive = site.export()
    seen = list(Post.objects.order_by("pk").values("pk", "path", "status", "version", "updated_at"))
    queued = sorted(QueuedChange.objects.values_list("post", "path", "author_name"))
    used = sorted(MediaReference.objects.values_list("asset", "holder_id", "layer", "path"))
    site.empty()

    report = site.bring(archive)

    assert site.export() == archive
    assert report.notes == []
    assert {kind: dict(counts) for kind, counts in report.counts.items()} == {
        "media": {"created": 1},
        "terms": {"created": 1},
        "forms": {"created": 1},
        "url-patterns": {"created": 1},
        "posts": {"created": 5},
        "drafts": {"created": 2},
        "global-modules": {"created": 1},
        "redirects": {"created": 1},
        "menus": {"created": 1},
        "snippets": {"created": 2},
        "post-templates": {"created": 1},
        "briefs": {"created": 1},
    }
    again = Post.objects.order_by("pk").values("pk", "path", "status", "version", "updated_at")
    assert list(again) == seen
    assert sorted(QueuedChange.objects.values_list("post", "path", "author_name")) == queued
    assert sorted(MediaReference.objects.values_list("asset", "holder_id", "layer", "path")) == used
    assert rebuild_references() == len(used)
    assert [found.pk for found in find_posts(Post.objects.alive(), "Slowly")[:5]] == [post.pk]
    assert default_storage.exists(Asset.objects.get().file.name)
    assert Provenance.objects.get(post=post, path="post.excerpt").author_name == "editor"
    assert Event.objects.filter(name="archive.imported").count() == 1
    assert Event.objects.filter(name="post.publish", post_id=post.pk).count() == 1, (
        "no agent starts"
    )


def test_revisions_come_along_where_they_are_asked_for():
    post = site.fill()
    archive = site.export(revisions=True)
    versions = list(post.revisions.values_list("version", "reason", "by_name"))
    site.empty()

    site.bring(archive)

    assert site.export(revisions=True) == archive
    assert list(post.revisions.values_list("version", "reason", "by_name")) == versions


def test_authors_without_an_account_get_one_that_is_switched_off():
    make.user("admin")
    Post.objects.filter(pk=make.post().pk).update(author=make.user("editor", "writer"))
    archive = site.export()
    site.empty()
    User.objects.filter(username="writer").delete()

    site.bring(archive)

    author = User.objects.get(email="writer@example.com")
    assert Post.objects.get().author == author
    assert not author.is_active
    assert not author.has_usable_password()
    assert site.export() == archive


def test_secrets_and_visitors_are_in_no_archive():
    make.webhook()
    make.form()
    make.submission(message="Call me back", email="visitor@example.com")
    make.post()

    archive = site.export()

    with ZipFile(BytesIO(archive)) as file:
        text = b"".join(file.read(name) for name in file.namelist())
    for word in (b"visitor@example.com", b"Call me back", b"password", b"webhook", b"secret"):
        assert word not in text


def test_the_commands_write_and_read_the_file(tmp_path):
    post = site.fill()
    call_command("export", str(tmp_path / "site.zip"), stderr=StringIO())
    site.empty()
    out = StringIO()

    call_command("import", "archive", str(tmp_path / "site.zip"), stdout=out)

    assert "posts: 5 created" in out.getvalue().splitlines()
    assert Post.objects.get(pk=post.pk).title == "Brewing"
    assert [path.name for path in tmp_path.glob("*site.zip*")] == ["site.zip"]


def test_a_choice_of_types_and_languages_narrows_posts_and_what_is_staged_on_them():
    site.fill()

    archive = site.export(
        kinds=frozenset({"posts", "drafts"}),
        post_types=frozenset({"page"}),
        locales=frozenset({"en"}),
    )

    with ZipFile(BytesIO(archive)) as file:
        rows = [json.loads(line) for line in file.read("posts.jsonl").splitlines()]
        assert file.read("drafts.jsonl") == b""
        assert "terms.jsonl" not in file.namelist()
    assert [row["document"]["post"]["title"] for row in rows] == ["Company", "Team"]


def test_a_batch_takes_a_constant_number_of_statements(
    django_assert_num_queries, django_assert_max_num_queries
):
    for number in range(3):
        make.post(f"Post {number}")
    with django_assert_max_num_queries(100) as few:
        site.export()
    for number in range(3, 12):
        make.post(f"Post {number}")
    with django_assert_num_queries(len(few)):
        site.export()


def test_a_missing_file_is_left_out_and_said():
    asset = make.image()
    default_storage.delete(asset.file.name)

    _archive, exported = site.export_with_notes()

    assert exported.manifest.files["media.jsonl"].rows == 0
    assert len(exported.notes) == 1
    assert asset.file.name in exported.notes[0]


def test_drafts_are_kept_with_who_wrote_them():
    post = make.post()
    make.staged(post, {"title": "Better"}, layer=Layer.REVIEW)
    archive = site.export()
    site.empty()

    site.bring(archive)

    mark = Draft.objects.get().marks["post.title"]
    assert (mark["user"], mark["user_id"]) == ("editor", make.user("editor").pk)
