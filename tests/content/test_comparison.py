"""The laws of the comparison: different values are shown as different, equal ones not; passages lead
between them.
"""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.utils import translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from content.comparison.change_comparison import compare_change
from content.comparison.characters import find_look_alikes
from content.comparison.comparison import (
    Compared,
    ValueShape,
    compare,
    compare_labelled,
    compare_modules,
)
from content.comparison.difference_text import note_of, piece_of, role_text, side_text
from content.comparison.inline import nodes_of, text_of_units, units_of, units_of_text
from content.comparison.references import MediaView, References, references_of
from content.comparison.risk import assess
from content.document.changes import ABSENT, diff, same
from content.document.differences import Difference, DifferenceKind, ReferenceKind, ShownReference
from content.document.document import ModuleDocument, PostDocument
from content.document.labels import module_names
from content.presenters.cards import cards_of_layer, fold_lines, lines_of
from proofroom.definitions import find_module, modules, props_of
from proofroom.definitions.props import Prop
from proofroom.definitions.richtext.markdown_reader import from_markdown
from tests import make
from tests.content.mutations import IDS, pairs
from tests.content.test_richtext_roundtrip import DOCUMENT

LAWS = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
_TAG = re.compile(r"<[^>]+>")


def page_text(before: Any, after: Any, shape: ValueShape) -> str:
    """Return the visible text of a change, without unchanged parts."""
    found = fold_lines(lines_of(compare(before, after, shape), References()))
    html = render_to_string("admin/cms/difference.html", {"stretches": found})
    return " ".join(unescape(_TAG.sub(" ", html)).split())


def drawn(before: Any, after: Any, shape: ValueShape) -> str:
    """Return the marked parts: removed, inserted or named."""
    found = fold_lines(lines_of(compare(before, after, shape), References()))
    html = render_to_string("admin/cms/difference.html", {"stretches": found})
    parts = re.findall(r"<(?:ins|del)>.*?</(?:ins|del)>|<li class=\"fact.*?</li>", html, re.DOTALL)
    return " ".join(unescape(_TAG.sub("", part)) for part in parts)


def pieces(before: Any, after: Any, shape: ValueShape) -> list[Any]:
    return [piece_of(one, References(), "") for one in compare(before, after, shape).differences]


@LAWS
@given(pairs())
def test_different_values_differ_on_the_page_and_in_the_api_and_equal_ones_do_not(
    pair: tuple[Prop, Any, Any],
) -> None:
    prop, before, after = pair
    shape = ValueShape(prop.kind, prop.nested)

    found = compare(before, after, shape)

    if same(before, after):
        assert found.differences == ()
        return
    assert found.differences
    assert drawn(before, after, shape).strip()
    assert all(piece["before"] != piece["after"] for piece in pieces(before, after, shape))


@LAWS
@given(pairs())
def test_passages_lead_from_one_value_to_the_other(pair: tuple[Prop, Any, Any]) -> None:
    prop, before, after = pair
    found = compare_labelled(before, after, ValueShape(prop.kind, prop.nested))
    passages = found.comparison.passages

    assert same(found.part.value(()), before)
    assert same(found.part.value(passages), after)
    for chosen in passages:
        middle = found.part.value({chosen})
        left = [one for one in passages if one != chosen]
        assert not same(middle, before)
        if left:
            assert not same(middle, after)


@LAWS
@given(DOCUMENT)
def test_inline_units_hold_all_of_a_block(document: Any) -> None:
    for node in _leaves(document):
        content = node.get("content", [])
        assert nodes_of(units_of(content)) == content


@given(st.text(max_size=80))
def test_units_of_a_text_are_the_text(text: str) -> None:
    assert text_of_units(units_of_text(text)) == text


def _leaves(node: Any) -> list[Any]:
    if node["type"] in ("paragraph", "heading", "codeBlock"):
        return [node]
    return [leaf for child in node.get("content", []) for leaf in _leaves(child)]


RICH = ValueShape("richtext")


def doc(*content: Any) -> Any:
    return {"type": "doc", "content": list(content)}


