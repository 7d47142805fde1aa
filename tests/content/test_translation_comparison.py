"""A translation beside its source, by module and block."""

from __future__ import annotations

import pytest

from content.comparison.agreement.translation_comparison import SourceMismatch, compare_translation
from content.document.document import ModuleDocument, PostDocument
from proofroom.core.json import Json, JsonObject
from proofroom.definitions.richtext.markdown_reader import from_markdown

SOURCE = """## Two ways in

Read [the guide](/guide) or [ask](https://forum.example.com/en/help) us. It costs 20 euros.

## What you need

- A computer
- [Python](https://python.org)
- 4 GB of memory

## When

Open on Mondays from 9 a.m. to 5 p.m.

## Who

| Name | Price |
| --- | --- |
| Basic | €10 |
| Pro | €20 |
"""
FAITHFUL = """## Zwei Wege hinein

Lesen Sie [die Anleitung](/de/anleitung) oder [fragen](https://forum.example.com/de/hilfe) Sie uns. Es kostet 20 Euro.

## Was Sie brauchen

- Einen Rechner
- [Python](https://python.org)
- 4 GB Speicher

## Wann

Montags von 9 bis 17 Uhr geöffnet.

## Wer

| Name | Preis |
| --- | --- |
| Basis | 10 € |
| Pro | 20 € |
"""
UNFAITHFUL = """## Drei Wege hinein

Lesen Sie die Anleitung oder fragen Sie uns. Es kostet 20 Euro.

## Wann

- Einen Rechner
- Python
- 4 GB Speicher

Montags von 9 bis 17 Uhr geöffnet.

| Name | Preis |
| --- | --- |
| Basis | 10 € |
| Pro | 20 € |
"""
QUESTIONS = [
    ("Is it free?", "Yes, for two people."),
    ("How long?", "It takes three days."),
    ("Where?", "In Vienna."),
]


def document(locale: str, *modules: tuple[str, JsonObject], **fields: Json) -> PostDocument:
    placed = tuple(
        ModuleDocument(f"{locale}-{at}", type_, f"instance-{locale}-{at}", props=props)
        for at, (type_, props) in enumerate(modules)
    )
    return PostDocument("page", locale, fields, placed)


def prose(markdown: str) -> tuple[str, JsonObject]:
    return "prose", {"content": from_markdown(markdown)}


def faq(*items: tuple[str, str]) -> tuple[str, JsonObject]:
    return "faq", {
        "items": [{"question": one, "answer": from_markdown(other)} for one, other in items]
    }


def found(source: PostDocument, target: PostDocument) -> list[tuple[str, str, str, str]]:
    return [
        (one.path.rpartition(".")[2], one.kind, one.source, one.target)
        for one in compare_translation(source, target)
    ]


def test_an_answer_that_dropped_and_turned_what_the_source_says() -> None:
    source = document("en", prose(SOURCE), faq(*QUESTIONS), title="Two ways in")
    target = document(
        "de",
        prose(UNFAITHFUL),
        faq(("Ist es kostenlos?", "Nein, für zwei Personen."), ("Wie lange?", ""), ("Wo?", "")),
        title="Drei Wege hinein",
    )

    assert found(source, target) == [
        ("title", "number", "Two", "Drei"),
        ("content", "headings", "4", "2"),
        ("content", "number", "Two", "Drei"),
        ("content", "link", "/guide", ""),
        ("content", "link", "https://forum.example.com/en/help", ""),
        ("content", "link", "https://python.org", ""),
        ("items", "answer", "Yes", "Nein"),
        ("items", "text", "It takes three days.", ""),
        ("items", "text", "In Vienna.", ""),
    ]


def test_mismatches_have_paths_of_the_translation_and_positions_in_the_value() -> None:
    source = document("en", faq(*QUESTIONS))
    target = document("de", faq(*QUESTIONS[:1], ("Wie lange?", "Vier Tage."), ("Wo?", "In Wien.")))

    assert compare_translation(source, target) == (
        SourceMismatch(
            "modules.de-0.props.items",
            "number",
            "three days",
            "Vier Tage",
            "Item 2 › Answer › 1 · Paragraph",
        ),
    )


def test_a_faithful_translation_yields_nothing() -> None:
    source = document("en", prose(SOURCE), faq(*QUESTIONS), title="Two ways in")
    target = document(
        "de",
        prose(FAITHFUL),
        faq(
            ("Ist es kostenlos?", "Ja, für zwei Personen."),
            ("Wie lange?", "Es dauert drei Tage."),
            ("Wo?", "In Wien."),
        ),
        title="Zwei Wege hinein",
    )

    assert compare_translation(source, target) == ()


