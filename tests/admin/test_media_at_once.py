"""Two users describe one file at the same time."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from media.models import Asset
from tests.admin.pages import fields
from tests.admin.test_media import SignedIn, address, asset

pytestmark = pytest.mark.django_db


def page_of(client: Client, made: Asset) -> dict[str, Any]:
    """Return the file's form data a browser would send."""
    return {
        name: values[0] for name, values in fields(client.get(address(made)), "alt_text").items()
    }


def test_two_who_describe_a_file_at_once_keep_both_their_words(signed_in: SignedIn) -> None:
    made, client = asset(), signed_in()
    first, second = page_of(client, made), page_of(client, made)

    client.post(address(made), {**first, "alt_text": "Green beans"})
    answer = client.post(
        address(made), {**second, "categories": "raw", "focal_x": 20, "focal_y": 0}
    )

    assert answer.status_code == 302
    made.refresh_from_db()
    assert (made.alt_text, made.categories, made.focal_x, made.focal_y) == (
        "Green beans",
        ["raw"],
        0.2,
        0.0,
    )


def test_what_another_wrote_in_the_same_field_is_not_lost_unseen(signed_in: SignedIn) -> None:
    made, client = asset(), signed_in()
    first, second = page_of(client, made), page_of(client, made)
    client.post(address(made), {**first, "alt_text": "Green beans"})

    refused = client.post(address(made), {**second, "alt_text": "Brown beans"})

    made.refresh_from_db()
    assert (refused.status_code, made.alt_text) == (422, "Green beans")
    assert "It is now “Green beans”" in refused.content.decode()
    again = {name: values[0] for name, values in fields(refused, "alt_text").items()}
    assert client.post(address(made), again).status_code == 302
    made.refresh_from_db()
    assert made.alt_text == "Brown beans"