def paragraph(*content: Any) -> Any:
    return {"type": "paragraph", "content": list(content)}


def words(text: str, *marks: Any) -> Any:
    return {"type": "text", "text": text, **({"marks": list(marks)} if marks else {})}


def link(href: str, **attrs: Any) -> Any:
    return {"type": "link", "attrs": {"href": href, **attrs}}


def image(src: str) -> Any:
    return {"type": "image", "attrs": {"src": src, "alt": ""}}


def cell(text: str, **attrs: Any) -> Any:
    return {"type": "tableCell", "attrs": attrs, "content": [paragraph(words(text))]}


def table(*rows: Any) -> Any:
    return doc(
        {"type": "table", "content": [{"type": "tableRow", "content": list(row)} for row in rows]}
    )


def code(text: str, **attrs: Any) -> Any:
    return doc({"type": "codeBlock", "attrs": attrs, "content": [words(text)]})


A, B = "https://a.example/", "https://b.example/"
BOLD, STRIKE = {"type": "bold"}, {"type": "strike"}


@pytest.mark.parametrize(
    ("before", "after", "kind", "said"),
    [
        pytest.param(
            from_markdown(f"Read [this]({A}) today."),
            from_markdown(f"Read [this]({B}) now."),
            "link",
            f"Link changed: {A} → {B}",
            id="target beside a changed word",
        ),
        pytest.param(
            from_markdown(f"[one]({A}) and [two]({B})"),
            from_markdown(f"[one]({B}) and [two]({A})"),
            "link",
            f"Link changed: {A} → {B} one Link changed: {B} → {A} two",
            id="links that swap",
        ),
        pytest.param(
            from_markdown(f"![one]({A}x.png) ![two]({B}y.png)"),
            from_markdown(f"![one]({B}y.png) ![two]({A}x.png)"),
            "image",
            f"{A}x.png · alt: “one” → {B}y.png · alt: “one”",
            id="images that swap",
        ),
        pytest.param(
            doc(paragraph(words("here", link(A)))),
            doc(paragraph(words("here", link(A, title="Win")))),
            "link",
            f"Link changed: {A} → {A} · title: Win",
            id="title of a link",
        ),
        pytest.param(
            doc(paragraph(words("here", link(A)))),
            doc(paragraph(words("here", link(A, rel="me")))),
            "link",
            f"Link changed: {A} → {A} · rel: me",
            id="rel of a link",
        ),
        pytest.param(
            doc(paragraph(words("here"))),
            doc(paragraph(words("here"), image("/x.png"))),
            "image",
            "Image added: /x.png · alt: –",
            id="image with an empty alternative text",
        ),
        pytest.param(
            doc(paragraph(words("40 €"))),
            doc(paragraph(words("40 €", STRIKE))),
            "mark",
            "Formatting added: strikethrough 40 €",
            id="strike",
        ),
        pytest.param(
            from_markdown("About 10<sup>6</sup> people"),
            from_markdown("About 106 people"),
            "number",
            "Number changed: ^6 → 6",
            id="exponent that becomes a figure",
        ),
        pytest.param(
            from_markdown("About 10<sup>6</sup> people"),
            from_markdown("About 10<sup>7</sup> people"),
            "number",
            "[removed: 10⁶] [inserted: 10⁷] Number changed: 106 → 107",
            id="exponent",
        ),
        pytest.param(
            doc(paragraph(words("all of it"))),
            doc(paragraph(words("all"), words(" of it", BOLD))),
            "mark",
            "Formatting added: bold of it",
            id="bold",
        ),
        pytest.param(
            code("a\n  b"),
            code("a\nb"),
            "code",
            "line break, 2 × space → line break",
            id="indentation of code",
        ),
        pytest.param(
            code("a b", language="sh"),
            code("a b", language="python"),
            "structure",
            "language: sh → language: python",
            id="language of code",
        ),
        pytest.param(
            from_markdown("1. a\n2. b"),
            from_markdown("40. a\n41. b"),
            "structure",
            "starts at 1 → starts at 40",
            id="start of a list",
        ),
        pytest.param(
            table([cell("a"), cell("b")]),
            table([cell("a", colspan=2), cell("b")]),
            "structure",
            "Structure added: 2 columns wide",
            id="colspan",
        ),
        pytest.param(
            table([cell("a"), cell("b"), cell("")]),
            table([cell("a"), cell(""), cell("b")]),
            "structure",
            "Structure added: Paragraph Structure removed: Paragraph",
            id="a moved cell",
        ),
        pytest.param(
            from_markdown("> a"),
            from_markdown("a"),
            "text",
            "[inserted: a]",
            id="a quote that is none any more",
        ),
        pytest.param(
            from_markdown("# a"),
            from_markdown("### a"),
            "structure",
            "Heading 1 → Heading 3",
            id="level of a heading",
        ),
        pytest.param(
            from_markdown("- a\n\n- b"),
            from_markdown("1. a\n2. b"),
            "structure",
            "Bulleted list → Numbered list",
            id="kind of a list",
        ),
        pytest.param(
            from_markdown("a\\\nb"), from_markdown("a b"), "structure", "↵", id="a line break"
        ),
    ],
)
def test_each_kind_of_difference_is_named(before: Any, after: Any, kind: str, said: str) -> None:
    shown = drawn(before, after, RICH)

    assert said in " ".join(shown.split())
    assert kind in {piece["kind"] for piece in pieces(before, after, RICH)}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Pay here", "Pa\u200by here", "U+200B zero width space"),
        ("Pay here", "Pay\u202ehere", "U+202E right-to-left override"),
        ("Pay here", "Pay\u00ad here", "U+00AD soft hyphen"),
        ("Pay here", "Pay\U000e0041 here", "U+E0041 tag latin capital letter a"),
        ("Pay here", "Pay\u2060 here", "U+2060 word joiner"),
        ("Pay here", "Pay\ufe0f here", "U+FE0F variation selector-16"),
        ("Pay here", "Pay\u3164here", "U+3164 hangul filler"),
        ("Pay here", "Pаy here", "U+0430 cyrillic small letter a"),
        ("Pay here", "Pay \U0001d421ere", "U+1D421 mathematical bold small h"),
        ("Pay in full", "Pay in fuII", "I U+0049 latin capital letter i"),
        ("modern", "rnodern", "m U+006D latin small letter m"),
        ("caf\u00e9", "cafe\u0301", "U+0301 combining acute accent"),
        ("Pay here", "P\u0336ay here", "U+0336 combining long stroke overlay"),
        ("Pay 15 now", "Pay \u09675 now", "U+0967 devanagari digit one"),
    ],
    ids=[
        "zero width",
        "bidi",
        "soft hyphen",
        "tag",
        "joiner",
        "variation",
        "filler",
        "cyrillic",
        "mathematical",
        "capital i",
        "rn",
        "decomposed",
        "struck through",
        "digit of another script",
    ],
)
def test_characters_that_hide_are_named(before: str, after: str, said: str) -> None:
    shape = ValueShape("text")

    assert said in drawn(before, after, shape)
    assert "characters" in {piece["kind"] for piece in pieces(before, after, shape)}


