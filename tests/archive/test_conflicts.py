"""Conflicts with existing content are skipped and reported; everything else is imported."""

from __future__ import annotations

from io import BytesIO

import pytest

from content.layers import open_layers
from content.models import ModuleInstance, Post, PostModule
from content.posts.trash import delete_post
from media.models import Asset, StoredFile
from media.services.player import set_poster
from proofroom.archive.imports import Entry, ImportReport, Mode
from proofroom.archive.services import import_archive
from proofroom.shared_content.models import SharedProposal
from proofroom_apps.menus.models import Menu
from seo.models import Redirect
from tests import make
from tests.archive import site
from tests.media.pictures import store
from tests.media.recordings import mp4

pytestmark = pytest.mark.django_db


def bring(archive: bytes, mode: Mode = Mode.ADD) -> tuple[ImportReport, dict[str, str]]:
    """Return the report, and the conflicts by title."""
    conflicts: dict[str, str] = {}

    def listen(said: Entry | str) -> None:
        if isinstance(said, Entry) and said.conflict:
            conflicts[said.title] = said.conflict

    report = import_archive(
        source=BytesIO(archive), actor=make.actor("admin"), mode=mode, listener=listen
    )
    return report, conflicts


@pytest.mark.parametrize("mode", list(Mode))
def test_a_post_in_the_trash_is_named_and_the_rest_comes_in(mode: Mode) -> None:
    site.fill()
    archive = site.export()
    site.empty()
    site.bring(archive)
    original = Post.objects.get(slug="brewing", variation_of=None)
    company, team = Post.objects.get(slug="company"), Post.objects.get(slug="team")
    for page in (team, company):
        delete_post(post_id=page.pk, actor=make.actor("admin"))
    delete_post(post_id=original.pk, actor=make.actor("admin"))
    Menu.objects.all().delete()
    Post.objects.filter(pk=team.pk).delete()
    Post.objects.filter(locale="de").delete()
    placed = PostModule.objects.values("instance")
    ModuleInstance.objects.filter(scope="local").exclude(pk__in=placed).delete()

    report, conflicts = bring(archive, mode)

    assert "in the trash" in conflicts["Company"]
    assert "in the trash" in conflicts["Brewing"]
    assert conflicts["Team"] == "The post that it belongs to was not imported."
    assert not Post.objects.filter(slug="team").exists()
    assert Post.objects.get(pk=original.pk).deleted_at is not None
    assert report.counts["posts"]["created"] == 1
    assert Post.objects.alive().get().locale == "de"
    if mode != Mode.PROPOSE:
        assert conflicts["Main"] == "It contains a post that was not imported."


def test_a_post_of_another_type_here_is_named() -> None:
    post = make.post("One")
    make.post("Two")
    archive = site.export()
    Post.objects.filter(pk=post.pk).update(type="page")
    make.edited(Post.objects.get(slug="two"), {"excerpt": "New."})

    report, conflicts = bring(archive, Mode.UPDATE)

    assert "another type or language" in conflicts["One"]
    assert dict(report.counts["posts"]) == {"kept": 1, "updated": 1}


def test_a_global_module_that_has_another_slug_here_is_named() -> None:
    site.fill()
    archive = site.export()
    ModuleInstance.objects.filter(scope="global").update(global_slug="renamed")
    make.edited(Post.objects.get(slug="team"), {"excerpt": "Fast."})

    report, conflicts = bring(archive)

    assert "another type or slug" in " ".join(conflicts.values())
    assert report.counts["posts"]["proposed"] >= 1


def test_an_address_and_a_language_that_another_post_has_are_named() -> None:
    first = make.post("Brewing")
    make.post("Brühen", locale="de", translation_of=first)
    make.post("Other")
    archive = site.export()
    Post.objects.filter(locale="de").delete()
    Post.objects.filter(slug="other").delete()
    make.post("Kochen", locale="de", translation_of=first)
    page = make.post("Stories", type="page")
    Post.objects.filter(pk=page.pk).update(path="/blog/other")

    report, conflicts = bring(archive)

    assert "already exists in German" in conflicts["Brühen"]
    assert "already uses the address /blog/other" in conflicts["Other"]
    assert dict(report.counts["posts"]) == {"unchanged": 1, "kept": 2}


def test_an_update_that_the_rules_refuse_is_named() -> None:
    first, second = make.post("First"), make.post("Second")
    archive = site.export()
    make.edited(first, {"slug": "moved"})
    make.edited(second, {"slug": "first", "excerpt": "New."})
    third = make.post("Third", slug="second")

    report, conflicts = bring(archive, Mode.UPDATE)

    assert set(conflicts) == {"First", "Second"}
    assert dict(report.counts["posts"]) == {"kept": 2}
    assert Post.objects.get(pk=third.pk).slug == "second"


def outcomes(report, kind):
    return dict(report.counts[kind])


def test_the_second_import_changes_nothing():
    site.fill()
    archive = site.export()

    for mode in Mode:
        report = site.bring(archive, mode)
        assert report.differences == []
        assert {name for counts in report.counts.values() for name in counts} == {"unchanged"}
    assert site.export() == archive


