"""Terms, phrases and names of an editorial brief, found in texts."""

from __future__ import annotations

import pytest

from content.comparison.brief_terms import find_terms, missing_names
from proofroom.briefs.effective import BriefTerm, EffectiveBrief

BRIEF = EffectiveBrief(
    terms=(
        BriefTerm("user", preferred="reader", forbidden=True),
        BriefTerm("mail", preferred="e-mail"),
        BriefTerm("Github", preferred="GitHub", forbidden=True),
        BriefTerm("IT", forbidden=True),
        BriefTerm("log in", forbidden=True),
    ),
    never=("cheap as chips",),
    protected_names=("Proofroom", "Café Zürich"),
)
GERMAN = EffectiveBrief(
    terms=(
        BriefTerm("Nutzer", preferred="Leser", forbidden=True),
        BriefTerm("günstig", forbidden=True),
        BriefTerm("Straße", preferred="Weg"),
    )
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The users said so.", ["users"]),
        ("The User’s choice.", ["User"]),
        ("the abuser muser userland", []),
        ("Send an e-mail, no mail.", ["mail"]),
        ("user@example.com https://user.example/user www.user.com", []),
        ("it is IT", ["IT"]),
        ("Github and GitHub", ["Github"]),
        ("Please log in. The log, in parts. They log\nin.", ["log in", "log, in", "log\nin"]),
        ("Cheap as chips!", ["Cheap as chips"]),
        ("cheap as a chip", []),
        ("proofroom, Proofroom, Proofrooms, Proofroom’s", ["proofroom"]),
        ("PROOFROOM", []),
        ("CAFÉ zürich", ["CAFÉ zürich"]),
        ("", []),
    ],
)
def test_english(text: str, found: list[str]) -> None:
    assert [hit.found for hit in find_terms(text, BRIEF, "en")] == found


def test_signs_are_found_anywhere() -> None:
    brief = EffectiveBrief(
        terms=(BriefTerm("&", preferred="and", forbidden=True),),
        never=("!!",),
        protected_names=("Kettle & Spoke",),
    )

    hits = find_terms(
        "Tea & milk!!! By Kettle & Spoke. At https://example.com/?a=1&b=2", brief, "en"
    )

    assert [(hit.kind, hit.found, hit.instead, hit.start) for hit in hits] == [
        ("forbidden", "&", "and", 4),
        ("never", "!!", "", 10),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Die Wünsche des Nutzers und der Nutzern", ["Nutzers", "Nutzern"]),
        ("Nutzerinnen und Nutzungen", []),
        ("ein günstiges Angebot", ["günstiges"]),
        ("ungünstig", []),
        ("In der STRASSE und den Straßen", ["STRASSE", "Straßen"]),
    ],
)
def test_german(text: str, found: list[str]) -> None:
    assert [hit.found for hit in find_terms(text, GERMAN, "de-AT")] == found


def test_a_hit_says_what_to_write_instead() -> None:
    [hit] = find_terms("For users", BRIEF, "en")

    assert (hit.kind, hit.term, hit.instead, hit.start) == ("forbidden", "user", "reader", 4)


def test_a_language_without_a_table_finds_exact_words() -> None:
    assert [hit.found for hit in find_terms("user users", BRIEF, "xx")] == ["user"]
    assert find_terms("userzz", BRIEF, "xx") == []


def test_names_that_are_gone_or_changed_are_missing() -> None:
    names = ["Proofroom", "Café Zürich", "Else"]

    assert missing_names("Proofroom and Café Zürich", "Proofrooms Café Zürich", names) == []
    assert missing_names("Proofroom and Café Zürich", "Prüfraum, Cafe Zürich", names) == [
        "Proofroom",
        "Café Zürich",
    ]
    assert missing_names("", "Proofroom", names) == []