@pytest.mark.parametrize(
    ("before", "after", "named"),
    [
        ("a modern café", "a rnodern café", ["m", "r", "n"]),
        ("Pay", "P\u0430y", ["a", "\u0430"]),
        ("\u043f\u043e\u0440\u0430", "\u043fopa", ["\u043e", "\u0440", "\u0430", "o", "p", "a"]),
    ],
    ids=["letters", "another script", "letters among another script"],
)
def test_of_words_that_read_alike_only_what_tells_them_apart_is_named(
    before: str, after: str, named: list[str]
) -> None:
    assert [name[0] for name in find_look_alikes(before, after)] == named


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("It's good", "It’s good"),
        ("Wait...", "Wait…"),
        ("Muller", "Müller"),
        ("A short guide", "A short, useful guide – for all"),
        ("Read This", "read this"),
        ("Enjoy it", "Enjoy it ❤️ 👩‍💻"),
    ],
)
def test_ordinary_corrections_hide_nothing(before: str, after: str) -> None:
    assert "characters" not in {
        piece["kind"] for piece in pieces(before, after, ValueShape("text"))
    }


@pytest.mark.parametrize(
    ("language", "after", "hides"),
    [("ru", "Это новый текст", False), ("en", "сосоа", True), ("ru", "PayPal", False)],
    ids=["its own script", "another script", "Latin letters anywhere"],
)
def test_letters_are_foreign_by_the_language_of_the_post(
    language: str, after: str, hides: bool
) -> None:
    found = compare("", after, ValueShape("text"), language=language).differences

    assert ("characters" in {one.kind for one in found}) is hides