def test_changes_of_posts_wait_in_review():
    post = site.fill()
    archive = site.export()
    make.edited(post, {"excerpt": "Fast."})
    before = make.live_hash()

    report = site.bring(archive)

    assert make.live_hash() == before
    assert open_layers(Post.objects.get(pk=post.pk)).review.document.fields["excerpt"] == "Slowly."
    assert outcomes(report, "posts") == {"unchanged": 4, "proposed": 1}
    [difference] = report.differences
    assert (difference.path, difference.before, difference.after) == (
        "post.excerpt",
        "Fast.",
        "Slowly.",
    )


def test_update_makes_them_live():
    post = site.fill()
    archive = site.export()
    make.edited(post, {"excerpt": "Fast."})
    Redirect.objects.update(to_path="/elsewhere")

    report = site.bring(archive, Mode.UPDATE)

    assert Post.objects.get(pk=post.pk).excerpt == "Slowly."
    assert Redirect.objects.get().to_path == "/stories/brewing"
    assert outcomes(report, "posts") == {"unchanged": 4, "updated": 1}


@pytest.mark.parametrize("mode", [Mode.UPDATE, Mode.ADD, Mode.PROPOSE])
def test_a_field_that_an_older_archive_does_not_have_stays(mode):
    post = site.fill()

    def forget(rows):
        for row in rows:
            del row["document"]["post"]["metaDescription"]

    archive = site.with_rows(site.export(), "posts.jsonl", forget)
    make.edited(post, {"metaDescription": "Written since.", "excerpt": "Fast."})

    report = site.bring(archive, mode)

    assert [one.path for one in report.differences] == ["post.excerpt"]
    assert Post.objects.get(pk=post.pk).meta_description == "Written since."
    review = open_layers(Post.objects.get(pk=post.pk)).review
    assert review.document.fields["metaDescription"] == "Written since."


def test_a_dry_run_stores_nothing_and_names_every_difference():
    post = site.fill()
    archive = site.export()
    make.edited(post, {"excerpt": "Fast.", "slug": "quick"})
    now = site.export()

    report = site.bring(archive, dry_run=True)

    assert site.export() == now
    changed = {one.path for one in report.differences if one.kind == "posts"}
    assert changed == {"post.excerpt", "post.slug"}


def test_a_dry_run_on_a_fresh_installation_stores_no_file():
    site.fill()
    archive = site.export()
    site.empty()

    report = site.bring(archive, dry_run=True)

    assert outcomes(report, "media") == {"created": 1}
    assert not Post.objects.exists()
    assert not StoredFile.objects.exists()


def test_posters_come_along_only_where_they_fit():
    film, still = store(mp4(), "film.mp4"), make.image("still.png")
    other, drawing = store(mp4(9.0), "other.mp4"), make.image("drawing.png")
    set_poster(asset_id=film.pk, poster_id=still.pk, actor=make.actor("admin"))
    # As before a file that is replaced by another type lost its poster.
    for wrong in (other, drawing):
        Asset.objects.filter(pk=wrong.pk).update(poster=film.pk, poster_file=film.file.name)
    archive = site.export()
    site.empty()

    assert outcomes(site.bring(archive, dry_run=True), "media") == {"created": 4}
    assert outcomes(site.bring(archive), "media") == {"created": 4}

    posters = dict(Asset.objects.values_list("filename", "poster"))
    assert posters == {
        "film.mp4": still.pk,
        "still.png": None,
        "other.mp4": None,
        "drawing.png": None,
    }


def test_a_proposal_makes_drafts_and_nothing_that_visitors_see():
    site.fill()
    archive = site.export()
    site.empty()

    report = site.bring(archive, Mode.PROPOSE)

    assert set(Post.objects.values_list("status", flat=True)) == {"draft"}
    assert not Post.objects.filter(published_at__isnull=False).exists()
    assert not Menu.objects.exists()
    assert not Redirect.objects.exists()
    assert outcomes(report, "menus") == {"kept": 1}


def test_changes_of_menus_wait_for_approval():
    site.fill()
    archive = site.export()
    Menu.objects.update(name="Other")

    report = site.bring(archive)

    assert outcomes(report, "menus") == {"proposed": 1}
    assert Menu.objects.get().name == "Other"
    assert SharedProposal.objects.get().document["name"] == "Main"


def test_what_has_another_id_is_found_by_its_place():
    site.fill()
    archive = site.export()
    site.empty()
    site.fill()
    counts = (Post.objects.count(), Menu.objects.count(), Asset.objects.count())

    report = site.bring(archive)

    assert (Post.objects.count(), Menu.objects.count(), Asset.objects.count()) == counts
    assert outcomes(report, "media") == {"unchanged": 1}
    assert outcomes(report, "terms") == {"unchanged": 1}
    assert outcomes(report, "posts") == {"unchanged": 5}
    assert {one.kind for one in report.differences} <= {"menus"}, "items have ids of their own"
