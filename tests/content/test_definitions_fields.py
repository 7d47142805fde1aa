"""Field types: refused values, and the stored form of others."""

from __future__ import annotations

from typing import Literal

import pytest

from proofroom.core.errors import RuleViolation
from proofroom.core.json import Json
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
    validation,
)

UUID_ = "6f9619ff-8b86-d011-b42d-00cf4fc964ff"


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