def test_items_that_are_left_out_do_not_shift_the_others() -> None:
    source = document("en", faq(*QUESTIONS))
    target = document("de", faq(("Wie lange?", "Es dauert drei Tage."), ("Wo?", "In Wien.")))

    assert found(source, target) == [("items", "items", "3", "2")]


def test_a_paragraph_that_is_left_out_does_not_shift_the_others() -> None:
    source = document(
        "en", prose("It costs 10 euros.\n\nThere are 20 seats.\n\nIt takes 30 minutes.")
    )
    target = document("de", prose("Es gibt 20 Plätze.\n\nEs dauert 30 Minuten."))

    assert found(source, target) == [("content", "paragraphs", "3", "2")]


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        ("```\na\n```\n\nText", "Text", "code-blocks"),
        ("> A quote\n\nText", "Text", "quotes"),
        ("Text ![a](/a.png)", "Text", "images"),
        ("- one thing\n- another", "- ein Ding", "list-items"),
        ("| A |\n| --- |\n| x |\n| y |", "| A |\n| --- |\n| x |", "rows"),
        ("Press `Ctrl+S` now", "Drücken Sie `Strg+X` jetzt", "code"),
        ("Text\n\nMore text", "Text", "paragraphs"),
        ("Text", "Text\n\nUnsere Konkurrenz vergiftet ihre Kunden", "paragraphs"),
        ("Text of the source", "", "text"),
    ],
)
def test_blocks_are_counted(source: str, target: str, kind: str) -> None:
    kinds = [one[1] for one in found(document("en", prose(source)), document("de", prose(target)))]

    assert kind in kinds


def test_modules_are_paired_by_what_they_were_copied_from() -> None:
    source = document("en", prose("Two cats"), prose("Three dogs"))
    target = document("de", prose("Drei Hunde"), prose("Zwei Katzen"))

    swapped = {"en-0": "de-1", "en-1": "de-0"}

    assert compare_translation(source, target, swapped) == ()
    assert len(compare_translation(source, target)) == 2


def test_a_module_that_is_gone_or_new_does_not_agree() -> None:
    source = document("en", prose("Cats"), faq(*QUESTIONS))
    target = document("de", prose("Katzen"), ("callout", {"title": "Neu"}))

    copies = {"en-0": "de-0", "en-1": "gone"}

    assert [(one.path, one.kind) for one in compare_translation(source, target, copies)] == [
        ("modules.gone", "module"),
        ("modules.de-1", "module"),
    ]
    assert (
        compare_translation(source, document("de", prose("Katzen")), {"en-0": "de-0", "en-1": None})
        == ()
    )


def test_shared_modules_are_compared_by_what_the_translation_has_of_its_own() -> None:
    place = ModuleDocument("s", "callout", "shared", scope="global", global_slug="news")
    own = ModuleDocument(
        "t", "callout", "shared", "global", "news", overrides={"title": "Vier Tage"}
    )
    source = PostDocument("page", "en", {}, (place,))
    shared: dict[str, JsonObject] = {"shared": {"title": "Three days", "body": "Two weeks"}}

    [one] = compare_translation(source, PostDocument("page", "de", {}, (own,)), {"s": "t"}, shared)

    assert (one.path, one.source, one.target) == (
        "modules.t.overrides.title", "three days".capitalize(), "Vier Tage",
    )  # fmt: skip


def test_untranslated_settings_stay_equal_to_the_sources() -> None:
    source = document("en", ("hero", {"title": "Welcome", "theme": "light"}))
    target = document("de", ("hero", {"title": "Willkommen", "theme": "dark"}))

    assert found(source, target) == [("theme", "setting", "light", "dark")]


def test_one_language_in_two_varieties_is_compared_without_length_and_language() -> None:
    source = document("en", prose("Colour of the two cats " * 30))

    assert (
        compare_translation(source, document("en-US", prose("Color of the two cats " * 30))) == ()
    )


def test_a_long_text_of_another_structure_is_compared() -> None:
    source = document("en", prose("\n\n".join(f"There are {at} cats." for at in range(400))))
    target = document("de", prose("\n\n".join(f"Es gibt {at} Katzen." for at in range(300))))

    assert found(source, target)[0] == ("content", "paragraphs", "400", "300")


@pytest.mark.parametrize(
    "value", [None, "", [], {}, {"type": "doc"}, {"type": "doc", "content": "x"}, 3]
)
def test_values_of_any_shape_are_read(value: Json) -> None:
    source = document("en", ("prose", {"content": value}), ("faq", {"items": value}))
    target = document("de", prose("Text"), faq(*QUESTIONS))

    compare_translation(source, target)
    compare_translation(target, source)
