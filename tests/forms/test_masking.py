"""Personal data in submissions is replaced by placeholders, by kind."""

from __future__ import annotations

import time
from typing import Any

import pytest

from forms.fields import Field
from forms.masking import PERSONAL_DATA_KINDS, kind_of_field, mask_answers
from tests import make

pytestmark = pytest.mark.django_db

FIELDS: Any = [
    {"name": "full_name", "label": "Your name", "type": "text"},
    {"name": "email", "label": "Email", "type": "email"},
    {"name": "phone", "label": "Phone", "type": "tel"},
    {"name": "street", "label": "Street", "type": "text"},
    {"name": "born", "label": "Geburtsdatum", "type": "date"},
    {"name": "account", "label": "Your IBAN", "type": "text"},
    {"name": "topic", "label": "Topic", "type": "select", "options": ["Name change", "Order"]},
    {"name": "message", "label": "Message", "type": "textarea"},
]
ANSWERS: Any = {
    "full_name": "Ana Kovač",
    "email": "ana@example.org",
    "phone": "+49 30 1234567",
    "street": "Lindenallee 5",
    "born": "1990-04-01",
    "account": "DE89370400440532013000",
    "topic": "Name change",
    "message": (
        "I am ana kovač of Lindenallee 5. Write to ANA@example.org or to max@firm.example, "
        "or call (030) 765-4321. I ordered 12 bags on 01.02.2026, order 4711."
    ),
}


def test_each_kind_is_replaced_in_its_field_and_wherever_it_is_repeated() -> None:
    make.form(fields=FIELDS)
    found = mask_answers("contact", ANSWERS, PERSONAL_DATA_KINDS)

    assert found.kinds == frozenset(PERSONAL_DATA_KINDS)
    assert found.answers == {
        "full_name": "[name]",
        "email": "[email]",
        "phone": "[phone]",
        "street": "[address]",
        "born": "[birthDate]",
        "account": "[bankAccount]",
        "topic": "Name change",
        "message": (
            "I am [name] of [address]. Write to [email] or to [email], "
            "or call [phone]. I ordered 12 bags on 01.02.2026, order 4711."
        ),
    }


@pytest.mark.parametrize("kind", PERSONAL_DATA_KINDS)
def test_only_the_chosen_kinds_are_replaced(kind: str) -> None:
    make.form(fields=FIELDS)
    found = mask_answers("contact", ANSWERS, [kind])

    assert found.kinds == {kind}
    changed = {name for name, value in found.answers.items() if value != ANSWERS[name]}
    own = {
        "name": "full_name",
        "email": "email",
        "phone": "phone",
        "address": "street",
        "birthDate": "born",
        "bankAccount": "account",
    }
    assert own[kind] in changed
    # The name is also a part of the address.
    repeating = {"message", "email"} if kind == "name" else {"message"}
    assert changed - {own[kind]} - repeating == set()


def test_nothing_is_changed_without_kinds() -> None:
    make.form(fields=FIELDS)

    assert mask_answers("contact", ANSWERS, ()).answers == ANSWERS


def test_fields_of_a_deleted_form_are_known_by_their_names() -> None:
    found = mask_answers("gone", {"firstName": "Ana", "note": "Ana asks."}, PERSONAL_DATA_KINDS)

    assert found.answers == {"firstName": "[name]", "note": "[name] asks."}


def test_a_label_of_one_language_is_enough() -> None:
    make.form(fields=[{"name": "field_1", "label": "First", "type": "text"}])
    make.form(locale="de", fields=[{"name": "field_1", "label": "Vorname", "type": "text"}])

    found = mask_answers("contact", {"field_1": "Ana"}, PERSONAL_DATA_KINDS)
    assert found.answers == {"field_1": "[name]"}


