"""Slugs: one rule and one message for ASCII slugs, and one for slugs of pages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from content.modules.global_modules import create_global
from content.modules.module_groups import create_group
from forms.form_input import clean_slug as slug_of_form
from proofroom.core.errors import RuleViolation
from proofroom.core.validation.slugs import clean_slug
from proofroom_apps.menus.services import create_menu
from tests import make

REFUSED = [
    "",
    "Tea",
    "tea--time",
    "-tea",
    "tea-",
    "tea time",
    "tea_time",
    "t\u00e9e",
    "tea\n",
    "t" * 101,
]
Store = Callable[[str], object]
PLACES: dict[str, Store] = {
    "name": lambda slug: create_group(
        actor=make.actor("admin"), name=slug, label="Tea", post_type="page", modules=[]
    ),
    "globalSlug": lambda slug: create_global(actor=make.actor("admin"), slug=slug, type="prose"),
    "slug": lambda slug: create_menu(actor=make.actor("admin"), name="Tea", slug=slug, locale="en"),
    "slug of a form": slug_of_form,
}


@pytest.mark.django_db
@pytest.mark.parametrize("place", PLACES)
def test_slugs_of_a_to_z_are_judged_by_one_rule(place: str) -> None:
    field, limit = place.partition(" ")[0], 80 if place == "name" else 100
    sentence = (
        f"{field} may contain the lowercase letters a to z, digits and single hyphens, "
        f"and at most {limit} characters."
    )
    for slug in REFUSED:
        with pytest.raises(RuleViolation) as refusal:
            PLACES[place](slug)
        assert refusal.value.details == {field: [sentence]}, slug

    PLACES[place]("tea-time-2")


def test_page_slugs_are_of_any_script() -> None:
    assert [clean_slug(slug, 20) for slug in ("t\u00e9e", "\u8336-2")] == ["t\u00e9e", "\u8336-2"]
    for slug in ("T\u00e9e", "tea--time", "tea\n", "t" * 21):
        with pytest.raises(RuleViolation, match="single hyphens, and at most 20 characters"):
            clean_slug(slug, 20)
