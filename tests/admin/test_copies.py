"""The pages of translations, variations and preview links of a post; more of variations in `test_variations.py`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from content.models import Post
from content.posts.variations import create_variation
from content.store.translation_status import TranslationState, states_of
from content.translations.translate import create_translation
from proofroom_apps.previews.models import PreviewLink
from tests import make
from tests.admin.pages import url

pytestmark = pytest.mark.django_db
SignedIn = Callable[..., Client]


def edit(post: Post, **patch: Any) -> None:
    make.edited(post, patch)


def test_the_form_of_a_post_leads_to_its_pages(signed_in: SignedIn) -> None:
    post = make.post()

    page = signed_in("editor").get(url(post)).content.decode()

    for name in ("translations", "variations", "previews"):
        assert f'href="{url(post, name)}"' in page
    translators = signed_in("translator").get(url(post)).content.decode()
    assert url(post, "previews") not in translators


def test_a_translation_is_made_and_listed(signed_in: SignedIn) -> None:
    post = make.post("Filter coffee")
    client = signed_in("translator")

    response = client.post(url(post, "translations"), {"do": "create", "locale": "de", "slug": ""})

    made = Post.objects.get(locale="de")
    assert response.status_code == 302
    page = client.get(url(post, "translations")).content.decode()
    assert f'href="{url(made)}"' in page
    assert "<select" not in page  # every language is there


def test_an_error_is_shown_at_its_field(signed_in: SignedIn) -> None:
    post = make.post()
    make.post("Anders", locale="de", slug=post.slug)

    response = signed_in("editor").post(
        url(post, "translations"), {"do": "create", "locale": "de", "slug": ""}
    )

    assert response.status_code == 422
    assert 'class="field-errors" id="id_slug_error"' in response.content.decode()
    assert Post.objects.count() == 2


def test_what_is_older_than_its_source_is_named_and_can_be_left(signed_in: SignedIn) -> None:
    post = make.post()
    made = create_translation(post_id=post.pk, locale="de", actor=make.actor())
    edit(made, title="Filterkaffee", excerpt="Von Hand.")
    edit(post, title="Moved on", excerpt="New")
    client = signed_in("translator")

    assert "2 to update" in client.get(url(post, "translations")).content.decode()
    page = client.get(url(made, "translations")).content.decode()
    for label in ("Title", "Excerpt"):
        assert f'<li class="path">{label}</li>' in page
    assert "post.title" not in page
    client.post(url(made, "translations"), {"do": "checked"})

    assert states_of([Post.objects.get(pk=made.pk)])[made.pk] == TranslationState()


def test_a_variation_is_made_and_promoted(signed_in: SignedIn) -> None:
    post = make.post()
    client = signed_in("editor")
    client.post(url(post, "variations"), {"do": "create", "variation": "B", "weight": "30"})
    made = Post.objects.get(variation_of=post)
    edit(made, title="Won")

    page = client.get(url(post, "variations")).content.decode()
    assert 'name="weight" value="30"' in page
    assert url(post, "variations") in client.get(url(made, "variations")).content.decode()
    seen = {"version": post.version, "variation_version": Post.objects.get(pk=made.pk).version}
    client.post(url(post, "variations"), {"do": "promote", "value": str(made.pk), **seen})

    assert Post.objects.get(pk=post.pk).title == "Won"
    again = client.post(url(post, "variations"), {"do": "create", "variation": "B", "weight": "1"})
    assert again.status_code == 422


def test_threat_04_the_form_promotes_no_other_posts_variation(signed_in: SignedIn) -> None:
    post, other = make.post(), make.post("Other", slug="other")
    foreign = create_variation(post_id=other.pk, variation="B", actor=make.actor())
    before = make.live_hash()

    for value in (str(foreign.pk), str(other.pk), "nonsense", ""):
        response = signed_in("editor").post(
            url(post, "variations"), {"do": "promote", "value": value}, follow=True
        )
        assert "no variation with the ID" in response.content.decode()
    assert make.live_hash() == before


@pytest.mark.parametrize(
    ("page", "data"),
    [
        ("variations", {"do": "create", "variation": "C", "weight": "1"}),
        ("variations", {"do": "promote"}),
        ("previews", {"do": "create", "layer": "source", "expiresInHours": "1"}),
    ],
)
def test_threat_11_a_translator_sends_what_they_were_not_shown(
    page: str, data: dict[str, str], signed_in: SignedIn
) -> None:
    post = make.post()
    made = create_variation(post_id=post.pk, variation="B", actor=make.actor())
    before = make.live_hash()

    response = signed_in("translator").post(url(post, page), {"value": str(made.pk), **data})

    assert response.status_code in (302, 403)
    assert make.live_hash() == before
    assert not PreviewLink.objects.exists()


def test_a_preview_link_is_shown_once_and_revoked(signed_in: SignedIn) -> None:
    post = make.post()
    client = signed_in("editor")

    page = client.post(
        url(post, "previews"), {"do": "create", "layer": "source", "expiresInHours": "2"}
    ).content.decode()
    found = re.search(r'href="http://127\.0\.0\.1:8000(/preview/[\w-]{43})"', page)
    assert found is not None
    assert Client().get(found[1]).status_code == 200
    assert found[1] not in client.get(url(post, "previews")).content.decode()
    client.post(url(post, "previews"), {"do": "revoke", "value": str(PreviewLink.objects.get().pk)})

    assert Client().get(found[1]).status_code == 404
    refused = client.post(
        url(post, "previews"), {"do": "create", "layer": "source", "expiresInHours": "721"}
    )
    assert refused.status_code == 422


def test_threat_06_the_form_revokes_no_link_of_another_post(signed_in: SignedIn) -> None:
    post, other = make.post(), make.post("Other", slug="other")
    client = signed_in("editor")
    client.post(url(other, "previews"), {"do": "create", "layer": "source", "expiresInHours": "2"})
    link = PreviewLink.objects.get()

    client.post(url(post, "previews"), {"do": "revoke", "value": str(link.pk)})

    assert PreviewLink.objects.get() == link
