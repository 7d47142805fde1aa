"""Slugs without accents: a setting that every place with a slug of a title follows."""

from __future__ import annotations

from typing import Any

import pytest

from content.layers import open_layers
from content.models import Layer
from content.posts.create import create_post, propose_post
from forms.admin.form_admin import free_slug
from proofroom.core.slugs import transliterate
from proofroom.core.title_slugs import ascii_slug_of_title, slug_of_title
from proofroom.taxonomies.services import create_term
from proofroom_apps.imports.items import SourceSlug
from tests import make

pytestmark = pytest.mark.django_db
TITLE = "Über Café"


@pytest.fixture
def _is_on(settings: Any) -> None:
    settings.CMS_ENV = settings.CMS_ENV.model_copy(update={"transliterate_slugs": True})


@pytest.mark.parametrize(
    ("locale", "text", "plain"),
    [
        ("de", "Größe Äpfel ÖL u\u0308ber", "groesse aepfel oel ueber"),
        ("de-AT", "Jänner", "jaenner"),
        ("da", "Rødgrød på Ærø", "roedgroed paa aeroe"),
        ("nb", "Blåbær", "blaabaer"),
        ("sv", "Små öar", "sma oar"),
        ("en", "Über Ærø Straße łódź ﬁn", "uber aero strasse lodz ﬁn"),
        ("tr", "Iğdır İzmir", "igdir izmir"),
        ("vi", "Tiếng Việt Đà", "tieng viet da"),
        # Accents of other scripts are part of the letter.
        ("ru", "Новый ёж", "новый ёж"),
        ("el", "Καφές", "καφές"),
        ("hi", "नमस्ते", "नमस्ते"),
        ("ja", "ガギ", "ガギ"),
    ],
)
def test_letters_follow_the_language(locale: str, text: str, plain: str) -> None:
    assert transliterate(text, locale) == plain


@pytest.mark.usefixtures("_is_on")
def test_every_slug_of_a_title_follows_the_setting() -> None:
    actor = make.actor("admin")
    post = create_post(actor=actor, type="page", locale="de", fields={"title": TITLE})
    proposed = propose_post(
        actor=make.agent_actor(), type="blog", locale="de", fields={"title": TITLE}
    )
    written = create_post(
        actor=actor, type="page", locale="de", fields={"title": "x", "slug": "über-uns"}
    )
    in_english = create_post(actor=actor, type="page", locale="en", fields={"title": TITLE})

    assert (post.slug, post.path) == ("ueber-cafe", "/de/ueber-cafe")
    staged = open_layers(proposed.post).view(Layer.AI_REVIEW).document
    assert staged.fields["slug"] == "ueber-cafe"
    assert (written.slug, in_english.slug) == ("über-uns", "uber-cafe")
    assert create_term(actor=actor, taxonomy="topics", name=TITLE, locale="de").slug == "ueber-cafe"
    assert free_slug(TITLE, "de") == "ueber-cafe"
    # An import keeps the slugs of the source, and compares names where a slug has lost letters.
    assert SourceSlug.of("über", TITLE, "de") == SourceSlug("über", is_spelled_out=True)
    assert SourceSlug.of("", TITLE, "de") == SourceSlug("ueber-cafe", is_spelled_out=False)
    assert SourceSlug.of("", "Tea", "de") == SourceSlug("tea", is_spelled_out=True)


def test_accents_stay_unless_the_setting_is_on() -> None:
    post = create_post(actor=make.actor("admin"), type="page", locale="de", fields={"title": TITLE})

    assert (post.slug, post.path) == ("über-café", "/de/über-café")
    assert slug_of_title(TITLE, "de") == "über-café"
    assert ascii_slug_of_title(TITLE, "de", 50) == "uber-cafe"