def test_every_link_of_a_new_module_is_named_the_hundredth_too() -> None:
    faq = modules.get("faq")
    text = " ".join(f"[w{number}](https://x{number}.example/)" for number in range(100))
    items = [{"question": "Why?", "answer": from_markdown(text)}]
    assert faq is not None
    shape = ValueShape("repeater", props_of(faq.Props)["items"].nested)

    shown = page_text(ABSENT, items, shape)

    assert all(f"https://x{number}.example/" in shown for number in range(100))


def test_two_proposals_never_read_the_same() -> None:
    """One value and many small changes of it, each displayed differently from all others."""
    before = f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n- one\n- two"
    twins = [
        f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n- one\n- two\n- three",
        f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n- three\n- one\n- two",
        f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n- one\n- three\n- two",
        f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n- one\n- two\n\nthree",
        f"three\n\nRead [this]({A}) and **that**, then pay 40 € to Anna.\n\n- one\n- two",
        f"Read [this]({B}) and **that**, then pay 40 € to Anna.\n\n- one\n- two",
        f"Read [this]({A}) and that, then pay 40 € to Anna.\n\n- one\n- two",
        f"Read [this]({A}) and ~~that~~, then pay 40 € to Anna.\n\n- one\n- two",
        f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n1. one\n2. two",
        f"Read [this and]({A}) **that**, then pay 40 € to Anna.\n\n- one\n- two",
        f"Read [this]({A}) and **that**, then pay 40 € to Anna.\n\n> - one\n> - two",
    ]
    shown = [page_text(from_markdown(before), from_markdown(twin), RICH) for twin in twins]

    assert len(set(shown)) == len(twins)


def _partly(found: Compared, *chosen: int) -> Any:
    return found.part.value(set(chosen))


def test_two_corrections_in_one_paragraph_are_two_passages() -> None:
    before = from_markdown("The first sentense is here. And the second won is there.")
    after = from_markdown("The first sentence is here. And the second one is there.")

    found = compare_labelled(before, after, RICH)

    one, two = found.comparison.passages
    assert _partly(found, one) == from_markdown(
        "The first sentence is here. And the second won is there."
    )
    assert _partly(found, two) == from_markdown(
        "The first sentense is here. And the second one is there."
    )


@pytest.mark.parametrize(
    "nothing", [None, ABSENT, from_markdown("")], ids=["null", "absent", "empty"]
)
def test_a_text_where_nothing_was_is_read_as_text(nothing: Any) -> None:
    assert {piece["kind"] for piece in pieces(nothing, from_markdown("Coffee"), RICH)} == {"text"}


def test_a_block_that_is_stored_otherwise_is_named_beside_other_changes() -> None:
    before = doc(paragraph(words("Grind the beans")), {"type": "paragraph", "content": []})
    after = doc(paragraph(words("Grind fresh beans")), {"type": "paragraph"})

    assert [piece["kind"] for piece in pieces(before, after, RICH)] == ["text", "structure"]


def test_a_block_with_content_that_nobody_knows_is_compared_as_it_is_stored() -> None:
    before, after = doc({"type": "paragraph", "content": ["a"]}), doc(paragraph(words("a")))

    assert [piece["kind"] for piece in pieces(before, after, RICH)] == ["structure"]


