"""Alt text of many images on one page of the admin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from media.services.update import update_asset
from tests import make
from tests.admin.pages import fields
from tests.queries import count_queries

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]
PAGE = "/admin/media/asset/alt-texts/"


def form_of(answer: Any) -> dict[str, Any]:
    """Return the form data a browser would send."""
    return dict(fields(answer, "ids"))


def names(answer: Any) -> list[str]:
    return [row.asset.filename for row in answer.context["rows"]]


def test_used_images_without_alt_text_come_first(signed_in: SignedIn) -> None:
    used = make.image("used.png")
    make.image("described.png", alt_text="A bean")
    make.image("new.png")
    update_asset(asset_id=make.image("line.png").pk, actor=make.actor(), is_decorative=True)
    make.post(featuredMediaId=str(used.pk))
    client = signed_in("editor")

    assert names(client.get(PAGE)) == ["used.png", "new.png"]
    assert names(client.get(f"{PAGE}?language=de")) == ["used.png", "new.png", "described.png"]
    assert names(client.get(f"{PAGE}?language=xx")) == ["used.png", "new.png"]
    assert "A bean" in client.get(f"{PAGE}?language=de").content.decode()


def test_each_image_is_saved_and_the_rest_stay(signed_in: SignedIn) -> None:
    first, second, third = (make.image(f"{name}.png") for name in ("a", "b", "c"))
    client = signed_in("editor")
    sent = form_of(client.get(PAGE))
    sent[f"{first.pk}-alt_text"] = "  Green beans "
    sent[f"{second.pk}-is_decorative"] = "on"

    answer = client.post(PAGE, sent, follow=True)

    for asset in (first, second, third):
        asset.refresh_from_db()
    assert (first.alt_text, second.is_decorative, third.alt_text) == ("Green beans", True, "")
    assert names(answer) == ["c.png"]
    assert "Saved 2 images." in answer.content.decode()


def test_another_language_keeps_the_texts_of_the_others(signed_in: SignedIn) -> None:
    asset = make.image("a.png", alt_text="Beans")
    client = signed_in("editor")
    sent = form_of(client.get(f"{PAGE}?language=de"))
    sent[f"{asset.pk}-alt_text"] = "Bohnen"

    client.post(PAGE, sent)

    asset.refresh_from_db()
    assert (asset.alt_text, asset.alt_texts) == ("Beans", {"de": "Bohnen"})


def test_concurrent_input_is_shown_before_it_is_replaced(
    signed_in: SignedIn,
) -> None:
    asset, other = make.image("a.png"), make.image("b.png")
    client = signed_in("editor")
    sent = form_of(client.get(PAGE))
    update_asset(asset_id=asset.pk, actor=make.actor(), alt_text="Theirs")
    untouched = client.post(PAGE, sent)
    sent[f"{asset.pk}-alt_text"] = "Mine"
    sent[f"{other.pk}-alt_text"] = "Also mine"

    refused = client.post(PAGE, sent)

    asset.refresh_from_db()
    other.refresh_from_db()
    assert untouched.status_code == 302
    assert (refused.status_code, asset.alt_text, other.alt_text) == (422, "Theirs", "Also mine")
    assert names(refused) == ["a.png"]
    assert "It now says: Theirs" in refused.content.decode()
    client.post(PAGE, form_of(refused))
    asset.refresh_from_db()
    assert asset.alt_text == "Mine"


def test_a_text_that_is_too_long_is_refused_beside_its_image(signed_in: SignedIn) -> None:
    asset = make.image("a.png")
    client = signed_in("editor")
    sent = {**form_of(client.get(PAGE)), f"{asset.pk}-alt_text": "x" * 501}

    refused = client.post(PAGE, sent)

    asset.refresh_from_db()
    assert (refused.status_code, asset.alt_text) == (422, "")
    assert "at most 500 characters" in refused.content.decode()


def test_the_chosen_images_of_the_library_are_shown(signed_in: SignedIn) -> None:
    chosen = make.image("a.png", alt_text="Beans")
    make.image("b.png")
    client = signed_in("editor")

    answer = client.post(
        "/admin/media/asset/bulk/", {"do": "alt_texts", "ids": [str(chosen.pk)]}, follow=True
    )

    assert names(answer) == ["a.png"]


def test_more_images_take_no_more_statements(signed_in: SignedIn) -> None:
    client = signed_in("editor")
    counts = []
    for number in range(2):
        for more in range(1 + 5 * number):
            make.image(f"{number}-{more}.png")
        client.get(PAGE)
        counts.append(count_queries(client.get, PAGE))
    assert counts[0] == counts[1]


def test_unchanged_fields_keep_other_users_changes(signed_in: SignedIn) -> None:
    asset = make.image("a.png")
    client = signed_in("editor")
    sent = form_of(client.get(PAGE))
    update_asset(asset_id=asset.pk, actor=make.actor(), alt_text="Theirs")

    client.post(PAGE, {**sent, f"{asset.pk}-is_decorative": "on"})

    asset.refresh_from_db()
    assert (asset.alt_text, asset.is_decorative) == ("Theirs", True)
