"""Creating, changing, deleting and restoring briefs."""

from __future__ import annotations

from typing import Any

import pytest

from proofroom.briefs.brief_fields import CHARACTERS_MAX, BriefChanges, NewBrief
from proofroom.briefs.models import Brief
from proofroom.briefs.services import (
    BRIEFS_MAX,
    change_brief,
    create_brief,
    delete_brief,
    list_versions,
    restore_brief,
)
from proofroom.core.actor import Actor
from proofroom.core.errors import CmsError, Conflict, NotAllowed, NotFound, RuleViolation
from proofroom.core.models import Event
from proofroom.shared_content.models import SharedRevision
from tests import make
from tests.content.at_once import at_once

pytestmark = pytest.mark.django_db


def details(**values: Any) -> dict[str, list[str]]:
    """Return the details of the refusal of a new brief, after checking that nothing was stored."""
    before = Brief.objects.count()
    with pytest.raises(RuleViolation) as refusal:
        make.brief(**values)
    assert Brief.objects.count() == before
    return refusal.value.details


def events() -> list[tuple[str, dict[str, Any]]]:
    rows = Event.objects.filter(name__startswith="brief.").order_by("pk")
    return [(row.name, row.payload) for row in rows]


def test_a_new_brief_is_version_one_with_an_entry_of_the_log():
    brief = make.brief("Blog", type="blog", section="/guides/", voice="  Warm.\r\nShort.  ")

    assert (brief.type, brief.section, brief.voice, brief.version) == (
        "blog",
        "guides",
        "Warm.\nShort.",
        1,
    )
    [version] = list_versions(brief)
    assert (version.version, version.reason, version.by_name) == (1, "created", "editor")
    assert events() == [
        (
            "brief.created",
            {
                "id": str(brief.pk),
                "name": "Blog",
                "version": 1,
                "type": "blog",
                "section": "guides",
            },
        )
    ]


def test_a_term_is_stored_without_empty_values():
    brief = make.brief(
        terms=[
            {"term": " grinder ", "preferred": "", "forbidden": False, "translations": {}},
            {"term": "utilise", "preferred": "use", "forbidden": True, "note": None},
        ]
    )

    assert brief.terms == [
        {"term": "grinder"},
        {"term": "utilise", "preferred": "use", "forbidden": True},
    ]


def test_a_change_touches_only_the_given_values():
    brief = make.brief(voice="Warm.", audience="All", terms=[{"term": "a"}])

    changed = make.changed_brief(brief, voice="Calm.", audience=None)

    assert (changed.voice, changed.audience, changed.version) == ("Calm.", "", 2)
    assert changed.terms == [{"term": "a"}]
    assert events()[-1][1]["changed"] == ["audience", "voice"]
    assert [row.version for row in list_versions(changed)] == [2, 1]


def test_a_change_to_the_same_values_makes_no_version():
    brief = make.brief(voice="Warm.")

    assert make.changed_brief(brief, voice="Warm. ", name="Site", version=1).version == 1
    assert len(events()) == 1
    assert list_versions(brief).count() == 1


def test_null_leaves_the_name_and_empties_the_place():
    brief = make.brief("German", locale="de")

    changed = make.changed_brief(brief, name=None, locale=None)

    assert (changed.name, changed.locale) == ("German", "")


def test_a_stale_version_is_a_conflict_and_changes_nothing():
    brief = make.changed_brief(make.brief(voice="Warm."), voice="Calm.")

    with pytest.raises(Conflict) as conflict:
        change_brief(
            brief_id=brief.pk,
            actor=make.actor(),
            changes=BriefChanges(voice="Old."),
            expected_version=1,
        )

    assert (conflict.value.code, conflict.value.current) == ("stale_version", 2)
    brief.refresh_from_db()
    assert (brief.voice, brief.version) == ("Calm.", 2)


@pytest.mark.parametrize(
    ("place", "field"),
    [
        ({}, "locale"),
        ({"locale": "de"}, "locale"),
        ({"type": "blog", "locale": "de"}, "type"),
        ({"section": "guides", "type": "blog"}, "section"),
    ],
)
def test_there_is_one_brief_for_a_place(place: dict[str, str], field: str):
    make.brief(**place)

    with pytest.raises(RuleViolation) as refusal:
        make.brief("Second", **place)

    assert (refusal.value.code, list(refusal.value.details)) == ("brief_exists", [field])
    assert Brief.objects.count() == 1


def test_a_brief_cannot_move_to_a_taken_place():
    make.brief("German", locale="de")
    brief = make.brief("Site")

    with pytest.raises(RuleViolation) as refusal:
        make.changed_brief(brief, locale="de")

    assert refusal.value.code == "brief_exists"
    brief.refresh_from_db()
    assert (brief.locale, brief.version) == ("", 1)


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"locale": "xx"}, "locale"),
        ({"type": "nothing"}, "type"),
        ({"terms": [{"term": "a"}, {"term": " a "}]}, "terms.1.term"),
        ({"protectedNames": ["A", "B", "A"]}, "protectedNames.2"),
        ({"never": ["x", "x"]}, "never.1"),
        ({"terms": [{"term": "a", "preferred": "a", "forbidden": True}]}, "terms.0.preferred"),
        (
            {"terms": [{"term": "a", "preferred": "b"}, {"term": "b", "forbidden": True}]},
            "terms.0.preferred",
        ),
        (
            {"terms": [{"term": "A", "forbidden": True}], "protectedNames": ["B", "A"]},
            "protectedNames.1",
        ),
        ({"terms": [{"term": f"{n}", "note": "x" * 300} for n in range(100)]}, "body"),
    ],
)
def test_values_that_break_a_rule_are_refused_at_their_path(values: dict[str, Any], path: str):
    assert list(details(**values)) == [path]


