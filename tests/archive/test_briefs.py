"""Editorial briefs in archives."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.archive.container import ArchiveError
from proofroom.archive.imports import Mode
from proofroom.briefs.models import Brief
from proofroom.briefs.services import delete_brief, list_versions
from tests import make
from tests.archive import site
from tests.contract.endpoints.briefs import BRIEF

pytestmark = pytest.mark.django_db


def remove_all() -> None:
    for brief in Brief.objects.all():
        delete_brief(brief_id=brief.pk, actor=make.actor())


def counts(mode: Mode = Mode.ADD, **changes: Any) -> dict[str, int]:
    """Return the counts of an import of the site's archive, after a change of the site."""
    archive = site.export()
    for brief in Brief.objects.all():
        make.changed_brief(brief, **changes)
    return dict(site.bring(archive, mode).counts["briefs"])


def test_a_brief_comes_back_with_all_its_values_and_a_new_history():
    make.changed_brief(make.brief(**BRIEF), voice="Calm.")
    before = Brief.objects.values().get()
    archive = site.export()
    remove_all()

    site.bring(archive)

    after = Brief.objects.values().get()
    for row in (before, after):
        del row["created_at"], row["updated_at"], row["version"]
    assert after == before
    assert [row.reason for row in list_versions(Brief.objects.get())] == ["created"]
    assert site.export() == archive


def test_a_brief_of_the_same_place_is_the_same_brief():
    make.brief(**BRIEF)
    archive = site.export()
    remove_all()
    here = make.brief(**{**BRIEF, "voice": "Calm."})

    site.bring(archive, Mode.UPDATE)

    stored = Brief.objects.get()
    assert (stored.pk, stored.voice, stored.version) == (here.pk, "Warm.", 2)


def test_only_an_update_overwrites_a_brief():
    make.brief(**BRIEF)

    assert counts() == {"unchanged": 1}
    assert counts(voice="Calm.") == {"kept": 1}
    assert Brief.objects.get().voice == "Calm."


def test_a_narrowed_archive_contains_no_briefs():
    make.brief(**BRIEF)
    archive = site.export(post_types=frozenset({"blog"}))
    remove_all()

    assert "briefs" not in site.bring(archive).counts


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows[0].update(terms=[{"term": ""}]), "terms.0.term"),
        (lambda rows: rows[0].update(terms="x"), "terms"),
        (lambda rows: rows[0].update(colour="red"), "colour"),
        (lambda rows: rows[0].update(never=["x"] * 51), "never"),
        (lambda rows: rows[0].update(locale="xx"), "locale"),
        (lambda rows: rows.append({**rows[0], "id": rows[0]["id"][::-1]}), "locale + type"),
    ],
)
def test_an_invalid_row_refuses_the_archive(change: Any, sentence: str):
    make.brief(**BRIEF)
    archive = site.with_rows(site.export(), "briefs.jsonl", change)
    remove_all()

    with pytest.raises(ArchiveError, match=sentence.replace("+", r"\+")):
        site.bring(archive)
    assert not Brief.objects.exists()