def test_differences_are_like_only_if_they_name_the_same() -> None:
    kinds: tuple[ReferenceKind, ...] = ("media", "post-reference")
    contents = [
        Difference("reference", (), None, ShownReference(kind, id_)).content
        for kind in kinds
        for id_ in IDS[:2]
    ]

    assert all(contents.count(one) == 1 for one in contents)


def test_a_block_with_the_same_words_is_paired_whatever_comes_beside_it() -> None:
    before, after = (from_markdown(text) for text in ("Grind beans", "Pour water\n\n# Grind beans"))

    found = pieces(before, after, RICH)

    assert "structure" in {piece["kind"] for piece in found}
    assert not [piece for piece in found if piece["kind"] == "text" and piece["before"]]


def test_words_that_are_called_like_marks_stay_as_they_are_written() -> None:
    with translation.override("de"):
        kinds: tuple[DifferenceKind, ...] = ("mark", "name")
        said = [
            side_text(Difference(kind, (), "bold", None), "bold", References()) for kind in kinds
        ]

    assert said == ["fett", "bold"]


def test_a_container_that_a_mixture_empties_goes() -> None:
    before, after = from_markdown("Stay.\n\n- a\n- b"), from_markdown("Stay.\n\n- c\n- d\n- e")
    found = compare_labelled(before, after, RICH)

    assert found.comparison.passages == (1,)
    for chosen in found.comparison.passages:
        assert [] not in [node.get("content") for node in _partly(found, chosen)["content"]]


def test_cells_that_came_and_went_are_one_passage() -> None:
    before = table([cell("a"), cell("b")], [cell("c"), cell("d")])
    after = table([cell("a"), cell("x"), cell("b")], [cell("c"), cell("y"), cell("d")])

    assert len(compare_labelled(before, after, RICH).comparison.passages) == 1


def test_cells_of_one_row_are_decided_on_one_by_one() -> None:
    before, after = table([cell("a"), cell("b")]), table([cell("x"), cell("y")])

    found = compare_labelled(before, after, RICH)

    one, two = found.comparison.passages
    assert _partly(found, one) == table([cell("x"), cell("b")])
    assert _partly(found, two) == table([cell("a"), cell("y")])


def test_parts_of_an_item_are_decided_on_one_by_one() -> None:
    prop = props_of(find_module("faq").Props)["items"]
    kept = {"question": "Who?", "answer": "We."}
    before = [{"question": "What?", "answer": "This."}, kept]
    after = [{"question": "What now?", "answer": "That."}, kept]

    found = compare_labelled(before, after, ValueShape(prop.kind, prop.nested))

    places = [one.place for one in found.comparison.differences]
    assert places == [("Item 1", "Question"), ("Item 1", "Answer")]
    one, two = found.comparison.passages
    assert _partly(found, one) == [{"question": "What now?", "answer": "This."}, kept]
    assert _partly(found, two) == [{"question": "What?", "answer": "That."}, kept]


def test_an_image_among_words_that_changed_is_drawn() -> None:
    before = doc(paragraph(words("wait "), image("/x.png")))
    after = doc(paragraph(words("wait later")))

    shown = drawn(before, after, RICH)

    assert shown == "[removed:  [image]]  [inserted:  later]  Image removed: /x.png · alt: –"


def test_a_size_has_two_sides() -> None:
    sizes = [MediaView("x", "/x.png", "", *sides).size for sides in ((3, 2), (3, None), (None, 2))]

    assert sizes == ["3 × 2", "", ""]


def test_words_of_a_module_are_counted_without_its_settings() -> None:
    hero = ModuleDocument("a", "hero", "i", props={"title": "Three short words", "theme": "light"})

    found = compare_modules(None, hero)

    assert (found.words_before, found.words_after) == (0, 3)


def test_a_moved_module_says_where_it_was_and_where_it_is() -> None:
    hero, callout = (
        ModuleDocument(id=name, type=name, instance_id=name) for name in ("hero", "callout")
    )
    before = PostDocument(type="blog", locale="en", fields={}, modules=(hero, callout))
    after = PostDocument(type="blog", locale="en", fields={}, modules=(callout, hero))
    [change] = diff(before, after)

    compared, kind = compare_change(change, before, after)

    [difference] = compared.comparison.differences
    assert kind == "position"
    assert (difference.before, difference.after) == ("2 / 2", "1 / 2 (first)")


