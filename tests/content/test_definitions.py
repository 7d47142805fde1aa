"""Validation of props against their definitions: errors, paths and messages."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json, JsonObject
from proofroom.definitions import (
    Boolean,
    Date,
    FormReference,
    Icon,
    Link,
    MediaField,
    ModuleProps,
    MultiSelect,
    Number,
    Object_,
    PostReference,
    Repeater,
    RichText,
    RichTextDocument,
    Select,
    TaxonomyReference,
    Text,
    Textarea,
    Url,
    coerce_markdown,
    exclusion_reason,
    find_module,
    find_module_group,
    find_post_type,
    find_taxonomy,
    modules,
    text_of,
    translatable_custom_fields,
    translatable_paths,
    validate_custom_fields,
    validate_overrides,
    validate_props,
    validation,
)

UUID_ = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"


def paragraph(text: str) -> JsonObject:
    return {
        "type": "doc",
        "content": [{"type": "paragraph", "content": [{"type": "text", "text": text}]}],
    }


def test_nested_errors_carry_the_whole_path_and_the_nearest_name():
    with pytest.raises(RuleViolation) as caught:
        validate_props("faq", {"items": [{"question": "x" * 400, "answr": {}}], "titel": "x"})

    error = caught.value
    assert (error.status, error.code) == (422, "invalid_props")
    assert error.details == {
        "props.items.0.question": ["This must have at most 300 characters."],
        "props.items.0.answr": [
            ("There is no property 'answr' here. Did you mean 'answer'? Known: question, answer.")
        ],
        "props.titel": ["There is no property 'titel' here. Known: heading, items."],
    }
    assert error.message.startswith("The module faq is not valid: props.items.0.question:")
    assert error.message.endswith("(2 more)")


def test_a_huge_or_unencodable_key_is_not_echoed():
    for key in ("k" * 1_000_000, "\ud800"):
        with pytest.raises(RuleViolation) as caught:
            validate_props("hero", {key: 1})

        text = caught.value.message + str(caught.value.details)
        assert len(text.encode()) < 1000


def test_many_errors_are_cut_short():
    with pytest.raises(RuleViolation) as caught:
        validate_props("hero", {f"x{number}": 1 for number in range(10_000)})

    assert len(caught.value.details) == 20


def test_an_unknown_module_is_named_with_the_known_ones():
    with pytest.raises(RuleViolation) as caught:
        validate_props("heroo", {})

    assert caught.value.code == "unknown_module"
    assert caught.value.message == (f"no module named 'heroo'; known: {', '.join(modules.names())}")


@pytest.mark.parametrize("find", [find_module, find_module_group, find_post_type, find_taxonomy])
def test_every_kind_of_definition_refuses_an_unknown_name(find):
    with pytest.raises(RuleViolation, match=r"no .* named 'nix'; known: "):
        find("nix")


def test_props_are_completed_with_defaults():
    assert validate_props("hero", {"title": "Hello"}) == {
        "title": "Hello",
        "subtitle": "",
        "ctaLabel": "",
        "ctaUrl": "",
        "imageId": None,
        "theme": "light",
    }


def test_defaults_are_not_shared():
    def first_of_each() -> tuple[Any, Any]:
        return find_module("prose").default_props(), find_module("hero").props_schema()

    props, schema = first_of_each()
    props["content"]["content"].append("spoilt")
    schema["properties"].clear()

    props, schema = first_of_each()
    assert "spoilt" not in props["content"]["content"]
    assert schema["properties"] != {}


def test_overrides_are_checked_alone_and_stay_partial():
    assert validate_overrides("hero", {"title": "Other"}) == {"title": "Other"}

    with pytest.raises(RuleViolation) as caught:
        validate_overrides("hero", {"theme": "pink"})

    assert list(caught.value.details) == ["overrides.theme"]


def test_markdown_fills_the_first_rich_text_prop():
    name, document = coerce_markdown("prose", "Water at **94 °C**.")

    assert name == "content"
    assert "94 °C" in text_of("prose", {name: document})
    assert validate_props("prose", {name: document}) == {name: document}


def test_markdown_for_a_module_without_rich_text_is_refused():
    with pytest.raises(RuleViolation) as caught:
        coerce_markdown("hero", "text")

    assert caught.value.code == "no_rich_text"
    assert list(caught.value.details) == ["contentMarkdown"]


def test_text_is_what_readers_see():
    props: JsonObject = {
        "title": "Slow coffee",
        "subtitle": "Bloom first",
        "ctaUrl": "/secret-path",
        "imageId": UUID_,
        "theme": "dark",
    }

    assert text_of("hero", props) == "Slow coffee\nBloom first"
    assert (
        text_of("faq", {"items": [{"question": "How hot?", "answer": paragraph("94 °C")}]}).split("\n")
        == ["How hot?", "94 °C"]
    )  # fmt: skip


def test_text_survives_the_loss_of_the_definition():
    props: JsonObject = {"a": [{"b": "kept"}, 3, None], "body": paragraph("also kept")}

    assert text_of("gone", props).split("\n") == ["kept", "also kept"]
    assert text_of("hero", {"title": {"odd": "shape"}, "old": "prop"}) == "shape\nprop"


def test_translatable_props_are_words_and_links():
    assert translatable_paths("hero") == {"title", "subtitle", "ctaLabel", "ctaUrl"}
    assert translatable_paths("callout") == {"title", "body", "ctaLabel", "ctaUrl"}


def test_custom_fields_are_checked_like_props():
    assert validate_custom_fields("profile", {"role": "Editor"})["role"] == "Editor"
    assert translatable_custom_fields("profile") == {"role"}

    with pytest.raises(RuleViolation) as caught:
        validate_custom_fields("company", {"website": "javascript:alert(1)"})

    assert list(caught.value.details) == ["customFields.website"]


def test_why_a_module_is_excluded():
    assert exclusion_reason("page", "hero") is None
    assert exclusion_reason("page", "nix") == "no module named 'nix'"


class Inner(ModuleProps):
    name: str = Text(max_length=5)


class Every(ModuleProps):
    one_line: str = Text(max_length=10)
    lines: str = Textarea(max_length=20)
    rich: RichTextDocument = RichText()
    count: int = Number(minimum=0, maximum=10)
    ratio: float = Number(default=0.5)
    is_open: bool = Boolean()
    size: Literal["s", "m"] = Select(default="s")
    colours: list[Literal["red", "blue"]] = MultiSelect(max_items=2)
    day: str | None = Date()
    address: str = Url()
    target: str = Link()
    image_id: str | None = MediaField()
    icon: str = Icon()
    inner: Inner = Object_(Inner)
    rows: list[Inner] = Repeater(max_items=2, min_items=0)
    post: str | None = PostReference()
    posts: list[str] = PostReference(many=True)
    term: str | None = TaxonomyReference()
    form: str = FormReference()


def refused(name: str, value: object) -> dict[str, list[str]]:
    with pytest.raises(RuleViolation) as caught:
        validation.check(Every, {name: value}, prefix="props", what="It")  # type: ignore[dict-item]  # wrong on purpose
    return caught.value.details


def accepted(name: str, value: Json) -> Json:
    return validation.check(Every, {name: value}, prefix="props", what="It")[name]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("oneLine", "x" * 11),
        ("oneLine", "x" * 1_000_000),
        ("oneLine", "a\x00b"),
        ("oneLine", "a\nb"),
        ("oneLine", "a\x85b"),
        ("oneLine", "\ud800"),
        ("oneLine", 5),
        ("oneLine", None),
        ("lines", "a\x00b"),
        ("lines", "a\x1bb"),
        ("rich", ["text"]),
        ("rich", {"type": "script"}),
        ("rich", {}),
        ("count", 11),
        ("count", -1),
        ("count", True),
        ("count", "5"),
        ("count", 10**400),
        ("ratio", float("nan")),
        ("ratio", float("inf")),
        ("isOpen", "yes"),
        ("isOpen", 1),
        ("size", "xl"),
        ("colours", ["red", "blue", "red"]),
        ("colours", "red"),
        ("day", "2030-02-30"),
        ("day", "20300201"),
        ("day", "2030-02-01T00:00:00"),
        ("day", 0),
        ("address", "/path"),
        ("address", "javascript:alert(1)"),
        ("address", "ftp://example.com"),
        ("target", "javascript:alert(1)"),
        ("target", "JaVaScRiPt:alert(1)"),
        ("target", " javascript:alert(1)"),
        ("target", "java\tscript:alert(1)"),
        ("target", "\x01javascript:alert(1)"),
        ("target", "data:text/html,x"),
        ("target", "//evil.example"),
        ("target", "/" + "x" * 2000),
        ("imageId", "../../etc/passwd"),
        ("imageId", 7),
        ("icon", 'x" onload="alert(1)'),
        ("inner", []),
        ("rows", {}),
        ("rows", [{}, {}, {}]),
        ("post", "latest"),
        ("posts", UUID_),
        ("term", "x"),
        ("form", "Contact Form"),
        ("one_line", "x"),
    ],
)
def test_a_wrong_value_is_refused_at_its_own_path(name, value):
    details = refused(name, value)

    assert list(details) == [f"props.{name}"]
    assert all(len(sentence) < 300 for sentence in details[f"props.{name}"])


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("oneLine", "Grüße 👋🏽", "Grüße 👋🏽"),
        ("lines", "a\nb\tc", "a\nb\tc"),
        ("count", 10, 10),
        ("ratio", 2, 2.0),
        ("colours", ["red", "red"], ["red"]),
        ("day", "2032-02-29", "2032-02-29"),
        ("address", "https://example.com/a?b=c", "https://example.com/a?b=c"),
        ("address", "", ""),
        ("target", "/de/über-uns#team", "/de/über-uns#team"),
        ("target", "mailto:hello@example.com", "mailto:hello@example.com"),
        ("imageId", "", None),
        ("imageId", "{" + UUID_.upper() + "}", UUID_),
        ("posts", [UUID_, UUID_.upper()], [UUID_]),
        ("inner", {"name": "x"}, {"name": "x"}),
        ("rows", [{"name": "x"}, {}], [{"name": "x"}, {"name": ""}]),
    ],
)
def test_a_right_value_is_stored_in_one_form(name, value, stored):
    assert accepted(name, value) == stored


def test_a_wrong_choice_in_a_list_is_named_by_its_place():
    assert list(refused("colours", ["red", "green"])) == ["props.colours.1"]