def test_the_size_of_a_brief_has_a_limit():
    values: dict[str, Any] = {
        "name": "Site",
        "never": ["x" * 299 + chr(65 + number) for number in range(50)],
        "audience": "a" * 2000,
        "voice": "v" * 2000,
        "address": "d" * 500,
        "readingLevel": "r" * 300,
    }
    rest = CHARACTERS_MAX - 19_804
    fits = make.brief(**values, protectedNames=["p" * 100, "q" * (rest - 100)])

    assert fits.version == 1
    assert details(**values, protectedNames=["p" * 100, "q" * (rest - 99)]) == {
        "body": [
            "The brief has 20,001 characters; at most 20,000 are allowed, because agents read it with every task."
        ]
    }


def test_a_type_that_the_site_no_longer_has_does_not_block_other_edits():
    brief = make.brief(voice="Warm.")
    Brief.objects.filter(pk=brief.pk).update(type="gone", locale="xx")

    assert make.changed_brief(brief, voice="Calm.", type="gone", locale="xx").voice == "Calm."


def test_deleting_a_brief_deletes_its_versions():
    brief = make.brief()
    kept = make.brief("German", locale="de")

    assert delete_brief(brief_id=brief.pk, actor=make.actor()) == brief.pk

    assert list(Brief.objects.values_list("pk", flat=True)) == [kept.pk]
    assert set(SharedRevision.objects.values_list("row_id", flat=True)) == {kept.pk}
    assert events()[-1][0] == "brief.deleted"


def test_restoring_a_version_makes_a_new_one_with_its_values():
    brief = make.brief(voice="Warm.", terms=[{"term": "a"}])
    make.changed_brief(brief, voice="Calm.", terms=[])

    restored = restore_brief(brief_id=brief.pk, version=1, actor=make.actor(), expected_version=2)

    assert (restored.voice, restored.terms, restored.version) == ("Warm.", [{"term": "a"}], 3)
    assert list_versions(brief)[0].reason == "reverted"
    assert events()[-1] == (
        "brief.changed",
        {
            "id": str(brief.pk),
            "name": "Site",
            "version": 3,
            "changed": ["voice", "terms"],
            "did": "restored",
        },
    )


def test_a_version_of_another_brief_is_not_found():
    brief = make.brief()
    make.changed_brief(make.brief("German", locale="de"), voice="Warm.")

    with pytest.raises(NotFound):
        restore_brief(brief_id=brief.pk, version=2, actor=make.actor())


def test_a_version_cannot_be_restored_to_a_place_taken_since():
    brief = make.brief("German", locale="de")
    make.changed_brief(brief, locale=None)
    make.brief("German again", locale="de")

    with pytest.raises(RuleViolation) as refusal:
        restore_brief(brief_id=brief.pk, version=1, actor=make.actor())
    assert refusal.value.code == "brief_exists"


@pytest.mark.parametrize(
    "who",
    [
        lambda: make.actor("translator"),
        lambda: make.agent_actor(),
        lambda: make.mcp_actor("admin"),
    ],
    ids=["translator", "agent", "AI client of an administrator"],
)
def test_only_editors_and_administrators_change_briefs(who: Any):
    brief, actor = make.brief(voice="Warm."), who()
    before = list(Event.objects.values_list("pk", flat=True))

    def create(actor: Actor) -> object:
        return create_brief(actor=actor, brief=NewBrief(name="German", locale="de"))

    def change(actor: Actor) -> object:
        return change_brief(brief_id=brief.pk, actor=actor, changes=BriefChanges(voice="x"))

    def restore(actor: Actor) -> object:
        return restore_brief(brief_id=brief.pk, version=1, actor=actor)

    def delete(actor: Actor) -> object:
        return delete_brief(brief_id=brief.pk, actor=actor)

    for write in (create, change, restore, delete):
        with pytest.raises(NotAllowed):
            write(actor)

    assert list(Brief.objects.values_list("voice", flat=True)) == ["Warm."]
    assert list(Event.objects.values_list("pk", flat=True)) == before


def test_the_number_of_briefs_has_a_limit():
    brief = make.brief()
    make.copies(brief, BRIEFS_MAX - 1, section=lambda number: f"section/{number}")

    assert list(details(name="One more", locale="de")) == ["body"]


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_briefs_made_at_once_for_a_place_are_one():
    actor = make.actor()

    def work() -> object:
        return create_brief(actor=actor, brief=NewBrief(name="German", locale="de"))

    results = at_once(work, work)

    assert sum(isinstance(result, Brief) for result in results) == 1
    assert [result.code for result in results if isinstance(result, CmsError)] == ["brief_exists"]
    assert SharedRevision.objects.count() == 1


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_two_changes_at_once_of_one_version_are_one():
    brief, actor = make.brief(voice="Warm."), make.actor()

    def work(voice: str) -> object:
        return change_brief(
            brief_id=brief.pk, actor=actor, changes=BriefChanges(voice=voice), expected_version=1
        )

    results = at_once(lambda: work("a"), lambda: work("b"))

    assert sum(isinstance(result, Brief) for result in results) == 1
    assert [result.code for result in results if isinstance(result, CmsError)] == ["stale_version"]
    assert Brief.objects.get().version == 2