@pytest.mark.parametrize(("index", "place"), [(0, "first"), (1, "after Hero")])
def test_an_added_module_shows_its_place(index: int, place: str) -> None:
    hero, callout = (
        ModuleDocument(id=name, type=name, instance_id=name) for name in ("hero", "callout")
    )
    before = PostDocument(type="blog", locale="en", fields={}, modules=(hero,))
    after = before.with_module(callout, index)
    [change] = diff(before, after)

    compared, _ = compare_change(change, before, after)

    [difference] = compared.comparison.lines[-1].differences
    assert (difference.kind, difference.before, difference.after) == ("position", None, place)


@pytest.mark.parametrize(
    ("kind", "named"),
    [("media", "image"), ("post-reference", "reference"), ("form-reference", "reference")],
)
def test_only_media_references_are_images(kind: str, named: str) -> None:
    found = pieces([IDS[0]], [IDS[1]], ValueShape(kind))

    assert {piece["kind"] for piece in found} == {named}


def test_a_locked_module_says_so_when_it_comes_and_when_it_goes() -> None:
    locked = ModuleDocument(id="hero", type="hero", instance_id="hero", locked=True)
    came, went = compare_modules(None, locked), compare_modules(locked, None)

    assert [
        (one.before, one.after)
        for found in (came, went)
        for one in found.differences
        if "locked" in (one.before, one.after)
    ] == [(None, "locked"), ("locked", None)]


@pytest.mark.parametrize(("kind", "is_loud"), [("price", True), ("space", False)])
def test_changes_beyond_wording_are_highlighted(kind: DifferenceKind, is_loud: bool) -> None:
    assert note_of(Difference(kind, (), "3 €", "4 €"), References()).is_loud is is_loud


def test_modules_of_one_label_are_numbered_and_others_are_not() -> None:
    types = {"a": "prose", "b": "hero", "c": "prose"}
    placed = tuple(ModuleDocument(id_, type_, id_) for id_, type_ in types.items())
    document = PostDocument(type="blog", locale="en", fields={}, modules=placed)

    assert module_names(document) == {"a": "Prose 1", "b": "Hero", "c": "Prose 2"}


def test_numbered_places_are_said_in_the_language_of_the_reader() -> None:
    with translation.override("de"):
        assert role_text("1 · Table › Row 3") == "1 · Tabelle › Zeile 3"