@pytest.mark.parametrize(
    ("name", "label", "type_", "kind"),
    [
        ("a", "E-mail address", "text", "email"),
        ("a", "Street name", "text", "address"),
        ("a", "Nachname", "text", "name"),
        ("a", "Telefonnummer", "text", "phone"),
        ("a", "Anything", "tel", "phone"),
        ("birthDate", "When?", "date", "birthDate"),
        ("name", "Name", "checkbox", None),
        ("topic", "Topic", "text", None),
        ("renamed", "Filename", "text", None),
    ],
)
def test_the_kind_of_a_field(name: str, label: str, type_: Any, kind: str | None) -> None:
    assert kind_of_field(Field(name=name, label=label, type=type_)) == kind


def test_nested_answers_are_masked_too() -> None:
    found = mask_answers(
        "contact",
        {
            "person": {"email": "ana@example.org", "name": {"first": "Ana", "last": "Kovač"}},
            "others": [{"phone": 491701234567}, "max@firm.example"],
            "message": "Kovač here, 491701234567.",
        },
        PERSONAL_DATA_KINDS,
    )

    assert found.answers == {
        "person": {"email": "[email]", "name": "[name]"},
        "others": [{"phone": "[phone]"}, "[email]"],
        "message": "[name] here, [phone].",
    }
    assert found.kinds == {"email", "name", "phone"}


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("[Ana](mailto:ana@example.org)", "[Ana](mailto:[email])"),
        ("**ana@example.org** or `max@firm.example`", "**[email]** or `[email]`"),
        ("|ana@example.org|max@firm.example|", "|[email]|[email]|"),
        ('{"to": "ana@example.org"}', '{"to": "[email]"}'),
        ("[call](tel:+49301234567)", "[call](tel:[phone])"),
        ("_0171 1234567_ or **+49 30 123456**", "_[phone]_ or **[phone]**"),
        ("+49\N{NON-BREAKING HYPHEN}30\N{NON-BREAKING HYPHEN}1234567", "[phone]"),
        ("1-555-123-4567", "[phone]"),
        ("IBAN DE89 3704 0044 0532 0130 00, thanks", "IBAN [bankAccount], thanks"),
        ("de89370400440532013000 and more", "[bankAccount] and more"),
        ("GB82 WEST 1234 5698 7654 32", "[bankAccount]"),
        ("AT61 1904 3002 3457 3201 please", "[bankAccount] please"),
        ("NO93 8601 1117 947", "[bankAccount]"),
        ("card 4111 1111 1111 1111", "card [bankAccount]"),
        ("On 01.02.2026 at 12:30, order 4711, 12 bags", None),
        ("Model AB12 CDEF, 250 g, EAN 4006381333931", None),
    ],
)
def test_masks_in_markdown_and_text(text: str, masked: str | None) -> None:
    found = mask_answers("gone", {"note": text}, PERSONAL_DATA_KINDS)

    assert found.answers == {"note": masked or text}


def test_names_within_an_object_are_masked() -> None:
    guests = {"ana@example.org": "yes", "max@firm.example": "no", "both": "maybe"}

    found = mask_answers("gone", {"guests": guests}, PERSONAL_DATA_KINDS)

    assert found.answers == {"guests": {"[email]": "yes", "[email] 2": "no", "both": "maybe"}}


@pytest.mark.parametrize(
    "text", ["a" * 10_000, "a" * 5_000 + "@" + "." * 5_000, "DE89 " + "1234 " * 2_000]
)
def test_long_words_take_linear_time(text: str) -> None:
    begin = time.process_time()

    mask_answers("contact", {"message": text}, PERSONAL_DATA_KINDS)

    assert time.process_time() - begin < 0.3


def test_names_of_files_are_not_told() -> None:
    file: Any = {"id": "1", "filename": "Ana_Kovač_CV.pdf", "type": "application/pdf", "size": 9}
    fields = [*FIELDS, {"name": "cv", "label": "CV", "type": "file"}]
    make.form(fields=fields)

    masked = mask_answers("contact", {"full_name": "Ana Kovač", "cv": file}, {"name"})
    whole = mask_answers("contact", {"cv": file}, ())

    assert masked.answers["cv"] == {**file, "filename": "file.pdf"}
    assert whole.answers["cv"] == file
