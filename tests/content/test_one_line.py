"""Single-line text: the same characters are refused and allowed everywhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from content.models import Post
from forms.fields import Field
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.input_validation import clean_line, clean_name
from proofroom.definitions.fields import check_line
from proofroom.taxonomies.services import changed_term_document
from proofroom.webhooks.rules import clean_name as name_of_webhook
from proofroom_apps.feedback.services import create_feedback
from proofroom_apps.menus.items import clean_items
from proofroom_apps.menus.models import Menu
from tests import make
from tests.api_client import ApiClient
from tests.content.replacing import URL, send

ORDINARY = ["\u00a0", "\u00ad", "\u200c", "\u200d", "\U0001f469\u200d\U0001f373"]
REFUSED = [
    "\t",
    "\n",
    "\r",
    "\x0b",
    "\x1f",
    "\x7f",
    "\x85",
    "\x9f",
    "\u2028",
    "\u2029",
    "\u202a",
    "\u202e",
]


def label_of_an_item(text: str) -> None:
    clean_items([{"label": text, "type": "custom", "url": "/tea", "children": []}])


def label_of_a_form(text: str) -> None:
    Field(name="tea", type="text", label=text)


PLACES: list[Callable[[str], object]] = [
    lambda text: clean_line("title", text, 200),
    lambda text: clean_name(text, 200),
    check_line,
    label_of_an_item,
    label_of_a_form,
]


@pytest.mark.parametrize("place", PLACES)
def test_what_is_one_line_is_the_same_everywhere(place: Callable[[str], object]) -> None:
    for character in ORDINARY:
        place(f"Filter{character}coffee")
    for character in REFUSED:
        with pytest.raises((RuleViolation, ValueError)):
            place(f"Filter{character}coffee")


def test_a_name_has_no_half_of_a_character() -> None:
    with pytest.raises(RuleViolation):
        clean_name("Tea \ud800", 200)


@pytest.mark.django_db
@pytest.mark.parametrize("character", REFUSED)
def test_the_selector_of_feedback_is_one_line(character: str, post: Post) -> None:
    selector = f"main{character}p"

    with pytest.raises(RuleViolation) as refusal:
        create_feedback(
            post_id=str(post.pk),
            content="Tea",
            actor=make.actor("editor"),
            element_selector=selector,
        )

    assert list(refusal.value.details) == ["elementSelector"]


@pytest.mark.django_db
@pytest.mark.parametrize("character", ORDINARY)
def test_a_name_that_was_replaced_can_be_saved_again(character: str) -> None:
    term = make.term("Coffee")
    menu = Menu.objects.create(slug="main", locale="en", name="Coffee", items=[])
    name = f"Filter{character}coffee"

    assert send("Coffee", name, "taxonomies", "menus")["total"] == 2

    term.refresh_from_db()
    menu.refresh_from_db()
    assert (term.name, menu.name) == (name, name)
    changed_term_document(term, name=term.name, slug="other")


@pytest.mark.django_db
@pytest.mark.parametrize("character", REFUSED)
def test_find_and_replace_stores_no_name_that_its_form_refuses(character: str) -> None:
    term = make.term("Coffee")
    body = {"find": "Coffee", "replace": f"Filter{character}coffee", "tables": ["taxonomies"]}

    ApiClient("admin").write("POST", URL, body, expect=422)

    term.refresh_from_db()
    assert term.name == "Coffee"


@pytest.fixture
def post() -> Post:
    return make.post("Tea")


def test_the_name_of_a_webhook_has_the_same_characters() -> None:
    for character in ("\u00ad", "\u200c", "\u200d"):
        assert name_of_webhook(f"Filter{character}coffee") == f"Filter{character}coffee"
    for character in ("\x1b", "\x7f", "\x9f", "\u202e"):
        with pytest.raises(RuleViolation):
            name_of_webhook(f"Filter{character}coffee")
    # All whitespace becomes a single blank.
    assert name_of_webhook("Filter\t \u00a0coffee\n") == "Filter coffee"