MORE = [
    pytest.param(
        doc(paragraph({"type": "image", "attrs": {"src": "/x.png", "alt": "a"}})),
        doc(paragraph({"type": "image", "attrs": {"src": "/x.png", "alt": "a", "title": "Win"}})),
        RICH,
        "title: Win",
        id="title of an image",
    ),
    pytest.param(
        doc(paragraph(words("pay now"))),
        doc(paragraph(words("pay "), words("later", BOLD))),
        RICH,
        "Formatting added: bold later",
        id="a mark on words that came",
    ),
    pytest.param(
        doc(
            paragraph({"type": "image", "attrs": {"src": "/x.png", "alt": ""}, "marks": [link(A)]})
        ),
        doc(
            paragraph({"type": "image", "attrs": {"src": "/x.png", "alt": ""}, "marks": [link(B)]})
        ),
        RICH,
        f"Link changed: {A} → {B}",
        id="link of an image",
    ),
    pytest.param(
        doc(paragraph(words("a ", BOLD), words("b"))),
        doc(paragraph(words("a  ", BOLD), words("b", BOLD))),
        RICH,
        "Formatting added: bold b",
        id="a mark behind a space that changed",
    ),
    pytest.param(
        doc(paragraph(words("a", BOLD, STRIKE))),
        doc(paragraph(words("a", STRIKE, BOLD))),
        RICH,
        "Structure changed:",
        id="order of marks",
    ),
    pytest.param(
        doc({"type": "paragraph", "content": []}, paragraph(words("a"))),
        doc({"type": "paragraph"}, paragraph(words("a"))),
        RICH,
        "Structure changed:",
        id="a node stored otherwise",
    ),
    pytest.param(
        doc(paragraph(words("ab"))),
        doc(paragraph(words("a"), words("b"))),
        RICH,
        "Structure changed:",
        id="a text stored in two nodes",
    ),
    pytest.param(
        from_markdown("a"),
        doc(paragraph(words("a")), *code("rm", language="sh")["content"]),
        RICH,
        "language: sh",
        id="language of new code",
    ),
    pytest.param(from_markdown("a"), from_markdown("a\n\n---"), RICH, "———", id="a new line"),
    pytest.param(
        from_markdown("1. a\n1. b"), from_markdown("1. a\n1. b\n1. c"), RICH, "c", id="a new item"
    ),
    pytest.param(
        {"a": 1, "b": 2},
        {"a": 2, "b": 3},
        ValueShape("structured-data"),
        "Structured data changed: 2 → 3",
        id="the second leaf",
    ),
    pytest.param(
        "Hi",
        "Hi\u200b",
        ValueShape("text"),
        "⟦U+200B zero width space⟧",
        id="a hidden character in place",
    ),
    pytest.param(
        "Hi",
        "⟦U+200B zero width space⟧",
        ValueShape("text"),
        "⟦⟦U+200B zero width space⟧⟧",
        id="brackets of a text's own",
    ),
    pytest.param(
        "",
        "https://b\u00fccher.example/",
        ValueShape("link"),
        "xn--bcher-kva.example",
        id="a host in ASCII",
    ),
    pytest.param(
        "",
        "https://bank.example@evil.example/",
        ValueShape("link"),
        "@evil.example",
        id="a name before the host",
    ),
    pytest.param(
        ["one", "two"],
        ["two", "one"],
        ValueShape("multiselect"),
        "Option added",
        id="options in another order",
    ),
    pytest.param(
        [IDS[0]], [IDS[1]], ValueShape("post-reference"), IDS[1][:13], id="the id of a reference"
    ),
    pytest.param(None, 0, ValueShape("number"), "Number added: 0", id="zero in place of nothing"),
    pytest.param(
        1, "1", ValueShape("number"), "Number changed", id="a number in place of its text"
    ),
    pytest.param(
        doc(paragraph(words("a "), image("/x.png"), words(" and here"))),
        doc(paragraph(image("/x.png"), words("a "), words(" and there"))),
        RICH,
        "[image]",
        id="an image at another place",
    ),
]


@pytest.mark.parametrize(("before", "after", "shape", "said"), MORE)
def test_what_else_differs_is_named(before: Any, after: Any, shape: ValueShape, said: str) -> None:
    assert said in " ".join(drawn(before, after, shape).split())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "It can be returned within fourteen days at our cost, please ask.",
            "It can be returned, please ask.",
        ),
        (
            "Send it back within a year and we will refund the full price of it.",
            "Keep whatever you bought here forever, since nobody takes anything away from you again.",
        ),
    ],
    ids=["a part of a sentence", "a sentence with nothing kept"],
)
def test_lost_words_are_never_safe(before: str, after: str) -> None:
    risk = assess(compare(before, after, ValueShape("text")), is_live=False)

    assert "removed" in risk.flags
    assert not risk.is_safe


@pytest.mark.django_db
def test_a_shared_module_shows_what_it_brings_and_what_it_takes() -> None:
    shared = make.global_module(title="Only 3 €", ctaUrl=A)
    post = make.post()
    make.staged_addition(post, type="callout", shared=("newsletter", str(shared.pk)))
    view = make.layers(post).ai_review
    references = references_of(view.changes, view.document, view.below, who=make.actor())

    [group] = cards_of_layer(view, references, is_live=True)

    notes = " ".join(note.text for line in group.cards[0].lines for note in line.notes)
    assert "Price added: 3 €" in notes
    assert A in notes
    assert {"link", "price", "reference"} <= set(group.cards[0].risk.flags)
