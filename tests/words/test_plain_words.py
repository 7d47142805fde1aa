"""Messages are plain product English: phrases that confused readers do not return."""

from __future__ import annotations

import re

import pytest

from proofroom.core.i18n.catalogue import catalogue_of
from tests.words.test_catalogue import entries

REFUSED = (
    # Inversions, riddles and metaphors.
    *(
        "what waits",
        "what came of it",
        "is told",
        "is said",
        "for good",
        "by itself",
    ),
    *("begin by themselves", "went well", "door", "in these days", "what visitors sent"),
    *("nothing waits", "nothing is like that", "is there already", "stays as it is", "look again"),
    *(
        "what stands now",
        "your words",
        "the same words",
        "mere decoration",
        "well told",
        "given up",
    ),
    # Verbs of another register.
    *("tick", "ticked", "untick", "put it in", "put into the trash", "led on", "leads on", "anew"),
    *("take back", "taken back", "took back", "made by itself", "switched on"),
    *("begun", "struck through", "whole window", "upper and lower case count"),
    *("make a draft", "make the", "made anew", "what is marked"),
    # Words of the code.
    *("enqueue", "queryset", "payload row", "foreign key", "rollback", "upsert", "null row"),
    *("no such", "is asked for", "must not hold", "is made of", "switched off", "meanwhile"),
    *("no longer there", "any more", "shown to nobody", "of the visitors", "it stands at"),
    *("none of its own", "whoever", "press one of", "press the button", "as it is"),
    *("older than the source", "waits for you", "text of the button", "a box for consent"),
)
PATTERN = re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in REFUSED), re.IGNORECASE)


def refused_in(message: str) -> list[str]:
    return PATTERN.findall(message)


def test_no_message_uses_a_refused_phrase() -> None:
    messages = [
        text
        for entry in entries(catalogue_of("de").read_text())
        for text in entry.message[1:]
        if text
    ]

    assert len(messages) > 1000
    assert {text: found for text in messages if (found := refused_in(text))} == {}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ("What waits", ["What waits"]),
        ("Make what is ticked", ["ticked"]),
        ("The ticket is open", []),
        ("Outdoor shop", []),
    ],
)
def test_whole_words_are_found_in_any_case(message: str, found: list[str]) -> None:
    assert refused_in(message) == found
