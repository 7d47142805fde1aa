"""The brief that holds for a text, made of several briefs."""

from __future__ import annotations

from functools import partial

import pytest

from proofroom.briefs.effective import (
    MARKDOWN_MAX,
    BriefExample,
    BriefTerm,
    EffectiveBrief,
    get_effective_brief,
    load_briefs,
)
from proofroom.briefs.models import Brief
from proofroom.briefs.sections import leading_sections, normalize_section
from proofroom.core.json import Json
from tests.queries import count_queries

pytestmark = pytest.mark.django_db


def brief(name: str, **values: Json) -> Brief:
    return Brief.objects.create(name=name, **values)


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("guides", "guides"),
        ("/guides/coffee/", "guides/coffee"),
        ("//guides//coffee?x=1#y", "guides/coffee"),
        ("/de/guides", "guides"),
        ("https://www.example.com/de/guides/coffee?x=1", "guides/coffee"),
        ("HTTPS://example.com", ""),
        ("de", ""),
        ("/", ""),
        ("", ""),
    ],
)
def test_a_section_is_stored_without_language_and_outer_slashes(path: str, section: str):
    assert normalize_section(path) == section


def test_the_sections_of_an_address_are_listed_from_the_longest():
    assert leading_sections("/de/guides/coffee/filter") == [
        "guides/coffee/filter",
        "guides/coffee",
        "guides",
    ]
    assert leading_sections("/") == []


def test_without_briefs_nothing_is_said():
    found = get_effective_brief(post_type="blog", locale="en")

    assert found.is_empty
    assert found.to_markdown() == ""
    assert found.sources == ()


def test_each_field_comes_from_the_narrowest_brief_that_says_something():
    brief("Site", audience="site", voice="site", address="site", reading_level="site")
    brief("German", locale="de", voice="de", address="de", reading_level="de")
    brief("Blog", type="blog", address="blog", reading_level="blog")
    brief("Guides", section="guides", reading_level="guides")
    brief("Other type", type="page", audience="page")

    found = get_effective_brief(post_type="blog", locale="de", section="/de/guides/filter")

    assert (found.audience, found.voice, found.address, found.reading_level) == (
        "site",
        "de",
        "blog",
        "guides",
    )
    assert [source.name for source in found.sources] == ["Guides", "Blog", "German", "Site"]
    assert {source.version for source in found.sources} == {1}


def test_the_longest_section_wins_and_a_shorter_one_speaks_where_it_is_silent():
    brief("Guides", section="guides", voice="guides", audience="guides")
    brief("Coffee", section="guides/coffee", voice="coffee")
    brief("Similar", section="guides/cof", voice="similar")

    found = get_effective_brief(post_type=None, locale=None, section="guides/coffee/filter")

    assert (found.voice, found.audience) == ("coffee", "guides")


def test_terms_and_names_add_up_and_a_narrower_term_replaces_a_wider_one():
    brief("Site", terms=[{"term": "log in"}, {"term": "site"}], protected_names=["Acme", "Nova"])
    brief(
        "German",
        locale="de",
        terms=[{"term": "log in", "forbidden": True, "preferred": "anmelden"}],
        protected_names=["Nova", "Rheinwerk"],
    )

    found = get_effective_brief(post_type=None, locale="de")

    assert found.terms == (
        BriefTerm("log in", preferred="anmelden", forbidden=True),
        BriefTerm("site"),
    )
    assert found.protected_names == ("Nova", "Rheinwerk", "Acme")


def test_things_never_said_and_examples_are_those_of_the_narrowest_brief():
    brief("Site", never=["cheap"], examples=[{"before": "a", "after": "b"}])
    brief("Blog", type="blog", never=["best"], examples=[{"before": "c", "after": "d"}])

    found = get_effective_brief(post_type="blog", locale=None)

    assert found.never == ("best",)
    assert found.examples == (BriefExample("c", "d"),)


def test_no_type_and_no_language_mean_the_brief_of_the_site():
    brief("Site", voice="site")
    brief("German", locale="de", voice="de")
    brief("Blog", type="blog", voice="blog")

    assert get_effective_brief(post_type=None, locale=None).voice == "site"
    assert get_effective_brief(post_type="", locale="").voice == "site"


def test_an_agent_reads_the_brief_in_a_fixed_order():
    found = EffectiveBrief(
        locale="de",
        audience="Home baristas.",
        voice="Warm.\nShort sentences.",
        address="du",
        reading_level="B1",
        never=("Health claims",),
        terms=(
            BriefTerm("cheap", preferred="good value", forbidden=True),
            BriefTerm("utilise", forbidden=True),
            BriefTerm("login", preferred="log in", note="As a verb."),
            BriefTerm("grinder", translations={"de": "Mühle", "fr": "moulin"}),
        ),
        protected_names=("AeroPress",),
        examples=(BriefExample("Line 1\n\nLine 2", "Line"),),
    )

    assert (
        found.to_markdown()
        == """\
# Editorial brief

## Audience

Home baristas.

## Voice

Warm.
Short sentences.

## Form of address

du

## Reading level

B1

## Never say

- Health claims

## Terms

- Never write “cheap”; write “good value”.
- Never write “utilise”.
- Instead of “login”, prefer “log in”. As a verb.
- “grinder”. Translation: de “Mühle”.

## Names to keep exactly as written, in every language

- AeroPress

## Approved edits

Before:

> Line 1
>
> Line 2

After:

> Line
"""
    )


def test_the_text_for_agents_has_a_limit_and_says_what_is_missing():
    terms = tuple(BriefTerm(f"term {number}", note="x" * 300) for number in range(200))
    text = EffectiveBrief(voice="Warm.", terms=terms, protected_names=("Acme",)).to_markdown()

    assert len(text) <= MARKDOWN_MAX
    assert "“term 0”" in text
    assert "Acme" not in text
    assert text.endswith(" entries are left out here.\n")


def test_reading_takes_one_query_whatever_the_number_of_briefs():
    for number in range(20):
        brief(f"Section {number}", section=f"guides/{number}", voice="x")

    assert (
        count_queries(get_effective_brief, post_type="blog", locale="de", section="guides/7/filter")
        == 1
    )


def test_a_set_of_briefs_answers_the_same_without_further_queries():
    brief("Site", voice="site", audience="site")
    brief("German", locale="de", voice="de")
    brief("Coffee", section="guides/coffee", voice="coffee")
    cases = [
        {"post_type": None, "locale": None, "section": None},
        {"post_type": "blog", "locale": "de", "section": None},
        {"post_type": "blog", "locale": "en", "section": "/guides/coffee/filter"},
    ]

    loaded = load_briefs()
    for case in cases:
        assert count_queries(partial(loaded.effective, **case)) == 0
    assert [loaded.effective(**case) for case in cases] == [
        get_effective_brief(**case) for case in cases
    ]
