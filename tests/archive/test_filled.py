"""Imports into an installation with content: existing objects are matched, and changed only as the mode allows."""

from __future__ import annotations

import pytest

from content.layers import open_layers
from content.models import Post
from media.models import Asset, StoredFile
from proofroom.archive.imports import Mode
from proofroom.shared_content.models import SharedProposal
from proofroom_apps.menus.models import Menu
from seo.models import Redirect
from tests import make
from tests.archive import site

pytestmark = pytest.mark.django_db


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
